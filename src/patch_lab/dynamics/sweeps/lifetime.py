"""The sweep ``lifetime``: how long association should last, predicted for the cells of ``transience``."""

from __future__ import annotations

import numpy as np

from patch_association.defaults import DEFAULT
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import association
from patch_association.training import Constant
from patch_association.training.population import descend_population
from patch_lab.dynamics.lifetime import ScoreNoise
from patch_lab.dynamics.sweeps.transience import COUNTS, QS, SETTING
from patch_lab.kit.records import rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

DRAWS = 20
#: Some steps of the record ``transience``.
STEPS = (60, 120, 180, 240, 300, 420, 540, 720, 900)
DATA = (SETTING["num_patches"], SETTING["set_size"])


def lifetime_cell(q: float) -> dict:
    """For every N the predicted share of exact runs, and the median of their worst margins, at each step."""
    noise = ScoreNoise(*DATA, q)
    step = Constant(SETTING["rate"], SETTING["score_rate"])
    path = descend_population(PopulationRisk(*DATA, q), step, steps=max(STEPS), record=1, progress=False)
    deviations = noise.deviations(path, STEPS)
    share = {}
    margin = {}
    for n in COUNTS:
        tries = [
            association(noise.draw_scores(at, n, DEFAULT.init_std, DRAWS), noise.partition)
            for at in deviations
        ]
        share[str(n)] = [float(run.exact.mean()) for run in tries]
        margin[str(n)] = rounded([float(np.median(run.margin)) for run in tries], 4)
    return {
        "steps": [at.step for at in deviations],
        "rms": rounded([at.rms() for at in deviations]),
        "gap": rounded([at.gamma - at.rho for at in deviations]),
        "amplified": rounded([at.amplified() for at in deviations]),
        "share": share,
        "margin": margin,
    }


LIFETIME = Sweep(
    name="lifetime",
    summary="How long association should last on N inputs, to first order, with nothing fitted.",
    cells=grid(q=QS),
    run=lifetime_cell,
    config={**SETTING, "predicted": STEPS, "counts": COUNTS, "init_std": DEFAULT.init_std, "draws": DRAWS},
)
SWEEPS = (LIFETIME,)
