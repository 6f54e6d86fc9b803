"""The events of section 4.1 in a run of the idealized process, and runs that are long enough to show them."""

from __future__ import annotations

import numpy as np

from patch_association.checks import finite, fits_memory, positive_int
from patch_association.exact.risk import PopulationRisk
from patch_association.training.population import PopulationRun, descend_population
from patch_association.training.steps import Constant
from patch_lab.dynamics.valley import best_alpha, curvature


def stable_rate(risk: PopulationRisk, diagonal: float) -> float:
    """A rate of v so small that alpha does not overshoot: 0.1 / curvature at (alpha*, A0), at most 0.08 / D.

    The bound matters where q is small: there alpha* lies in a flat valley that narrows once gamma grows.
    """
    alpha = best_alpha(risk, diagonal)
    return min(0.1 / curvature(risk, alpha, diagonal), 0.08 / risk.num_patches)


def run_to_the_horizon(risk: PopulationRisk, diagonal: float, horizon: float) -> PopulationRun:
    """The start of Parametrization 3.1, eta_A = D^2 eta, as many steps as give eta_A t = ``horizon``."""
    if finite("horizon", horizon) <= 0:
        raise ValueError(f"horizon must be positive, got {horizon}")
    step = Constant(stable_rate(risk, diagonal))
    steps = round(horizon / step.rates(risk.num_patches)[1])
    kept = spread_steps(steps)
    return descend_population(risk, step, steps=steps, diagonal=diagonal, record=kept, progress=False)


def spread_steps(steps: int, count: int = 3000) -> list[int]:
    """At most ``count`` steps from 0 to ``steps``: all of the first, later ones spread evenly in log t."""
    steps = positive_int("steps", steps, minimum=0)
    count = positive_int("count", count)
    fits_memory(f"a choice of {count:,} steps", 4 * count)
    return (np.unique(np.geomspace(1, steps + 1, count).round().astype(int)) - 1).tolist()


def steps_behind(run: PopulationRun) -> int:
    """The number of recorded steps after the start at which companions are not ahead: gamma <= rho."""
    return int((run.gamma[1:] <= run.rho[1:]).sum())


def overtaken(run: PopulationRun, last: int) -> int | None:
    """T1, the first step with gamma > max_t |rho|, of a run stopped at ``last``; None without one."""
    ahead = run.gamma > np.abs(run.rho[run.steps <= last]).max()
    return int(run.steps[ahead][0]) if ahead.any() else None


def events(run: PopulationRun, alpha_star: float) -> dict:
    """The times of section 4.1 among the recorded steps of a run; None for what does not happen.

    T0 is the first step with alpha >= 0.95 ``alpha_star``, the best alpha at the starting scores. T1 is
    the first with gamma > max_t |rho|, the paper's definition, over this run. ``plateau`` is the first
    with a loss 10% below that at T0. ``alpha_T0``, ``alpha_T1`` and ``alpha_end`` are alpha there, and
    ``alpha_late`` is its largest value from T1 on. ``companions_lose`` is :func:`steps_behind`.
    """
    late = np.flatnonzero(run.alpha >= 0.95 * alpha_star)
    ahead = np.flatnonzero(run.gamma > np.abs(run.rho).max())
    below = np.flatnonzero(run.loss < 0.9 * run.loss[late[0]]) if late.size else late
    below = below[below > late[0]] if late.size else late
    T0, T1, plateau = (int(times[0]) if times.size else None for times in (late, ahead, below))

    def at(values, index, kind=float):
        return None if index is None else kind(values[index])

    return {
        "T0": at(run.steps, T0, int),
        "T1": at(run.steps, T1, int),
        "plateau": at(run.steps, plateau, int),
        "alpha_T0": at(run.alpha, T0),
        "alpha_T1": at(run.alpha, T1),
        "alpha_end": float(run.alpha[-1]),
        "alpha_late": None if T1 is None else float(run.alpha[T1:].max()),
        "companions_lose": steps_behind(run),
    }
