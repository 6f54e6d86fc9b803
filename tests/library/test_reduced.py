"""The reduced flow: its velocity is the gradient of the reduced risk, and slow descent follows it."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from enumeration import positive_inputs
from scipy.optimize import minimize_scalar

from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.draw_noise import draw_moments
from patch_lab.dynamics.events import events, overtaken
from patch_lab.dynamics.score_rates import score_rates
from patch_lab.dynamics.slow_scores import FlowLine, distance_bounds, flow_line, lag, portrait, tube, velocity
from patch_lab.dynamics.valley import (
    best_alpha,
    curvature,
    drift_along,
    follow_valley,
    run_outcome,
    score_drift,
)

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
    assert np.isnan(portrait(PopulationRisk(4, 2, 0.5), 0.0, [0.0], [0.0])).all()  # its vote is never wrong


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


# --- The valley of the population risk: its floor, its steepness, its length, against plain descent


RISK_valley = PopulationRisk(12, 4, 0.5)


@pytest.mark.parametrize("gamma, rho", [(0.0, 0.0), (1.0, -0.3), (-0.5, 0.2)])
def test_the_floor_is_where_a_search_over_the_loss_ends(gamma, rho):
    alpha = best_alpha(RISK_valley, 1.0, gamma, rho)
    search = minimize_scalar(
        lambda a: RISK_valley.loss(a, 1.0, gamma, rho),
        bounds=(0.01, 2),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert alpha == pytest.approx(search.x, rel=1e-5)
    assert abs(RISK_valley.gradient(alpha, 1.0, gamma, rho)[0]) < 1e-9


def test_curvature_is_the_second_derivative_of_the_loss():
    alpha, h = best_alpha(RISK_valley, 1.0), 1e-3
    around = [RISK_valley.loss(alpha + k * h, 1.0, 0.0, 0.0) for k in (-1, 0, 1)]
    assert curvature(RISK_valley, alpha, 1.0) == pytest.approx(
        (around[0] - 2 * around[1] + around[2]) / h**2, rel=1e-3
    )


@pytest.mark.parametrize("multiple, settles", [(0.97, True), (1.03, False)])
def test_the_stable_rate_is_two_over_the_curvature(multiple, settles):
    alpha = best_alpha(RISK_valley, 1.0)
    rate = multiple * 2 / curvature(RISK_valley, alpha, 1.0)
    run = descend_population(
        RISK_valley, Constant(rate, 0.0), steps=600, alpha=1.001 * alpha, on_divergence="flag"
    )
    ended = run.diverged_at is None and abs(run.alpha[-1] - alpha) < 1e-6
    assert ended == settles


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_the_length_of_a_run_is_foretold(share):
    """Single rate: the integral along the valley against plain gradient descent."""
    path = follow_valley(RISK_valley, beta=1.0, until=0.5, points=10)
    rate = share * path.stable_rate()
    run = descend_population(
        RISK_valley, Constant(rate, rate), steps=int(1.1 * path.steps(rate)), alpha=path.alpha[0]
    )
    assert np.interp(0.5, run.gamma - run.rho, run.steps) == pytest.approx(path.steps(rate), rel=0.01)
    halfway = np.interp(path.time[5] / rate, run.steps, run.gamma)
    assert halfway == pytest.approx(path.gamma[5], rel=0.01)
    assert path.steps(144 * rate) == pytest.approx(path.steps(rate) / 144)


def test_the_line_of_mean_score_zero():
    at_zero, above = drift_along(RISK_valley, 1.0, [0.0, 0.6])
    alpha = best_alpha(RISK_valley, 1.0)
    assert at_zero == pytest.approx(np.subtract(*score_drift(RISK_valley, alpha, 1.0)))
    gamma, rho = 0.6 * 8 / 11, -0.6 * 3 / 11  # D = 12, C = 4: three companions, eight strangers
    alpha = best_alpha(RISK_valley, 1.0, gamma, rho)
    assert above == pytest.approx(np.subtract(*score_drift(RISK_valley, alpha, 1.0, gamma, rho)))
    assert 3 * gamma + 8 * rho == pytest.approx(0)


def test_three_fates_of_a_run():
    """At q = 0.8 wrong votes win; at D = 16, q = 0.4 a large rate overshoots, a larger one diverges."""
    easy, hard = PopulationRisk(16, 4, 0.4), PopulationRisk(16, 4, 0.8)
    valley = follow_valley(easy, points=10)
    at_start = 2 / valley.curvature[0]
    fates = [run_outcome(easy, valley, multiple * at_start, 256) for multiple in (0.3, 0.7, 1.5)]
    assert fates == ["o", "x", "d"] and run_outcome(hard, valley, 0.004, 256) == "x"


# --- The events of a run of the idealized process, and the drawings of its chapter


def run(alpha, gamma, rho, loss, steps=None):
    steps = np.arange(len(alpha)) if steps is None else np.array(steps)
    alpha, gamma, rho, loss = (np.array(values, dtype=float) for values in (alpha, gamma, rho, loss))
    return SimpleNamespace(steps=steps, alpha=alpha, gamma=gamma, rho=rho, loss=loss)


def test_events_of_a_run_that_shows_all_three():
    found = events(
        run(
            alpha=[0.1, 0.94, 0.96, 1.0, 1.0, 1.3, 1.2],
            gamma=[0, 0.01, 0.02, 0.1, 0.4, 0.9, 1.0],
            rho=[0, 0, -0.1, -0.2, -0.3, -0.4, -0.35],
            loss=[0.7, 0.5, 0.4, 0.39, 0.37, 0.35, 0.1],
            steps=[0, 1, 2, 10, 20, 30, 40],
        ),
        alpha_star=1.0,
    )
    assert found == dict(
        T0=2, T1=30, plateau=30, alpha_T0=0.96, alpha_T1=1.3, alpha_end=1.2, alpha_late=1.3, companions_lose=0
    )


def test_events_that_do_not_happen_are_none():
    found = events(run([0.1, 0.5, 0.9], [0, 0.1, -0.2], [0, -0.1, -0.1], [0.7, 0.6, 0.5]), 1.0)
    assert found["T0"] is found["T1"] is found["plateau"] is found["alpha_late"] is None
    assert found["companions_lose"] == 1 and found["alpha_end"] == 0.9
    # |rho| of the whole run counts, the future included.
    short = run([1.0] * 3, [0, 0.2, 0.3], [0, -0.1, -0.15], [1] * 3)
    longer = run([1.0] * 4, [0, 0.2, 0.3, 0.5], [0, -0.1, -0.15, -0.4], [1] * 4)
    assert events(short, 1.0)["T1"] == 1 and events(longer, 1.0)["T1"] == 3
    assert [overtaken(longer, last) for last in (2, 3)] == [1, 3]


# --- What the chapters on the idealized process measure, against enumeration of every input


CASES = [(6, 2, 0.3, 3), (6, 3, 0.5, 3), (6, 2, 0.8, 5)]
POINTS = [(0.1, 1.0, 0.0, 0.0), (0.25, 1.0, 0.7, -0.2), (0.2, 2.0, -0.4, 0.3)]
LINEAR = 0.02


def per_draw(D, C, s, degree, point):
    """Loss of every input and its Jacobian by (alpha, gamma, rho), by automatic differentiation."""
    alpha, beta, gamma, rho = point
    same = torch.kron(torch.eye(D // C), torch.ones(C, C)).bool()
    eye = torch.eye(D, dtype=torch.bool)

    def losses(x):
        A = torch.where(eye, torch.tensor(beta, dtype=torch.float64), torch.where(same, x[1], x[2]))
        z = D * x[0] * torch.from_numpy(s) @ torch.softmax(A, dim=1).T
        F = (z**degree + LINEAR * z).sum(dim=1)
        return torch.logaddexp(torch.zeros_like(F), -F), F

    x = torch.tensor([alpha, gamma, rho], dtype=torch.float64)
    loss, F = losses(x)
    return loss.numpy(), torch.autograd.functional.jacobian(lambda x: losses(x)[0], x).numpy(), F.numpy()


@pytest.mark.parametrize("D, C, q, degree", CASES)
@pytest.mark.parametrize("point", POINTS)
def test_moments_of_one_draw(D, C, q, degree, point):
    s, p = positive_inputs(D, C, q)
    loss, slopes, _ = per_draw(D, C, s, degree, point)
    ours = draw_moments(PopulationRisk(D, C, q, degree, LINEAR), *point)
    for name, column in zip(("loss", "alpha", "gamma", "rho"), (loss, *slopes.T)):
        mean = p @ column
        assert ours[name] == pytest.approx((mean, p @ (column - mean) ** 2), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("D, C, q, degree", CASES)
@pytest.mark.parametrize("point", POINTS)
def test_rates_are_the_velocity_formula_of_the_chapter(D, C, q, degree, point):
    """-dL/dA_ij = D alpha S_ij E[w sigma'(z_i) (s_j - sbar_i)], summed input by input."""
    s, p = positive_inputs(D, C, q)
    alpha, beta, gamma, rho = point
    row = np.array([beta] + [gamma] * (C - 1) + [rho] * (D - C))
    S = np.exp(row) / np.exp(row).sum()
    heard = s @ S  # what patch 0 hears
    F = per_draw(D, C, s, degree, point)[2]
    w = 1 / (1 + np.exp(F))
    loud = degree * (D * alpha * heard) ** (degree - 1) + LINEAR
    velocity = [D * alpha * S[j] * (p @ (w * loud * (s[:, j] - heard))) for j in range(D)]
    assert sum(velocity) == pytest.approx(0, abs=1e-13)  # the identity of a row
    ours = score_rates(PopulationRisk(D, C, q, degree, LINEAR), *point)
    assert ours.inside == pytest.approx(velocity[1], rel=1e-9, abs=1e-14)
    assert ours.outside == pytest.approx(velocity[-1], rel=1e-9, abs=1e-14)
    G = D * (S[0] + (C - 1) * S[1])
    growth = S[1] * G ** (degree - 1)
    assert ours.constant_inside == pytest.approx(velocity[1] / (alpha**degree * growth), rel=1e-9, abs=1e-12)
    bound = alpha**degree * (1 + growth) / D
    assert ours.constant_outside == pytest.approx(abs(velocity[-1]) / bound, rel=1e-9, abs=1e-12)
    assert ours.slope == pytest.approx(p @ w, rel=1e-12)
