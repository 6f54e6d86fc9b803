"""Sample complexity: the smallest N at which the mean error reaches a target, with its interval.

The mean over seeds, not the median: half of the seeds can sit at a small error while the others
learned the feature with the wrong sign, and a learner that is wrong one time in ten is not at 5%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from patch_association._validate import fits_memory, positive_int, probability
from patch_association.intervals import Estimate


@dataclass(frozen=True)
class SampleComplexity(Estimate):
    """N* with a bootstrap interval over seeds.

    Attributes
    ----------
    value : float
        The N at which the mean error crosses the target, by interpolation linear in log N between
        the grid's sizes; infinite when no size reaches it.
    low, high : float
        The percentile bootstrap over seeds; ``high`` is infinite when too many resamples never cross.
    n : int
        How many seeds.
    censored : float
        The share of resamples that never cross.
    """

    censored: float = 0.0


def sample_complexity(
    sizes, errors, target: float = 0.05, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> SampleComplexity:
    """Where the mean error over seeds crosses ``target``.

    Parameters
    ----------
    sizes : (K,) increasing positive integers
    errors : (S, K) array
        The test error of each seed at each size; at least two seeds.
    target : float
    """
    N, e = np.asarray(sizes), np.asarray(errors, dtype=np.float64)
    if N.ndim != 1 or N.size == 0 or (np.diff(N) <= 0).any() or N[0] < 1:
        raise ValueError(f"sizes must be increasing positive integers, got {sizes}")
    if e.ndim != 2 or e.shape[1] != N.size or e.shape[0] < 2:
        raise ValueError(f"errors must be (seeds, {N.size}) with at least two seeds, got shape {e.shape}")
    if not ((e >= 0) & (e <= 1)).all():
        raise ValueError("errors must lie in [0, 1]")
    target = probability("target", target)
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    fits_memory(f"{positive_int('resamples', resamples):,} resamples of {len(e)} seeds", resamples * len(e))
    generator = np.random.default_rng(seed)
    draws = generator.integers(0, len(e), (resamples, len(e)))
    # Seeds are resampled whole: the sizes of a seed share their first samples.
    crossings = np.array([crossing(N, e[d].mean(axis=0), target) for d in draws])
    low, high = np.quantile(crossings, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return SampleComplexity(
        value=crossing(N, e.mean(axis=0), target),
        low=float(low),
        high=float(high),
        n=len(e),
        censored=float(np.isinf(crossings).mean()),
        level=level,
    )


def crossing(sizes, mean_errors, target: float) -> float:
    """The first N at which the polygon through (log N, error) falls to ``target``; infinite if never."""
    N, e = np.asarray(sizes, dtype=np.float64), np.asarray(mean_errors, dtype=np.float64)
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


def growth_fits(num_patches, complexities, powers=(1, 2, 3)) -> list[GrowthFit]:
    """A constant (one parameter), a power of D and polylogarithms (two each), fitted to the same N*(D).

    Compare residuals, and note how little one decade of D separates a power from log^3.
    """
    D, N = np.asarray(num_patches, dtype=np.float64), np.asarray(complexities, dtype=np.float64)
    if D.ndim != 1 or D.shape != N.shape or D.size < 3 or np.unique(D).size < 3:
        raise ValueError(f"need N* at three or more different D, got {D.size} and {N.size} values")
    if not (np.isfinite(D).all() and np.isfinite(N).all() and (D > 1).all() and (N > 0).all()):
        raise ValueError("need finite D > 1 and finite N* > 0: leave censored points out and say so")
    x, target = np.log(D), np.log(N)
    fits = [_fit("constant", {"log_c": float(target.mean())}, target - target.mean())]
    slope, intercept = np.polyfit(x, target, 1)
    fits.append(
        _fit("power", {"exponent": float(slope), "log_c": float(intercept)}, target - slope * x - intercept)
    )
    for k in powers:
        # Multiplied by c: c (a + log^k D). For each a the best c is a mean; a is searched on a fine grid
        # that reaches from a pure power of log D to a constant.
        grid = np.concatenate([[0.0], np.geomspace(1e-4, 1e6, 4001)])
        shapes = np.log(grid[:, None] + x[None, :] ** positive_int("power", k))
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
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
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
    """
    x = np.log(np.asarray(num_patches, dtype=np.float64))
    if len(x) < 2 or len(sizes) != len(x) or len(errors_by_patches) != len(x):
        raise ValueError("need sizes and errors for each of two or more D")
    grids = [np.asarray(grid) for grid in sizes]
    errors = [np.asarray(e, dtype=np.float64) for e in errors_by_patches]
    value = [crossing(N, e.mean(axis=0), target) for N, e in zip(grids, errors)]
    if not np.isfinite(value).all():
        raise ValueError(f"every D must reach the target, got N* = {value}")
    generator = np.random.default_rng(seed)
    slopes = []
    for _ in range(positive_int("resamples", resamples)):
        draw = [
            crossing(N, e[generator.integers(0, len(e), len(e))].mean(axis=0), target)
            for N, e in zip(grids, errors)
        ]
        if np.isfinite(draw).all():
            slopes.append(np.polyfit(x, np.log(draw), 1)[0])
    low, high = np.quantile(slopes, [(1 - level) / 2, (1 + level) / 2])
    return (float(np.polyfit(x, np.log(value), 1)[0]), float(low), float(high), 1 - len(slopes) / resamples)


def _fit(law, parameters, residuals) -> GrowthFit:
    return GrowthFit(law, parameters, float((residuals**2).sum()), tuple(float(r) for r in residuals))
