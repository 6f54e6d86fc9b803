"""Bounds on what the labeling function of Assumption 1 does.

At y = +1. A random set is unanimous for -1 (all its C patches carry -w*) with probability r = (q/2)^C,
and it passes the threshold 0.9 C on the negative side with probability r' >= r.
"""

from __future__ import annotations

from patch_association.checks import divides, probability
from patch_association.exact.integer_sums import trinomial


def mimic_probability(set_size: int, q: float) -> float:
    """r = (q/2)^C: a random set of C patches looks like the signal set of the other label.

    Raises
    ------
    ValueError
        If C is no positive integer, or q lies outside [0, 1].
    """
    _, C, _ = divides(set_size, set_size)
    return (probability("q", q) / 2) ** C


def pass_probability(set_size: int, q: float) -> float:
    """r' = P[Z_C < -0.9 C]: a random set passes the threshold of f* on one given side.

    Raises
    ------
    ValueError
        If C is no positive integer, or q lies outside [0, 1].
    """
    _, C, _ = divides(set_size, set_size)
    # 10 s < -9 C in integers, since 0.9 C is not a float: the integers below -9C/10.
    return trinomial(C, probability("q", q)).below(-(9 * C // 10))


def labeling_bounds(num_patches: int, set_size: int, q: float) -> tuple[float, float]:
    """(low, high) around P[y f*(X) <= 0], proved in the chapter on the data.

    (L - 1) r (1 - 2 (L - 2) r') <= P[y f* <= 0] <= (L - 1) r + ((L - 1) r')^2 / 2; the last term is
    dropped for C <= 10, where the threshold asks for unanimity and r' = r.

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`~patch_association.exact.linear.linear_error`

    Raises
    ------
    ValueError
        If C does not divide D, or q lies outside [0, 1].
    """
    _D, C, L = divides(num_patches, set_size)
    r = mimic_probability(C, q)
    passed = pass_probability(C, q)
    low = (L - 1) * r * max(0.0, 1 - 2 * (L - 2) * passed)
    high = (L - 1) * r if C <= 10 else (L - 1) * r + ((L - 1) * passed) ** 2 / 2
    return low, min(high, 1.0)
