"""Adaptive subdivision: an inequality on a region, proved box by box.

A box is split where its own enclosure says that it pays most. A checkpoint keeps the boxes that are left, so
that a long cover can stop and go on, with the same code: one of other code is not taken up.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from patch_association.checks import listed, positive_int, readable
from patch_lab.certify.descent import SCALARS, Undecided
from patch_lab.certify.polynomials import CHARTS

#: Seconds between two checkpoints.
_EVERY = 60.0


@dataclass(frozen=True)
class Inequality:
    """sign * (target + extra) > 0 on a region of a chart, wherever alpha lies in its range.

    Attributes
    ----------
    chart, target : str
        As in :mod:`~patch_lab.certify.polynomials`: "towards" or "away"; "alpha", "gamma" or "rho"
        for the bracket -E[w (...)] that has the sign of that derivative.
    sign : 1 or -1
    alpha : (float, float)
        Boxes on which alpha cannot lie between these are left out.
    y, z : (float, float)
        The ranges of the two other coordinates. That of u follows from alpha.
    drop : int
        A power of y that the bracket is divided by: it has that factor, and its sign at y = 0 is wanted.
    extra : tuple of (Fraction, i, j, k, m)
        Terms coefficient * alpha^i Z^j y^k z^m: with them the inequality bounds one step of descent.

    Raises
    ------
    ValueError
        If there is no such chart or target, the sign is neither 1 nor -1, or a range is no pair (low, high).
    """

    chart: str
    target: str
    sign: int
    alpha: tuple
    y: tuple
    z: tuple
    drop: int = 0
    extra: tuple = ()

    def __post_init__(self):
        for name, known in (("chart", tuple(CHARTS)), ("target", SCALARS), ("sign", (1, -1))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}")
        for name in ("alpha", "y", "z"):
            ends = listed(name, getattr(self, name), "two floats")
            if len(ends) != 2 or not all(isinstance(x, (int, float)) for x in ends) or not ends[0] <= ends[1]:
                raise ValueError(f"{name} must be a pair of floats, the lower first, got {ends!r}")
        positive_int("drop", self.drop, minimum=0)

    def region(self, field):
        """Three sides (low, high) that contain the region; alpha / u = Z / D grows in y and z."""
        low, high = (field.alpha_of(self.chart, [(1.0, 1.0), (y, y), (z, z)]) for y, z in zip(self.y, self.z))
        u = float((self.alpha[0] / high).lower()), float((self.alpha[1] / low).upper())
        u = u[0] * (1 - 2**-40), u[1] * (1 + 2**-40)
        return [u, self.y, self.z]

    def test(self, field, box):
        """(lower bound over the box or None where alpha is out of range, what each side costs)."""
        alpha = field.alpha_of(self.chart, box)
        if alpha < self.alpha[0] or alpha > self.alpha[1]:
            return None, None
        value, slopes = field.enclose(self, box)
        low = value.lower() if self.sign > 0 else -value.upper()
        costs = [float(abs(s).upper()) * (b - a) for s, (a, b) in zip(slopes, box)]
        return float(low) if low > 0 else 0.0, costs


@dataclass
class Covered:
    """What a finished cover says: boxes tested, boxes out of range, the least lower bound, seconds."""

    boxes: int
    outside: int
    least: float
    seconds: float


@cache
def code_version() -> str:
    """A name for the code of this room: boxes that other code decided prove nothing here."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def cover(problem: Inequality, field, *, checkpoint: Path | None = None, most=5_000_000, tell=None):
    """Prove ``problem`` on its whole region; returns :class:`Covered`.

    Raises
    ------
    Undecided
        If a box whose sides are 2^-40 of the region's is still undecided, or after ``most`` boxes.
    """
    region = problem.region(field)
    key = f"{problem!r} {field.name} {code_version()}"
    state = {"problem": key, "stack": [region], "boxes": 0, "outside": 0, "least": None, "seconds": 0.0}
    if checkpoint is not None and checkpoint.exists():
        with readable(f"{checkpoint} is no checkpoint of a cover: remove it to start again"):
            saved = json.loads(checkpoint.read_text())
            boxes = [[(float(low), float(high)) for low, high in box] for box in saved["stack"]]
            if saved.keys() != state.keys() or any(len(box) != 3 for box in boxes):
                raise ValueError(f"expected {', '.join(state)}, and boxes of three sides")
        if saved["problem"] == key:
            state = saved
    stack = state["stack"]
    before = state["seconds"]
    start = last = time.perf_counter()
    while stack:
        box = stack.pop()
        low, costs = problem.test(field, box)
        if low is None:
            state["outside"] += 1
            continue
        state["boxes"] += 1
        if low > 0:
            state["least"] = low if state["least"] is None else min(state["least"], low)
        else:
            if state["boxes"] >= most:
                raise Undecided(f"{problem.target}: {most:,} boxes, and {box} is undecided")
            stack.extend(_halves(box, region, costs, problem))
        now = time.perf_counter()
        if now - last > _EVERY:
            last = now
            state["seconds"] = before + now - start
            if checkpoint is not None:
                _save(checkpoint, state)
            if tell is not None:
                tell(state)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    if state["least"] is None:
        raise Undecided(f"{problem.target}: no box of the region has alpha in {problem.alpha}")
    seconds = before + time.perf_counter() - start
    return Covered(state["boxes"], state["outside"], state["least"], seconds)


def _halves(box, region, costs, problem):
    keys = []
    for (low, high), (least, most), cost in zip(box, region, costs):
        share = (high - low) / (most - least) if most > least else 0.0
        # A cost that is not finite says nothing: go by the width.
        weight = cost if cost < float("inf") else 1e300 * share
        keys.append((share > 2**-40, weight))
    k = keys.index(max(keys))
    if not keys[k][0]:
        raise Undecided(f"{problem.target}: no sign on the smallest boxes, near {box}")
    low, high = box[k]
    middle = (low + high) / 2
    return [[*box[:k], (low, middle), *box[k + 1 :]], [*box[:k], (middle, high), *box[k + 1 :]]]


def _save(path: Path, state):
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(state))
    os.replace(fresh, path)
