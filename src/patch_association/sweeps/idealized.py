"""The sweep ``idealized``: exact gradient descent on the population risk, over sizes, q and diagonals."""

from __future__ import annotations

import numpy as np

from patch_association.exact.risk import PopulationRisk
from patch_association.sweeps.sweep import Sweep
from patch_association.training import Constant, PopulationRun, descend_population
from patch_association.training.valley import best_alpha, curvature

SET_SIZE = 4
DEGREE, LINEAR = 3, 1e-4
#: eta_A t at the end of a run: how long the scores had, on their own clock.
HORIZON = {16: 12_000, 24: 12_000, 36: 6000}
#: Atoms of this total probability may be left out where the law is large.
PRUNE = {36: 1e-8}
GRID = {16: (0.1, 0.2, 0.3, 0.4, 0.6, 0.8), 24: (0.1, 0.2, 0.3, 0.4, 0.6, 0.8), 36: (0.1, 0.2)}
DIAGONALS = (1.0, 2.0, 4.0)
SINGLE_RATE_STEPS, SINGLE_RATE = 400_000, 0.01


def make_risk(D: int, q: float) -> PopulationRisk:
    """The population risk of a cell."""
    return PopulationRisk(D, SET_SIZE, q, DEGREE, LINEAR, prune=PRUNE.get(D))


def stable_rate(risk: PopulationRisk, diagonal: float) -> float:
    """A rate of v so small that alpha does not overshoot: 0.1 / curvature at (alpha*, A0), at most 0.08 / D.

    The bound matters where q is small: there alpha* lies in a flat valley that narrows once gamma grows.
    """
    alpha = best_alpha(risk, diagonal)
    return min(0.1 / curvature(risk, alpha, diagonal), 0.08 / risk.num_patches)


def run_to_the_horizon(risk: PopulationRisk, diagonal: float, horizon: float) -> PopulationRun:
    """The start of Parametrization 3.1, eta_A = D^2 eta, as many steps as give eta_A t = ``horizon``."""
    rate, ratio = stable_rate(risk, diagonal), risk.num_patches**2
    steps = round(horizon / (ratio * rate))
    return descend_population(
        risk,
        Constant(rate, ratio * rate),
        steps=steps,
        diagonal=diagonal,
        record=spread_steps(steps),
        progress=False,
    )


def spread_steps(steps: int, count: int = 3000) -> list[int]:
    """At most ``count`` steps from 0 to ``steps``: all of the first, later ones spread evenly in log t."""
    return (np.unique(np.geomspace(1, steps + 1, count).round().astype(int)) - 1).tolist()


def events(run: PopulationRun, alpha_star: float) -> dict:
    """The times of section 4.1 among the recorded steps of a run; None for what does not happen.

    T0 is the first step with alpha >= 0.95 ``alpha_star``, the best alpha at the starting scores. T1 is
    the first with gamma > max_t |rho|, the paper's definition, over this run. ``plateau`` is the first
    with a loss 10% below that at T0. ``alpha_T0``, ``alpha_T1`` and ``alpha_end`` are alpha there, and
    ``alpha_late`` is its largest value from T1 on. ``companions_lose`` counts the recorded steps after
    the start at which gamma <= rho.
    """
    late = np.flatnonzero(run.alpha >= 0.95 * alpha_star)
    ahead = np.flatnonzero(run.gamma > np.abs(run.rho).max())
    below = np.flatnonzero(run.loss < 0.9 * run.loss[late[0]]) if late.size else late
    below = below[below > late[0]] if late.size else late
    T0, T1, plateau = (int(found[0]) if found.size else None for found in (late, ahead, below))

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
        "companions_lose": int((run.gamma[1:] <= run.rho[1:]).sum()),
    }


def idealized_cell(part: str, D: int, q: float, diagonal: float) -> dict:
    """One run. ``part`` "grid": eta_A = D^2 eta, to the horizon. "single rate": eta_A = eta, the paper's."""
    risk = make_risk(D, q)
    if part == "single rate":
        run = descend_population(
            risk,
            Constant(SINGLE_RATE, score_rate=SINGLE_RATE),
            steps=SINGLE_RATE_STEPS,
            diagonal=diagonal,
            record=spread_steps(SINGLE_RATE_STEPS),
            progress=False,
        )
    else:
        run = run_to_the_horizon(risk, diagonal, HORIZON[D])
    alpha_star = best_alpha(risk, diagonal)
    kept = np.searchsorted(run.steps, spread_steps(int(run.steps[-1]), 40))
    columns = {"alpha": run.alpha, "gamma": run.gamma, "rho": run.rho, "loss": run.loss, "error": run.error}
    return {
        "rate": run.step.rate,
        "alpha_star": alpha_star,
        "start_error": risk.error(alpha_star, diagonal, 0.0, 0.0),
        **events(run, alpha_star),
        "steps": run.steps[kept].tolist(),
        **{name: [float(f"{x:.6g}") for x in values[kept]] for name, values in columns.items()},
    }


def select(results: list[dict], part: str = "grid", **settings) -> list[dict]:
    """The cells of a part with these settings."""
    return [row for row in results if row["part"] == part and all(row[k] == v for k, v in settings.items())]


SWEEPS = (
    Sweep(
        name="idealized",
        summary="The exact idealized process over D, q and the diagonal: association, error, Events I "
        "to III.",
        cells=(
            *(
                dict(part="grid", D=D, q=q, diagonal=s)
                for D, qs in GRID.items()
                for q in qs
                for s in DIAGONALS
            ),
            *(dict(part="single rate", D=16, q=0.3, diagonal=s) for s in (1.0, 4.0)),
        ),
        run=idealized_cell,
        config={
            "set_size": SET_SIZE,
            "degree": DEGREE,
            "linear": LINEAR,
            "score_rate": "D^2 rate, on the grid",
            "horizon": {str(D): h for D, h in HORIZON.items()},
            "single_rate": SINGLE_RATE,
        },
    ),
)
