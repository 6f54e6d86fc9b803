"""What the part on transfer times."""

from __future__ import annotations

import numpy as np
import torch
from timing import close, compare, estimates

from patch_association.conventions import TRANSFER
from patch_association.data import SpatialData
from patch_association.exact.block_attention import BlockAttention, DenseAttention
from patch_association.exact.block_error import exact_error
from patch_association.structure import Partition
from patch_association.training import HeldOut
from patch_association.transfer.fine_tuning import draw_reads, fine_tune


def _setting(num_patches: int):
    partition = Partition(np.repeat(np.arange(num_patches // 4), 4))
    gamma = float(np.log(num_patches))
    return SpatialData(partition, 64, 16 / num_patches), BlockAttention(partition, gamma, gamma)


def bench_batched_seeds() -> dict:
    """A cell of the sample-complexity sweep in one batch against a loop over its seeds and sizes."""
    data, attention = _setting(64)
    seeds, sizes = range(20), [1, 2, 3, 4, 6, 8, 12, 16]
    reads = draw_reads(data, attention, max(sizes), seeds)

    def loop():
        return [
            fine_tune(reads[i : i + 1, :N], attention, [N], [seed], steps=100).value
            for i, seed in enumerate(seeds)
            for N in sizes
        ]

    return compare(
        "fine-tuning, D = 64, 20 seeds, 8 sizes",
        lambda: list(fine_tune(reads, attention, sizes, seeds, steps=100).value.flatten(0, 1)),
        loop,
        "a loop over seeds and sizes",
        close(1e-9),
        rounds=5,
    )


def bench_batched_seeds_one_size() -> dict:
    """The same at one size, N = 8: what batching over seeds alone gains."""
    data, attention = _setting(64)
    seeds = range(20)
    reads = draw_reads(data, attention, 8, seeds)

    def loop():
        return [
            fine_tune(reads[i : i + 1], attention, [8], [seed], steps=100).value
            for i, seed in enumerate(seeds)
        ]

    return compare(
        "fine-tuning, D = 64, 20 seeds, N = 8",
        lambda: list(fine_tune(reads, attention, [8], seeds, steps=100).value),
        loop,
        "a loop over seeds",
        close(1e-9),
        rounds=5,
    )


def bench_block_attention() -> dict:
    """Reading inputs through block attention, O(D d), against the dense matrix product, O(D^2 d)."""
    data, _ = _setting(400)
    attention = BlockAttention(data.partition, 4.0, 3.7, -0.3)
    scores = np.where(data.partition.same_set, 3.7, -0.3)
    np.fill_diagonal(scores, 4.0)
    dense = DenseAttention(scores)
    X = torch.from_numpy(np.random.default_rng(0).standard_normal((32, 400, 64)))
    return compare(
        "D S X, D = 400, d = 64, 32 inputs",
        lambda: attention.read(X),
        lambda: dense.read(X),
        "the dense (D, D) product",
        close(1e-9),
    )


def bench_exact_error() -> dict:
    """The exact error of hard attention against sampling it to a standard error of 5% of its value."""
    data, _ = _setting(64)
    attention = BlockAttention.hard(data.partition)
    error = exact_error(attention, data.q, 0.02, 0.002)
    draws = int((1 - error) / error / 0.05**2)
    return compare(
        "exact test error, hard attention, D = 64",
        lambda: exact_error(attention, data.q, 0.02, 0.002),
        lambda: HeldOut(data, draws).errors_under(attention, 0.02, 0.002, linear=TRANSFER.linear),
        f"{draws} draws, for a standard error of 5%",
        estimates(draws),
        rounds=5,
    )
