"""The valley of the population risk: where alpha has settled and only the scores still move.

alpha is stiff: it feels the factor D inside the activation, the scores do not. So v reaches the best
alpha for the scores of the moment within a few steps and then follows them. Along that valley the
three scalars are two, and the length of a run of gradient descent is an integral.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import root_scalar

from patch_association.checks import finite, positive_int
from patch_association.exact.risk import PopulationRisk
from patch_association.training.population import descend_population
from patch_association.training.steps import Constant


def best_alpha(risk: PopulationRisk, beta: float, gamma: float = 0.0, rho: float = 0.0) -> float:
    """alpha* = argmin over alpha > 0 of the population risk at fixed scores.

    Raises
    ------
    ValueError
        Where there is none: a vote that is never wrong wants alpha to be infinite.
    """

    def slope(log_alpha):
        return risk.gradient(np.exp(log_alpha), beta, gamma, rho)[0]

    low, high = np.log(1e-3 / risk.num_patches), np.log(100.0)
    if not slope(low) < 0 < slope(high):
        raise ValueError(
            f"the risk must have a minimum in alpha below 100, got {risk!r} with beta = {beta:g}, "
            f"gamma = {gamma:g}, rho = {rho:g}"
        )
    return float(np.exp(root_scalar(slope, bracket=(low, high), xtol=1e-12).root))


def curvature(risk: PopulationRisk, alpha: float, beta: float, gamma: float = 0.0, rho: float = 0.0) -> float:
    """d^2 L / d alpha^2, from a central difference of the exact derivative (about 8 digits).

    Gradient descent on alpha alone is stable near the minimum when the rate is below 2 / curvature.
    """
    step = 1e-4 * finite("alpha", alpha)
    ahead, behind = (risk.gradient(alpha + sign * step, beta, gamma, rho)[0] for sign in (1, -1))
    return float((ahead - behind) / (2 * step))


def score_drift(risk: PopulationRisk, alpha: float, beta: float, gamma: float = 0.0, rho: float = 0.0):
    """(inside, outside): -dL/dA_ij of one entry, the velocity of gamma and of rho at rate 1."""
    D, C = risk.num_patches, risk.set_size
    _, by_gamma, by_rho = risk.gradient(alpha, beta, gamma, rho)
    return -by_gamma / max(1, D * (C - 1)), -by_rho / max(1, D * (D - C))


@dataclass(frozen=True)
class Valley:
    """The path of :func:`follow_valley`; arrays of shape (R,), one value a point.

    Attributes
    ----------
    gap : gamma - rho, the margin
    gamma, rho, alpha, curvature : arrays
    time : array
        The score rate times the number of steps, summed.
    """

    gap: np.ndarray
    gamma: np.ndarray
    rho: np.ndarray
    alpha: np.ndarray
    curvature: np.ndarray
    time: np.ndarray

    def stable_rate(self) -> float:
        """The largest rate of v that is stable at every point of the path: 2 / max curvature."""
        return float(2 / self.curvature.max())

    def steps(self, score_rate: float) -> float:
        """How many steps of gradient descent the path takes at this rate of the scores."""
        return float(self.time[-1] / score_rate)


def follow_valley(risk: PopulationRisk, beta: float = 1.0, until: float = 1.0, points: int = 40) -> Valley:
    """Follow d gamma = -dL/dA_in dt, d rho = -dL/dA_out dt with alpha = alpha*(gamma, rho) from A = beta I.

    The path is cut into ``points`` equal pieces of the margin gamma - rho, from 0 to ``until``, each
    one step of the midpoint rule.

    Raises
    ------
    ValueError
        Where the margin falls, so that it never gets there, and where alpha* is infinite.
    """
    until = finite("until", until)
    points = positive_int("points", points)
    if until <= 0:
        raise ValueError(f"until must be positive, got {until:g}")
    step = until / points
    gamma = rho = time = 0.0
    rows = []

    def velocity(gamma, rho):
        alpha = best_alpha(risk, beta, gamma, rho)
        inside, outside = score_drift(risk, alpha, beta, gamma, rho)
        if inside <= outside:
            raise ValueError(
                f"gamma - rho must grow, got {inside - outside:.3g} at gamma = {gamma:.3g}, "
                f"rho = {rho:.3g}: these data push companions apart"
            )
        return alpha, inside, outside

    for k in range(points + 1):
        alpha, inside, outside = velocity(gamma, rho)
        rows.append((gamma - rho, gamma, rho, alpha, curvature(risk, alpha, beta, gamma, rho), time))
        if k == points:
            break
        half = step / 2 / (inside - outside)
        _, inside, outside = velocity(gamma + half * inside, rho + half * outside)
        time_step = step / (inside - outside)
        gamma = gamma + time_step * inside
        rho = rho + time_step * outside
        time = time + time_step
    return Valley(*np.array(rows).T)


def drift_along(risk: PopulationRisk, beta: float, margins) -> np.ndarray:
    """Drift of gamma - rho at alpha*, for each margin m = gamma - rho on the line of mean score zero.

    gamma = m (D - C) / (D - 1) and rho = -m (C - 1) / (D - 1), so (C-1) gamma + (D-C) rho = 0.
    """
    D, C = risk.num_patches, risk.set_size
    drifts = []
    for m in margins:
        gamma = m * (D - C) / (D - 1)
        rho = -m * (C - 1) / (D - 1)
        inside, outside = score_drift(risk, best_alpha(risk, beta, gamma, rho), beta, gamma, rho)
        drifts.append(inside - outside)
    return np.array(drifts)


def upward_crossing(x, y) -> float:
    """The first place at which y, joined by straight lines, crosses zero upwards."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    places = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    if not places.size:
        raise ValueError(f"y must cross zero upwards, got values from {y.min():.3g} to {y.max():.3g}")
    k = places[0]
    return float(x[k] - y[k] * (x[k + 1] - x[k]) / (y[k + 1] - y[k]))


def largest_settling_rate(risk: PopulationRisk, beta: float) -> float:
    """By bisection, the largest rate at which alpha, 2% off alpha* at A = beta I, settles in 400 steps."""
    floor = best_alpha(risk, beta)
    low = 0.01
    high = 1.0
    for _ in range(20):
        rate = (low * high) ** 0.5
        run = descend_population(
            risk,
            Constant(rate, score_rate=0.0),
            steps=400,
            diagonal=beta,
            alpha=1.02 * floor,
            record=400,
            on_divergence="flag",
            progress=False,
        )
        settled = run.diverged_at is None and abs(run.alpha[-1] / floor - 1) < 1e-3
        if settled:
            low = rate
        else:
            high = rate
    return low


def run_outcome(risk: PopulationRisk, valley: Valley, rate: float, ratio: float) -> str:
    """What becomes of a full run from the usual start, half as long again as the valley takes.

    "o" it ends with gamma > rho, "x" with gamma < rho, "d" it diverges.
    """
    steps = max(60, int(1.5 * valley.steps(ratio * rate)) + 1)
    run = descend_population(
        risk,
        Constant(rate, ratio * rate),
        steps=steps,
        record=max(1, steps // 20),
        on_divergence="flag",
        progress=False,
    )
    if run.diverged_at is not None:
        return "d"
    return "o" if run.gamma[-1] > run.rho[-1] else "x"
