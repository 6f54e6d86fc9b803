"""Evidence: numbers that say how they were obtained, and the file in which a chapter's are recorded."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from pathlib import Path

import numpy as np

from patch_association.checks import finite, positive_int, readable
from patch_association.intervals import Estimate, rounded
from patch_lab.kit.files import write_atomically
from patch_lab.kit.prose import number, typeset

#: How a number was obtained, and what a reader sees of it where it has no interval.
KINDS = {
    "exact": "exact",
    "deterministic run": "deterministic run",
    "mean of runs": "mean of runs, no interval",
    "read off runs": "read off runs, no interval",
    "sampled": "",
}


@dataclass(frozen=True)
class Number:
    """One number of evidence.

    Attributes
    ----------
    name : str
        What was measured, with its setting: "error at $D = 64$, $C = 4$". Mathematics between dollar signs.
    value : float or int
    kind : str
        A key of :data:`KINDS`. "exact": computed, with nothing drawn and nothing trained. "deterministic
        run": read off a process without randomness, such as descent on the population from a stated start.
        "mean of runs", "read off runs" (a count, an extreme, one value): of trainings, networks or draws as
        they came, without an interval. "sampled": with an interval, or n or seeds.
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

    def __post_init__(self):
        numbers = (self.value, self.tolerance, *(x for x in (self.low, self.high) if x is not None))
        if not all(isinstance(x, Real) and not isinstance(x, bool) for x in numbers):
            raise ValueError(f"evidence {self.name!r} must hold numbers, got {numbers}")
        if any(isinstance(x, int) and abs(x) >= 2**1023 for x in numbers):
            raise ValueError(f"evidence {self.name!r} must hold numbers below 2^1023, got a larger integer")
        if not isinstance(self.name, str) or not self.name.strip() or self.name.count("$") % 2:
            raise ValueError(f"evidence needs a name with paired dollar signs, got {self.name!r}")
        for name, count in (("n", self.n), ("seeds", self.seeds), ("digits", self.digits)):
            if count is not None:
                positive_int(f"{name} of evidence {self.name!r}", count)
        if self.digits is None or self.digits > 17 or not isinstance(self.unit, str):
            raise ValueError(
                f"evidence {self.name!r} must have a unit in words and at most 17 digits, "
                f"got {self.unit!r} and {self.digits!r}"
            )
        if self.kind not in KINDS or not 0 <= self.tolerance < math.inf:
            raise ValueError(
                f"evidence {self.name!r} must be one of {', '.join(KINDS)}, with a tolerance of at least 0, "
                f"got {self.kind!r} and {self.tolerance!r}"
            )

    @property
    def is_finite(self) -> bool:
        """Whether it can be recorded: at a reader's setting a measure may not be defined."""
        return all(math.isfinite(x) for x in (self.value, self.low, self.high) if x is not None)

    def differs_from(self, recorded: Number) -> str | None:
        """A sentence that says how this number contradicts the recorded one, or None."""
        if self.name != recorded.name:
            return f"is {self.name!r} now and was recorded as {recorded.name!r}"
        obtained = ("kind", "n", "seeds", "unit")
        if any(getattr(self, field) != getattr(recorded, field) for field in obtained):
            return f"({self.name}): how it was obtained has changed since it was recorded"
        if not abs(self.value - recorded.value) <= recorded.tolerance:  # so that a NaN differs too
            return (
                f"({self.name}) is {self.value!r} now and was recorded as {recorded.value!r}, "
                f"more than its tolerance {recorded.tolerance:.3g} apart"
            )
        return None

    def or_recorded(self, recorded: Number | None) -> Number:
        """The recorded number where this one differs by rounding alone: recording again changes nothing."""
        if recorded is None:
            return self
        mine = {field: getattr(self, field) for field in ("value", "tolerance", "low", "high")}
        pairs = [(new, getattr(recorded, field)) for field, new in mine.items()]
        near = all(a == b or (a and b and math.isclose(a, b, rel_tol=1e-9)) for a, b in pairs)
        return recorded if near and replace(recorded, **mine) == self else self

    @property
    def _rounded(self) -> tuple[str, ...]:
        """Value and interval with as many digits as its width justifies; empty without an interval."""
        if self.low is None or self.high is None or not self.is_finite:
            return ()
        return tuple(map(typeset, rounded(self.value, self.low, self.high)))

    def show(self) -> str:
        """The value as text, with its unit."""
        if not math.isfinite(self.value):
            text = "not defined" if math.isnan(self.value) else "infinite"
        elif isinstance(self.value, int):
            text = f"{self.value:,}"
        elif self._rounded:
            text = self._rounded[0]
        else:
            text = number(self.value, self.digits)
        return f"{text} {self.unit}".strip()

    def basis(self) -> str:
        """How it was obtained: the word for its kind, or interval, n and seeds."""
        if self.kind != "sampled":
            return KINDS[self.kind]
        parts = []
        if self._rounded:
            parts.append("95% [{1}, {2}]".format(*self._rounded))
        if self.n is not None:
            parts.append(f"n = {self.n:,}")
        if self.seeds is not None:
            parts.append(f"{self.seeds} seed{'s' if self.seeds > 1 else ''}")
        return ", ".join(parts)

    def __format__(self, spec: str) -> str:
        """As a ``{key}`` of a reason shows it; ``{key:interval}`` adds the interval, ``{key:.1%}`` rounds."""
        if spec == "interval":
            if not self._rounded:
                raise ValueError(f"evidence {self.name!r} has no interval to show")
            return "{} [{}, {}]".format(self.show(), *self._rounded[1:])
        return typeset(format(self.value, spec)) if spec else self.show()

    def as_dict(self) -> dict:
        """The fields that say something, as JSON values."""
        return {key: value for key, value in asdict(self).items() if value not in (None, "")}


@dataclass(frozen=True)
class ChapterRun:
    """What one run of a chapter measured.

    Attributes
    ----------
    parameters : dict
        Every name of the chapter's parameters cell with its value.
    numbers : dict of dict of Number
        By claim and key.
    """

    parameters: Mapping
    numbers: Mapping[str, Mapping[str, Number]]


def read_run(path: Path) -> ChapterRun | None:
    """The recorded run of a chapter; None where there is no file.

    Raises
    ------
    ValueError
        One line that names the file, and where it can the claim and the number, if the file is damaged.
    """
    if not path.is_file():
        return None
    with readable(f"{path} is no evidence"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.keys() != {"parameters", "claims"}:
            raise ValueError("it must hold parameters and claims, and nothing else")
        if not all(isinstance(part, dict) for part in (*content.values(), *content["claims"].values())):
            raise ValueError("parameters, claims and the numbers of a claim must be objects")
    numbers = {}
    for claim, entries in content["claims"].items():
        place = f"{path}, claim {claim!r}"
        numbers[claim] = {key: _number(entry, f"{place}, number {key!r}") for key, entry in entries.items()}
    return ChapterRun(content["parameters"], numbers)


def _number(entry, place: str) -> Number:
    known = [item.name for item in fields(Number)]
    if not isinstance(entry, dict) or not set(entry) <= set(known):
        wrong = min(set(entry) - set(known)) if isinstance(entry, dict) else entry
        raise ValueError(f"{place}: unknown key {wrong!r}; the keys are {', '.join(known)}")
    with readable(place):
        number = Number(**entry)
        if not number.is_finite:
            raise ValueError(f"recorded evidence must be finite, got {entry}")
        return number


def write_run(path: Path, run: ChapterRun) -> None:
    """Replace the recorded run of a chapter in one step; one line a number, so that changes read well."""

    def text(value) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    claims = []
    for claim, numbers in run.numbers.items():
        lines = [f"   {text(key)}: {text(number.as_dict())}" for key, number in numbers.items()]
        claims.append(f"  {text(claim)}: {{\n" + ",\n".join(lines) + "\n  }")
    body = ",\n".join(claims)
    write_atomically(path, f'{{\n "parameters": {text(run.parameters)},\n "claims": {{\n{body}\n }}\n}}\n')


def exact(name: str, value, *, unit: str = "", digits: int = 3, rtol: float = 1e-9) -> Number:
    """A number that was computed: nothing drawn, nothing trained; integers must be reproduced exactly."""
    return _without_interval("exact", name, value, digits, rtol, unit)


def deterministic(name: str, value, *, digits: int = 3, rtol: float = 1e-9) -> Number:
    """A number read off a process without randomness: descent on the population, a flow."""
    return _without_interval("deterministic run", name, value, digits, rtol)


def mean_of_runs(name: str, value, *, digits: int = 3, rtol: float = 1e-9) -> Number:
    """A mean over trainings, networks or draws that is given without an interval."""
    return _without_interval("mean of runs", name, value, digits, rtol)


def off_runs(name: str, value, *, digits: int = 3, rtol: float = 1e-9) -> Number:
    """A count, an extreme or a single value read off trainings, networks or draws."""
    return _without_interval("read off runs", name, value, digits, rtol)


def _without_interval(kind: str, name: str, value, digits: int, rtol: float, unit: str = "") -> Number:
    """Integers, and whether something holds, must be reproduced exactly."""
    if isinstance(value, (Integral, np.bool_)):  # bool is an Integral
        return Number(name, int(value), kind, 0, unit=unit)
    value = _real(name, value)
    tolerance = max(rtol * abs(value), 1e-15) if math.isfinite(value) else 0
    return Number(name, value, kind, tolerance, unit=unit, digits=digits)


def sampled(
    name: str,
    estimate: Estimate | float,
    *,
    n: int | None = None,
    seeds: int | None = None,
    tolerance: float | None = None,
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
            tolerance = tolerance if math.isfinite(tolerance) else 0
    elif tolerance is None:
        raise ValueError(f"sampled evidence {name!r} without an interval must state its tolerance")
    else:
        value, low, high = estimate, None, None
    value = _real(name, value)
    tolerance = finite("tolerance", tolerance, minimum=0)
    return Number(name, value, "sampled", tolerance, n, seeds, low, high, digits=digits)


def _real(name: str, value) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)
