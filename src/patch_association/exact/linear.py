"""Generalized linear predictors, exactly (Theorem 3.1 of Jelassi et al.).

Everything is stated at y = +1: flipping the feature's sign flips the label, so nothing is lost.
On Assumption 1 the symmetric sum is y sum_j <w*, X_j> = C + Z, where Z adds up D - C independent
signs (+1 or -1 with probability q/2 each, 0 otherwise). The noise is orthogonal to w* and drops out.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from patch_association._validate import divides, probability
from patch_association.exact.laws import IntegerLaw, mixture, trinomial

#: The limit of q (D - C) / C^2 at which the symmetric sum errs with probability 1/8: 1 / z^2 with
#: z the 7/8 quantile of the normal law.
BOUNDARY = float(norm.ppf(7 / 8) ** -2)


def linear_error(num_patches: int, set_size: int, q: float, ties: str = "error") -> float:
    """P[y g(X) <= 0] of the symmetric sum g(X) = sum_j <w*, X_j>, exactly.

    P[Z < -C] + P[Z = -C], the tie's part counted in full (``ties="error"``, the letter of Theorem
    3.1) or by half (``ties="half"``, what the best threshold reaches).

    Parameters
    ----------
    num_patches, set_size : int
        D and C; C divides D.
    q : float in [0, 1]
    ties : "error" or "half"

    Raises
    ------
    ValueError
        On sizes that do not divide, q outside [0, 1] or another ``ties``.
    """
    D, C, _ = divides(num_patches, set_size)
    q = probability("q", q)
    if ties not in ("error", "half"):
        raise ValueError(f'ties must be "error" or "half", got {ties!r}')
    Z = trinomial(D - C, q)
    return Z.below(-C) + Z.at(-C) * (1.0 if ties == "error" else 0.5)


def clt_linear_error(num_patches: int, set_size: int, q: float) -> float:
    """The normal approximation Phi(-C / sqrt(q (D - C))) of :func:`linear_error`."""
    D, C, _ = divides(num_patches, set_size)
    variance = probability("q", q) * (D - C)
    return float(norm.cdf(-C / math.sqrt(variance))) if variance else 0.0


def labeling_error(num_patches: int, set_size: int, q: float) -> float:
    """P[y f*(X) <= 0] of the labeling function of Assumption 1, exactly.

    f* adds the set sums that exceed 0.9 C in size. The signal set always adds +C (at y = +1); the
    label is lost when the random sets that pass the threshold add up to -C or less. Ties f* = 0
    count as lost.
    """
    return labeling_law(num_patches, set_size, q).below(1)


def labeling_law(num_patches: int, set_size: int, q: float) -> IntegerLaw:
    """The law of y f*(X)."""
    D, C, L = divides(num_patches, set_size)
    # 10 |s| > 9 C in integers: 0.9 C is not a float.
    passed = trinomial(C, probability("q", q)).map(lambda s: np.where(10 * np.abs(s) > 9 * C, s, 0))
    return passed.times(L - 1).shift(C)


def critical_q(num_patches: int, set_size: int, error: float = 1 / 8, ties: str = "half") -> float | None:
    """The q at which the symmetric sum errs with probability ``error``; None if no q reaches it.

    The error grows with q (checked on grids in the tests; with all q <= 1 it can stay below).
    """
    error = probability("error", error)
    if linear_error(num_patches, set_size, 1.0, ties) < error:
        return None
    return float(brentq(lambda q: linear_error(num_patches, set_size, q, ties) - error, 0.0, 1.0, xtol=1e-13))


def weighted_law(weights, set_size: int, q: float) -> IntegerLaw:
    """The law of y g(X) for g(X) = sum_l a_l sum_{i in S_l} <w*, X_i>, one integer weight per set.

    Averaged over the signal set: y g = a_l C + sum_{m != l} a_m Z_m, where Z_m is the sum of C signs.

    Parameters
    ----------
    weights : (L,) integers
        a_1, ..., a_L.
    """
    a = np.asarray(weights)
    if a.ndim != 1 or a.size == 0 or not np.issubdtype(a.dtype, np.integer):
        raise ValueError(f"weights must be a non-empty list of integers, got {weights!r}")
    _, C, L = divides(a.size * set_size, set_size)
    sums = trinomial(C, probability("q", q))
    scaled = [sums.map(lambda s, weight=int(weight): weight * s) for weight in a]
    laws = []
    for signal in range(L):
        total = IntegerLaw(int(a[signal]) * C, np.ones(1))
        for m in range(L):
            if m != signal:
                total = total + scaled[m]
        laws.append(total)
    return mixture(laws, np.full(L, 1 / L))


def best_monotone_error(law: IntegerLaw) -> float:
    """The least error of a monotone phi on a score g with this law of y g: (1 - KS) / 2.

    KS is the Kolmogorov distance between the law of g at y = +1 and at y = -1, its mirror image.
    """
    plus, minus = _both_labels(law)
    return (1 - float(np.abs(np.cumsum(plus) - np.cumsum(minus)).max())) / 2


def best_arbitrary_error(law: IntegerLaw) -> float:
    """The least error of any phi whatever on a score g with this law of y g: (1 - TV) / 2."""
    plus, minus = _both_labels(law)
    return float(np.minimum(plus, minus).sum()) / 2


def decoding_weights(num_sets: int, set_size: int) -> list[int]:
    """Weights (2C + 1)^l, l = 0, ..., L-1: the sum then spells every set sum as a digit.

    Each set sum lies in -C, ..., C, so the weighted sum is a number in balanced base 2C + 1, and an
    arbitrary phi can read the set sums off and apply f*.
    """
    _, C, L = divides(num_sets * set_size, set_size)
    return [(2 * C + 1) ** level for level in range(L)]


def decode(score, num_sets: int, set_size: int) -> np.ndarray:
    """The (..., L) set sums that a decoding score spells: its balanced digits in base 2C + 1."""
    base = 2 * set_size + 1
    rest = np.asarray(score, dtype=np.int64)
    digits = []
    for _ in range(num_sets):
        digit = (rest + set_size) % base - set_size
        digits.append(digit)
        rest = (rest - digit) // base
    return np.stack(digits, axis=-1)


def _both_labels(law: IntegerLaw) -> tuple[np.ndarray, np.ndarray]:
    """The masses at y = +1 and at y = -1 on one common, symmetric support."""
    reach = max(abs(law.start), abs(law.start + law.mass.size - 1))
    plus = np.zeros(2 * reach + 1)
    first = law.start + reach
    plus[first : first + law.mass.size] = law.mass
    return plus, plus[::-1]
