"""Attention built by hand: transformers that generalize with and without the structure (Theorem 3.2).

In the hard limit of the softmax each patch averages over one whole set. Model (T) without its
linear part then sees only set sums n_l = sum_{i in S_l} <w*, X_i>, and its sign is that of
sum_l n_l^p, whatever the order in which the patches read the sets.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from patch_association.checks import (
    divides,
    finite,
    fits_memory,
    made_of,
    odd_degree,
    positive_int,
    probability,
    real_array,
)
from patch_association.defaults import DEFAULT
from patch_association.exact.integer_sums import trinomial
from patch_association.structure import Partition, as_scores


def hard_attention_error(
    num_patches: int,
    set_size: int,
    q: float,
    degree: int = DEFAULT.degree,
    pooled_sets: int = 1,
    ties: str = "half",
) -> float:
    """P[y F(X) < 0] (plus ties) of hard attention to whole sets, exactly, at nu = 0.

    sign F = sign sum_l n_l^p when every patch reads one set and every set is read equally often:
    its own (association), the next one (a derangement), any permutation. With ``pooled_sets = k``,
    every patch reads k sets together, and the sum is over groups of k sets.

    Parameters
    ----------
    degree : int
        p.
    pooled_sets : int
        k; divides the number of sets.
    ties : "half" or "error"
    """
    _D, C, L = divides(num_patches, set_size)
    p = odd_degree(degree)
    q = probability("q", q)
    k = positive_int("pooled_sets", pooled_sets)
    if L % k:
        raise ValueError(f"pooled_sets must divide the {L} sets, got {k}")
    if ties not in ("half", "error"):
        raise ValueError(f'ties must be "half" or "error", got {ties!r}')
    reach = (k * C) ** p * (L // k)  # in Python's integers: NumPy's would wrap around
    if reach >= 2**31:
        raise ValueError(f"degree {p} is too high for {L // k} groups of {k * C} patches: sums reach {reach}")
    signal = trinomial((k - 1) * C, q).shift(C).map(lambda n: n**p)
    total = signal + trinomial(k * C, q).map(lambda n: n**p).times(L // k - 1)
    return total.below(0) + total.at(0) * (0.5 if ties == "half" else 1.0)


def hard_attention_bound(
    num_patches: int, set_size: int, q: float, degree: int = DEFAULT.degree, pooled_sets: int = 1
) -> float:
    """An upper bound on :func:`hard_attention_error` (ties as errors), for sizes too large to convolve.

    For every integer b < C: (L / k) P[Bin(k C, q) > b] + P[Bin(D, q) > 2 q D]
    + exp(-(C - b [k > 1])^{2p} / (4 b^{2p-1} q D)), minimized over b >= 1. The first two terms bound
    how many features meet in one group and in all; the third is Hoeffding's inequality for the rest.
    """
    D, C, L = divides(num_patches, set_size)
    p = odd_degree(degree)
    q = probability("q", q)
    k = positive_int("pooled_sets", pooled_sets)
    if L % k:
        raise ValueError(f"pooled_sets must divide the {L} sets, got {k}")
    if q == 0 or L == k:
        return 0.0 if q == 0 else 1.0
    fits_memory(f"the counts of {C:,} patches", 6 * C)
    b = np.arange(1, C, dtype=np.float64)
    if b.size == 0:
        return 1.0
    crowded = L / k * binom.sf(b, k * C, q) + binom.sf(2 * q * D, D, q)
    signal = C - b if k > 1 else np.full_like(b, C)
    balance = np.exp(-np.exp(2 * p * np.log(signal) - (2 * p - 1) * np.log(b) - np.log(4 * q * D)))
    return float(min(1.0, (crowded + balance).min()))


def association_scores(partition: Partition, strength: float) -> np.ndarray:
    """(D, D) scores that attend to the own set: ``strength`` inside, 0 outside."""
    _check(partition)
    return finite("strength", strength) * partition.same_set


def derangement_scores(partition: Partition, strength: float, shift: int = 1) -> np.ndarray:
    """(D, D) scores that attend to another set: row i scores ``strength`` on the set l(i) + shift.

    A cyclic shift that is no multiple of L is a derangement of the sets: no row attends to its own.
    """
    _check(partition)
    L = partition.num_sets
    if positive_int("shift", shift) % L == 0:
        raise ValueError(f"shift must not be a multiple of the {L} sets, got {shift}")
    fits_memory(f"the scores of {partition.num_patches:,} patches", 2 * partition.num_patches**2)
    target = (partition.labels + shift) % L
    return np.where(target[:, None] == partition.labels[None, :], finite("strength", strength), 0.0)


def violations(scores, partition: Partition, ties: str = "kind", diagonal: bool = True) -> np.ndarray:
    """(D,) booleans: does Top_C of row i meet the own set of i?

    Theorem 3.2 wants Top_C of every row to miss the own set.

    Parameters
    ----------
    ties : "kind", "index" or "strict"
        When scores tie, a row counts as violating if every choice of Top_C meets the own set
        ("kind" to the theorem), if the one that prefers lower patch numbers does ("index"), or if
        some choice does ("strict").
    diagonal : bool
        Whether a patch takes part in its own row. Without it Top_C is taken over the other patches.
    """
    _check(partition)
    D = partition.num_patches
    C = partition.set_size
    same = partition.same_set
    A = as_scores(scores, D)
    if ties not in ("kind", "index", "strict"):
        raise ValueError(f'ties must be "kind", "index" or "strict", got {ties!r}')
    if not diagonal:
        A = np.where(np.eye(D, dtype=bool), -np.inf, A)
    if partition.num_sets == 1:
        return np.ones(D, dtype=bool)
    if ties == "index":
        top = np.argsort(-A, axis=1, kind="stable")[:, :C]
        return np.take_along_axis(same, top, axis=1).sum(axis=1) > 0
    best_inside = np.where(same, A, -np.inf).max(axis=1)
    # Top_C can miss the own set when the C-th highest stranger reaches the own set's best.
    stranger = np.sort(np.where(same, -np.inf, A), axis=1)[:, -C]
    return best_inside > stranger if ties == "kind" else best_inside >= stranger


def chain_encodings(partition: Partition, gap: float = 0.05) -> np.ndarray:
    """(D, L) positional encodings whose Gram matrix violates Theorem 3.2 in exactly C rows.

    One vector per set: |p_l|^2 = 4.5^l and <p_l, p_{l+1}> = (1 + gap) |p_l|^2, all other inner
    products zero. Every set but the last then attends to the next one; the last, with the largest
    norm, cannot attend away from itself. C rows is the least that a Gram matrix can do.

    Raises
    ------
    ValueError
        If these inner products belong to no vectors (the Gram matrix is not positive definite).
    """
    _check(partition)
    gap = finite("gap", gap, minimum=0)
    fits_memory(f"the Gram matrix of {partition.num_sets:,} sets", 6 * partition.num_sets**2)
    g = 4.5 ** np.arange(partition.num_sets, dtype=np.float64)
    cross = (1 + gap) * g[:-1]
    gram = np.diag(g) + np.diag(cross, 1) + np.diag(cross, -1)
    try:
        factor = np.linalg.cholesky(gram / g[-1])
    except np.linalg.LinAlgError:
        raise ValueError(f"no encodings have these inner products, got the gap {gap:g}") from None
    return factor[partition.labels] * np.sqrt(g[-1])  # (L, L) -> (D, L)


def paired_encodings(
    partition: Partition, share: float = 12.0, repel: float = 0.25, lift: float = 1.0
) -> np.ndarray:
    """(D, D) invertible encodings: off the diagonal, every patch is closer to a partner set than to its own.

    Sets 2k and 2k + 1 are partners. <p_i, p_j> is ``share`` across partners, ``share - repel`` within a
    set (i != j) and 0 otherwise; |p_i|^2 = share + (C - 1) repel + lift. The Gram matrix is
    share [same pair] + repel (C I - [same set]) + lift I, a sum of positive semidefinite terms.

    Raises
    ------
    ValueError
        If the number of sets is odd, or ``lift`` is not positive.
    """
    _check(partition)
    D, C, L = partition.num_patches, partition.set_size, partition.num_sets
    share = finite("share", share, minimum=0)
    repel = finite("repel", repel, minimum=0)
    if L % 2:
        raise ValueError(f"partners need an even number of sets, got {L}")
    if not finite("lift", lift) > 0:
        raise ValueError(f"lift must be positive, got {lift}")
    fits_memory(f"the Gram matrix of {D:,} patches", 6 * D**2)
    pair = partition.labels // 2
    same_pair = (pair[:, None] == pair[None, :]).astype(np.float64)
    gram = share * same_pair + repel * (C * np.eye(D) - partition.same_set.astype(np.float64))
    return np.linalg.cholesky(gram + lift * np.eye(D))


def query_key_for(scores, encodings) -> tuple[np.ndarray, np.ndarray]:
    """W_Q, W_K with (P W_Q)(P W_K)^T = scores, for D encodings of rank D: any scores are possible.

    W_Q = P^-1 A P^-T and W_K = I. So with W_Q free and P invertible, the Gram matrix P P^T says
    nothing about where the model attends.

    Parameters
    ----------
    scores : (D, D) array
    encodings : (D, D) array
        P, patches as rows, invertible.
    """
    A, P = real_array("scores", scores), real_array("encodings", encodings)
    if P.ndim != 2 or P.shape[0] != P.shape[1] or A.shape != P.shape:
        raise ValueError(f"scores and encodings must be square and of one shape, got {A.shape} and {P.shape}")
    if np.linalg.matrix_rank(P) < P.shape[0]:
        raise ValueError("encodings must be invertible: fewer than D of them are linearly independent")
    inner = np.linalg.solve(P, A)  # P^-1 A
    return np.linalg.solve(P, inner.T).T, np.eye(P.shape[0])  # (P^-1 (P^-1 A)^T)^T = P^-1 A P^-T


def _check(partition) -> None:
    made_of("partition", partition, "Partition", "num_patches", "labels", "same_set")
