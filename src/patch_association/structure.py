"""Which patches belong together, and how well a matrix of scores recovers it.

Definition 2.1 of Jelassi et al. splits the D patches into L disjoint sets of C patches each.
Definition 2.2 says what it means to know them: the C highest scores of patch i are exactly the
scores of its own set. :class:`Partition` is the first, :func:`association` tests the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from patch_association.checks import brief, divides, fits_memory, positive_int


class Partition:
    """L disjoint sets of C patches each that cover all D patches (Definition 2.1).

    Parameters
    ----------
    labels : array of D integers
        ``labels[i]`` names the set of patch i. Any integers will do: they are renumbered
        0, ..., L-1 in increasing order.

    Raises
    ------
    ValueError
        If ``labels`` is not a non-empty list of integers, or its sets differ in size.

    Examples
    --------
    >>> Partition([0, 0, 1, 1]).sets.tolist()
    [[0, 1], [2, 3]]
    """

    def __init__(self, labels):
        try:
            given = np.asarray(labels)
        except ValueError:  # NumPy's word on rows of different lengths
            raise ValueError(f"labels must be a non-empty list of integers, got {brief(labels)}") from None
        if given.ndim != 1 or given.size == 0:
            raise ValueError(f"labels must be a non-empty list of integers, got shape {given.shape}")
        if not np.issubdtype(given.dtype, np.integer):
            raise ValueError(f"labels must be integers, got {given.dtype}")
        _, renumbered, sizes = np.unique(given, return_inverse=True, return_counts=True)
        if sizes.min() != sizes.max():
            raise ValueError(f"labels must name sets of equal size, got sizes {sorted(sizes.tolist())}")
        self._labels = renumbered.reshape(-1).astype(np.int64)

    @classmethod
    def blocks(cls, height: int, width: int, block_height: int, block_width: int) -> Partition:
        """Contiguous sets: a ``height`` x ``width`` grid of patches cut into equal blocks.

        Patches are numbered row by row. ``blocks(4, 4, 2, 2)`` is Figure 1b-1 of the paper.

        Parameters
        ----------
        height, width, block_height, block_width : int (sides of the grid and of a block, in patches)

        Raises
        ------
        ValueError
            If a side is no positive integer, or the blocks do not tile the grid.
        """
        height = positive_int("height", height)
        width = positive_int("width", width)
        block_height = positive_int("block_height", block_height)
        block_width = positive_int("block_width", block_width)
        if height % block_height or width % block_width:
            raise ValueError(
                "the blocks must tile the grid: expected a grid whose sides are multiples of the "
                f"block's, got a {height} x {width} grid and {block_height} x {block_width} blocks"
            )
        fits_memory(f"a partition of {height * width:,} patches", 4 * height * width)
        rows = np.arange(height)[:, None] // block_height
        columns = np.arange(width)[None, :] // block_width
        return cls((rows * (width // block_width) + columns).reshape(-1))  # (H, W) -> (D,)

    @classmethod
    def random(cls, num_patches: int, set_size: int, seed: int = 0) -> Partition:
        """A partition drawn uniformly among all with these sizes (Figure 1b-2).

        Parameters
        ----------
        num_patches, set_size : int (D and C; C divides D)
        seed : int, at least 0

        Raises
        ------
        ValueError
            If D is no multiple of C, or an argument is no such integer.
        """
        D, C, L = divides(num_patches, set_size)
        seed = positive_int("seed", seed, minimum=0)
        fits_memory(f"a partition of {D:,} patches", 4 * D)
        return cls(np.random.default_rng(seed).permutation(np.repeat(np.arange(L), C)))

    @property
    def labels(self) -> np.ndarray:
        """(D,) integers: the set of each patch, 0, ..., L-1; a copy."""
        return self._labels.copy()

    @property
    def num_patches(self) -> int:
        """The number of patches, D."""
        return self._labels.size

    @property
    def num_sets(self) -> int:
        """The number of sets, L = D / C."""
        return int(self._labels.max()) + 1

    @property
    def set_size(self) -> int:
        """The number of patches in a set, C."""
        return self.num_patches // self.num_sets

    @property
    def sets(self) -> np.ndarray:
        """(L, C) integers: the patches of each set, in increasing order."""
        order = np.argsort(self._labels, kind="stable")
        return order.reshape(self.num_sets, self.set_size)  # (D,) -> (L, C)

    @property
    def same_set(self) -> np.ndarray:
        """(D, D) booleans: do patches i and j share a set? True on the diagonal.

        Raises
        ------
        ValueError
            If the pairs do not fit in memory.
        """
        fits_memory(f"the pairs of {self.num_patches:,} patches", self.num_patches**2, 1)
        return self._labels[:, None] == self._labels[None, :]

    @property
    def indicator(self) -> np.ndarray:
        """(L, D) zeros and ones: row l marks the patches of set l.

        Raises
        ------
        ValueError
            If it does not fit in memory.
        """
        L, D = self.num_sets, self.num_patches
        fits_memory(f"{L:,} sets against {D:,} patches", L * D, 9)  # who is in which, then as numbers
        return (np.arange(L)[:, None] == self._labels[None, :]).astype(np.float64)

    def __eq__(self, other) -> bool:
        """Two partitions are equal when they group the patches alike, whatever the sets are called."""
        if not isinstance(other, Partition):
            return NotImplemented
        return self.num_patches == other.num_patches and bool((self.same_set == other.same_set).all())

    def __hash__(self) -> int:
        return hash(frozenset(map(tuple, self.sets.tolist())))

    def __repr__(self) -> str:
        return f"Partition({self.num_patches} patches = {self.num_sets} sets of {self.set_size})"


@dataclass(frozen=True)
class Association:
    """How well scores recover a partition; made by :func:`association`.

    Scores of shape (D, D) give one bool or float each; a stack (..., D, D), as of several seeds, gives arrays
    (...).

    Attributes
    ----------
    exact : bool
        Definition 2.2 with strict inequalities: in every row each of the C scores of the own
        set, the diagonal one included, exceeds every other score.
    exact_weak : bool
        The same with ties allowed: some way of breaking them makes Top_C the own set.
    recall : float
        The share of a patch's C - 1 companions among its C - 1 highest off-diagonal scores,
        expected under uniformly random tie-breaking, averaged over patches. Chance is
        (C - 1) / (D - 1). NaN when C = 1: a patch then has no companion.
    auc : float
        The chance that a companion's score beats a stranger's in the same row, ties counting
        one half, averaged over patches; the diagonal is left out. Chance is 1/2. NaN when
        C = 1 or L = 1.
    margin : float
        The smallest gap, over rows, between the lowest score inside the own set and the highest
        outside it. Positive exactly when ``exact``. Infinite when L = 1.
    """

    exact: Any
    exact_weak: Any
    recall: Any
    auc: Any
    margin: Any


def association(scores, partition: Partition) -> Association:
    """Test patch association (Definition 2.2), with ties and with soft scores.

    Parameters
    ----------
    scores : (..., D, D) array or tensor of finite numbers
        Row i scores the patches for patch i: <p_i, p_j>, or A, or the attention S itself.
    partition : Partition
        The true sets.

    Raises
    ------
    ValueError
        If ``scores`` does not hold (D, D) matrices of finite numbers.

    Examples
    --------
    >>> partition = Partition([0, 0, 1, 1])
    >>> association(partition.same_set, partition)
    Association(exact=True, exact_weak=True, recall=1.0, auc=1.0, margin=1.0)
    """
    if not isinstance(partition, Partition):
        raise ValueError(f"partition must be a Partition, got {type(partition).__name__}")
    A = as_scores(scores, partition.num_patches, stacked=True)
    same = partition.same_set
    D, C = partition.num_patches, partition.set_size

    lowest_inside = np.where(same, A, np.inf).min(axis=-1)  # (..., D, D) -> (..., D)
    highest_outside = np.where(same, -np.inf, A).max(axis=-1)
    with np.errstate(over="ignore"):  # two scores near the ends of float64: their gap is infinite
        gaps = lowest_inside - highest_outside
    off_diagonal = ~np.eye(D, dtype=bool)
    rows = A[..., off_diagonal].reshape(*A.shape[:-1], D - 1)  # (..., D, D) without its diagonal
    companions = same[off_diagonal].reshape(D, D - 1)
    measures = (
        (lowest_inside > highest_outside).all(axis=-1),
        (lowest_inside >= highest_outside).all(axis=-1),
        _recall(rows, companions, C - 1),
        _auc(rows, companions, C - 1),
        gaps.min(axis=-1),
    )
    return Association(*(value.item() if A.ndim == 2 else value for value in measures))


def chance_recall(num_patches: int, set_size: int) -> float:
    """Expected recall of scores that know nothing: (C - 1) / (D - 1).

    Parameters
    ----------
    num_patches, set_size : int (D and C; C divides D)

    Raises
    ------
    ValueError
        If D is no multiple of C, or C = 1: there are no companions.
    """
    D, C, _ = divides(num_patches, set_size)
    if C == 1:
        raise ValueError("recall needs sets of at least two patches, got set_size 1")
    return (C - 1) / (D - 1)


def as_scores(scores, D: int, stacked: bool = False) -> np.ndarray:
    """Scores of any make as a (D, D) float64 array, or (..., D, D); refused where they are anything else.

    Parameters
    ----------
    scores : array or tensor
    D : int (the number of patches)
    stacked : bool (take leading axes, as of several seeds)

    Raises
    ------
    ValueError
        If the shape is another, or an entry is no finite real number.
    """
    shape = f"(..., {D}, {D})" if stacked else f"({D}, {D})"
    if hasattr(scores, "detach"):  # a tensor; NumPy knows no bfloat16, so floats become doubles first
        scores = scores.detach().cpu()
        scores = scores.double() if scores.is_floating_point() else scores
    try:
        A = np.asarray(scores)
    except ValueError:  # NumPy's word on rows of different lengths
        raise ValueError(f"scores must have shape {shape} for {D} patches, got {brief(scores)}") from None
    if A.shape[-2:] != (D, D) or (A.ndim > 2 and not stacked):
        extra = A.shape[-1] - D if A.ndim > 1 and A.shape[-1] == A.shape[-2] else 0
        hint = ""
        if 0 < extra < 10:
            hint = (
                f": scores[..., {extra}:, {extra}:] leaves out {extra} tokens that stand before the patches"
            )
        raise ValueError(f"scores must have shape {shape} for {D} patches, got {A.shape}{hint}")
    if not (np.issubdtype(A.dtype, np.number) or A.dtype == bool) or np.iscomplexobj(A):
        raise ValueError(f"scores must be real numbers, got {A.dtype}")
    A = A.astype(np.float64)
    if not np.isfinite(A).all():
        raise ValueError(f"scores must be finite, got {int((~np.isfinite(A)).sum())} NaN or infinite entries")
    return A


def _recall(rows: np.ndarray, companions: np.ndarray, k: int) -> np.ndarray:
    """Mean share of companions in the top k of each row (..., D, D-1), ties broken uniformly at random."""
    if k == 0:
        return np.full(rows.shape[:-2], np.nan)
    threshold = np.sort(rows, axis=-1)[..., -k, None]  # the k-th highest score of each row
    above = rows > threshold
    tied = rows == threshold
    places = k - above.sum(axis=-1)  # places that the tied scores share
    chance = places / tied.sum(axis=-1)
    hits = (above & companions).sum(axis=-1) + chance * (tied & companions).sum(axis=-1)
    return hits.mean(axis=-1) / k


def _auc(rows: np.ndarray, companions: np.ndarray, k: int) -> np.ndarray:
    """Mean over rows (..., D, D-1) of P[companion > stranger] + P[tie] / 2, by mid-ranks."""
    strangers = rows.shape[-1] - k
    if k == 0 or strangers == 0:
        return np.full(rows.shape[:-2], np.nan)
    # Mann-Whitney: the rank sum of the companions, less its least possible value.
    U = np.where(companions, rankdata(rows, axis=-1), 0).sum(axis=-1) - k * (k + 1) / 2
    return (U / (k * strangers)).mean(axis=-1)
