"""Intervals of what is measured on pictures: over resamples of them, or of groups of them."""

from __future__ import annotations

import numpy as np
import torch

from patch_lab.kit.records import rounded

RESAMPLES = 1000


def resampled_interval(value, drawn, most: float = np.inf) -> dict:
    """The percentile and the basic interval together, cut at ``most``.

    Which keys come first changes more in a resample than from one sample to the next, so that percentiles
    alone may leave out the value itself.
    """
    low, high = np.quantile(drawn, [0.025, 0.975], axis=-1)
    low, high = np.minimum(low, 2 * value - high), np.minimum(np.maximum(high, 2 * value - low), most)
    return _with_ends(value, low, high)


def _with_ends(value, low, high) -> dict:
    return {"value": rounded(value, 4), "low": rounded(low, 4), "high": rounded(high, 4)}


def times_drawn(n: int, resamples: int) -> np.ndarray:
    """(resamples, n): how often a bootstrap resample of n pictures, or groups of them, draws each."""
    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=resamples)


def _resampled(values: torch.Tensor) -> torch.Tensor:
    """Sums over bootstrap resamples of the pictures, (resamples, ...)."""
    draws = times_drawn(len(values), RESAMPLES)
    flat = torch.from_numpy(draws).double() @ values.double().flatten(1)
    return flat.reshape(RESAMPLES, *values.shape[1:])


def ratio_over_pictures(part: torch.Tensor, total: torch.Tensor) -> dict:
    """Sum of ``part`` over sum of ``total``, both over pictures (n, ...), with a 95% bootstrap interval."""
    value = part.double().sum(0) / total.double().sum(0)
    low, high = np.quantile((_resampled(part) / _resampled(total)).numpy(), [0.025, 0.975], axis=0)
    return _with_ends(value, low, high)


def mean_over_pictures(values: torch.Tensor) -> dict:
    """The mean over pictures (n, ...), with a 95% bootstrap interval."""
    return ratio_over_pictures(values, torch.ones_like(values))
