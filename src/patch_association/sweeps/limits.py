"""The sweep ``limits``: where gradient descent stops finding the sets, and how long it takes."""

from __future__ import annotations

import numpy as np
import torch

from patch_association.data import SpatialData
from patch_association.exact.risk import PopulationRisk
from patch_association.records import rounded
from patch_association.structure import Partition
from patch_association.sweeps.sweep import Sweep
from patch_association.training import Constant, HeldOut, Samples, descend, realistic_start
from patch_association.training.population import descend_population
from patch_association.training.valley import best_alpha, curvature, follow_valley, score_drift

C = 4
DIAGONALS = (1.0, 2.0, 3.0)
FALL_STEPS = 3000
LIFETIME = dict(num_patches=16, dim=16, q=0.4, rate=0.02, ratio=256, steps=600, every=15)
LIFETIME_COLUMNS = (
    "recall",
    "margin",
    "test_error",
    "train_error",
    "inside_mean",
    "outside_mean",
    "outside_std",
)


def fall_cell(D: int, q: float, diagonal: float) -> dict:
    """What one gradient at (alpha*, A = beta I) says about gamma - rho, and what a full run does.

    The run starts there, with a quarter of the rate of v that is stable there, and the scores D^2 faster.
    A second run, ``paper``, starts at the paper's alpha = nu^(1/2) = 0.1 where that is below alpha*.
    """
    risk = PopulationRisk(D, C, q)
    alpha = best_alpha(risk, diagonal)
    inside, outside = score_drift(risk, alpha, diagonal)
    rate = 0.5 / curvature(risk, alpha, diagonal)

    def end(start):
        run = descend_population(
            risk,
            Constant(rate),
            steps=FALL_STEPS,
            diagonal=diagonal,
            alpha=start,
            record=FALL_STEPS // 10,
            on_divergence="flag",
            progress=False,
        )
        return {
            "steps": int(run.steps[-1]),
            "gamma": float(run.gamma[-1]),
            "rho": float(run.rho[-1]),
            "error": float(run.error[-1]),
            "diverged": run.diverged_at is not None,
        }

    found = {"alpha": alpha, "drift_inside": float(inside), "drift_outside": float(outside), "rate": rate}
    return found | {"valley": end(alpha), "paper": end(0.1) if alpha > 0.1 else None}


def lifetime_cell(n: int, seed: int) -> dict:
    """A run on n samples, watched for longer than it should last."""
    s = LIFETIME
    law = SpatialData(Partition.blocks(4, 4, 2, 2), s["dim"], s["q"])
    samples = Samples.draw(law, n, [seed], dtype=torch.float64)
    test = HeldOut(law, 20_000, seed=1000 + seed)
    run = descend(
        samples,
        realistic_start(law, [seed]),
        Constant(s["rate"], s["ratio"] * s["rate"]),
        steps=s["steps"],
        record=s["every"],
        test=test,
        on_divergence="flag",
        progress=False,
    )
    # A run that diverged leaves the later places empty.
    values = {name: getattr(run, name)[:, 0].astype(float) for name in LIFETIME_COLUMNS}
    return rounded(values)


def valley_cell(D: int, q: float) -> dict:
    """How long a run takes until gamma - rho = 1 at diagonal 1, with alpha at its best throughout."""
    risk = PopulationRisk(D, C, q)
    valley = follow_valley(risk, beta=1.0, until=1.0, points=40)
    return {
        "atoms": int(risk.probability.size),
        "time": float(valley.time[-1]),
        "rate": valley.stable_rate(),
        "alpha": [float(valley.alpha[0]), float(valley.alpha[-1])],
        "curvature": [float(valley.curvature[0]), float(valley.curvature[-1])],
    }


def limits_cell(part: str, **cell) -> dict:
    """A cell of one of the three parts."""
    return {"fall": fall_cell, "lifetime": lifetime_cell, "valley": valley_cell}[part](**cell)


def select(results: list[dict], part: str, **where) -> list[dict]:
    """The cells of one part with these values."""
    found = [r for r in results if r["part"] == part and all(r[k] == v for k, v in where.items())]
    if not found:
        raise ValueError(f"there is no cell of part {part!r} with {where}")
    return found


def margin(end: dict) -> float:
    """gamma - rho at the end of a run of a "fall" cell."""
    return end["gamma"] - end["rho"]


def name_of_cell(cell: dict) -> str:
    """A "fall" cell for the prose, as plain text."""
    return f"D = {cell['D']}, q = {cell['q']:g} with diagonal {cell['diagonal']:g}"


def foretold(cell: dict) -> bool:
    """Whether the sign of one gradient is that of the margin at the end of the run from the floor."""
    return (cell["drift_inside"] > cell["drift_outside"]) == (margin(cell["valley"]) > 0)


def lifetimes(results: list[dict]) -> dict:
    """{n: {column: (seeds, records) array}} of the lifetime cells, NaN where a run has diverged."""
    counts = sorted({row["n"] for row in results if row["part"] == "lifetime"})
    return {
        n: {
            name: np.array([row[name] for row in select(results, "lifetime", n=n)], dtype=np.float64)
            for name in LIFETIME_COLUMNS
        }
        for n in counts
    }


def lifetime_table(cells: dict) -> str:
    """A Markdown table of :func:`lifetimes`: when association is exact, and the errors."""
    lines = [
        "| $N$ | exact at some step | at the end | recorded steps with it | test error | training error |"
    ]
    lines.append("|" + "---|" * 6)
    for n, v in cells.items():
        exact, seeds, records = v["margin"] > 0, *v["margin"].shape
        test, train = (100 * np.nanmean(v[name][:, -1]) for name in ("test_error", "train_error"))
        lines.append(
            f"| {n:,} | {exact.any(axis=1).sum()} of {seeds} | {exact[:, -1].sum()} of {seeds} "
            f"| {exact.sum(axis=1).mean():.1f} of {records} | {test:.2f}% | {train:.2f}% |"
        )
    return "\n".join(lines)


LIMITS = Sweep(
    name="limits",
    summary="Where gamma falls, how long association lasts on N samples, how long the single rate takes.",
    cells=(
        *(
            dict(part="fall", D=D, q=q, diagonal=diagonal)
            for D in (12, 16, 20, 24, 28)
            for diagonal in DIAGONALS
            for q in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
        ),
        *(dict(part="valley", D=D, q=round(4.8 / D, 5)) for D in (16, 24, 36, 64, 100, 144, 196)),
        *(dict(part="valley", D=D, q=q) for D, q in ((16, 0.4), (36, 0.2), (64, 0.1), (196, 0.02))),
        *(
            dict(part="lifetime", n=n, seed=seed)
            for n in (500, 1000, 2000, 4000, 8000, 16_000, 32_000)
            for seed in range(200, 205)
        ),
    ),
    run=limits_cell,
    config={
        "set_size": C,
        "degree": 3,
        "linear": 0.01,
        "diagonals": DIAGONALS,
        "fall_steps": FALL_STEPS,
        "lifetime": LIFETIME,
    },
)


# --- a diagonal of zero ------------------------------------------------------------------------


def zero_cell(seed: int, n: int, diagonal: float) -> dict:
    """A run at this diagonal: error and recall over time, and which set each row attends to at the end.

    ``shares`` is (D, L): how much of a row's attention goes to each set.
    """
    s = LIFETIME
    law = SpatialData(Partition.blocks(4, 4, 2, 2), s["dim"], s["q"])
    samples = Samples.draw(law, n, [seed], dtype=torch.float64)
    run = descend(
        samples,
        realistic_start(law, [seed], diagonal),
        Constant(s["rate"], s["ratio"] * s["rate"]),
        steps=s["steps"],
        record=50,
        progress=False,
        test=HeldOut(law, 50_000, seed=1000 + seed),
    )
    A = run.final.scores[0]
    S = torch.softmax(A, dim=1)
    shares = torch.stack([S[:, law.partition.labels == label].sum(dim=1) for label in range(4)], dim=1)
    result = {name: rounded(getattr(run, name)[:, 0]) for name in ("test_error", "recall")}
    return result | {
        "shares": rounded(shares, 4),
        "scores": rounded(A, 3),
        "steps": run.steps.tolist(),
    }


def watchers(run: dict) -> list[tuple[int, int]]:
    """(row, set) for each row that gives more than half of its attention to one set."""
    shares = np.array(run["shares"])
    return [(int(i), int(shares[i].argmax())) for i in np.flatnonzero(shares.max(axis=1) > 0.5)]


ZERO = Sweep(
    name="zero-diagonal",
    summary="Training with the diagonal of A at zero: what the model learns in place of patch association.",
    cells=tuple(dict(seed=seed, n=20_000, diagonal=0.0) for seed in range(300, 310)),
    run=zero_cell,
    config={key: LIFETIME[key] for key in ("num_patches", "dim", "q", "rate", "ratio", "steps")},
)

SWEEPS = (LIMITS, ZERO)
