"""Generalized linear predictors, exactly (Theorem 3.1 of Jelassi et al.).

Everything is stated at y = +1: flipping the feature's sign flips the label, so nothing is lost.
On Assumption 1 the symmetric sum is y sum_j <w*, X_j> = C + Z, where Z adds up D - C independent
signs (+1 or -1 with probability q/2 each, 0 otherwise). The noise is orthogonal to w* and drops out.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from patch_association.checks import divides, probability
from patch_association.exact.integer_sums import IntegerLaw, trinomial

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

    Examples
    --------
    Two signs against C = 2: both are wrong with probability 1/4, and that is a tie.

    >>> linear_error(4, 2, q=1.0), linear_error(4, 2, q=1.0, ties="half")
    (0.25, 0.125)
    """
    D, C, _ = divides(num_patches, set_size)
    q = probability("q", q)
    if ties not in ("error", "half"):
        raise ValueError(f'ties must be "error" or "half", got {ties!r}')
    Z = trinomial(D - C, q)
    return Z.below(-C) + Z.at(-C) * (1.0 if ties == "error" else 0.5)


def labeling_error(num_patches: int, set_size: int, q: float) -> float:
    """P[y f*(X) <= 0] of the labeling function of Assumption 1, exactly.

    f* adds the set sums that exceed 0.9 C in size. The signal set always adds +C (at y = +1); the
    label is lost when the random sets that pass the threshold add up to -C or less. Ties f* = 0
    count as lost.

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`linear_error`

    Raises
    ------
    ValueError
        If C does not divide D, or q lies outside [0, 1].

    Examples
    --------
    One set of four beside the signal set: its signs must all be wrong, and 2^-4 is the chance of that.

    >>> labeling_error(8, 4, q=1.0)
    0.0625
    """
    return labeling_law(num_patches, set_size, q).below(1)


def labeling_law(num_patches: int, set_size: int, q: float) -> IntegerLaw:
    """The law of y f*(X).

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`linear_error`

    Raises
    ------
    ValueError
        If C does not divide D, or q lies outside [0, 1].
    """
    _D, C, L = divides(num_patches, set_size)
    # 10 |s| > 9 C in integers: 0.9 C is not a float.
    passed = trinomial(C, probability("q", q)).map(lambda s: np.where(10 * np.abs(s) > 9 * C, s, 0))
    return passed.times(L - 1).shift(C)
