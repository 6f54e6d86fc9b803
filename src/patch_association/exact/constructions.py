"""Attention built by hand: transformers that generalize with and without the structure (Theorem 3.2).

In the hard limit of the softmax each patch averages over one whole set. Model (T) without its
linear part then sees only set sums n_l = sum_{i in S_l} <w*, X_i>, and its sign is that of
sum_l n_l^p, whatever the order in which the patches read the sets.
"""

from __future__ import annotations

import numpy as np

from patch_association._validate import divides, finite, odd_degree, positive_int, probability
from patch_association.exact.laws import IntegerLaw, trinomial
from patch_association.structure import Partition


def hard_attention_error(
    num_patches: int, set_size: int, q: float, degree: int = 3, pooled_sets: int = 1, ties: str = "half"
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
    D, C, L = divides(num_patches, set_size)
    p, q, k = odd_degree(degree), probability("q", q), positive_int("pooled_sets", pooled_sets)
    if L % k:
        raise ValueError(f"pooled_sets must divide the {L} sets, got {k}")
    if ties not in ("half", "error"):
        raise ValueError(f'ties must be "half" or "error", got {ties!r}')
    signal = trinomial((k - 1) * C, q).shift(C).map(lambda n: n**p)
    total = signal + trinomial(k * C, q).map(lambda n: n**p).times(L // k - 1)
    return total.below(0) + total.at(0) * (0.5 if ties == "half" else 1.0)


def association_scores(partition: Partition, strength: float) -> np.ndarray:
    """(D, D) scores that attend to the own set: ``strength`` inside, 0 outside."""
    return finite("strength", strength) * partition.same_set


def derangement_scores(partition: Partition, strength: float, shift: int = 1) -> np.ndarray:
    """(D, D) scores that attend to another set: row i scores ``strength`` on the set l(i) + shift.

    A cyclic shift that is no multiple of L is a derangement of the sets: no row attends to its own.
    """
    L = partition.num_sets
    if positive_int("shift", shift) % L == 0:
        raise ValueError(f"shift must not be a multiple of the {L} sets, got {shift}")
    target = (partition.labels + shift) % L
    return finite("strength", strength) * (target[:, None] == partition.labels[None, :])


def violations(scores, partition: Partition) -> np.ndarray:
    """(D,) booleans: does every choice of Top_C of row i meet the own set of i?

    Theorem 3.2 wants Top_C of row i to miss the own set. Row i violates it, under the reading
    kindest to the theorem, when no tie-breaking makes its C highest scores avoid the own set.
    """
    A, same = np.asarray(scores, dtype=np.float64), partition.same_set
    C = partition.set_size
    best_inside = np.where(same, A, -np.inf).max(axis=1)
    strangers = np.sort(np.where(same, -np.inf, A), axis=1)
    if partition.num_sets == 1:
        return np.ones(partition.num_patches, dtype=bool)
    return best_inside > strangers[:, -C]  # the C-th highest stranger must reach the own set's best


def chain_encodings(partition: Partition, growth: float = 4.5, gap: float = 0.05) -> np.ndarray:
    """(D, L) positional encodings whose Gram matrix violates Theorem 3.2 in exactly C rows.

    One vector per set: |p_l|^2 = growth^l and <p_l, p_{l+1}> = (1 + gap) |p_l|^2, all other inner
    products zero. Every set but the last then attends to the next one; the last, with the largest
    norm, cannot attend away from itself. C rows is the least that a Gram matrix can do.

    Raises
    ------
    ValueError
        If these inner products belong to no vectors (the Gram matrix is not positive definite).
    """
    growth, gap = finite("growth", growth, minimum=1), finite("gap", gap, minimum=0)
    g = growth ** np.arange(partition.num_sets, dtype=np.float64)
    cross = (1 + gap) * g[:-1]
    gram = np.diag(g) + np.diag(cross, 1) + np.diag(cross, -1)
    try:
        factor = np.linalg.cholesky(gram / g[-1])
    except np.linalg.LinAlgError:
        raise ValueError(
            f"no encodings have these inner products: growth {growth:g} is too small for gap {gap:g}"
        ) from None
    return factor[partition.labels] * np.sqrt(g[-1])  # (L, L) -> (D, L)


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
    A, P = np.asarray(scores, dtype=np.float64), np.asarray(encodings, dtype=np.float64)
    if P.ndim != 2 or P.shape[0] != P.shape[1] or A.shape != P.shape:
        raise ValueError(f"scores and encodings must be square and of one shape, got {A.shape} and {P.shape}")
    if np.linalg.matrix_rank(P) < P.shape[0]:
        raise ValueError("encodings must be invertible: fewer than D of them are linearly independent")
    inner = np.linalg.solve(P, A)  # P^-1 A
    return np.linalg.solve(P, inner.T).T, np.eye(P.shape[0])  # (P^-1 (P^-1 A)^T)^T = P^-1 A P^-T
