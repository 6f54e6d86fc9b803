"""How well any predictor of the labels of Assumption 1 can do."""

from __future__ import annotations

import numpy as np

from patch_association.checks import divides, probability
from patch_association.exact.integer_sums import IntegerLaw


def bayes_error(num_patches: int, set_size: int, q: float) -> float:
    """The least error of any predictor of y from X, exactly.

    The posterior odds of y = +1 are the number of sets unanimous for +1 over the number unanimous
    for -1, so the best predictor compares the two counts; equal counts are a coin toss.

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`~patch_association.exact.linear.linear_error`

    Raises
    ------
    ValueError
        If C does not divide D, or q lies outside [0, 1].
    """
    _, C, L = divides(num_patches, set_size)
    r = (probability("q", q) / 2) ** C  # a random set is unanimous for -1
    difference = IntegerLaw(-1, np.array([r, 1 - 2 * r, r])).times(L - 1).shift(1)
    return difference.below(0) + difference.at(0) / 2
