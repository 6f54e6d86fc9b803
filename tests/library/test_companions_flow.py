"""Attacks on the slow flow and the end of runs: enumeration and differences, without the library."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

D, C, Q, BETA = 6, 2, 0.4, 1.0
REST = np.array(list(itertools.product((-1, 0, 1), repeat=D - C)))
CHANCE = np.where(REST == 0, 1 - Q, Q / 2).prod(1)
S = np.concatenate([np.ones((len(REST), C)), REST], axis=1)
N = S.reshape(-1, D // C, C).sum(2).repeat(C, axis=1)
M = S.sum(1, keepdims=True)


def loss(alpha, gamma, rho):
    e = np.exp([BETA, gamma, rho])
    own, inside, outside = e / (e[0] + (C - 1) * e[1] + (D - C) * e[2])
    z = D * alpha * (own * S + inside * (N - S) + outside * (M - N))
    return CHANCE @ np.logaddexp(0, -(z**3).sum(1))


def slope(k, *point, h=1e-5):
    ahead, behind = ([x + sign * h * (i == k) for i, x in enumerate(point)] for sign in (1, -1))
    return (loss(*ahead) - loss(*behind)) / (2 * h)


def settled(gamma, rho):
    return math.exp(brentq(lambda x: slope(0, math.exp(x), gamma, rho, h=1e-6), -4.0, 1.0, xtol=1e-10))


def velocity(_, point):
    gamma, rho = point
    alpha = settled(gamma, rho)
    by_gamma, by_rho = (slope(k, alpha, gamma, rho, h=1e-3) for k in (1, 2))
    return -by_gamma / (D * (C - 1)), -by_rho / (D * (D - C))


def test_descent_comes_to_the_flow_in_proportion_to_the_rate_of_the_scores():
    tau = 20.0
    path = solve_ivp(velocity, (0, tau), (0.0, 0.0), method="LSODA", rtol=1e-8, atol=1e-10)
    gamma_end, rho_end = path.y[:, -1]
    assert gamma_end > 0.05 > -0.005 > rho_end  # it has moved
    gaps = []
    for kappa in (8.0, 4.0, 2.0):
        eta, x = 0.05, [settled(0.0, 0.0), 0.0, 0.0]
        for _ in range(round(tau / (kappa * eta))):
            rates = (eta, kappa * eta / (D * (C - 1)), kappa * eta / (D * (D - C)))
            x = [value - rate * slope(k, *x) for k, (value, rate) in enumerate(zip(x, rates))]
        gaps.append(math.hypot(x[1] - gamma_end, x[2] - rho_end))
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.2) and gaps[1] / gaps[2] == pytest.approx(2, rel=0.2)


def test_strangers_die_out_like_one_over_time():
    taus = np.array([1e5, 1e6, 1e7])
    path = solve_ivp(velocity, (0, taus[-1]), (0.5, -0.5), method="LSODA", t_eval=taus, rtol=1e-7, atol=1e-9)
    gamma, rho = path.y
    deep = -8.0
    k = slope(2, settled(BETA, deep), BETA, deep, h=1e-3) / math.exp(deep)
    constant = math.log(D * (D - C) / k)
    off = np.abs(rho + np.log(taus) - constant)
    assert off[0] > off[2] and off[2] < 0.02
    assert abs(gamma[2] - BETA) < abs(gamma[0] - BETA) and abs(gamma[2] - BETA) < 0.02
