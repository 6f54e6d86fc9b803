"""Undo a shuffle of patches from similarities alone, as a puzzle without the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import shortest_path

from patch_association.checks import positive_int, real_array
from patch_association.images.locality import grid_distances


@dataclass(frozen=True)
class Assembly:
    """A puzzle put together; all arrays are in the pieces' own order, in which piece k was cut from place k.

    Attributes
    ----------
    links : (N, N) booleans
        The most similar pairs.
    hops : (N, N) integers
        How many links the shortest way between two pieces takes.
    plane : (N, 2) array
        Row and column of each piece as the hops alone have it, before the grid is imposed; in patches.
    places : (N, 2) integers
        Where each piece was put, row and column.
    """

    links: np.ndarray
    hops: np.ndarray
    plane: np.ndarray
    places: np.ndarray

    @property
    def at_place(self) -> float:
        """The share of pieces at their own place."""
        return float((self.places == _grid(len(self.places))).all(axis=1).mean())

    @property
    def beside(self) -> float:
        """The share of neighbors at a side that are neighbors at a side again."""
        were = grid_distances(math.isqrt(len(self.places))) == 1
        are = np.abs(self.places[:, None] - self.places[None]).sum(axis=-1) == 1
        return float((were & are).sum() / were.sum())


def cosines(similarities) -> np.ndarray:
    """(N, N) similarities of centered encodings, divided by both lengths.

    Raises
    ------
    ValueError
        If it is no square matrix of finite numbers, or an encoding is the mean of all.
    """
    A = real_array("similarities", similarities)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size:
        raise ValueError(f"similarities must be a finite square matrix, got shape {A.shape}")
    A = A - A.mean(axis=0) - A.mean(axis=1, keepdims=True) + A.mean()
    lengths = np.sqrt(np.diag(A))
    if not (lengths > 0).all():
        raise ValueError("similarities must be inner products of encodings that differ: one has length 0")
    return A / np.outer(lengths, lengths)


def assemble(similarities, links: int | None = None) -> Assembly:
    """Put the pieces of a square grid together from the inner products of their encodings alone.

    The ``links`` most similar pairs are linked, by default as many as the grid has pairs of neighbors.
    Distance is the number of links on the shortest way; classical scaling (the two largest eigenvectors
    of the doubly centered squared distances) lays the pieces out in a plane, which is turned until it
    fits a square, and each piece gets a place of the grid so that all move as little as possible (least
    squares). Of the grid's eight turns and mirror images, which no similarity can tell apart, the one
    with most pieces at their own place is taken.

    Parameters
    ----------
    similarities : (N, N) array
        Of N = g^2 encodings. Pairs without a way count as one hop more than the longest way.
    links : int, optional

    Raises
    ------
    ValueError
        If N is no square of at least two, or has no so many pairs.

    Examples
    --------
    >>> assemble(np.exp(-(grid_distances(6) ** 2))).at_place
    1.0
    """
    K = cosines(similarities)
    N = len(K)
    g = math.isqrt(len(K))
    if g * g != N or g < 2:
        raise ValueError(f"similarities must be those of a square grid of patches, got {N}")
    links = 2 * g * (g - 1) if links is None else positive_int("links", links)
    if links > N * (N - 1) // 2:
        raise ValueError(f"links must be at most {N * (N - 1) // 2}, the pairs of {N} patches, got {links}")
    first, second = np.triu_indices(N, 1)
    top = np.argsort(-K[first, second], kind="stable")[:links]
    linked = np.zeros((N, N), dtype=bool)
    linked[first[top], second[top]] = linked[second[top], first[top]] = True
    hops = shortest_path(linked.astype(float), directed=False, unweighted=True)
    hops[~np.isfinite(hops)] = hops[np.isfinite(hops)].max() + 1
    center = np.eye(N) - 1 / N
    values, vectors = np.linalg.eigh(-0.5 * center @ hops**2 @ center)
    # Which sign eigh gives a vector depends on the machine: its largest entry is made positive.
    vectors *= np.sign(np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0))
    x, y = (vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))).T
    # A filled square has least fourth moments when its sides are along the axes: z -> z e^{-i turn}.
    z = x + 1j * y
    z = z * np.exp(-0.25j * (np.angle((z**4).sum()) + np.pi))
    plane = np.stack([z.real, z.imag], axis=-1)
    grid = _grid(N)
    middle = (g - 1) / 2
    plane *= np.sqrt(((grid - middle) ** 2).mean() / (plane**2).mean())
    cost = ((plane[:, None] + middle - grid[None]) ** 2).sum(axis=-1)  # (N pieces, N places)
    # Pieces with the same links lie at one point: costs that differ by less than rounding leaves are ties.
    places = grid[linear_sum_assignment(cost.round(6))[1]]
    turns = [
        (flip, sign) for flip in (False, True) for sign in np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    ]

    def turned(at, flip, sign):
        return sign * (at[:, ::-1] if flip else at)

    right = [int((turned(places - middle, *turn) + middle == grid).all(axis=1).sum()) for turn in turns]
    best = turns[int(np.argmax(right))]
    cells = (turned(places - middle, *best) + middle).astype(int)
    return Assembly(linked, hops.astype(int), turned(plane, *best) + middle, cells)


def _grid(N):
    """(N, 2) row and column of each patch."""
    return np.stack(np.divmod(np.arange(N), math.isqrt(N)), axis=-1)
