"""The logistic loss followed far, and the flow of three numbers that can be solved."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from patch_association.shallow import PatternData, initial_weights, measure, population, train
from patch_lab.shallow_vit.slow import follow_logistic, reduced_gap


@pytest.mark.parametrize("odds", [0.3, 1.0, 5.0])
def test_the_solved_flow_is_that_of_an_integrator(odds):
    """Gradient flow of log(1 + exp(-F)) in u, v, k and q themselves, in the clock of u v."""

    def flow(x, state):
        u, v, k, q = state
        p = 1 / (1 + odds * np.exp(-k * q))
        slopes = np.array([v * p, u * p, u * v * p * (1 - p) * q, u * v * p * (1 - p) * k])
        return slopes / (v * slopes[0] + u * slopes[1])  # d(u v) = dx; the loss's slope cancels

    at = [2.0, 10.0, 100.0]
    start = [1.0, 1.0, 1.2**0.5, 1.2**0.5]
    end = solve_ivp(flow, (1.0, at[-1]), start, t_eval=at, rtol=1e-10, atol=1e-12).y
    p = 1 / (1 + odds * np.exp(-end[2] * end[3]))
    assert np.abs(reduced_gap(at, odds, start=1.2) / (1 - p) - 1).max() < 1e-6


def test_the_product_with_x_log_x_tends_to_one():
    x = np.array([1e20, 1e100, 1e250])
    away = np.abs(reduced_gap(x, 2.0) * x * np.log(x) - 1)
    assert (np.diff(away) < 0).all() and away[-1] < 0.02


def test_relative_steps_follow_the_plain_descent():
    """Small relative steps and small plain steps go through the same masses at the same outputs and times."""
    data = PatternData(20, 0.5, 0.1, noise=0.0)
    law, start = population(data), initial_weights(data, [0], num_neurons=40)
    run = follow_logistic(law, start, until=2.0, step=0.002, growth=1.05)
    k = len(run.output) // 2
    steps = round(float(np.exp(run.log_time[k, 0])) / 0.01)
    plain = train(law, start, steps=steps, rate=0.01, loss="logistic")
    assert measure(plain.weights, law).mass[0] == pytest.approx(run.mass[k, 0], abs=2e-3)
