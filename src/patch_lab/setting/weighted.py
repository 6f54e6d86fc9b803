"""Generalized linear predictors with any weights: laws, best errors, and weights that spell the set sums.

``critical_q`` says where equal weights begin to fail.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, pairwise

import numpy as np
from scipy.optimize import root_scalar

from patch_association.checks import divides, finite, fits_memory, made_of, positive_int, probability
from patch_association.exact.integer_sums import IntegerLaw, trinomial
from patch_association.exact.linear import linear_error


def weighted_law(weights, set_size: int, q: float) -> IntegerLaw:
    """The law of y g(X) for g(X) = sum_j a_j <w*, X_j> with integer weights a_j.

    Averaged over the signal set: y g = A_l + Z_l, where A_l adds up the weights of set l and Z_l the
    weights of all other patches, each with its own random sign delta_j.

    Parameters
    ----------
    weights : (L,) or (L, C) integers
        One weight per set, or one per patch.

    Raises
    ------
    ValueError
        If the weights are no integers of such a shape, C is no positive integer, or q lies outside [0, 1].
    """
    try:
        a = np.asarray(weights)
    except ValueError:  # NumPy's word on rows of different lengths
        a = np.empty((0, 0))
    if a.ndim not in (1, 2) or a.size == 0 or not np.issubdtype(a.dtype, np.integer):
        raise ValueError(f"weights must be integers of shape (L,) or (L, C), got {weights!r}")
    C = positive_int("set_size", set_size)
    L = a.shape[0]
    if a.ndim == 2 and a.shape[1] != C:
        raise ValueError(f"weights must have one column per patch of a set, {C} of them, got shape {a.shape}")
    fits_memory(f"the weights of {L * C:,} patches", 2 * L * C)
    rows = np.sort(np.broadcast_to(a[:, None], (L, C)) if a.ndim == 1 else a, axis=1)
    # Sets with the same weights have the same law: L^2 convolutions become as many as there are kinds.
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    sums = [_row_law(row, probability("q", q)) for row in kinds]
    laws = []
    for signal, row in enumerate(kinds):
        total = IntegerLaw(int(row.sum(dtype=np.int64)), np.ones(1))
        others = counts.copy()
        others[signal] -= 1
        for count, law in zip(others, sums):
            total = total + law.times(int(count))
        laws.append(total)
    return mixed_law(laws, counts / L)


def _row_law(row: np.ndarray, q: float) -> IntegerLaw:
    """The law of sum_j row_j delta_j."""
    total = IntegerLaw(0, np.ones(1))
    for weight, count in zip(*np.unique(row, return_counts=True)):
        total = total + _scaled(trinomial(int(count), q), int(weight))
    return total


def _scaled(law: IntegerLaw, weight: int) -> IntegerLaw:
    """The law of ``weight`` times a number with this law."""
    return law.map(lambda s: weight * s)


def search_weights(
    num_sets: int, set_size: int, q: float, largest: int, per_patch: bool = False
) -> tuple[float, np.ndarray]:
    """The least error of a monotone phi over all weights 0, ..., ``largest``, by trying each.

    Parameters
    ----------
    per_patch : bool
        Give each patch its own weight; otherwise the patches of a set share one.

    Returns
    -------
    error : float
    weights : (L,) or (L, C) integers
        The first minimizer. Only up to the order of the sets, and of the patches within a set:
        neither changes the error.

    Raises
    ------
    ValueError
        If a size is no positive integer, q lies outside [0, 1], or the weights do not fit in memory.
    """
    L = positive_int("num_sets", num_sets)
    C = positive_int("set_size", set_size)
    levels = range(positive_int("largest", largest) + 1)
    fits_memory(f"weights up to {largest:,} for {L:,} sets of {C:,}", 2 * (L + C + largest))
    kinds = list(combinations_with_replacement(levels, C)) if per_patch else levels
    tried = (np.array(choice, dtype=np.int64) for choice in combinations_with_replacement(kinds, L))
    best = math.inf
    minimizer = np.zeros(0, dtype=np.int64)
    for a in tried:
        # A strict gain: among equals the first wins, on every machine, whatever the rounding.
        if a.any() and (error := best_monotone_error(weighted_law(a, C, q))) < best - 1e-12:
            best = error
            minimizer = a
    return best, minimizer


def best_monotone_error(law: IntegerLaw) -> float:
    """The least error of a monotone phi on a score g with this law of y g: (1 - KS) / 2.

    KS is the Kolmogorov distance between the law of g at y = +1 and at y = -1, its mirror image.
    """
    plus, minus = _both_labels(law)
    return (1 - float(np.abs(np.cumsum(plus) - np.cumsum(minus)).max())) / 2


def threshold_error(law: IntegerLaw, threshold: float) -> float:
    """The error of "+1 from ``threshold`` on" on a score g with this law of y g; on it, half an error.

    Raises
    ------
    ValueError
        If the threshold is no finite number.
    """
    at = finite("threshold", threshold)
    plus, minus = _both_labels(law)
    score = np.arange(plus.size) - plus.size // 2
    below = np.where(score == at, 0.5, np.where(score < at, 1.0, 0.0))
    return float(plus @ below + minus @ (1 - below)) / 2


def best_threshold(law: IntegerLaw) -> tuple[float, float]:
    """The least ``threshold_error`` and, of the thresholds that reach it, the one nearest to the middle.

    The scores of the two labels are mirror images, so that minus it does as well. Between two scores it is
    the number halfway. For weights that are not negative, where a high score never speaks for -1, the error
    is that of :func:`best_monotone_error`.
    """
    made_of("law", law, "IntegerLaw", "start", "mass")
    reach = max(abs(law.start), abs(law.start + law.mass.size - 1))
    errors = [threshold_error(law, twice / 2) for twice in range(2 * reach + 2)]
    least = min(errors)
    nearest = next(twice / 2 for twice, error in enumerate(errors) if error <= least + 1e-12)
    return least, nearest


def best_arbitrary_error(law: IntegerLaw) -> float:
    """The least error of any phi whatever on a score g with this law of y g: (1 - TV) / 2."""
    plus, minus = _both_labels(law)
    return float(np.minimum(plus, minus).sum()) / 2


def decoding_weights(num_sets: int, set_size: int) -> list[int]:
    """Weights (2C + 1)^l, l = 0, ..., L-1: the sum then spells every set sum as a digit.

    Each set sum lies in -C, ..., C, so the weighted sum is a number in balanced base 2C + 1, and an
    arbitrary phi can read the set sums off and apply f*.

    Raises
    ------
    ValueError
        If a size is no positive integer, or the weights do not fit in memory.
    """
    L = positive_int("num_sets", num_sets)
    C = positive_int("set_size", set_size)
    # Weight l has l digits of this many bits, in words of 64; on average half of the last one's.
    fits_memory(f"weights of up to {L:,} digits", L**2 * (2 * C + 1).bit_length() // 128)
    return [(2 * C + 1) ** level for level in range(L)]


def decode_sums(score, num_sets: int, set_size: int) -> np.ndarray:
    """The (..., L) set sums that a decoding score spells: its balanced digits in base 2C + 1.

    Parameters
    ----------
    score : integer or array of integers, of 64 bits
    num_sets, set_size : int (L and C)

    Raises
    ------
    ValueError
        If a score is no such integer, or spells no L digits in -C, ..., C.
    """
    L = positive_int("num_sets", num_sets)
    C = positive_int("set_size", set_size)
    try:
        rest = np.asarray(score)
    except ValueError:  # NumPy's word on rows of different lengths
        rest = np.empty(0)
    if not (np.issubdtype(rest.dtype, np.integer) and np.can_cast(rest.dtype, np.int64)):
        # Also what becomes of integers past 64 bits, whose digits would wrap around.
        raise ValueError(f"score must be integers of 64 bits, got {rest.dtype}")
    rest = rest.astype(np.int64)
    fits_memory(f"{L:,} digits of each score", 2 * L * rest.size)
    digits = []
    for _ in range(L):
        digit = (rest + C) % (2 * C + 1) - C
        digits.append(digit)
        rest = (rest - digit) // (2 * C + 1)
    if rest.any():
        raise ValueError(f"score must spell {L} set sums in -{C}, ..., {C}, got {score!r}")
    return np.stack(digits, axis=-1)


def _both_labels(law: IntegerLaw) -> tuple[np.ndarray, np.ndarray]:
    """The masses at y = +1 and at y = -1 on one common, symmetric support."""
    made_of("law", law, "IntegerLaw", "start", "mass")
    reach = max(abs(law.start), abs(law.start + law.mass.size - 1))
    plus = np.zeros(2 * reach + 1)
    first = law.start + reach
    plus[first : first + law.mass.size] = law.mass
    return plus, plus[::-1]


def critical_q(num_patches: int, set_size: int, error: float = 1 / 8, ties: str = "half") -> float | None:
    """The smallest q at which the symmetric sum errs with probability ``error``; None if no q does.

    With ties by half the error grows with q: its derivative is (D - C)/4 (P[Z' = C - 1] - P[Z' = C + 1])
    for one sign fewer in Z', and given how many of its signs are nonzero, Z' is unimodal on every
    other integer. Counted in full, ties can grow rarer as q nears 1 (no even sum at D - C odd), and
    the error with them; the grid, fine where D (1 - q) is small, then finds the first crossing.

    Parameters
    ----------
    num_patches, set_size, ties : as in :func:`~patch_association.exact.linear.linear_error`
    error : float in [0, 1]

    Raises
    ------
    ValueError
        If C does not divide D, ``error`` is no probability, or ``ties`` is another word.
    """
    error = probability("error", error)
    D, C, _ = divides(num_patches, set_size)
    grid = [0.0, 1.0]
    if ties == "error":
        grid = [*np.linspace(0, 0.5, 65), *(1 - np.geomspace(0.5, 0.01 / D, 129)[1:]), 1.0]
    for low, high in pairwise(grid):
        if linear_error(D, C, high, ties) >= error:
            return root_scalar(
                lambda q: linear_error(D, C, q, ties) - error, bracket=(low, high), xtol=1e-13
            ).root
    return None


def mixed_law(laws: list[IntegerLaw], weights) -> IntegerLaw:
    """The law that follows ``laws[i]`` with probability ``weights[i]``.

    Parameters
    ----------
    laws : list of IntegerLaw
    weights : list of as many probabilities
    """
    values = np.concatenate([law.support for law in laws])
    return IntegerLaw.of(values, np.concatenate([w * law.mass for w, law in zip(weights, laws)]))
