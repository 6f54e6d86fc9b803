"""What some chapters estimate: shares over runs and inputs, odds ratios, sizes that suffice, power laws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from patch_association.checks import finite, positive_int
from patch_association.intervals import Estimate, mean


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
    P = (a + d) / n
    Q = (b + c) / n
    R = a * d / n
    S = b * c / n
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


def mean_share(
    trials: int, plus, minus=(), *, scale: float = 1.0, level: float = 0.95, minimum: float | None = None
) -> Estimate:
    """A mean over runs of shares of right (or wrong) answers, or of paired differences, with its interval.

    The interval is for other runs *and* other inputs. Runs that are tested on the same inputs have two
    sources of error: their own spread (Student's interval over runs), and the inputs that all of them share
    (:func:`shared_error`, by the shares alone; records that keep no single answers allow no more). The two
    half widths are added in squares. Where answers of different runs are alike this covers more than
    ``level``; ``tests/library/test_intervals.py`` simulates it at the sizes of the book.

    Parameters
    ----------
    trials : int
        Inputs, the same for all runs.
    plus, minus : (S,) shares, or sequences of them
        Of each run; what is estimated is the mean of all in ``plus`` less all in ``minus``, paired by run.
    scale : float
        100 for points.
    level : float
    minimum : float, optional
        What is proved to be the least possible.

    Raises
    ------
    ValueError
        If there are fewer than two runs, arrays do not fit each other, a share is not between 0 and 1, or the
        whole interval lies below ``minimum``: it cannot be an interval of what was proved.

    Examples
    --------
    >>> print(mean_share(1000, [0.5, 0.52, 0.48], [0.4, 0.41, 0.39], scale=100))
    10.0 [5.0, 15.0]
    """
    terms = [np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in (plus, minus) if len(part)]
    if not len(plus) or len({term.shape[1] for term in terms}) > 1 or any(term.ndim != 2 for term in terms):
        raise ValueError(
            f"plus and minus must be shares of the same runs, got shapes {[term.shape for term in terms]}"
        )
    values = terms[0].sum(axis=0) - (terms[1].sum(axis=0) if len(terms) > 1 else 0.0)  # (S,)
    shared = shared_error(trials, *(float(share.mean()) for term in terms for share in term))
    estimate = mean(scale * values, level, shared=scale * shared)
    if minimum is not None and estimate.high < minimum:
        raise ValueError(f"the interval {estimate} lies below the proved minimum {minimum:.6g}")
    return estimate


def fisher_p(trials: int, one: int, other: int) -> float:
    """Fisher's two-sided p-value for ``one`` and ``other`` successes in so many ``trials`` each."""
    _ratio, p = np.asarray(stats.fisher_exact([[one, trials - one], [other, trials - other]]))
    return float(p)


def fisher_power(trials: int, one: float, other: float, level: float = 0.05) -> float:
    """How often :func:`fisher_p` falls below ``level`` where two rates of success are ``one`` and ``other``.

    Examples
    --------
    Of four trials each, only none against all gives a p-value below 1/20.

    >>> fisher_power(4, 0.0, 0.5)
    0.0625
    """
    counts = range(positive_int("trials", trials) + 1)
    chances = np.outer(stats.binom.pmf(counts, trials, one), stats.binom.pmf(counts, trials, other))
    found = np.array([[fisher_p(trials, a, b) < level for b in counts] for a in counts])
    return float(chances[found].sum())


def enough_from(sizes, values, least: float) -> float:
    """The smallest of the ascending ``sizes`` from which on every value is at least ``least``; or infinity.

    Examples
    --------
    >>> enough_from([2, 8, 32], [0.9, 0.5, 1.0], least=0.9)
    32
    """
    short = np.flatnonzero(np.asarray(values) < least)
    first = short[-1] + 1 if short.size else 0
    return sizes[first] if first < len(sizes) else math.inf


def log_size_at(sizes, values, wanted: float) -> float:
    """The logarithm of the size at which a curve passes ``wanted``, within the ascending ``sizes``.

    Between two sizes the curve is a line over log size; where it falls, it stays at its largest value so far.

    Examples
    --------
    >>> round(math.exp(log_size_at([100, 400], [0.2, 0.6], 0.4)))
    200
    """
    return float(np.interp(wanted, np.maximum.accumulate(values), np.log(sizes)))


@dataclass(frozen=True)
class PowerLaw:
    """y = factor x^exponent, fitted to logarithms; ``exponent`` carries its interval."""

    exponent: Estimate
    factor: float

    def at(self, x):
        """The value y of the fitted line at ``x``."""
        return self.factor * np.asarray(x, dtype=np.float64) ** self.exponent.value


def power_law(x, values) -> PowerLaw:
    """Least squares of log y on log x, y the geometric mean over independent values at each x.

    The exponent is a sum of means with known weights; its interval is Student's at 95%, with Welch's degrees
    of freedom, for logarithms with a spread of their own at each x.

    Parameters
    ----------
    x : (K,) positive numbers, not all equal
    values : (K, S) positive numbers
        S independent values (seeds) at each x.

    Raises
    ------
    ValueError
        If the shapes do not fit, K or S is below 2, a number is not positive and finite, or all x are equal.
    """
    x = np.asarray(x, dtype=np.float64)
    values = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or values.ndim != 2 or len(x) != len(values) or len(x) < 2 or values.shape[1] < 2:
        raise ValueError(f"x must be (K,) and values (K, S) with K, S >= 2, got {x.shape} and {values.shape}")
    if not (x > 0).all() or np.ptp(x) == 0 or not (values > 0).all() or not np.isfinite(values).all():
        raise ValueError("x and values must be positive and finite, and x not all equal")
    log_x = np.log(x) - np.log(x).mean()
    log_y = np.log(values)
    slope = log_x / (log_x @ log_x)  # the exponent is slope @ mean log y
    exponent = float(slope @ log_y.mean(axis=1))
    S = values.shape[1]
    parts = slope**2 * log_y.var(axis=1, ddof=1) / S  # the variance that each x contributes
    freedom = (S - 1) * parts.sum() ** 2 / (parts**2).sum() if parts.any() else S - 1
    half = float(stats.t.ppf(0.975, freedom) * math.sqrt(parts.sum()))
    factor = float(np.exp(log_y.mean() - exponent * np.log(x).mean()))
    return PowerLaw(Estimate(exponent, exponent - half, exponent + half, S), factor)
