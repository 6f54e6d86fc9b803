"""Sample complexity: the smallest N at which the mean error reaches a target, with its interval.

The mean over seeds, not the median: half of the seeds can sit at a small error while the others
learned the feature with the wrong sign, and a learner that is wrong one time in ten is not at 5%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from patch_association.checks import fits_memory, listed, positive_int, probability, real_array
from patch_association.intervals import Estimate

_LEVEL = 0.95
_RESAMPLES = 2000


def sample_complexity(sizes, errors, target: float = 0.05, resamples: int = _RESAMPLES) -> Estimate:
    """N*: where the mean error over seeds crosses ``target``, by interpolation linear in log N between sizes.

    Infinite when no size reaches it. The interval is the bootstrap over seeds with expanded percentiles
    (:func:`corrected_tail`); its upper end is infinite when too many resamples never cross. In simulations at
    95% it covers 93 to 95 times of a hundred at 10 and 20 seeds that are right or wrong alike often. Where
    wrong seeds are as rare as a target of 5% it wants some two hundred: a hundred cover nine times in ten,
    two dozen half of the time.

    Parameters
    ----------
    sizes : (K,) increasing positive integers
    errors : (S, K) array
        The test error of each seed at each size; at least two seeds.
    target : float

    Raises
    ------
    ValueError
        If sizes do not increase, errors are no probabilities or too few, or a number is out of range.
    """
    N = _grid(sizes)
    target = probability("target", target)
    e = _table(errors, N)
    fits_memory(f"{positive_int('resamples', resamples):,} resamples of {len(e)} seeds", resamples * len(e))
    generator = np.random.default_rng(0)
    draws = generator.integers(0, len(e), (resamples, len(e)))
    # Seeds are resampled whole: the sizes of a seed share their first samples.
    crossings = np.array([_crossing(N, e[d].mean(axis=0), target) for d in draws])
    tail = corrected_tail(_LEVEL, len(e))
    low, high = np.quantile(crossings, [tail, 1 - tail], method="inverted_cdf")
    return Estimate(_crossing(N, e.mean(axis=0), target), float(low), float(high), len(e), _LEVEL)


def corrected_tail(level: float, n: int) -> float:
    """What to leave out at either end of a percentile bootstrap of n values, so that it covers ``level``.

    Percentiles of few values are too narrow, by the factor sqrt((n - 1) / n) and for want of Student's tails;
    this is the correction of Hesterberg (2015).

    Examples
    --------
    >>> round(corrected_tail(0.95, 10), 4), round(corrected_tail(0.95, 10_000), 4)
    (0.0086, 0.025)
    """
    factor = math.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1)
    return float(stats.norm.cdf(-factor))


def crossing(sizes, mean_errors, target: float) -> float:
    """The first N at which the polygon through (log N, error) falls to ``target``; infinite if never.

    Raises
    ------
    ValueError
        If sizes do not increase, there is not one finite error for each, or the target is no probability.
    """
    N = _grid(sizes)
    e = real_array("mean_errors", mean_errors)
    if e.shape != N.shape:
        raise ValueError(f"mean_errors must be one for each of the {N.size} sizes, got shape {e.shape}")
    return _crossing(N, e, probability("target", target))


def _crossing(N, e, target: float) -> float:
    """:func:`crossing` of what has been checked: resampling asks for it thousands of times."""
    below = np.flatnonzero(e <= target)
    if below.size == 0:
        return math.inf
    k = int(below[0])
    if k == 0:
        return float(N[0])
    share = (e[k - 1] - target) / (e[k - 1] - e[k])
    return float(N[k - 1] * (N[k] / N[k - 1]) ** share)


@dataclass(frozen=True)
class GrowthFit:
    """A least-squares fit of log N* on D.

    Attributes
    ----------
    law : str
        "power": log N* = c + s log D; "polylog k": log N* = c + log(a + log(D)^k) with a >= 0.
    parameters : dict
    rss : float
        The sum of squared residuals of log N*.
    residuals : tuple of float
    """

    law: str
    parameters: dict
    rss: float
    residuals: tuple[float, ...]


def growth_fits(num_patches, complexities) -> list[GrowthFit]:
    """A constant (one parameter), a power of D and three polylogarithms (two each), fitted to the same N*(D).

    Compare residuals, and note how little one decade of D separates a power from log^3.

    Raises
    ------
    ValueError
        If there are fewer than three different D, one of them not above 1, or an N* that is not positive and
        finite.
    """
    D = real_array("num_patches", num_patches)
    N = real_array("complexities", complexities)
    if D.ndim != 1 or D.shape != N.shape or D.size < 3 or np.unique(D).size < 3:
        raise ValueError(f"need N* at three or more different D, got {D.size} and {N.size} values")
    if not ((D > 1).all() and (N > 0).all()):
        raise ValueError(f"need D > 1 and N* > 0, got {D.tolist()} and {N.tolist()}")
    x = np.log(D)
    target = np.log(N)
    fits = [_fit("constant", {"log_c": float(target.mean())}, target - target.mean())]
    slope, intercept = np.polyfit(x, target, 1)
    fits.append(
        _fit("power", {"exponent": float(slope), "log_c": float(intercept)}, target - slope * x - intercept)
    )
    for k in (1, 2, 3):
        # Multiplied by c: c (a + log^k D). For each a the best c is a mean; a is searched on a fine grid
        # that reaches from a pure power of log D to a constant.
        grid = np.concatenate([[0.0], np.geomspace(1e-4, 1e6, 4001)])
        shapes = np.log(grid[:, None] + x[None, :] ** k)
        rest = target - shapes
        rest -= rest.mean(axis=1, keepdims=True)
        best = int((rest**2).sum(axis=1).argmin())
        fits.append(
            _fit(
                f"polylog {k}",
                {"a": float(grid[best]), "log_c": float((target - shapes[best]).mean())},
                rest[best],
            )
        )
    return fits


def slope_interval(
    num_patches,
    sizes,
    errors_by_patches,
    target: float = 0.05,
) -> tuple[float, float, float, float]:
    """The power of D in N*(D), with a bootstrap over the seeds of every D.

    Parameters
    ----------
    num_patches : list of D
    sizes : list, one increasing grid of sizes per D
    errors_by_patches : list of (S, K) arrays

    Returns
    -------
    slope, low, high, censored
        ``censored`` is the share of resamples in which some D never crosses; they are left out of the
        interval.

    Raises
    ------
    ValueError
        If there are not two different D with sizes and errors each, one of them never reaches the target, no
        resample reaches it at all of them, or a number is out of range.
    """
    D = real_array("num_patches", num_patches)
    target = probability("target", target)
    grids = [_grid(grid) for grid in listed("sizes", sizes, "grids, one for each D")]
    errors = listed("errors_by_patches", errors_by_patches, "arrays, one for each D")
    if D.ndim != 1 or D.size < 2 or not len(grids) == len(errors) == D.size:
        raise ValueError(f"need sizes and errors for each of two or more D, got {D.tolist()!s:.60}")
    if np.unique(D).size < 2 or not (D > 0).all():
        raise ValueError(f"num_patches must be positive and not all the same, got {D.tolist()}")
    x = np.log(D)
    errors = [_table(e, N) for e, N in zip(errors, grids)]
    value = [_crossing(N, e.mean(axis=0), target) for N, e in zip(grids, errors)]
    if not np.isfinite(value).all():
        raise ValueError(f"every D must reach the target, got N* = {value}")
    generator = np.random.default_rng(0)
    slopes = []
    for _ in range(_RESAMPLES):
        draw = [
            _crossing(N, e[generator.integers(0, len(e), len(e))].mean(axis=0), target)
            for N, e in zip(grids, errors)
        ]
        if np.isfinite(draw).all():
            slopes.append(np.polyfit(x, np.log(draw), 1)[0])
    if not slopes:
        raise ValueError(f"no resample reaches the target {target} at every D: an interval needs some")
    tail = corrected_tail(_LEVEL, min(map(len, errors)))
    low, high = np.quantile(slopes, [tail, 1 - tail])
    return (float(np.polyfit(x, np.log(value), 1)[0]), float(low), float(high), 1 - len(slopes) / _RESAMPLES)


def _grid(sizes) -> np.ndarray:
    """(K,) sizes; interpolation is between neighbors, so they increase."""
    N = real_array("sizes", sizes)
    if N.ndim != 1 or N.size == 0 or (np.diff(N) <= 0).any() or N[0] < 1 or (N % 1).any():
        raise ValueError(f"sizes must be increasing positive integers, got {N.tolist()!s:.60}")
    return N


def _table(errors, N) -> np.ndarray:
    """(S, K) errors of at least two seeds at the K sizes N."""
    e = real_array("errors", errors)
    if e.ndim != 2 or e.shape[1] != N.size or e.shape[0] < 2:
        raise ValueError(f"errors must be (seeds, {N.size}) with at least two seeds, got shape {e.shape}")
    if not ((e >= 0) & (e <= 1)).all():
        raise ValueError(f"errors must lie in [0, 1], got {e.min():.3g} to {e.max():.3g}")
    return e


def _fit(law, parameters, residuals) -> GrowthFit:
    return GrowthFit(law, parameters, float((residuals**2).sum()), tuple(float(r) for r in residuals))
