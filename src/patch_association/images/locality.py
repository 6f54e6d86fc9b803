"""What the eye sees in p_i^T P, in numbers: do patches hold their neighbors most similar?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.stats import rankdata

from patch_association.checks import finite, fits_memory, positive_int, real_array

RING = 1.5  # neighbors are the ring of 8: at distance 1 by a side, sqrt(2) by a corner


@dataclass(frozen=True)
class Locality:
    """How local a similarity between the patches of a grid is.

    Attributes
    ----------
    recall : float
        The share of a patch's true neighbors (up to 8, fewer at the border) among as many of its
        most similar patches, itself left out, averaged over patches; ties share their places.
    chance : float
        The same for a similarity without structure.
    correlation : float
        Spearman's rank correlation of a row of similarities with minus the distance of the patches
        on the grid, itself left out, averaged over patches. 0 for a similarity without structure.
    """

    recall: float
    chance: float
    correlation: float


def similarity(P, centered: bool = False, cosine: bool = False) -> np.ndarray:
    """(N, N) similarities of positional encodings (N, width), patches as rows: the paper's P^T P.

    Parameters
    ----------
    centered : bool
        Subtract the mean encoding first. What all patches share raises every similarity alike
        and says nothing of which patches belong together.
    cosine : bool
        Scale the encodings to length 1 first.

    Raises
    ------
    ValueError
        If P is no (N, width) array of finite numbers, or an encoding has length 0 and so no cosine.
    """
    P = as_array("P", P)
    if P.ndim != 2 or P.shape[0] == 0:
        raise ValueError(f"P must be finite with shape (N, width), got shape {P.shape}")
    P = P - P.mean(axis=0) if centered else P
    if cosine:
        norms = np.linalg.norm(P, axis=1, keepdims=True)
        if (norms == 0).any():
            raise ValueError("a positional encoding of length 0 has no cosine: expected non-zero rows of P")
        P = P / norms
    return P @ P.T


def grid_distances(height: int, width: int | None = None) -> np.ndarray:
    """(N, N) Euclidean distances between the patches of a grid, numbered row by row, in patches.

    Parameters
    ----------
    height, width : int (rows, and columns; a square by default)

    Raises
    ------
    ValueError
        If a side is no positive integer, or the distances do not fit in memory.
    """
    height = positive_int("height", height)
    width = height if width is None else positive_int("width", width)
    fits_memory(f"distances between {height * width} patches", 4 * (height * width) ** 2)
    rows, columns = np.divmod(np.arange(height * width), width)
    return np.hypot(rows[:, None] - rows[None, :], columns[:, None] - columns[None, :])


def locality(similarities, grid, mirrored: bool = False) -> Locality:
    """Measure the locality of (N, N) similarities between the patches of a picture.

    For shuffled pictures, undo the shuffle first (``GridPermutation.undo`` of the laboratory). With
    ``mirrored`` a patch and its mirror image, left for right, are one place: distances are those to the
    nearer of the two.

    Parameters
    ----------
    similarities : (N, N) array or tensor
    grid : int or pair of int (patches per side; or rows and columns)
    mirrored : bool

    Raises
    ------
    ValueError
        On another shape, on NaN, or on a grid of fewer than 3 x 3 patches.
    """
    A, sides = _on_grid(similarities, grid, minimum=3)
    N = len(A)
    distance = grid_distances(*sides)
    if mirrored:
        flipped = np.arange(N).reshape(sides)[:, ::-1].reshape(-1)
        distance = np.minimum(distance, distance[flipped])
    recalls = []
    chances = []
    correlations = []
    for i in range(N):
        others = np.arange(N) != i
        row = A[i, others]
        apart = distance[i, others]
        neighbors = apart < RING
        recalls.append(_shared_recall(row, neighbors))
        chances.append(neighbors.sum() / neighbors.size)
        ranks = rankdata(row), rankdata(-apart)  # a constant row orders nothing
        correlations.append(np.corrcoef(*ranks)[0, 1] if np.ptp(row) > 0 else 0.0)
    return Locality(float(np.mean(recalls)), float(np.mean(chances)), float(np.mean(correlations)))


def neighbor_recall(similarities, grid, k: int = 4) -> float:
    """The share of a patch's neighbors at a side (2 to 4) among its ``k`` most similar patches.

    The patch itself is left out. A mean over patches; ties count by their order. By chance: k / (N - 1).

    Parameters
    ----------
    similarities, grid : as in :func:`locality`
    k : int

    Raises
    ------
    ValueError
        On another shape, on NaN, on a grid of one patch, or with no ``k`` other patches.

    Examples
    --------
    >>> neighbor_recall(-grid_distances(5), 5)
    1.0
    """
    A, sides = _on_grid(similarities, grid)
    distance = grid_distances(*sides)
    if not 1 <= positive_int("k", k) < len(A):
        raise ValueError(f"k must be less than the {len(A)} patches, got {k}")
    top = np.argsort(-np.where(np.eye(len(A), dtype=bool), -np.inf, A), axis=1, kind="stable")[:, :k]
    near = distance == 1
    return float((np.take_along_axis(near, top, axis=1).sum(axis=1) / near.sum(axis=1)).mean())


@dataclass(frozen=True)
class RowsAndColumns:
    """How far encodings of a grid are a vector for the row plus a vector for the column.

    Attributes
    ----------
    share : float
        Of the variance of the encodings, what the best such sum explains.
    isotropic : float
        The same for a smooth field that knows no rows and columns, with as many effective components: what
        smoothness alone explains (:func:`isotropic`).
    rows, columns : arrays, a row and a column for each row, or column, of the grid
        Inner products of the centered vectors of the rows, and of the columns.
    kronecker : float
        Of the centered similarities, what ``rows`` plus ``columns`` explains: below ``share`` where vectors
        of rows and of columns are not orthogonal.
    """

    share: float
    isotropic: float
    rows: np.ndarray
    columns: np.ndarray
    kronecker: float


def row_and_column(similarities, grid) -> RowsAndColumns:
    """Split encodings into rows and columns, from their similarities P P^T (N, N) alone.

    Parameters
    ----------
    similarities, grid : as in :func:`locality`

    Raises
    ------
    ValueError
        On another shape or NaN, a grid of one patch, or where all encodings are equal.

    Examples
    --------
    >>> P = np.add.outer(np.arange(3.0), 10 * np.arange(3.0)).reshape(9, 1)
    >>> round(row_and_column(similarity(P), 3).share, 6)
    1.0
    """
    G, sides = _on_grid(similarities, grid)
    center = np.eye(len(G)) - 1 / len(G)
    T = (center @ G @ center).reshape(*sides, *sides)  # (row, column, row', column')
    if not np.einsum("rcrc->", T) > np.finfo(np.float64).eps * np.abs(G).sum():  # nothing but rounding
        raise ValueError("all encodings are equal: there is nothing to split")
    explained, rows, columns = _explained(T)
    smooth, *_ = _explained(isotropic(participation_ratio(G), sides).reshape(T.shape))
    rest = T - rows[:, None, :, None] - columns[None, :, None, :]
    kronecker = 1 - (rest**2).sum() / (T**2).sum()
    return RowsAndColumns(explained, smooth, rows, columns, float(kronecker))


def _explained(T):
    """The share of centered similarities (h, w, h, w) that is row plus column, and both: (h, h), (w, w)."""
    # Averages over columns are the rows' vectors, over rows the columns': the inner products of both.
    rows, columns = T.mean(axis=(1, 3)), T.mean(axis=(0, 2))
    explained = T.shape[1] * np.trace(rows) + T.shape[0] * np.trace(columns)
    return float(explained / np.einsum("rcrc->", T)), rows, columns


def participation_ratio(similarities) -> float:
    """How many components encodings effectively have: (sum of v)^2 / sum of v^2, v their variances.

    From P P^T (N, N) alone, centered. Between 1 and N - 1.

    Raises
    ------
    ValueError
        On another shape or NaN, or where all encodings are equal.

    Examples
    --------
    >>> round(participation_ratio(np.eye(4)), 6)
    3.0
    """
    A = _square(similarities)
    T = A - A.mean(axis=0) - A.mean(axis=1, keepdims=True) + A.mean()
    if not np.trace(T) > np.finfo(np.float64).eps * np.abs(A).sum():
        raise ValueError("all encodings are equal: they have no components")
    return float(np.trace(T) ** 2 / (T**2).sum())


def isotropic(participation: float, grid) -> np.ndarray:
    """Centered similarities (N, N) of a smooth field on the grid that prefers no direction.

    They fall with the distance as exp(-distance^2 / (2 length^2)), the length such that the field has the
    given :func:`participation_ratio`. Toward 2 the field is a plane, at N - 1 it is without structure;
    outside it stays at that end.

    Parameters
    ----------
    participation : float, positive
    grid : int or pair of int (patches per side, at least 2; or rows and columns)

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    sides = grid_sides(grid)
    wanted = finite("participation", participation)
    if not wanted > 0:
        raise ValueError(f"participation must be positive, got {participation}")
    squared = grid_distances(*sides) ** 2

    def field(log_length):
        A = np.exp(-squared * np.exp(-2 * log_length) / 2)
        return A - A.mean(axis=0) - A.mean(axis=1, keepdims=True) + A.mean()

    def surplus(log_length):
        return participation_ratio(field(log_length)) - wanted

    ends = np.log(0.1), np.log(100 * max(sides))  # patches
    if surplus(ends[0]) <= 0 or surplus(ends[1]) >= 0:
        return field(ends[0] if surplus(ends[0]) <= 0 else ends[1])
    return field(brentq(surplus, *ends))


def components(similarities, share: float) -> int:
    """How many principal components hold ``share`` of the variance of encodings, from P P^T (N, N) alone.

    Parameters
    ----------
    similarities : (N, N) array or tensor
    share : float in (0, 1]

    Raises
    ------
    ValueError
        On another shape or NaN, or a share that is not in (0, 1].

    Examples
    --------
    >>> components(np.diag([4.0, 1.0, 1.0]), 0.7)
    1
    """
    A = _square(similarities)
    if not 0 < finite("share", share) <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share}")
    center = np.eye(len(A)) - 1 / len(A)
    variances = np.sort(np.linalg.eigvalsh(center @ A @ center))[::-1].clip(min=0)
    held = np.cumsum(variances) / variances.sum()
    return min(int(np.searchsorted(held, share)) + 1, len(A))


def encoding_locality(P, permutation: Any = None, grid=None) -> Locality:
    """The locality of encodings (N, width) of a grid, by the cosines of centered encodings.

    So neither what all encodings share nor their lengths count.

    Parameters
    ----------
    permutation : GridPermutation of the laboratory, optional
        The shuffle that the model has been trained with: it is undone first.
    grid : int or pair of int, optional
        Patches per side, or rows and columns; a square by default.

    Raises
    ------
    ValueError
        If N is not that of the grid, or no square of a grid that divides the shuffled picture, if a tile
        cuts patches apart, and where :func:`locality` refuses.
    """
    A = similarity(P, centered=True, cosine=True)
    if grid is None and (grid := math.isqrt(len(A))) ** 2 != len(A):
        ways = "leave a class token out, P[1:], or say grid=(rows, columns)"
        raise ValueError(f"P must have a row for each patch of a square, got {len(A)}: {ways}")
    if permutation is not None:
        if permutation.image_size % positive_int("grid", grid):
            raise ValueError(
                f"{len(A)} encodings do not fit pictures of {permutation.image_size} pixels a side"
            )
        A = permutation.undo(A, permutation.image_size // grid)
    return locality(A, grid)


def grid_sides(grid, minimum: int = 2) -> tuple[int, int]:
    """Rows and columns of a grid that is given as a side or as both, each at least ``minimum``.

    Raises
    ------
    ValueError
        If it is neither, or a side is smaller.
    """
    sides = tuple(grid) if isinstance(grid, (tuple, list)) else (grid, grid)
    if len(sides) != 2:
        raise ValueError(f"grid must be a side, or rows and columns, got {grid!r}")
    return positive_int("grid", sides[0], minimum), positive_int("grid", sides[1], minimum)


def _on_grid(similarities, grid, minimum: int = 2):
    """Similarities as an (N, N) array, N the patches of the grid, and the grid's sides."""
    A = as_array("similarities", similarities)
    sides = grid_sides(grid, minimum)
    if A.shape != (math.prod(sides),) * 2:
        wanted = f"({math.prod(sides)}, {math.prod(sides)}) on a grid of {sides[0]} x {sides[1]}"
        raise ValueError(f"similarities must have shape {wanted}, got {A.shape}")
    return A, sides


def _square(similarities) -> np.ndarray:
    A = as_array("similarities", similarities)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"similarities must be finite with shape (N, N), got shape {A.shape}")
    return A


def _shared_recall(row, neighbors) -> float:
    k = int(neighbors.sum())
    threshold = np.sort(row)[-k]
    above = row > threshold
    tied = row == threshold
    chance = (k - above.sum()) / tied.sum()  # tied scores share the places that are left
    return float(((above & neighbors).sum() + chance * (tied & neighbors).sum()) / k)


def as_array(name, x) -> np.ndarray:
    """``x``, an array or a tensor, as finite numbers in float64.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(x, torch.Tensor) and not x.is_complex():
        x = x.detach().cpu().double().numpy()  # NumPy has no bfloat16
    return real_array(name, x)
