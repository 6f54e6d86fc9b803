"""The reduced flow: its velocity is the gradient of the reduced risk, and slow descent follows it."""

import numpy as np
import pytest

from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.slow_scores import FlowLine, distance_bounds, flow_line, lag, portrait, tube, velocity
from patch_lab.dynamics.valley import best_alpha

RISK = PopulationRisk(9, 3, 0.3, linear=1e-4)


def reduced(gamma, rho):
    return RISK.loss(best_alpha(RISK, 1.0, gamma, rho), 1.0, gamma, rho)


def test_it_is_the_gradient_of_the_reduced_risk():
    gamma, rho, h = 0.3, -0.2, 1e-4
    by_gamma = (reduced(gamma + h, rho) - reduced(gamma - h, rho)) / (2 * h)
    by_rho = (reduced(gamma, rho + h) - reduced(gamma, rho - h)) / (2 * h)
    found = velocity(RISK, 1.0, gamma, rho)
    assert found[:2] == pytest.approx((-by_gamma / 18, -by_rho / 54), rel=1e-6)
    grid = portrait(RISK, 1.0, [gamma, 0.5], [rho])
    assert [part[0, 0] for part in grid] == pytest.approx(found) and grid[0].shape == (1, 2)


def test_slow_descent_follows_it():
    # The gap to the flow is of first order in kappa = eta_A / eta, as is the lag of alpha.
    tau, start = 60.0, best_alpha(RISK, 1.0)
    line = flow_line(RISK, 1.0, [tau])
    gaps, lags = [], []
    for kappa in (4.0, 2.0, 1.0):
        rate = 0.05
        steps = round(tau / (kappa * rate))
        run = descend_population(
            RISK, Constant(rate, kappa * rate), steps=steps, alpha=start, record=[steps], progress=False
        )
        gaps.append(abs(run.gamma[-1] - line.gamma[-1]))
        settled = best_alpha(RISK, 1.0, run.gamma[-1], run.rho[-1])
        lags.append((run.alpha[-1] - settled) / kappa)
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.15) and gaps[1] / gaps[2] == pytest.approx(2, rel=0.15)
    assert lags[-1] == pytest.approx(lag(RISK, 1.0, line.gamma[-1], line.rho[-1]), rel=0.05)


def test_the_distance_bounds_hold_and_the_one_along_the_path_is_sharper():
    start, rate = best_alpha(RISK, 1.0), 0.05
    line = flow_line(RISK, 1.0, np.linspace(0, 60, 5))
    for kappa in (4.0, 1.0):
        steps = np.round(line.tau / (kappa * rate)).astype(int)
        run = descend_population(
            RISK,
            Constant(rate, kappa * rate),
            steps=int(steps[-1]),
            alpha=start,
            record=steps.tolist(),
            progress=False,
        )
        gap = np.hypot(run.gamma - line.gamma, run.rho - line.rho).max()
        bound, along = distance_bounds(RISK, 1.0, line, kappa, rate)
        assert 0 < gap < along <= bound < np.inf and along < 6 * gap
    assert distance_bounds(RISK, 1.0, line, 1e4, rate) == (np.inf, np.inf)


def test_the_tube_is_of_the_reduced_risk():
    """On the line itself: constants from second differences of the risk alone."""
    line = FlowLine(*np.zeros((3, 1)), np.array([best_alpha(RISK, 1.0)]))
    found = tube(RISK, 1.0, line, 0.0, 0.0)
    h, weights = 1e-3, np.array([1 / 18, 1 / 54])
    e = h * np.eye(2)
    hessian = [
        [(reduced(*(a + b)) - reduced(*(a - b)) - reduced(*(b - a)) + reduced(*(-a - b))) for b in e]
        for a in e
    ]
    J = -weights[:, None] * np.array(hessian) / (4 * h * h)
    assert found.lipschitz[0] == pytest.approx(np.linalg.norm(J, 2), rel=1e-3)
    assert found.growth[0] == pytest.approx(np.linalg.eigvalsh((J + J.T) / 2).max(), rel=1e-3)
    V = np.array(velocity(RISK, 1.0, 0.0, 0.0)[:2])
    assert found.speed[0] == pytest.approx(np.hypot(*V))
    ahead, behind = (best_alpha(RISK, 1.0, *(sign * V)) for sign in (1, -1))
    assert found.drag[0] == pytest.approx(abs(ahead - behind) / 2, rel=1e-3)
