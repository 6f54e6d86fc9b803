"""The sweeps ``large-lead`` and ``large-lead-wide``: runs beside the trap, and where association dies out."""

from __future__ import annotations

import numpy as np

from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.large_lead import follow_into_trap
from patch_lab.dynamics.slow_scores import flow_line
from patch_lab.kit.records import rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

SET_SIZE = 2
DEGREE = 3
#: Times at which a line is kept, in the clock in which scores have the rate D^2.
TIMES = np.geomspace(1e-2, 1e8, 161)
#: The probability that may be left out of a law.
PRUNE = 1e-13

CONFIG = {
    "set_size": SET_SIZE,
    "degree": DEGREE,
    "linear": 0.0,
    "times": "161 from 1e-2 to 1e8, in even steps of their logarithm; scores have the rate D^2",
    "prune": PRUNE,
}


def large_lead_cell(part: str, D: int, features: float, diagonal: float) -> dict:
    """One line of the reduced flow from scores zero, with its error at each kept time.

    ``part`` says what it is for: "trap" (scores in the trap) or "border" (beside the condition's border).
    """
    line = follow_into_trap(SET_SIZE, features, DEGREE, diagonal, D, TIMES)
    risk = PopulationRisk(D, SET_SIZE, features / (D - SET_SIZE), DEGREE, 0.0, prune=PRUNE)
    top = int(line.gamma.argmax())
    peak = float(line.gamma[top])
    if 0 < top < len(TIMES) - 1:  # between the kept times
        between = (line.tau[top + 1] - line.tau[top - 1]) * np.arange(1, 401) / 400
        fine = flow_line(risk, diagonal, between, float(line.gamma[top - 1]), float(line.rho[top - 1]))
        peak = float(fine.gamma.max())
    points = zip(line.alpha, line.gamma, line.rho)
    errors = [risk.error(alpha, diagonal, gamma, rho) for alpha, gamma, rho in points]
    kept = {"gamma": line.gamma, "rho": line.rho, "lead": line.gamma - line.rho, "error": errors}
    return {"peak": peak, **rounded({name: np.array(x) for name, x in kept.items()}, 9)}


SWEEPS = (
    Sweep(
        name="large-lead",
        summary="The reduced flow at up to 768 patches with a fixed mean number of random features.",
        cells=(
            *grid(part="trap", D=(24, 48, 96, 192, 384, 768), features=3.6, diagonal=(0.05, 1.0)),
            *grid(part="border", D=(48, 192, 768), features=0.3, diagonal=(0.02, 0.1)),
            *grid(part="border", D=(24, 48, 96), features=11.0, diagonal=0.02),
        ),
        run=large_lead_cell,
        config=CONFIG,
        data="an exactly known law",
    ),
    Sweep(
        name="large-lead-wide",
        summary="The same at 1,152 patches, and between the border and where gamma rests at the diagonal.",
        cells=(
            *grid(part="trap", D=1152, features=3.6, diagonal=(0.05, 1.0)),
            *grid(part="border", D=(48, 192, 768), features=0.3, diagonal=0.04),
        ),
        run=large_lead_cell,
        config=CONFIG,
        data="an exactly known law",
    ),
)
