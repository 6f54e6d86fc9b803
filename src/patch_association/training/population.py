"""Gradient descent on the population risk: the paper's idealized process, as three exact scalars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from patch_association.checks import finite
from patch_association.defaults import DEFAULT, initial_alpha
from patch_association.exact.risk import PopulationRisk
from patch_association.training.steps import (
    LOSS_LIMIT,
    Constant,
    Diverged,
    bar,
    check_on_divergence,
    check_step,
    recorded_steps,
)


@dataclass(frozen=True)
class PopulationRun:
    """What :func:`descend_population` recorded; arrays are (R,), one value a recorded step.

    Attributes
    ----------
    step : Constant
        With its score rate written out.
    steps : integers
    alpha, gamma, rho : arrays
        v = alpha w*; scores inside a set; scores across sets.
    loss, error : arrays
        Exact population risk, and P[yF < 0] + P[F = 0] / 2.
    gradient : (R, 3) array
        Of the loss by (alpha, gamma, rho), summed over the entries that share a scalar.
    entry_gradient : (R, 3) array
        The same for one entry: gamma's divided by D (C-1), rho's by D (D-C). The update of a step
        is ``-(rate, score_rate, score_rate) * entry_gradient`` where nothing is clipped.
    diverged_at : int or None
    """

    num_patches: int
    set_size: int
    diagonal: float
    step: Constant
    steps: np.ndarray
    alpha: np.ndarray
    gamma: np.ndarray
    rho: np.ndarray
    loss: np.ndarray
    error: np.ndarray
    gradient: np.ndarray
    diverged_at: int | None = None

    def __repr__(self) -> str:
        text = (
            f"PopulationRun({self.num_patches} patches in sets of {self.set_size}, {len(self.steps)} records"
        )
        if len(self.steps):
            names = ("loss", "error", "alpha", "gamma", "rho")
            ends = ", ".join(f"{name} {getattr(self, name)[-1]:.3g}" for name in names)
            text += f", step {self.steps[-1]}: {ends}"
        return text + ")"

    @property
    def entry_gradient(self) -> np.ndarray:
        return self.gradient / _shared_entries(self.num_patches, self.set_size)


def descend_population(
    risk: PopulationRisk,
    step: Constant,
    *,
    steps: int,
    diagonal: float = DEFAULT.diagonal,
    alpha: float | None = None,
    gamma: float = 0.0,
    rho: float = 0.0,
    record=None,
    on_divergence: str = "raise",
    progress: bool | None = None,
) -> PopulationRun:
    """Run (GD) on (P), exactly.

    A_ij <- A_ij - eta_A dL/dA_ij and v <- v - eta dL/dv keep the family of Lemmas 4.1 and 4.2. As
    gamma stands in D (C-1) entries, each gets the share 1 / (D (C-1)) of dL/dgamma:

        alpha <- alpha - eta   dL/dalpha
        gamma <- gamma - eta_A dL/dgamma / (D (C-1))
        rho   <- rho   - eta_A dL/drho   / (D (D-C))

    Parameters
    ----------
    risk : PopulationRisk
    step : Constant
        The rates eta of v and eta_A of the scores.
    steps : int
        T.
    diagonal : float
        sigma_A = beta, fixed.
    alpha, gamma, rho : float
        The start; by default that of Parametrization 3.1, nu^(1/(p-1)), 0, 0.
    record : None, int or list of int
        Every step, every k-th, or these (:func:`~patch_association.training.steps.recorded_steps`).
    on_divergence : "raise" or "flag"
        "flag" returns the run up to there, with ``diverged_at`` set.
    progress : bool, optional
        The bar of runs over five seconds; by default on a terminal only.

    Raises
    ------
    Diverged
        When the loss leaves all bounds; it carries where, the rates and the run so far.
    ValueError
        On bad arguments.

    Examples
    --------
    >>> run = descend_population(PopulationRisk(16, 4, 0.3), Constant(0.02), steps=100)
    >>> bool(run.gamma[-1] > run.rho[-1])
    True
    """
    if not isinstance(risk, PopulationRisk):
        raise ValueError(f"risk must be a PopulationRisk, got {type(risk).__name__}")
    chosen = recorded_steps(steps, record)
    step = check_step(step, risk.num_patches)
    rate, score_rate = step.rates(risk.num_patches)
    check_on_divergence(on_divergence)
    diagonal = finite("diagonal", diagonal)
    alpha = initial_alpha(risk.degree, risk.linear) if alpha is None else finite("alpha", alpha)
    point = np.array([alpha, finite("gamma", gamma), finite("rho", rho)])
    move = np.array([rate, score_rate, score_rate]) / _shared_entries(risk.num_patches, risk.set_size)

    wanted = set(chosen.tolist())
    rows = []
    kept = []
    diverged_at = None
    for t in bar(steps, progress, "population"):
        try:
            loss, gradient = risk.loss_and_gradient(point[0], diagonal, point[1], point[2])
        except ValueError:  # the scalars themselves left float64
            loss = math.inf
            gradient = np.full(3, math.nan)
        if not loss <= LOSS_LIMIT or not np.isfinite(gradient).all():
            diverged_at = t
            break
        if t in wanted:
            error = risk.error(point[0], diagonal, point[1], point[2])
            rows.append((*point, loss, error, *gradient))
            kept.append(t)
        if t < steps:
            point = point - float(step.share(abs(point[0]), abs(gradient[0]))) * move * gradient
    table = np.array(rows).reshape(-1, 8)
    asked = risk.num_patches, risk.set_size, diagonal, step, np.array(kept, dtype=np.int64)
    run = PopulationRun(*asked, *table[:, :5].T, gradient=table[:, 5:], diverged_at=diverged_at)
    if diverged_at is not None and on_divergence == "raise":
        raise Diverged(diverged_at, step, run=run)
    return run


def _shared_entries(D: int, C: int) -> np.ndarray:
    """How many entries move together with (alpha, gamma, rho); 1 where there is none."""
    return np.array([1.0, max(1, D * (C - 1)), max(1, D * (D - C))])
