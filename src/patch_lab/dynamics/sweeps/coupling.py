"""The realistic process beside the idealized one, from the same start; and with one setting turned."""

from __future__ import annotations

from functools import partial

import numpy as np

from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.training import Constant, Descent, Samples, descend, idealized_start
from patch_association.training.population import descend_population
from patch_lab.dynamics.realistic import perturbed_start
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.sweeps.sweep import Sweep, grid

D = 16
C = 4
DIM = 16
Q = 0.4
STEP = Constant(0.02)
STEPS = 120
EVERY = 5
OMEGAS = (0.001, 0.003, 0.01, 0.03)
LAW = SpatialData(Partition.blocks(4, 4, 2, 2), DIM, Q)
OFF = ~np.eye(D, dtype=bool)


def coupling_cell(
    part: str, seed: int, n: int, q: float = Q, rate: float = STEP.rate, steps: int = STEPS
) -> dict:
    """One seed. ``part`` "samples": the exact start, n samples. ``part`` "start": perturbed starts.

    "samples" gives the columns of the run and how far A is from the ideal one, entry by entry.
    "start" gives, for each omega, how far a run from A = N(0, omega^2), v = 0.1 w* + N(0, omega^2) I
    gets from the run from the exact start *on the same samples*; and the run from the paper's own
    Gaussian start, v = N(0, 0.01^2) I.
    """
    law = SpatialData(LAW.partition, DIM, q)
    step = Constant(rate)
    samples = Samples.draw(law, n, [seed])
    follow = partial(_run, samples, step=step, steps=steps)
    base, base_A = follow(idealized_start(law))
    if part == "samples":
        risk = PopulationRisk(D, C, q)
        ideal = descend_population(risk, step, steps=steps, record=EVERY, progress=False)
        same = law.partition.same_set
        expected = np.where(same, ideal.gamma[:, None, None], ideal.rho[:, None, None])  # (R, D, D)
        gaps = (base_A - expected)[:, OFF]
        entries = {"entry_rms": np.sqrt((gaps**2).mean(axis=1)), "entry_max": np.abs(gaps).max(axis=1)}
        return rounded(_columns(base) | entries, 6)
    result = {"base": _columns(base)}
    for omega in OMEGAS:
        moved, A = follow(perturbed_start(law, seed, omega))
        result[f"omega {omega:g}"] = {
            "entry_rms": np.sqrt(((A - base_A) ** 2)[:, OFF].mean(axis=1)),
            "alpha": np.abs(moved.alpha - base.alpha)[:, 0],
            "loss": np.abs(moved.loss - base.loss)[:, 0],
        }
    gaussian, _ = follow(perturbed_start(law, seed, 0.01, alpha=0.0))
    return rounded(result | {"gaussian": _columns(gaussian)}, 6)


def _run(samples, start, step, steps):
    at = np.arange(0, steps + 1, EVERY)
    run = descend(samples, start, step, steps=steps, record=at, how=Descent(snapshots=at), progress=False)
    return run, np.array([run.scores[t][0] for t in at])  # (R, D, D)


def _columns(run) -> dict:
    names = ("loss", "alpha", "inside_mean", "outside_mean", "orthogonal")
    return {name: getattr(run, name)[:, 0] for name in names}


_CONFIG = {
    "num_patches": D,
    "set_size": C,
    "dim": DIM,
    "q": Q,
    "rate": STEP.rate,
    "ratio": D**DEFAULT.score_rate_power,
    "steps": STEPS,
    "every": EVERY,
    "diagonal": DEFAULT.diagonal,
    "degree": DEFAULT.degree,
    "linear": DEFAULT.linear,
}
#: One turned at a time: q, the rate at the same time, the number of steps.
TURNED = (
    dict(q=0.3, rate=0.02, steps=120),
    dict(q=0.6, rate=0.02, steps=120),
    dict(q=0.4, rate=0.01, steps=240),
    dict(q=0.4, rate=0.02, steps=200),
)

SWEEPS = (
    Sweep(
        name="coupling",
        summary="The empirical process beside the exact population process: gaps against N and "
        "against omega.",
        cells=(
            *grid(part="samples", n=(1000, 2000, 4000, 8000, 16_000, 32_000, 64_000), seed=range(100, 108)),
            *grid(part="start", n=16_000, seed=range(100, 106)),
        ),
        run=coupling_cell,
        config=_CONFIG,
        data=lambda: sample_source(LAW, 100),
    ),
    Sweep(
        name="coupling-turned",
        summary="The same with another q, rate or number of steps.",
        cells=tuple(
            cell | settings
            for settings in TURNED
            for cell in (
                *grid(part="samples", n=(4000, 8000, 16_000, 32_000), seed=range(100, 105)),
                *grid(part="start", n=(4000,), seed=range(100, 105)),
            )
        ),
        run=coupling_cell,
        config=_CONFIG,
        data=lambda: sample_source(LAW, 100),
    ),
)
