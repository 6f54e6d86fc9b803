"""The valley of the population risk: its floor, its steepness, its length, against plain descent."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.valley import (
    best_alpha,
    curvature,
    drift_along,
    follow_valley,
    run_outcome,
    score_drift,
)

RISK = PopulationRisk(12, 4, 0.5)


@pytest.mark.parametrize("gamma, rho", [(0.0, 0.0), (1.0, -0.3), (-0.5, 0.2)])
def test_the_floor_is_where_a_search_over_the_loss_ends(gamma, rho):
    alpha = best_alpha(RISK, 1.0, gamma, rho)
    search = minimize_scalar(
        lambda a: RISK.loss(a, 1.0, gamma, rho), bounds=(0.01, 2), method="bounded", options={"xatol": 1e-9}
    )
    assert alpha == pytest.approx(search.x, rel=1e-5)
    assert abs(RISK.gradient(alpha, 1.0, gamma, rho)[0]) < 1e-9


def test_curvature_is_the_second_derivative_of_the_loss():
    alpha, h = best_alpha(RISK, 1.0), 1e-3
    around = [RISK.loss(alpha + k * h, 1.0, 0.0, 0.0) for k in (-1, 0, 1)]
    assert curvature(RISK, alpha, 1.0) == pytest.approx(
        (around[0] - 2 * around[1] + around[2]) / h**2, rel=1e-3
    )


@pytest.mark.parametrize("multiple, settles", [(0.97, True), (1.03, False)])
def test_the_stable_rate_is_two_over_the_curvature(multiple, settles):
    alpha = best_alpha(RISK, 1.0)
    rate = multiple * 2 / curvature(RISK, alpha, 1.0)
    run = descend_population(RISK, Constant(rate, 0.0), steps=600, alpha=1.001 * alpha, on_divergence="flag")
    ended = run.diverged_at is None and abs(run.alpha[-1] - alpha) < 1e-6
    assert ended == settles


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_the_length_of_a_run_is_foretold(share):
    """Single rate: the integral along the valley against plain gradient descent."""
    path = follow_valley(RISK, beta=1.0, until=0.5, points=10)
    rate = share * path.stable_rate()
    run = descend_population(
        RISK, Constant(rate, rate), steps=int(1.1 * path.steps(rate)), alpha=path.alpha[0]
    )
    assert np.interp(0.5, run.gamma - run.rho, run.steps) == pytest.approx(path.steps(rate), rel=0.01)
    halfway = np.interp(path.time[5] / rate, run.steps, run.gamma)
    assert halfway == pytest.approx(path.gamma[5], rel=0.01)
    assert path.steps(144 * rate) == pytest.approx(path.steps(rate) / 144)


def test_the_line_of_mean_score_zero():
    at_zero, above = drift_along(RISK, 1.0, [0.0, 0.6])
    alpha = best_alpha(RISK, 1.0)
    assert at_zero == pytest.approx(np.subtract(*score_drift(RISK, alpha, 1.0)))
    gamma, rho = 0.6 * 8 / 11, -0.6 * 3 / 11  # D = 12, C = 4: three companions, eight strangers
    alpha = best_alpha(RISK, 1.0, gamma, rho)
    assert above == pytest.approx(np.subtract(*score_drift(RISK, alpha, 1.0, gamma, rho)))
    assert 3 * gamma + 8 * rho == pytest.approx(0)


def test_three_fates_of_a_run():
    """At q = 0.8 wrong votes win; at D = 16, q = 0.4 a large rate overshoots, a larger one diverges."""
    easy, hard = PopulationRisk(16, 4, 0.4), PopulationRisk(16, 4, 0.8)
    valley = follow_valley(easy, points=10)
    at_start = 2 / valley.curvature[0]
    fates = [run_outcome(easy, valley, multiple * at_start, 256) for multiple in (0.3, 0.7, 1.5)]
    assert fates == ["o", "x", "d"] and run_outcome(hard, valley, 0.004, 256) == "x"
