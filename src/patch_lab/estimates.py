"""What some chapters estimate, each with its interval: odds ratios, power laws, errors that runs share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from patch_association._validate import finite, fits_memory, positive_int
from patch_association.intervals import Estimate


def odds_ratio(tables) -> Estimate:
    """Mantel and Haenszel's common odds ratio of 2 x 2 tables, with the interval of Robins et al. (1986).

    Parameters
    ----------
    tables : array_like, (tables, 2, 2)
        Counts [[a, b], [c, d]]; the odds ratio of one table is ad / bc.

    Raises
    ------
    ValueError
        On tables of another shape, or without a pair that differs in both ways: no ratio is defined.

    Examples
    --------
    >>> print(odds_ratio([[[20, 10], [10, 20]]]))
    4 [1, 12]
    """
    counts = np.asarray(tables, float)
    if counts.ndim != 3 or counts.shape[1:] != (2, 2) or (counts < 0).any():
        raise ValueError(f"tables must be counts of shape (tables, 2, 2), got {counts.shape}")
    (a, b), (c, d) = counts.transpose(1, 2, 0)
    n = np.maximum(counts.sum(axis=(1, 2)), 1)
    P, Q, R, S = (a + d) / n, (b + c) / n, a * d / n, b * c / n
    if not (R.sum() and S.sum()):
        raise ValueError("the odds ratio of these tables is zero, infinite or not defined")
    ratio = R.sum() / S.sum()
    variance = (P @ R / R.sum() ** 2 + (P @ S + Q @ R) / (R.sum() * S.sum()) + Q @ S / S.sum() ** 2) / 2
    reach = math.exp(stats.norm.ppf(0.975) * math.sqrt(variance))
    return Estimate(float(ratio), float(ratio / reach), float(ratio * reach), int(counts.sum()))


def shared_error(trials: int, *shares: float) -> float:
    """Standard error that the same ``trials`` give a share of right answers, or the difference of two.

    For a difference it is an upper bound: exact for unrelated answers, too large where both are right on the
    same trials more often than by chance.

    Raises
    ------
    ValueError
        If ``trials`` is no positive integer, or a share is not between 0 and 1.

    Examples
    --------
    >>> shared_error(100, 0.5)
    0.05
    """
    n = positive_int("trials", trials)
    if not all(0 <= finite("a share", p) <= 1 for p in shares):
        raise ValueError(f"shares must lie between 0 and 1, got {shares}")
    return math.sqrt(sum(p * (1 - p) for p in shares) / n)


@dataclass(frozen=True)
class PowerLaw:
    """y = factor x^exponent, fitted to logarithms; ``exponent`` carries its interval."""

    exponent: Estimate
    factor: float

    def at(self, x):
        """The fitted y."""
        return self.factor * np.asarray(x, dtype=np.float64) ** self.exponent.value


def power_law(x, values, resamples: int = 2000) -> PowerLaw:
    """Least squares of log y on log x, y the geometric mean over independent values at each x.

    Parameters
    ----------
    x : (K,) positive numbers, not all equal
    values : (K, S) positive numbers
        S independent values (seeds) at each x.
    resamples : int
        The percentile bootstrap of the exponent draws S values afresh at each x.

    Raises
    ------
    ValueError
        If the shapes do not fit, K or S is below 2, a number is not positive and finite, or all x are equal.
    """
    x, values = np.asarray(x, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or values.ndim != 2 or len(x) != len(values) or len(x) < 2 or values.shape[1] < 2:
        raise ValueError(f"x must be (K,) and values (K, S) with K, S >= 2, got {x.shape} and {values.shape}")
    if not (x > 0).all() or np.ptp(x) == 0 or not (values > 0).all() or not np.isfinite(values).all():
        raise ValueError("x and values must be positive and finite, and x not all equal")
    log_x, log_y = np.log(x) - np.log(x).mean(), np.log(values)
    slope = log_x / (log_x @ log_x)  # the exponent is slope @ mean log y
    exponent = float(slope @ log_y.mean(axis=1))
    generator = np.random.default_rng(0)
    resamples = positive_int("resamples", resamples)
    fits_memory(f"{resamples:,} resamples of {values.size} values", 2 * resamples * values.size)
    pick = generator.integers(0, values.shape[1], (resamples, *values.shape))
    draws = np.take_along_axis(log_y[None], pick, axis=2).mean(axis=2) @ slope
    low, high = np.quantile(draws, [0.025, 0.975])
    factor = float(np.exp(log_y.mean() - exponent * np.log(x).mean()))
    return PowerLaw(Estimate(exponent, float(low), float(high), values.shape[1]), factor)
