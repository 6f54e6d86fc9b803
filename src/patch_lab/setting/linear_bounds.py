"""Lower bounds on the error of every generalized linear model with a monotone link.

These are the finite-size statements of the corrected Theorem 3.1. The model is
g(X) = phi(sum_j <w_j, X_j>); only a_j = <w_j, w*> matters, and a bound holds for every choice of
them and every monotone phi. Proofs: the chapter on linear models.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from patch_association._validate import divides, finite, fits_memory, positive_int, probability, real_array

#: The constant of the Berry-Esseen inequality for summands of different laws (Shevtsova 2010).
BERRY_ESSEEN = 0.5600


#: The lines a - b s of :func:`rademacher_tail`: (a, b, the end of the range of s on which it is the largest).
_LINES = ((1 / 4, 1 / 3, 0.396), (0.217, 1 / 4, 0.868))


def rademacher_tail(s):
    """h(s) = max(1/4 - s/3, 0.217 - s/4, 0): a lower bound on P[Z > s |a|] for Z = sum_j a_j eps_j, s >= 0.

    eps_j are independent fair signs. A large weight, or Berry-Esseen, or the fourth moment; h is convex and
    nonincreasing.

    Raises
    ------
    ValueError
        If ``s`` holds anything but finite real numbers.
    """
    s = real_array("s", s)
    return np.maximum(np.maximum(*(a - b * s for a, b, _ in _LINES)), 0.0)


def any_weights_bound(num_patches: int, set_size: int, q: float) -> float:
    """A lower bound on P[y g(X) <= 0] over all weights and all monotone phi.

    (1/L) sum_{r=1}^{L-1} b(q r), where b(mu) is the maximum over 0 < t < 1 of
    (1 - exp(-mu I(t))) h(sqrt(C / ((1 - t) mu))) with I(t) = t + (1 - t) log(1 - t) and h from
    :func:`rademacher_tail`. The maximum is taken over a grid, which can only make the bound smaller.

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`~patch_association.exact.linear.linear_error`

    Raises
    ------
    ValueError
        If C does not divide D, or q lies outside [0, 1].
    """
    _, C, L = divides(num_patches, set_size)
    fits_memory(f"the bounds of {L:,} sets", 8 * L)
    mu = probability("q", q) * np.arange(1, L, dtype=np.int64)
    return float(_rank_bounds(mu[mu * _LINES[-1][2] ** 2 > C], C).sum() / L)  # elsewhere h vanishes


def _rank_bounds(mu: np.ndarray, C: int) -> np.ndarray:
    best = np.zeros_like(mu)
    for t in np.geomspace(0.01, 0.6, 60):
        rate = t + (1 - t) * math.log1p(-t)
        best = np.maximum(best, -np.expm1(-mu * rate) * rademacher_tail(np.sqrt(C / ((1 - t) * mu))))
    return best


def any_weights_limit(chi: float) -> float:
    """The limit of :func:`any_weights_bound` as C grows with q D / C^2 = chi fixed.

    The integral over 0 < x < 1 of h(1 / sqrt(chi x)): with u = 1 / sqrt(chi) a line a - b s adds
    u^2 (2 b / s - a / s^2) between the ends of its range of s, as far as that lies above u.

    Raises
    ------
    ValueError
        If ``chi`` is negative or not finite.
    """
    chi = finite("chi", chi, minimum=0)
    total, start = 0.0, math.inf if chi == 0 else 1 / math.sqrt(chi)
    for a, b, end in _LINES:
        if start < end:
            total += ((2 * b / end - a / end**2) - (2 * b / start - a / start**2)) / chi
            start = end
    return total


def any_weights_boundary(set_size: int, q: float, error: float = 1 / 8) -> int:
    """The least number of patches D from which :func:`any_weights_bound` is at least ``error``.

    The bound grows with L: it averages a nondecreasing sequence. So one bisection finds it.

    Parameters
    ----------
    set_size : int (C)
    q : float in (0, 1]
    error : float below 1/4

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    C, q, error = positive_int("set_size", set_size), probability("q", q), probability("error", error)
    if not (q > 0 and error < 1 / 4):
        raise ValueError(
            f"the bound reaches error only for q > 0 and error < 1/4, got q={q:g}, error={error:g}"
        )
    low, high = 1, 2
    while any_weights_bound(high * C, C, q) < error:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if any_weights_bound(middle * C, C, q) >= error else (middle, high)
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
    squares, cubes = (a**2).sum(axis=1), (a**3).sum(axis=1)
    ratio = (cubes.sum() - cubes) / (math.sqrt(q) * (squares.sum() - squares) ** 1.5)
    return float(norm.cdf(-C / math.sqrt(q * (L - 1) * C)) - BERRY_ESSEEN * ratio.mean())
