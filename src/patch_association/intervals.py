"""Confidence intervals: what a measured number is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
import scipy

from patch_association.checks import finite, positive_int


@dataclass(frozen=True)
class Estimate:
    """A measured number with its interval.

    Attributes
    ----------
    value : float
    low, high : float
        The ends of the interval.
    n : int
        How many independent draws, seeds or trials it rests on.
    level : float
        The interval's confidence.
    """

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95

    def __str__(self) -> str:
        value, low, high = rounded(self.value, self.low, self.high)
        return f"{value} [{low}, {high}]"


def rounded(value: float, low: float, high: float) -> tuple[str, ...]:
    """The three numbers as text, with the decimals that show two digits of the interval's width.

    So neither end is rounded into the value: 0.155 [0.149, 0.164]. An interval without a finite width gives
    no measure; its numbers have three significant digits.
    """
    numbers = (value, low, high)
    width = high - low
    if not (math.isfinite(width) and width > 0):
        return tuple(f"{x:.3g}" if abs(x) < 100 else f"{x:,.0f}" for x in numbers)
    decimals = 1 - math.floor(math.log10(width))
    if decimals > 6:  # with so many zeros after the point the digits are read better as a power of ten
        leading = math.floor(math.log10(max(map(abs, numbers))))
        return tuple(f"{x:.{max(decimals + leading, 0) + 1}g}" for x in numbers)
    return tuple(f"{round(x, decimals) + 0.0:,.{max(decimals, 0)}f}" for x in numbers)  # + 0.0: no "-0.00"


def proportion(successes: int, trials: int, level: float = 0.95) -> Estimate:
    """The exact (Clopper-Pearson) interval of a proportion: it covers at least ``level``, at every n.

    Parameters
    ----------
    successes, trials : int (k of n; n at least 1)
    level : float (the confidence, strictly between 0 and 1)

    Raises
    ------
    ValueError
        If k exceeds n, or a number is out of range.
    """
    n = positive_int("trials", trials)
    k = positive_int("successes", successes, minimum=0)
    if k > n:
        raise ValueError(f"successes must be at most trials, got {k} of {n}")
    low, high = scipy.stats.binomtest(k, n).proportion_ci(check_level(level), "exact")
    return Estimate(k / n, float(low), float(high), n, level)


def mean(values, level: float = 0.95, shared: float = 0.0) -> Estimate:
    """Student's interval of a mean over independent values (seeds).

    Parameters
    ----------
    values : (S,) numbers
    level : float (the confidence, strictly between 0 and 1)
    shared : float
        Standard error of what moves all values alike, and so not their spread: that of the test pictures
        which all seeds share (``shared_error`` of the laboratory). Its normal interval is added, in squares.

    Raises
    ------
    ValueError
        If there are fewer than two values, one is not finite, ``level`` is not inside (0, 1), or ``shared``
        is negative.
    """
    x = np.asarray(values, dtype=np.float64).reshape(-1)
    if x.size < 2 or not np.isfinite(x).all():
        raise ValueError(
            f"values must be at least two finite numbers, got {x.size} of which "
            f"{int(np.isfinite(x).sum())} finite"
        )
    half = scipy.stats.t.ppf((1 + check_level(level)) / 2, x.size - 1) * x.std(ddof=1) / math.sqrt(x.size)
    half = math.hypot(half, scipy.stats.norm.ppf((1 + level) / 2) * finite("shared", shared, minimum=0))
    return Estimate(float(x.mean()), float(x.mean() - half), float(x.mean() + half), x.size, level)


def check_level(level: float) -> float:
    """``level`` if it is a confidence, strictly between 0 and 1.

    Raises
    ------
    ValueError
        If it is not.
    """
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    return level
