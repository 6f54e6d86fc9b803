"""Figure 1a of Jelassi et al.: which similarities pass a threshold, and how many of those are neighbors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from patch_association.checks import finite
from patch_association.images.locality import RING, as_array, grid_distances


@dataclass(frozen=True)
class Passing:
    """How many similarities pass a threshold.

    Attributes
    ----------
    own : int
        Patches whose similarity to themselves passes.
    pairs : int
        Pairs of two different patches that pass; (i, j) and (j, i) are one.
    neighbors : int
        Those among them that touch on the grid, at a side or a corner.
    """

    own: int
    pairs: int
    neighbors: int


def scaled(similarities) -> np.ndarray:
    """Figure 1a's recipe: similarities stretched to [-1, 1].

    Raises
    ------
    ValueError
        If they are all equal, or one is not finite.
    """
    A = as_array("similarities", similarities)
    low = A.min()
    high = A.max()
    if not high > low:
        raise ValueError("similarities must not all be equal: they cannot be stretched to [-1, 1]")
    return 2 * (A - low) / (high - low) - 1


def thresholded(similarities, threshold: float = 0.55) -> np.ndarray:
    """Figure 1a's picture: which stretched similarities exceed ``threshold``, as booleans.

    Raises
    ------
    ValueError
        If the similarities are all equal, or a number is not finite.
    """
    return scaled(similarities) > finite("threshold", threshold)


def passing_pairs(passing) -> Passing:
    """Count what a picture like Figure 1a's shows.

    Parameters
    ----------
    passing : (N, N) booleans
        Of :func:`thresholded`, for the N patches of a square grid; symmetric, as similarities are.

    Raises
    ------
    ValueError
        If it is no symmetric array of booleans for a square grid.
    """
    passing = np.asarray(passing)
    grid = math.isqrt(len(passing))
    if passing.dtype != bool or passing.shape != (grid * grid, grid * grid):
        raise ValueError(
            f"passing must be (N, N) booleans of a square grid, got {passing.dtype} of {passing.shape}"
        )
    if (passing != passing.T).any():
        raise ValueError("passing must be symmetric: of a pair either both directions pass or none")
    pairs = np.triu(passing, 1)
    near = grid_distances(grid) < RING
    return Passing(int(np.diag(passing).sum()), int(pairs.sum()), int((pairs & near).sum()))
