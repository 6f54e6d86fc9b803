"""The reduced flow: its velocity is the gradient of the reduced risk, and slow descent follows it."""

import numpy as np
import pytest

from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_association.training.reduced import flow_line, lag, portrait, velocity
from patch_association.training.valley import best_alpha

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


def test_bad_times_are_refused():
    for taus in ([], [2.0, 1.0], [-1.0]):
        with pytest.raises(ValueError, match="taus"):
            flow_line(RISK, 1.0, taus)
    assert np.isfinite(flow_line(RISK, 1.0, [1.0]).alpha).all()
