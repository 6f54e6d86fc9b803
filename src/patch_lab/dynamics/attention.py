"""The three values that attention takes where scores take three."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from patch_association._validate import divides


def attention_values(num_patches: int, set_size: int, beta: ArrayLike, gamma: ArrayLike, rho: ArrayLike):
    """(Lambda, Gamma, Xi): the softmax of a row with beta once, gamma C-1 times, rho D-C times.

    Section 4.1 of the paper: the attention that a patch pays to itself, to each patch of its set
    and to each other patch. The arguments may be arrays of one shape.

    Parameters
    ----------
    num_patches, set_size : int (D and C; C divides D)
    beta, gamma, rho : numbers or arrays of one shape (scores on the diagonal, inside a set, across sets)

    Raises
    ------
    ValueError
        If C does not divide D, or a score is not finite.
    """
    D, C, _ = divides(num_patches, set_size)
    rows = np.stack(np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (beta, gamma, rho))))
    if not np.isfinite(rows).all():
        raise ValueError("beta, gamma and rho must be finite numbers")
    e = np.exp(rows - rows.max(axis=0))
    return tuple(e / (e[0] + (C - 1) * e[1] + (D - C) * e[2]))
