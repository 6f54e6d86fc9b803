"""The sweeps ``idealized`` and ``idealized-degree``: exact gradient descent on the population risk."""

from __future__ import annotations

import numpy as np

from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.events import events, run_to_the_horizon, spread_steps
from patch_lab.dynamics.valley import best_alpha
from patch_lab.kit.conventions import SMALL_START
from patch_lab.kit.records import rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

#: eta_A t at the end of a run: how long the scores had, on their own clock.
HORIZON = {16: 12_000, 24: 12_000, 36: 6000}
#: Atoms of this total probability may be left out where the law is large.
PRUNE = {36: 1e-8}
SINGLE_RATE_STEPS = 400_000
SINGLE_RATE = 0.01


def idealized_cell(part: str, D: int, q: float, diagonal: float, degree: int = SMALL_START.degree) -> dict:
    """One run. ``part`` "grid": eta_A = D^2 eta, to the horizon. "single rate": eta_A = eta, the paper's.

    "degree" is the grid's run with another ``degree`` p of the activation.
    """
    risk = PopulationRisk(D, SMALL_START.set_size, q, degree, SMALL_START.linear, prune=PRUNE.get(D))
    if part == "single rate":
        step = Constant(SINGLE_RATE, score_rate=SINGLE_RATE)
        steps = SINGLE_RATE_STEPS
        record = spread_steps(steps)
        run = descend_population(risk, step, steps=steps, diagonal=diagonal, record=record, progress=False)
    else:
        run = run_to_the_horizon(risk, diagonal, HORIZON[D])
    alpha_star = best_alpha(risk, diagonal)
    kept = np.searchsorted(run.steps, spread_steps(int(run.steps[-1]), 40))
    columns = {name: getattr(run, name)[kept] for name in ("alpha", "gamma", "rho", "loss", "error")}
    return {
        "rate": run.step.rate,
        "alpha_star": alpha_star,
        "start_error": risk.error(alpha_star, diagonal, 0.0, 0.0),
        **events(run, alpha_star),
        "steps": run.steps[kept].tolist(),
        **rounded(columns, 6),
    }


def _config(**own) -> dict:
    return {
        "set_size": SMALL_START.set_size,
        "linear": SMALL_START.linear,
        "score_rate": "D^2 rate, on the grid",
        "horizon": {str(D): h for D, h in HORIZON.items()},
        "single_rate": SINGLE_RATE,
        **own,
    }


SWEEPS = (
    Sweep(
        name="idealized",
        summary="The exact idealized process over D, q and the diagonal: association, error, Events I "
        "to III.",
        cells=(
            *grid(part="grid", D=(16, 24), q=(0.1, 0.2, 0.3, 0.4, 0.6, 0.8), diagonal=(1.0, 2.0, 4.0)),
            *grid(part="grid", D=36, q=(0.1, 0.2), diagonal=(1.0, 2.0, 4.0)),
            *grid(part="single rate", D=16, q=0.3, diagonal=(1.0, 4.0)),
        ),
        run=idealized_cell,
        config=_config(degree=SMALL_START.degree),
        data="an exactly known law",
    ),
    Sweep(
        name="idealized-degree",
        summary="The idealized process with steeper activations, p = 5 and 7.",
        cells=grid(part="degree", D=16, q=(0.2, 0.4, 0.6), diagonal=(1.0, 2.0), degree=(5, 7)),
        run=idealized_cell,
        config=_config(),
        data="an exactly known law",
    ),
)
