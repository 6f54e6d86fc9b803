"""Lower bounds on the error of every generalized linear model with a monotone link.

These are the finite-size statements of the corrected Theorem 3.1. The model is
g(X) = phi(sum_j <w_j, X_j>); only a_j = <w_j, w*> matters, and a bound holds for every choice of
them and every monotone phi. Proofs: the chapter on linear models.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from patch_association.checks import divides, fits_memory, positive_int, probability, real_array

#: The constant of the Berry-Esseen inequality for summands of different laws (Shevtsova 2010).
BERRY_ESSEEN = 0.5600

#: Numbers of patches up to here are taken one by one, larger ones on a grid of this ratio.
_ONE_BY_ONE = 128
_RATIO = 1.04


def loud_tails(counts, q: float, reach: int) -> np.ndarray:
    """tau_r(n) = (P[Z > r] + P[Z > r + 1]) / 2 for Z a sum of n signs delta_j and r = 0, ..., reach.

    A set less than r + 1 times as loud as each of n other patches is misread at least this often,
    by a lemma of Erdos on sums of signs.

    Parameters
    ----------
    counts : (k,) integers of at least 0
        n.
    q : float
    reach : int of at least 0

    Returns
    -------
    (k, reach + 1) array

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    n = np.asarray(counts)
    q = probability("q", q)
    if n.ndim != 1 or n.size == 0 or not np.issubdtype(n.dtype, np.integer) or n.min() < 0:
        raise ValueError(f"counts must be integers of at least 0 in one dimension, got {counts!r}")
    reach = positive_int("reach", reach, minimum=0)
    # On a circle of this length what wraps around is less than e^-50.
    most = int(n.max())
    size = 2 * min(most + reach + 2, reach + 64 + math.ceil(12 * math.sqrt(q * most)))
    fits_memory(f"{n.size:,} laws on {size:,} integers", 2 * n.size * size)
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    law = np.fft.irfft((1 - q + q * np.cos(angles)) ** n[:, None], size)  # P[Z = 0], P[Z = 1], ...
    within = law[:, :1] + 2 * (np.cumsum(law, axis=1) - law[:, :1])[:, : reach + 1]  # P[|Z| <= r]
    return np.maximum(1 - within - law[:, 1 : reach + 2], 0.0) / 2


def any_weights_bound(num_patches: int, set_size: int, q: float) -> float:
    """A lower bound on P[y g(X) <= 0] over all weights and all monotone phi.

    The largest of a - (1/L) sum_k max_i G_i(k - i) over 0 < a <= 1/2, with k = 1, ..., D and
    i = 1, ..., min(k, C), where G_i(n) is the largest of (a - tau_r(n))_+ / r over r >= i and tau comes from
    :func:`loud_tails`. As G falls in n, large n are taken from a grid; this, and a grid of a, can only make
    the bound smaller.

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`~patch_association.exact.linear.linear_error`

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If C does not divide D, or q lies outside [0, 1].
    """
    D, C, L = divides(num_patches, set_size)
    ranks = _grid(D)
    reach = C + 8 + math.ceil(6 * math.sqrt(probability("q", q) * D))
    tails = loud_tails(ranks - 1, q, reach)[:, 1:]  # the counts are 0, 1, ...
    own = np.minimum(np.arange(1, C + 1), ranks[:, None])  # i, (k, C); for k < C the last one again
    count = np.searchsorted(ranks, ranks[:, None] - own + 1, side="right") - 1
    width = np.diff(np.append(ranks, D + 1))
    best = 0.0
    for a in np.linspace(0.02, 0.5, 25):
        costs = np.maximum(a - tails, 0.0) / np.arange(1, reach + 1)
        G = np.maximum.accumulate(costs[:, ::-1], axis=1)[:, ::-1]
        G = np.maximum(G, a / (reach + 1))  # r beyond the reach
        best = max(best, a - float(width @ G[count, own - 1].max(axis=1)) / L)
    return best


def _grid(most: int) -> np.ndarray:
    """1, 2, ..., then sparser, up to most."""
    grid = [*range(1, min(most, _ONE_BY_ONE) + 1)]
    while (following := math.ceil(grid[-1] * _RATIO)) <= most:
        grid.append(following)
    return np.array(grid, dtype=np.int64)


def set_weights_bound(num_patches: int, set_size: int, q: float) -> float:
    """A lower bound as :func:`any_weights_bound`, for weights whose size depends on the set alone.

    (1/L) sum_{m=0}^{L-1} tau_C(m C), tau from :func:`loud_tails`.

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`~patch_association.exact.linear.linear_error`

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If C does not divide D, or q lies outside [0, 1].
    """
    _, C, L = divides(num_patches, set_size)
    return float(loud_tails(C * np.arange(L, dtype=np.int64), q, C)[:, C].mean())


def any_weights_boundary(set_size: int, q: float, error: float = 1 / 8) -> int:
    """The least number of patches D from which :func:`any_weights_bound` is at least ``error``.

    The bound grows with L: what is taken off it is an average of a sequence that falls. So one bisection
    finds it.

    Parameters
    ----------
    set_size : int (C)
    q : float in (0, 1]
    error : float below 0.45

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    C = positive_int("set_size", set_size)
    q = probability("q", q)
    error = probability("error", error)
    if not (q > 0 and error < 0.45):
        raise ValueError(
            "the bound reaches error at usable sizes only for q > 0 and error < 0.45, "
            f"got q={q:g}, error={error:g}"
        )
    low, high = 1, 2
    while any_weights_bound(high * C, C, q) < error:
        low = high
        high = 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if any_weights_bound(middle * C, C, q) >= error:
            high = middle
        else:
            low = middle
    return high * C


def spread_weights_bound(weights, q: float) -> float:
    """A lower bound on P[y g(X) <= 0] for these weights and every monotone phi, sharp when they are spread.

    Phi(-C / sqrt(q (D - C))) - 0.56 mean_l R_l with R_l = sum |a_j|^3 / (sqrt(q) (sum a_j^2)^{3/2}),
    sums over the patches outside S_l. Equal weights have R_l = 1 / sqrt(q (D - C)).

    Parameters
    ----------
    weights : (L, C) array
        a_j = <w_j, w*>, one row per set; at least two sets with a nonzero weight.

    Raises
    ------
    ValueError
        If q is not in (0, 1], or the weights are no such array.
    """
    a = np.abs(real_array("weights", weights))
    q = probability("q", q)
    if a.ndim != 2 or (a.max(axis=1) > 0).sum() < 2 or q == 0:
        raise ValueError("expected q > 0 and finite weights (L, C), nonzero in at least two sets")
    L, C = a.shape
    squares = (a**2).sum(axis=1)
    cubes = (a**3).sum(axis=1)
    ratio = (cubes.sum() - cubes) / (math.sqrt(q) * (squares.sum() - squares) ** 1.5)
    return float(norm.cdf(-C / math.sqrt(q * (L - 1) * C)) - BERRY_ESSEEN * ratio.mean())
