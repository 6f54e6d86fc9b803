"""Structure shared only in part: some patches re-assigned, or several features on several partitions."""

from __future__ import annotations

import numpy as np
import torch

from patch_association.checks import (
    finite,
    fits_memory,
    listed,
    made_of,
    positive_int,
    probability,
    seed_list,
)
from patch_association.streams import Stream, generator, random_coefficients
from patch_association.structure import Partition
from patch_association.training.evaluate import error_rate
from patch_lab.kit.conventions import TRANSFER
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention


def reassign(partition: Partition, fraction: float, seed: int = 0) -> Partition:
    """The partition with this fraction of its patches moved to another set, set sizes kept.

    round(fraction D) patches permute their sets at random so that every one of them changes: a random
    permutation, in which those that would stay change places with random others until none stays.
    The patches are drawn uniformly, again if more than half of them share a set (they could not all move).

    Raises
    ------
    ValueError
        If the fraction is outside [0, 1], or so many patches cannot all move: a single one, or an odd
        number in two sets.
    """
    made_of("partition", partition, "Partition", "num_patches", "labels")
    k = round(probability("fraction", fraction) * partition.num_patches)
    draws = np.random.default_rng(positive_int("seed", seed, minimum=0))
    labels = partition.labels
    if k == 0:
        return Partition(labels)
    if 2 * -(-k // partition.num_sets) > k:  # even spread out, more than half share a set
        raise ValueError(f"every moved patch must be able to change sets, got {k} patches of {partition!r}")
    while True:
        chosen = draws.permutation(partition.num_patches)[:k]
        old = labels[chosen]
        if 2 * np.bincount(old).max() <= k:
            break
    new = draws.permutation(old)
    while (stays := np.flatnonzero(new == old)).size:
        i = stays[0]
        j = draws.integers(k)
        # Only exchanges that leave neither in place: the number that stay falls each time.
        if new[j] != old[i] and new[i] != old[j]:
            new[i], new[j] = new[j], new[i]
    labels[chosen] = new
    return Partition(labels)


def pairs_kept(first: Partition, second: Partition) -> float:
    """The share of same-set pairs of the first partition that are same-set pairs of the second."""
    if first.num_patches != second.num_patches or first.set_size < 2:
        raise ValueError(
            f"need partitions of the same patches into sets of two or more, got {first!r}, {second!r}"
        )
    pairs = np.triu(first.same_set, 1)
    return float(second.same_set[pairs].mean())


class SeveralFeatures:
    """K orthonormal features, each with its own partition; one of them carries the label in each sample.

    A feature k and a set of its partition are drawn uniformly; the C patches of that set carry y w_k.
    Every other coefficient of every feature, delta_jk, is +1 or -1 with probability q/2 each and 0
    otherwise: X_j = sum_k s_jk w_k + xi_j, with xi_j orthogonal to all features. K = 1 is Assumption 1.

    Parameters
    ----------
    partitions : list of K Partition
        Of the same patches, with sets of one size.
    dim : int
        d > K; the features are the first K basis vectors (the law is rotation invariant).
    q : float in [0, 1]

    Raises
    ------
    ValueError
        If the partitions do not fit together, there are too few dimensions, or q is no probability.
    """

    def __init__(self, partitions, dim: int, q: float):
        self.partitions = listed("partitions", partitions, "partitions")
        if any(
            not isinstance(part, Partition)
            or part.num_patches != self.partitions[0].num_patches
            or part.set_size != self.partitions[0].set_size
            for part in self.partitions
        ):
            raise ValueError(
                f"partitions must split the same patches into sets of one size, got {partitions!r}"
            )
        self.dim = positive_int("dim", dim, minimum=len(self.partitions) + 1)
        self.q = probability("q", q)
        self.noise_std = self.dim**-0.5

    @property
    def num_features(self) -> int:
        """The number of features, K."""
        return len(self.partitions)

    def sample_coefficients(self, n: int, seed: int = 0):
        """y s of n samples, (n, K, D), and the carrying feature of each, (n,). The label is folded in."""
        n = positive_int("n", n)
        K = self.num_features
        D = self.partitions[0].num_patches
        fits_memory(f"{n:,} inputs of {D:,} patches and {K} features", 2 * n * K * D)  # u and s
        draws = generator(seed, Stream.SEVERAL_COEFFICIENTS)
        s = random_coefficients(draws, self.q, (n, K, D))
        carrier = draws.integers(0, K, n)
        signal = draws.integers(0, self.partitions[0].num_sets, n)
        for k, partition in enumerate(self.partitions):
            inside = (partition.labels[None, :] == signal[:, None]) & (carrier == k)[:, None]
            s[:, k][inside] = 1.0
        return s, carrier

    def sample_folded(self, n: int, seed: int = 0) -> torch.Tensor:
        """Inputs times their labels, y X, of shape (n, D, d)."""
        n = positive_int("n", n)
        D = self.partitions[0].num_patches
        fits_memory(f"{n:,} inputs of {D:,} patches of dimension {self.dim:,}", n * D * self.dim)
        s, _ = self.sample_coefficients(n, seed)
        K = self.num_features
        xi = generator(seed, Stream.SEVERAL_NOISE).standard_normal((n, D, self.dim)) * self.noise_std
        xi[:, :, :K] = s.transpose(0, 2, 1)  # (n, K, D) -> (n, D, K): the noise is orthogonal to the features
        return torch.from_numpy(xi)


class Heads:
    """H fixed heads that add up: F(X) = sum_h sum_i sigma(<v_h, (D S_h X)_i>).

    Written as one attention with H T rows of H d numbers, head h in its own block of columns, so that
    :func:`~patch_lab.transfer.fine_tuning.fine_tune` trains all v_h together.

    Raises
    ------
    ValueError
        If there is no attention, or they differ in rows or patches.
    """

    def __init__(self, attentions):
        self.attentions = listed("attentions", attentions, "fixed attentions")
        first = self.attentions[0]
        if any(
            not isinstance(a, (BlockAttention, DenseAttention))
            or a.rows != first.rows
            or a.num_patches != first.num_patches
            for a in self.attentions
        ):
            raise ValueError("attentions must be fixed attentions with as many rows over the same patches")
        self.num_patches = first.num_patches
        self.multiplicity = first.multiplicity
        self.rows = len(self.attentions) * first.rows

    def read(self, X: torch.Tensor) -> torch.Tensor:
        """(..., D, d) -> (..., H T, H d)."""
        d = X.shape[-1]
        H = len(self.attentions)
        blocks = [
            torch.nn.functional.pad(a.read(X), (h * d, (H - 1 - h) * d))
            for h, a in enumerate(self.attentions)
        ]
        return torch.cat(blocks, dim=-2)


def shared_attention(partitions, gamma: float) -> DenseAttention:
    """One head for several partitions: the score gamma where two patches share a set of any, else 0.

    The diagonal has gamma too. With one partition this is block attention with beta = gamma.

    Raises
    ------
    ValueError
        If there is no partition, or they split different numbers of patches.
    """
    partitions = listed("partitions", partitions, "partitions")
    for partition in partitions:
        made_of("partitions", partition, "list of Partition", "num_patches", "same_set")
    if len({partition.num_patches for partition in partitions}) != 1:
        raise ValueError(f"partitions must split the same patches, got {partitions!r}")
    together = np.any([partition.same_set for partition in partitions], axis=0)  # H of (D, D) -> (D, D)
    return DenseAttention(finite("gamma", gamma) * together)


def draw_several(data: SeveralFeatures, heads: Heads, n: int, seeds) -> torch.Tensor:
    """y R of n samples for every seed: (S, n, H T, H d).

    Raises
    ------
    ValueError
        If data and heads differ in the number of patches, or a number is out of range.
    """
    _check_fit(data, heads)
    return torch.stack([heads.read(data.sample_folded(n, seed)) for seed in seed_list(seeds)])


def several_errors(
    value,
    heads: Heads,
    data: SeveralFeatures,
    draws: int = 4000,
    seed: int = 0,
) -> np.ndarray:
    """The test errors of value vectors (..., H d), sampled from coefficients and Gaussian responses.

    <v_h, X_j> = sum_k s_jk <v_h, w_k> + a Gaussian whose covariance over heads is sigma^2 times the
    Gram matrix of the v_h off the features.

    Raises
    ------
    ValueError
        If value, heads and data do not fit together, or a number is out of range.
    """
    _check_fit(data, heads)
    if not isinstance(value, torch.Tensor) or value.dtype != torch.float64 or value.ndim == 0:
        raise ValueError(f"value must be a float64 tensor, got {getattr(value, 'dtype', type(value))}")
    draws = positive_int("draws", draws)
    p, nu = TRANSFER.degree, TRANSFER.linear
    H = len(heads.attentions)
    K = data.num_features
    d = data.dim
    if value.shape[-1] != H * d:
        raise ValueError(f"value must have {H} x {d} entries, got shape {tuple(value.shape)}")
    s = torch.from_numpy(data.sample_coefficients(draws, seed)[0])
    g = torch.from_numpy(generator(seed, Stream.SEVERAL_TEST_NOISE).standard_normal((draws, H, s.shape[2])))
    reads_s = [a.mix(a.tokens(s.mT)) for a in heads.attentions]  # H of (n, T, K)
    reads_g = [a.mix(a.tokens(g.mT)) for a in heads.attentions]  # H of (n, T, H)
    flat = value.reshape(-1, H, d)
    errors = np.empty(len(flat))
    for i, v in enumerate(flat):
        rest = v[:, K:]
        # A square root of the Gram matrix, by eigenvalues: it may be singular.
        values, vectors = torch.linalg.eigh(rest @ rest.T)
        root = data.noise_std * vectors * values.clamp_min(0).sqrt()
        F = torch.zeros(draws, dtype=torch.float64)
        for h in range(H):
            z = reads_s[h] @ v[h, :K] + reads_g[h] @ root[h]  # (n, T)
            F += (z**p + nu * z).sum(dim=1)
        errors[i] = error_rate(F)
    return errors.reshape(value.shape[:-1])


def _check_fit(data, heads) -> None:
    made_of("data", data, "SeveralFeatures", "partitions", "sample_folded")
    made_of("heads", heads, "set of Heads", "attentions", "num_patches")
    if heads.num_patches != data.partitions[0].num_patches:
        raise ValueError(
            f"heads must have the data's {data.partitions[0].num_patches} patches, got {heads.num_patches}"
        )
