"""What the part on transfer times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from timing import close, compare, estimates

from patch_association.data import SpatialData
from patch_association.structure import Partition
from patch_association.training import HeldOut
from patch_lab.kit.conventions import TRANSFER
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.block_error import exact_error
from patch_lab.transfer.fine_tuning import draw_reads, fine_tune
from patch_lab.transfer.many_values import errors_under


def _setting(num_patches: int):
    partition = Partition(np.repeat(np.arange(num_patches // 4), 4))
    gamma = float(np.log(num_patches))
    return SpatialData(partition, 64, 16 / num_patches), BlockAttention(partition, gamma, gamma)


def bench_batched_seeds() -> Iterator[dict]:
    """A cell of the sample-complexity sweep in one batch against a loop over its seeds and sizes.

    Eight sizes, and one alone: what batching over seeds gains by itself.
    """
    data, attention = _setting(64)
    seeds = range(20)
    for sizes, said in (([1, 2, 3, 4, 6, 8, 12, 16], "8 sizes"), ([8], "N = 8")):
        reads = draw_reads(data, attention, max(sizes), seeds)

        def at_once(reads=reads, sizes=sizes):
            return list(fine_tune(reads, attention, sizes, seeds, steps=100).value.flatten(0, 1))

        def loop(reads=reads, sizes=sizes):
            return [
                fine_tune(reads[i : i + 1, :N], attention, [N], [seed], steps=100).value
                for i, seed in enumerate(seeds)
                for N in sizes
            ]

        against = "a loop over seeds and sizes" if len(sizes) > 1 else "a loop over seeds"
        yield compare(f"fine-tuning, D = 64, 20 seeds, {said}", at_once, loop, against, close(1e-9), rounds=5)


def bench_block_attention() -> Iterator[dict]:
    """Reading inputs through block attention, O(D d), against the dense matrix product, O(D^2 d)."""
    data, _ = _setting(400)
    attention = BlockAttention(data.partition, 4.0, 3.7, -0.3)
    scores = np.where(data.partition.same_set, 3.7, -0.3)
    np.fill_diagonal(scores, 4.0)
    dense = DenseAttention(scores)
    X = torch.from_numpy(np.random.default_rng(0).standard_normal((32, 400, 64)))
    yield compare(
        "D S X, D = 400, d = 64, 32 inputs",
        lambda: attention.read(X),
        lambda: dense.read(X),
        "the dense (D, D) product",
        close(1e-9),
    )


def bench_exact_error() -> Iterator[dict]:
    """The exact error of hard attention against sampling it to a standard error of 5% of its value."""
    data, _ = _setting(64)
    attention = BlockAttention.hard(data.partition)
    error = exact_error(attention, data.q, 0.02, 0.002)
    draws = int((1 - error) / error / 0.05**2)
    yield compare(
        "exact test error, hard attention, D = 64",
        lambda: exact_error(attention, data.q, 0.02, 0.002),
        lambda: errors_under(HeldOut(data, draws), attention, 0.02, 0.002, linear=TRANSFER.linear),
        f"{draws} draws, for a standard error of 5%",
        estimates(draws),
        rounds=5,
    )
