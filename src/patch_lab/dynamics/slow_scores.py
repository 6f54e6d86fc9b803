"""The reduced equation: the scores when alpha has settled, as a flow of two numbers.

For slow scores, kappa = eta_A / eta -> 0, gradient descent follows

    d gamma / d tau = -dL/dgamma / (D (C-1)),    d rho / d tau = -dL/drho / (D (D-C))

at alpha = alpha*(gamma, rho), where one unit of tau is 1 / eta_A steps (theorem "Gradient descent follows the
reduced flow" of the book). The derivatives of the reduced risk R = min over alpha of L are those of L there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from operator import methodcaller

import numpy as np
from scipy.integrate import cumulative_trapezoid, solve_ivp

from patch_association.checks import finite
from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.valley import best_alpha, curvature, score_drift

_STEP = 1e-4  # of differences


def velocity(risk: PopulationRisk, beta: float, gamma: float, rho: float):
    """(d gamma / d tau, d rho / d tau, alpha*) of the reduced flow at one point."""
    alpha = best_alpha(risk, beta, gamma, rho)
    return *score_drift(risk, alpha, beta, gamma, rho), alpha


def portrait(risk: PopulationRisk, beta: float, gammas, rhos):
    """(gamma_dot, rho_dot, alpha*): three (len(rhos), len(gammas)) arrays, the flow on a grid of scores.

    NaN where no finite alpha is best.
    """
    table = np.full((3, len(rhos), len(gammas)), np.nan)
    for row, rho in enumerate(rhos):
        for column, gamma in enumerate(gammas):
            with suppress(ValueError):
                table[:, row, column] = velocity(risk, beta, float(gamma), float(rho))
    return tuple(table)


@dataclass(frozen=True)
class FlowLine:
    """One line of the reduced flow, arrays of shape (R,): tau, the two scores and alpha* on the way."""

    tau: np.ndarray
    gamma: np.ndarray
    rho: np.ndarray
    alpha: np.ndarray


def flow_line(risk: PopulationRisk, beta: float, taus, gamma: float = 0.0, rho: float = 0.0) -> FlowLine:
    """Follow the reduced flow from (gamma, rho) to each of the increasing times ``taus`` (from tau = 0).

    Raises
    ------
    ValueError
        Where alpha* is infinite, and if the times do not increase.
    """
    taus = np.asarray(taus, dtype=np.float64)
    if taus.ndim != 1 or taus.size == 0 or taus[0] < 0 or taus[-1] <= 0 or not (np.diff(taus) > 0).all():
        raise ValueError("taus must be increasing times from 0 on, the last of them positive")
    start = [finite("gamma", gamma), finite("rho", rho)]
    solution = solve_ivp(
        lambda _, x: velocity(risk, beta, *x)[:2],
        (0.0, taus[-1]),
        start,
        method="LSODA",
        t_eval=taus,
        rtol=1e-8,
        atol=1e-10,
    )
    if not solution.success:
        raise ValueError(f"the reduced flow could not be followed: {solution.message}")
    alphas = [best_alpha(risk, beta, *x) for x in solution.y.T]
    return FlowLine(taus, solution.y[0], solution.y[1], np.array(alphas))


def lag(risk: PopulationRisk, beta: float, gamma: float, rho: float) -> float:
    """(alpha - alpha*) / kappa of slow descent at these scores: -(d alpha* / d tau) / (d^2 L / d alpha^2).

    The first-order term of the bound in theorem "Gradient descent follows the reduced flow", as kappa -> 0.
    """
    by_gamma, by_rho, alpha = velocity(risk, beta, gamma, rho)
    length = float(np.hypot(by_gamma, by_rho))
    ahead, behind = (
        best_alpha(risk, beta, gamma + sign * _STEP * by_gamma / length, rho + sign * _STEP * by_rho / length)
        for sign in (1, -1)
    )
    return -(ahead - behind) / (2 * _STEP) * length / curvature(risk, alpha, beta, gamma, rho)


@dataclass(frozen=True)
class Tube:
    """What theorem "Gradient descent follows the reduced flow" asks of the surroundings of a line.

    Arrays of shape (R,), one value for each point of the line: the largest value (of ``curvature`` the least)
    over a sample of the tube there.

    Attributes
    ----------
    tau : times of the points, from 0
    speed : |V|, the velocity of the scores at rate one
    by_alpha : |dV/dalpha|
    lipschitz : norm of the Jacobian of V at alpha* by the scores
    growth : the largest eigenvalue of its symmetric part; negative where lines come closer
    drag : |<grad alpha*, V>|, how fast alpha* moves
    curvature, most : d^2 L / d alpha^2, the least and the largest
    """

    tau: np.ndarray
    speed: np.ndarray
    by_alpha: np.ndarray
    lipschitz: np.ndarray
    growth: np.ndarray
    drag: np.ndarray
    curvature: np.ndarray
    most: np.ndarray

    def behind(self, kappa: float) -> float:
        """The bound on |alpha - alpha*|, from alpha* on."""
        return float(kappa * self.drag.max() / self.curvature.min())

    def bound(self, kappa: float, rate: float) -> float:
        """The theorem's bound on the distance of the scores to the flow, with its constants."""
        steep = self.lipschitz.max()
        end = self.tau[-1]
        source = self.by_alpha.max() * self.behind(kappa) + steep * self.speed.max() * kappa * rate / 2
        return float(np.exp(steep * end) * end * source)

    def bound_along(self, kappa: float, rate: float) -> float:
        """The same with the constants as functions of time: the largest value on the way."""
        behind = kappa * np.maximum.accumulate(self.drag) / np.minimum.accumulate(self.curvature)
        source = self.by_alpha * behind + self.lipschitz * self.speed * kappa * rate / 2
        growth = self.growth + kappa * rate * self.lipschitz**2 / 2
        exponent = cumulative_trapezoid(growth, self.tau, initial=0)
        parts = cumulative_trapezoid(source * np.exp(-exponent), self.tau, initial=0)
        return float((np.exp(exponent) * parts).max())


def tube(risk: PopulationRisk, beta: float, line: FlowLine, width: float, height: float) -> Tube:
    """Sample the tube of scores within ``width`` of a line and alpha within ``height`` of alpha*.

    At each point of the line: itself and four more at that distance, each with three values of alpha. A
    sample: what it says about the whole tube is an estimate.
    """
    places = [(0.0, 0.0), (width, 0.0), (-width, 0.0), (0.0, width), (0.0, -width)]
    rows = []
    for gamma, rho in zip(line.gamma, line.rho):
        around = [_surroundings(risk, beta, gamma + x, rho + y, height) for x, y in places]
        V, by_alpha, bends, slopes = (np.array(part) for part in zip(*around))
        # V, by_alpha: (5, 3, 2) by place, alpha and score; slopes: (5, 2, 3) by place and score
        jacobians = slopes[..., :2].swapaxes(1, 2)
        rows.append(
            (
                np.linalg.norm(V, axis=2).max(),
                np.linalg.norm(by_alpha, axis=2).max(),
                np.linalg.norm(jacobians, 2, axis=(1, 2)).max(),
                np.linalg.eigvalsh((jacobians + slopes[..., :2]) / 2).max(),
                np.abs(V.reshape(-1, 2) @ slopes[..., 2].T).max(),  # every V with every gradient
                bends.min(),
                bends.max(),
            )
        )
    return Tube(line.tau, *np.array(rows).T)


def _surroundings(risk, beta, gamma, rho, height):
    """(V, dV/dalpha, curvature) at three values of alpha, and the slopes of (V, alpha*) by the scores."""
    alpha = best_alpha(risk, beta, gamma, rho)
    near = [alpha - height, alpha, alpha + height]
    drift, ahead, behind = (
        np.array([score_drift(risk, a * (1 + e), beta, gamma, rho) for a in near]) for e in (0, _STEP, -_STEP)
    )
    by_alpha = (ahead - behind) / (2 * _STEP * np.array(near)[:, None])
    up, down = (
        np.array([velocity(risk, beta, gamma + e * x, rho + e * y) for x, y in ((1, 0), (0, 1))])
        for e in (_STEP, -_STEP)
    )
    return drift, by_alpha, [curvature(risk, a, beta, gamma, rho) for a in near], (up - down) / (2 * _STEP)


def distance_bounds(risk: PopulationRisk, beta: float, line: FlowLine, kappa: float, rate: float):
    """(bound, bound along the path) on how far slow descent from alpha* strays from a line of the flow.

    ``rate`` is that of v and ``kappa`` times it that of the scores; the line starts at tau = 0. The constants
    are the largest of a sample of a tube as wide as the bound, see :func:`tube`. A bound is infinite where no
    tube up to a width of one holds it, or the rate is beyond one over the curvature there.
    """
    bound = _held(risk, beta, line, kappa, rate, methodcaller("bound", kappa, rate))
    bound_along = _held(risk, beta, line, kappa, rate, methodcaller("bound_along", kappa, rate))
    return bound, bound_along


def _held(risk, beta, line, kappa, rate, bound_of):
    width = height = 0.0
    for tries in count():
        if width > 1 or height >= line.alpha.min():
            break
        around = tube(risk, beta, line, width, height)
        if around.curvature.min() <= 0 or rate * around.most.max() > 1:
            break  # a wider tube has more of both
        bound = bound_of(around)
        behind = around.behind(kappa)
        if bound <= width and behind <= height:
            return bound
        room = 1.05 if tries < 10 else 1.5  # where a few tries do not do, the bound need not be sharp
        width = max(width, room * bound)
        height = max(height, room * behind)
    return np.inf
