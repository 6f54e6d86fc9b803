"""Evidence: numbers that say how they were obtained and how far they may differ when replayed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Integral

import numpy as np

from patch_association._validate import finite, positive_int
from patch_association.intervals import Estimate, rounded
from patch_association.prose import number, typeset


@dataclass(frozen=True)
class Number:
    """One number of evidence.

    Attributes
    ----------
    name : str
        What was measured, with its setting: "error at D = 64, C = 4, q = 0.25".
    value : float or int
    kind : "exact" or "sampled"
    tolerance : float
        How far a fresh value may lie from the recorded one.
    n : int, optional
        How many draws each value rests on (sampled numbers).
    seeds : int, optional
        How many independent seeds (sampled numbers).
    low, high : float, optional
        A 95% confidence interval (sampled numbers).
    unit : str
    digits : int
        Significant digits shown where there is no interval, whose width would say them.
    """

    name: str
    value: float
    kind: str
    tolerance: float
    n: int | None = None
    seeds: int | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    digits: int = 3

    def differs_from(self, recorded: Number) -> str | None:
        """A sentence that says how this number contradicts the recorded one, or None."""
        if self.name != recorded.name:
            return f"evidence {self.name!r} was recorded as {recorded.name!r}"
        if (self.kind, self.n, self.seeds) != (recorded.kind, recorded.n, recorded.seeds):
            return f"{self.name!r}: how it was obtained has changed since it was recorded"
        if not abs(self.value - recorded.value) <= recorded.tolerance:  # so that a NaN differs too
            return (
                f"{self.name!r} is {self.value!r} now and was recorded as {recorded.value!r}, "
                f"more than its tolerance {recorded.tolerance:.3g} apart"
            )
        return None

    def show(self) -> str:
        """The value as text, with its unit."""
        if isinstance(self.value, int):
            text = f"{self.value:,}"
        elif self.low is not None:
            text = typeset(rounded(self.value, self.low, self.high)[0])
        else:
            text = number(self.value, self.digits)
        return f"{text} {self.unit}".strip()

    def show_basis(self) -> str:
        """How it was obtained: "exact", or interval, n and seeds."""
        if self.kind == "exact":
            return "exact"
        parts = []
        if self.low is not None:
            _, low, high = map(typeset, rounded(self.value, self.low, self.high))
            parts.append(f"95% [{low}, {high}]")
        if self.n is not None:
            parts.append(f"n = {self.n:,}")
        if self.seeds is not None:
            parts.append(f"{self.seeds} seed{'s' if self.seeds > 1 else ''}")
        return ", ".join(parts)

    def as_dict(self) -> dict:
        """The fields that are set, as JSON values."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def exact(name: str, value, *, unit: str = "", digits: int = 3, rtol: float = 1e-9) -> Number:
    """A number that was computed without sampling; integers must be reproduced exactly."""
    if isinstance(value, (Integral, np.bool_)):  # bool is an Integral
        return Number(name, int(value), "exact", 0, unit=unit)
    value = finite(name, value)
    return Number(name, value, "exact", max(rtol * abs(value), 1e-15), unit=unit, digits=digits)


def sampled(
    name: str,
    estimate: Estimate | float,
    *,
    n: int | None = None,
    seeds: int | None = None,
    tolerance: float | None = None,
    unit: str = "",
    digits: int = 2,
) -> Number:
    """A number that rests on draws.

    Parameters
    ----------
    estimate : Estimate or float
        An :class:`~patch_association.intervals.Estimate` brings its interval. A bare number needs
        ``tolerance``.
    n, seeds : int
        Draws per value and independent seeds; at least one is needed.
    tolerance : float, optional
        By default half the interval's width: the seeds are fixed, so a replay differs by rounding
        alone, and anything near the interval's width is a change.
    """
    if n is None and seeds is None:
        raise ValueError(f"sampled evidence {name!r} must say n or seeds")
    n = None if n is None else positive_int("n", n)
    seeds = None if seeds is None else positive_int("seeds", seeds)
    if isinstance(estimate, Estimate):
        value, low, high = estimate.value, estimate.low, estimate.high
        if tolerance is None:
            # Equal values have an interval of no width; another machine may still round differently.
            tolerance = max((high - low) / 2, 1e-9 * abs(value), 1e-15)
    elif tolerance is None:
        raise ValueError(f"sampled evidence {name!r} without an interval must state its tolerance")
    else:
        value, low, high = estimate, None, None
    value, tolerance = finite(name, float(value)), finite("tolerance", float(tolerance), minimum=0)
    if low is not None and not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"sampled evidence {name!r} must have a finite interval, got [{low}, {high}]")
    return Number(name, value, "sampled", tolerance, n, seeds, low, high, unit, digits)
