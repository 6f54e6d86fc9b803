"""The reduced equation: the scores when alpha has settled, as a flow of two numbers.

For slow scores, kappa = eta_A / eta -> 0, gradient descent follows

    d gamma / d tau = -dL/dgamma / (D (C-1)),    d rho / d tau = -dL/drho / (D (D-C))

at alpha = alpha*(gamma, rho), where one unit of tau is 1 / eta_A steps (theorem "Gradient descent follows the
reduced flow" of the book). The derivatives of the reduced risk R = min over alpha of L are those of L there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from patch_association._validate import finite
from patch_association.exact.risk import PopulationRisk
from patch_association.training.valley import best_alpha, curvature, score_drift


def velocity(risk: PopulationRisk, beta: float, gamma: float, rho: float):
    """(d gamma / d tau, d rho / d tau, alpha*) of the reduced flow at one point."""
    alpha = best_alpha(risk, beta, gamma, rho)
    return *score_drift(risk, alpha, beta, gamma, rho), alpha


def portrait(risk: PopulationRisk, beta: float, gammas, rhos):
    """(gamma_dot, rho_dot, alpha*): three (len(rhos), len(gammas)) arrays, the flow on a grid of scores."""
    table = [[velocity(risk, beta, float(g), float(r)) for g in gammas] for r in rhos]
    return tuple(np.moveaxis(np.array(table), 2, 0))


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
    if taus.ndim != 1 or taus.size == 0 or taus[0] < 0 or not (np.diff(taus) > 0).all():
        raise ValueError("taus must be increasing times from 0 on")
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


def lag(risk: PopulationRisk, beta: float, gamma: float, rho: float, step: float = 1e-4) -> float:
    """(alpha - alpha*) / kappa of slow descent at these scores: -(d alpha* / d tau) / (d^2 L / d alpha^2).

    The first-order term of the bound in theorem "Gradient descent follows the reduced flow", as kappa -> 0.
    """
    by_gamma, by_rho, alpha = velocity(risk, beta, gamma, rho)
    length = float(np.hypot(by_gamma, by_rho))
    ahead, behind = (
        best_alpha(risk, beta, gamma + sign * step * by_gamma / length, rho + sign * step * by_rho / length)
        for sign in (1, -1)
    )
    return -(ahead - behind) / (2 * step) * length / curvature(risk, alpha, beta, gamma, rho)
