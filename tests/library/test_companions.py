"""Attacks on the statements of the chapter on companions, by enumeration and search without the library."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from enumeration import consecutive_sets, inputs, positive_inputs, predictions
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from patch_association.data import random_feature
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.first_move import lower_edge, upper_edge
from patch_lab.dynamics.optimality import cubic_form
from patch_lab.dynamics.outcomes import (
    by_kind,
    descend_by_enumeration,
    first_steps,
    mean_first_steps,
    outcomes,
)
from patch_lab.dynamics.small_diagonal import small_diagonal_drift
from patch_lab.dynamics.valley import best_alpha


def first_move(D, C, q, p):
    """The sign of E[w M^(p-2) (1-s_a)(1-s_b)] at the zero of E[w M^p], by convolutions and bisection."""
    n = D - C

    def law(k):  # of the sum of k random patches, from -k to k
        mass = np.ones(1)
        for _ in range(k):
            mass = np.convolve(mass, [q / 2, 1 - q, q / 2])
        return mass

    M = np.arange(C - n, C + n + 1.0)
    plain = law(n)
    turned = np.convolve(law(n - 2), np.convolve([q, 1 - q], [q, 1 - q]))  # 1 - s is 2 or 1
    turned = np.pad(turned, (0, plain.size - turned.size))  # no mass where either s is 1
    low, high = -60.0, 9.0

    def weight(x):
        return 0.5 * (1 - np.tanh(0.5 * np.clip(math.exp(x) * M**p, -1e4, 1e4)))

    def tail(x):  # exp(-u M^p) where 1 - tanh has lost its digits
        z = np.clip(math.exp(x) * M**p, -700, 700)
        return np.where(z > 30, np.exp(-z), weight(x))

    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if plain @ (tail(middle) * M**p) > 0 else (low, middle)
    return float(turned @ (tail(low) * M ** (p - 2)))


@pytest.mark.parametrize(("C", "p"), [(2, 3), (3, 3), (4, 5)])
def test_the_window_closes_where_it_says(C, p):
    # Both edges, from within and from outside, by a margin of a quarter at this size.
    D, edge = 60 * C, upper_edge(C, p)
    low = lower_edge(C, p) / (D - C) ** 2
    assert first_move(D, C, 1.3 * low, p) > 0 > first_move(D, C, 0.75 * low, p)
    assert first_move(D, C, 0.75 * edge, p) > 0
    if 1.1 * edge < 1:
        assert first_move(D, C, 1.1 * edge, p) < 0


@pytest.mark.parametrize(("C", "lam"), [(4, 4.8), (2, 0.3)])
def test_a_linear_part_closes_the_window(C, lam):
    # n Delta at the best alpha by convolutions, against the limit as a sum over two Poisson variables.
    k = np.arange(60)
    poisson = np.exp(-lam / 2 + k * math.log(lam / 2) - np.cumsum(np.log(np.maximum(k, 1))))
    chance = np.convolve(poisson, poisson[::-1])  # of the difference, from -59 to 59
    M = C + np.arange(-59, 60.0)

    def zero(f, low, high):  # of a falling function
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if f(middle) > 0 else (low, middle)
        return low

    def slope(x):
        return 0.5 * (1 - np.tanh(0.5 * np.clip(x, -600, 600)))

    limit = -2 * chance @ (slope(zero(lambda x: chance @ (slope(x * M) * M), 1e-6, 50.0) * M) * M**2)
    found = []
    for D in (60, 240):
        n, q = D - C, lam / (D - C)
        plain, turned = np.ones(1), np.convolve([q, 1 - q], [q, 1 - q])
        for _ in range(n - 2):
            plain, turned = (np.convolve(law, [q / 2, 1 - q, q / 2]) for law in (plain, turned))
        for _ in range(2):
            plain = np.convolve(plain, [q / 2, 1 - q, q / 2])
        turned = np.pad(turned, (0, plain.size - turned.size))
        votes = np.arange(C - n, C + n + 1.0)

        def loss_falls(alpha, nu, votes=votes, plain=plain, D=D):
            z = alpha * votes
            return plain @ (slope(D * (z**3 + nu * z)) * (3 * alpha**2 * votes**3 + nu * votes))

        alpha = zero(lambda a: loss_falls(a, 1.0), 1e-7, 1.0)
        z = alpha * votes
        found.append(n * turned @ (slope(D * (z**3 + z)) * votes))
        alpha = zero(lambda a: loss_falls(a, 1e-6), 1e-7, 1.5)
        z = alpha * votes
        assert turned @ (slope(D * (z**3 + 1e-6 * z)) * votes) > 0  # hardly any linear part
    assert limit < 0 and abs(found[1] / limit - 1) < min(0.02, abs(found[0] / limit - 1))


@pytest.mark.parametrize(("D", "C", "q"), [(6, 2, 0.3), (6, 3, 0.9), (8, 2, 0.9), (9, 3, 1.0)])
def test_attention_evens_out_inside_a_set(D, C, q):
    s, chance = positive_inputs(D, C, q, anywhere=False)
    n = s.reshape(-1, D // C, C).sum(2).repeat(C, axis=1)
    G = np.random.default_rng(1)
    for _ in range(40):
        p, nu, beta = int(G.choice([3, 5])), float(G.choice([0.0, 0.5])), float(G.normal())
        alpha, gamma = (
            float(10 ** G.uniform(-2, -0.2)),
            float(beta + G.choice([-1, 1]) * 10 ** G.uniform(-1, 0.7)),
        )

        def loss(x, p=p, nu=nu, beta=beta, alpha=alpha):
            own = 1 / (1 + (C - 1) * math.exp(x - beta))
            z = D * alpha * (own * s + (1 - own) / (C - 1) * (n - s))
            return chance @ np.logaddexp(0, -(z**p + nu * z).sum(1))

        slope = (loss(gamma + 1e-5) - loss(gamma - 1e-5)) / 2e-5
        if abs(slope) > 1e-9:
            assert (slope < 0) == (gamma < beta), (p, nu, beta, alpha, gamma)


@pytest.mark.parametrize(("D", "C", "q"), [(6, 2, 0.3), (6, 2, 0.1)])
def test_no_attention_beats_the_blocks(D, C, q):
    # Adversary: Adam on every entry of A, the diagonal too, and the strength, from random starts.
    assert cubic_form(D, C, q).largest(60)[0] < 1e-9
    s, chance = map(torch.from_numpy, positive_inputs(D, C, q))
    risk = PopulationRisk(D, C, q, linear=0.0)
    best = risk.loss(best_alpha(risk, 0.0, 0.0, -40.0), 0.0, 0.0, -40.0)
    torch.manual_seed(0)
    scores = torch.randn(24, D, D, dtype=torch.float64) * 2
    strength = torch.full((24, 1, 1), 0.2, dtype=torch.float64)
    for x in (scores, strength):
        x.requires_grad_()
    step = torch.optim.Adam([scores, strength], lr=0.05)
    for _ in range(400):
        z = D * strength * (s @ torch.softmax(scores, 2).mT)  # (24, n, D)
        losses = torch.nn.functional.softplus(-(z**3).sum(2)) @ chance
        step.zero_grad()
        losses.sum().backward()
        step.step()
    assert losses.min() > best - 1e-9
    assert losses.min() < best + 0.03  # and it comes near


# --- The slow flow and the end of runs: by enumeration and differences, without the library


D, C, Q, BETA = 6, 2, 0.4, 1.0
S, CHANCE = positive_inputs(D, C, Q, anywhere=False)


def loss(alpha, gamma, rho):
    return CHANCE @ np.logaddexp(0, -predictions(S, C, alpha, (BETA, gamma, rho)))


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


def test_every_outcome_is_listed_once_with_its_chance():
    partition = Partition(np.arange(6) // 2)
    s, y, chance = outcomes(partition, 0.3)
    ours = {}
    for signs, label, one in zip(s, y, chance):
        key = (*signs, label)
        ours[key] = ours.get(key, 0) + one
    theirs = {}
    for probability, label, _, signs in inputs(consecutive_sets(6, 2), Fraction(3, 10)):
        key = (*map(float, signs), float(label))
        theirs[key] = theirs.get(key, 0) + float(probability)
    assert ours.keys() == theirs.keys() and all(abs(ours[key] - theirs[key]) < 1e-15 for key in ours)
    with pytest.raises(ValueError, match="q"):
        outcomes(partition, 1.5)


def test_the_step_worked_by_hand():
    four = Partition([0, 0, 1, 1])
    assert by_kind(mean_first_steps(four, 0.5), four) == (1 / 8, -3 / 8)
    assert by_kind(mean_first_steps(four, 1.0), four) == (-1 / 4, -1 / 4)  # the sets do not show
    six = Partition([0, 0, 1, 1, 2, 2])
    assert by_kind(first_steps((1, 1, -1, 0, 0, 0)), six) == pytest.approx((11 / 36, -7 / 36))
    assert by_kind(first_steps((1, 1, -1, -1, -1, 0)), six) == pytest.approx((-23 / 36, 13 / 36))


@pytest.mark.parametrize(("D", "C", "q"), [(4, 2, 0.5), (6, 2, 0.8), (6, 3, 0.4), (9, 3, 0.2)])
def test_the_step_by_hand_is_the_limit_of_a_small_diagonal(D, C, q):
    partition = Partition.random(D, C, seed=1)
    limit = np.divide(small_diagonal_drift(D, C, q, 1e-4, linear=0.0), 3e-12)
    assert by_kind(mean_first_steps(partition, q), partition) == pytest.approx(limit, rel=1e-6, abs=1e-9)


def test_the_step_of_one_image_is_that_of_automatic_differentiation():
    s = torch.tensor([1.0, 1.0, -1.0, -1.0, -1.0, 0.0], dtype=torch.float64)
    eps, alpha = 1e-5, 1e-3
    A = (math.log1p(eps) * torch.eye(6, dtype=torch.float64)).requires_grad_()
    z = 6 * alpha * torch.softmax(A, dim=1) @ s
    torch.log1p(torch.exp(-(z**3).sum())).backward()
    # single entries have a term besides that cancels over each kind of pair
    six = Partition([0, 0, 1, 1, 2, 2])
    assert by_kind(-A.grad.numpy() / (3 * eps * alpha**3), six) == pytest.approx(
        by_kind(first_steps(s), six), abs=1e-3
    )


def test_descent_on_every_score_is_descent_on_three_scalars():
    partition, w = Partition.random(6, 2, seed=3), random_feature(4, seed=1)
    A, v = descend_by_enumeration(
        partition, 0.4, w, diagonal=1.5, alpha=0.1, rate=0.02, steps=20, degree=5, linear=0.05
    )
    ours = descend_population(
        PopulationRisk(6, 2, 0.4, 5, 0.05), Constant(0.02), steps=20, diagonal=1.5, alpha=0.1, progress=False
    )
    inside = partition.same_set & ~np.eye(6, dtype=bool)
    assert np.allclose(A[:, inside], ours.gamma[:, None], atol=1e-12)
    assert np.allclose(A[:, ~partition.same_set], ours.rho[:, None], atol=1e-12)
    assert np.allclose(v, ours.alpha[:, None] * w.numpy(), atol=1e-12)
    assert np.ptp(ours.gamma) > 1e-3 and (A[:, np.eye(6, dtype=bool)] == 1.5).all()
