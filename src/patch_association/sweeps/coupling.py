"""The sweep ``coupling``: the realistic process beside the idealized one, from the same start."""

from __future__ import annotations

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association.data import SpatialData
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.sweeps.sweep import Sweep
from patch_association.training import Constant, Samples, Start, descend, idealized_start
from patch_association.training.population import PopulationRun, descend_population

D, C, DIM, Q = 16, 4, 16, 0.4
RATE, RATIO, STEPS, EVERY = 0.02, D**2, 120, 5
SIZES = (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
SEEDS = range(100, 108)
OMEGAS = (0.001, 0.003, 0.01, 0.03)
N_START = 16_000
START_SEEDS = range(100, 106)


def make_law() -> SpatialData:
    """16 patches in 2 x 2 blocks."""
    return SpatialData(Partition.blocks(4, 4, 2, 2), DIM, Q)


def ideal_run(alpha: float = 0.1) -> PopulationRun:
    """The idealized process of the same steps: three exact scalars."""
    return descend_population(
        PopulationRisk(D, C, Q), Constant(RATE, RATIO * RATE), steps=STEPS, alpha=alpha, record=EVERY
    )


def coupling_cell(part: str, seed: int, n: int) -> dict:
    """One seed. ``part`` "samples": the exact start, n samples. ``part`` "start": perturbed starts.

    "samples" gives the columns of the run and how far A is from the ideal one, entry by entry.
    "start" gives, for each omega, how far a run from A = N(0, omega^2), v = 0.1 w* + N(0, omega^2) I
    gets from the run from the exact start *on the same samples*; and the run from the paper's own
    Gaussian start, v = N(0, 0.01^2) I.
    """
    law = make_law()
    samples = Samples.draw(law, n, [seed], dtype=torch.float64)
    if part == "samples":
        run, A = _run(samples, law, idealized_start(law))
        result = _columns(run)
        ideal = ideal_run()
        same = law.partition.same_set
        expected = np.where(same, ideal.gamma[:, None, None], ideal.rho[:, None, None])  # (R, D, D)
        gaps = (A - expected)[:, ~np.eye(D, dtype=bool)]
        return result | {
            "entry_rms": _short(np.sqrt((gaps**2).mean(axis=1))),
            "entry_max": _short(np.abs(gaps).max(axis=1)),
        }
    base, base_A = _run(samples, law, idealized_start(law))
    result = {"base": _columns(base)}
    for omega in OMEGAS:
        moved, A = _run(samples, law, perturbed_start(law, seed, omega))
        gap = np.sqrt(((A - base_A) ** 2)[:, ~np.eye(D, dtype=bool)].mean(axis=1))
        result[f"omega {omega:g}"] = {
            "entry_rms": _short(gap),
            "alpha": _short(np.abs(moved.alpha - base.alpha)[:, 0]),
            "loss": _short(np.abs(moved.loss - base.loss)[:, 0]),
        }
    gaussian, _ = _run(samples, law, perturbed_start(law, seed, 0.01, alpha=0.0))
    return result | {"gaussian": _columns(gaussian)}


def perturbed_start(law: SpatialData, seed: int, omega: float, alpha: float = 0.1) -> Start:
    """A = N(0, omega^2) off the diagonal, v = alpha w* + N(0, omega^2) in each coordinate."""
    draws = generator(seed, Stream.PERTURBED_START)
    noise = torch.from_numpy(draws.standard_normal((D, D)))
    value = torch.from_numpy(draws.standard_normal(DIM))
    start = idealized_start(law, alpha=alpha)
    off = ~torch.eye(D, dtype=torch.bool)
    return Start(start.scores + omega * noise * off, start.value + omega * value)


def sup_gaps(results: list[dict], ideal: PopulationRun) -> dict[str, np.ndarray]:
    """For each column the largest gap over time, (sizes, seeds).

    Loss, alpha and the means of the scores: distance from the idealized run's, divided by the largest
    value that has. |v_perp| and the gaps of single scores, whose ideal is zero: as they are.
    """
    paths = {"loss": ideal.loss, "alpha": ideal.alpha, "inside_mean": ideal.gamma, "outside_mean": ideal.rho}
    gaps = {}
    for name in (*paths, "orthogonal", "entry_rms", "entry_max"):
        path = paths.get(name, np.zeros(len(ideal.steps)))
        scale = np.abs(path).max() or 1.0
        gaps[name] = np.array(
            [
                [
                    np.abs(np.asarray(row[name]) - path).max() / scale
                    for row in results
                    if row["part"] == "samples" and row["n"] == n
                ]
                for n in SIZES
            ]
        )
    return gaps


def delay(row: dict, steps, level: float = 0.3) -> float:
    """How many steps later the mean score inside reaches ``level`` from the paper's Gaussian start."""
    late, early = (np.interp(level, row[which]["inside_mean"], steps) for which in ("gaussian", "base"))
    return float(late - early)


def _run(samples, law, start):
    steps = np.arange(0, STEPS + 1, EVERY)
    run = descend(
        samples,
        start,
        Constant(RATE, RATIO * RATE),
        steps=STEPS,
        record=steps,
        snapshots=steps,
        progress=False,
    )
    return run, np.array([run.scores[t][0] for t in steps])


def _columns(run) -> dict:
    names = ("loss", "alpha", "inside_mean", "outside_mean", "orthogonal")
    return {name: _short(getattr(run, name)[:, 0]) for name in names}


def _short(values) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


SWEEPS = (
    Sweep(
        name="coupling",
        summary="The empirical process beside the exact population process: gaps against N and "
        "against omega.",
        cells=(
            *(dict(part="samples", seed=seed, n=n) for n in SIZES for seed in SEEDS),
            *(dict(part="start", seed=seed, n=N_START) for seed in START_SEEDS),
        ),
        run=coupling_cell,
        config={
            "num_patches": D,
            "set_size": C,
            "dim": DIM,
            "q": Q,
            "rate": RATE,
            "ratio": RATIO,
            "steps": STEPS,
            "every": EVERY,
            "diagonal": 1.0,
            "degree": 3,
            "linear": 0.01,
        },
    ),
)
