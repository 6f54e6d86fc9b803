"""The sweeps ``limits`` and ``zero-diagonal``: where descent stops finding the sets, and when."""

from __future__ import annotations

import torch

from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.training import Constant, HeldOut, Samples, descend, realistic_start
from patch_association.training.population import descend_population
from patch_lab.dynamics.valley import best_alpha, curvature, follow_valley, score_drift
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.sweeps.sweep import Sweep, grid

C = DEFAULT.set_size
DIAGONALS = (1.0, 2.0, 3.0)
FALL_STEPS = 3000
LAW = SpatialData(Partition.blocks(4, 4, 2, 2), 16, 0.4)
LIFETIME = {"num_patches": 16, "dim": 16, "q": 0.4, "rate": 0.02, "ratio": 256, "steps": 600, "every": 15}


def fall_cell(D: int, q: float, diagonal: float) -> dict:
    """What one gradient at (alpha*, A = beta I) says about gamma - rho, and what a full run does.

    The run starts there, with a quarter of the rate of v that is stable there, and the scores D^2 faster.
    A second run, ``paper``, starts at the paper's alpha = nu^(1/2) = 0.1 where that is below alpha*.
    """
    risk = PopulationRisk(D, C, q)
    alpha = best_alpha(risk, diagonal)
    inside, outside = score_drift(risk, alpha, diagonal)
    step = Constant(0.5 / curvature(risk, alpha, diagonal))
    how = {"steps": FALL_STEPS, "record": FALL_STEPS // 10, "on_divergence": "flag", "progress": False}

    def end(start):
        run = descend_population(risk, step, diagonal=diagonal, alpha=start, **how)
        last = {name: float(getattr(run, name)[-1]) for name in ("gamma", "rho", "error")}
        return {"steps": int(run.steps[-1]), **last, "diverged": run.diverged_at is not None}

    result = {
        "alpha": alpha,
        "drift_inside": float(inside),
        "drift_outside": float(outside),
        "rate": step.rate,
    }
    return result | {"valley": end(alpha), "paper": end(DEFAULT.alpha) if alpha > DEFAULT.alpha else None}


def lifetime_cell(n: int, seed: int) -> dict:
    """A run on n samples, watched for longer than it should last; after a divergence its places are empty."""
    run = _descend(n, seed, DEFAULT.diagonal, LIFETIME["every"], 20_000)
    names = ("recall", "margin", "test_error", "train_error", "inside_mean", "outside_mean", "outside_std")
    return rounded({name: getattr(run, name)[:, 0] for name in names})


def valley_cell(D: int, q: float) -> dict:
    """How long a run takes until gamma - rho = 1 at diagonal 1, with alpha at its best throughout."""
    risk = PopulationRisk(D, C, q)
    valley = follow_valley(risk, beta=1.0, until=1.0, points=40)
    ends = {name: getattr(valley, name)[[0, -1]].tolist() for name in ("alpha", "curvature")}
    atoms = int(risk.probability.size)
    return {"atoms": atoms, "time": float(valley.time[-1]), "rate": valley.stable_rate(), **ends}


def limits_cell(part: str, **cell) -> dict:
    """A cell of one of the three parts."""
    return {"fall": fall_cell, "lifetime": lifetime_cell, "valley": valley_cell}[part](**cell)


def zero_cell(seed: int, n: int, diagonal: float, length: int = LIFETIME["steps"], **turned) -> dict:
    """A run at this diagonal: error and recall over time, and which set each row attends to at the end.

    ``length`` is its number of steps, and ``turned`` are entries of :data:`LIFETIME` with another value: q,
    rate. ``shares`` is (D, L): how much of a row's attention goes to each set.
    """
    run = _descend(n, seed, diagonal, 50, 50_000, steps=length, **turned)
    A = run.final.scores[0]
    shares = torch.softmax(A, dim=1) @ torch.from_numpy(LAW.partition.indicator).T.to(A)  # (D, D) @ (D, L)
    columns = {name: getattr(run, name)[:, 0] for name in ("test_error", "recall")}
    return rounded({**columns, "shares": rounded(shares, 4), "scores": rounded(A, 3), "steps": run.steps})


def _descend(n: int, seed: int, diagonal: float, every: int, tests: int, **turned):
    """One seed on n samples from the Gaussian start, with test inputs of its own."""
    chosen = LIFETIME | turned
    law = SpatialData(LAW.partition, LAW.dim, chosen["q"])
    return descend(
        Samples.draw(law, n, [seed]),
        realistic_start(law, [seed], diagonal),
        Constant(chosen["rate"]),
        steps=chosen["steps"],
        record=every,
        test=HeldOut(law, tests, seed=1000 + seed),
        on_divergence="flag",
        progress=False,
    )


SWEEPS = (
    Sweep(
        name="limits",
        summary="Where gamma falls, how long association lasts on N samples, how long the single rate takes.",
        cells=(
            *grid(
                part="fall", D=(12, 16, 20, 24, 28), diagonal=DIAGONALS, q=(0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
            ),
            *({"part": "valley", "D": D, "q": round(4.8 / D, 5)} for D in (16, 24, 36, 64, 100, 144, 196)),
            *({"part": "valley", "D": D, "q": q} for D, q in ((16, 0.4), (36, 0.2), (64, 0.1), (196, 0.02))),
            *grid(part="lifetime", n=(500, 1000, 2000, 4000, 8000, 16_000, 32_000), seed=range(200, 205)),
        ),
        run=limits_cell,
        config={
            "set_size": C,
            "degree": DEFAULT.degree,
            "linear": DEFAULT.linear,
            "diagonals": DIAGONALS,
            "fall_steps": FALL_STEPS,
            "lifetime": LIFETIME,
        },
        data=lambda: sample_source(LAW, 200),
    ),
    Sweep(
        name="zero-diagonal",
        summary="Training with the diagonal of A at zero: what the model learns in place of patch "
        "association.",
        cells=grid(seed=range(300, 310), n=20_000, diagonal=0.0),
        run=zero_cell,
        config={key: value for key, value in LIFETIME.items() if key != "every"},
        data=lambda: sample_source(LAW, 300),
    ),
    Sweep(
        name="zero-diagonal-turned",
        summary="The same with another q, sample, rate or number of steps.",
        cells=(
            *grid(seed=range(300, 303), n=20_000, diagonal=0.0, q=(0.2, 0.6), rate=0.02, length=600),
            *grid(seed=range(300, 303), n=5000, diagonal=0.0, q=0.4, rate=0.02, length=600),
            *grid(seed=range(300, 303), n=20_000, diagonal=0.0, q=0.4, rate=(0.005, 0.02), length=2400),
        ),
        run=zero_cell,
        config={key: value for key, value in LIFETIME.items() if key != "every"},
        data=lambda: sample_source(LAW, 300),
    ),
)
