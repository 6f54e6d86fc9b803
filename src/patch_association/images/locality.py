"""What the eye sees in p_i^T P, in numbers: do patches hold their neighbours most similar?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata

from patch_association._validate import finite, positive_int


@dataclass(frozen=True)
class Locality:
    """How local a similarity between the patches of a grid is.

    Attributes
    ----------
    recall : float
        The share of a patch's true neighbours (up to 8, fewer at the border) among as many of its
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


def similarity(P, centred: bool = False, cosine: bool = False) -> np.ndarray:
    """(N, N) similarities of positional encodings (N, width), patches as rows: the paper's P^T P.

    Parameters
    ----------
    centred : bool
        Subtract the mean encoding first. What all patches share raises every similarity alike
        and says nothing of which patches belong together.
    cosine : bool
        Scale the encodings to length 1 first.
    """
    P = _array(P)
    if P.ndim != 2 or not np.isfinite(P).all():
        raise ValueError(f"P must be finite with shape (N, width), got shape {P.shape}")
    P = P - P.mean(axis=0) if centred else P
    if cosine:
        norms = np.linalg.norm(P, axis=1, keepdims=True)
        if (norms == 0).any():
            raise ValueError("a positional encoding of length 0 has no cosine: expected non-zero rows of P")
        P = P / norms
    return P @ P.T


def scaled(similarities) -> np.ndarray:
    """Figure 1a's recipe: similarities stretched to [-1, 1]."""
    A = _array(similarities)
    low, high = A.min(), A.max()
    if not high > low:
        raise ValueError("similarities must not all be equal: they cannot be stretched to [-1, 1]")
    return 2 * (A - low) / (high - low) - 1


def thresholded(similarities, threshold: float = 0.55) -> np.ndarray:
    """Figure 1a's picture: which stretched similarities exceed ``threshold``, as booleans."""
    return scaled(similarities) > finite("threshold", threshold)


def grid_distances(height: int, width: int | None = None) -> np.ndarray:
    """(N, N) Euclidean distances between the patches of a grid, numbered row by row, in patches."""
    height = positive_int("height", height)
    width = height if width is None else positive_int("width", width)
    rows, columns = np.divmod(np.arange(height * width), width)
    return np.hypot(rows[:, None] - rows[None, :], columns[:, None] - columns[None, :])


def locality(similarities, grid: int) -> Locality:
    """Measure the locality of (N, N) similarities between the patches of a ``grid`` x ``grid`` picture.

    For shuffled pictures, undo the shuffle first (:meth:`GridPermutation.undo`).

    Raises
    ------
    ValueError
        On another shape, on NaN, or on a grid of fewer than 3 x 3 patches.
    """
    g = positive_int("grid", grid, minimum=3)
    A = _array(similarities)
    if A.shape != (g * g, g * g) or not np.isfinite(A).all():
        raise ValueError(f"similarities must be finite with shape ({g * g}, {g * g}), got shape {A.shape}")
    distance = grid_distances(g)
    recalls, chances, correlations = [], [], []
    for i in range(g * g):
        others = np.arange(g * g) != i
        row, apart = A[i, others], distance[i, others]
        neighbours = apart < 1.5  # the ring of 8: side 1, diagonal sqrt(2)
        recalls.append(_shared_recall(row, neighbours))
        chances.append(neighbours.sum() / neighbours.size)
        correlations.append(_spearman(row, -apart))
    return Locality(float(np.mean(recalls)), float(np.mean(chances)), float(np.mean(correlations)))


def _shared_recall(row, neighbours) -> float:
    k = int(neighbours.sum())
    threshold = np.sort(row)[-k]
    above, tied = row > threshold, row == threshold
    chance = (k - above.sum()) / tied.sum()  # tied scores share the places that are left
    return float(((above & neighbours).sum() + chance * (tied & neighbours).sum()) / k)


def _spearman(a, b) -> float:
    a, b = rankdata(a), rankdata(b)
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 0 else 0.0  # a constant row orders nothing


def _array(x) -> np.ndarray:
    if isinstance(x, torch.Tensor):
        x = x.detach().cpu().double().numpy()
    return np.asarray(x, dtype=np.float64)
