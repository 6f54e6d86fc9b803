"""The inputs of a descent, held in memory and read in chunks.

Inputs are drawn in blocks of 500, each with a generator of its own, so that the first n inputs of a
seed are the same for every n, in every order and on any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from patch_association.checks import fits_memory, floating, positive_int, seed_list
from patch_association.data import Law, check_law, draw_from, draws_by_coefficients, inputs_and_labels
from patch_association.streams import Stream, generator
from patch_association.structure import Partition
from patch_association.training.gradients import chunk_size

BLOCK = 500


@dataclass
class Given:
    """The law of inputs that are at hand: their sets are known, and nothing more can be drawn."""

    partition: Partition
    dim: int
    feature: Any = None

    def sample(self, n: int, seed: int = 0) -> Any:
        """Refuse: nothing more can be drawn of inputs that are at hand."""
        raise ValueError("no law is known of these inputs: draw from a Law, or give HeldOut.of(X, y) others")


class Samples:
    """N labelled inputs for each of S seeds, read a chunk at a time.

    Parameters
    ----------
    law : Law or Partition
        What they were drawn from: its sets and its feature are those that a run is measured against. Of
        inputs without a known law the sets alone.
    X : (N, D, d) or (S, N, D, d) array or tensor
    y : (N,) or (S, N) array or tensor of -1, +1
    seeds : list of S int, optional
        The names of the rows; by default 0, 1, ...
    chunk : int, optional
        Inputs of each seed in a chunk; by default as many as make 8 MB (a thread works on one chunk,
        with about five arrays of (S, chunk, D) besides), on a GPU 128 times that.
    device : optional
        Where the arithmetic is done; by default where X lies. Chunks of an X that lies elsewhere
        travel there one at a time, so X may exceed the device's memory, and a memory-mapped X
        (``torch.from_numpy`` of a ``numpy.memmap``) that of the machine.

    Raises
    ------
    ValueError
        If the shapes do not fit one another or the law, or labels are not -1 and +1.

    Examples
    --------
    >>> from patch_association import Partition, SpatialData
    >>> law = SpatialData(Partition.blocks(4, 4, 2, 2), dim=8, q=0.3)
    >>> Samples.draw(law, 1000, seeds=[0, 1]).X.shape
    torch.Size([2, 1000, 16, 8])
    """

    def __init__(self, law: Law | Partition, X, y, seeds=None, *, chunk: int | None = None, device=None):
        X, y = inputs_and_labels(X, y)
        self.law: Any = Given(law, X.shape[3]) if isinstance(law, Partition) else check_law(law)
        self.n = X.shape[1]
        self.dtype = X.dtype
        self.seeds = seed_list(range(len(X)) if seeds is None else seeds)
        self.num_seeds = len(self.seeds)
        self.num_patches = self.law.partition.num_patches
        self.dim = self.law.dim
        if X.shape != (self.num_seeds, self.n, self.num_patches, self.dim):
            raise ValueError(
                f"X must hold {self.num_seeds} seeds of {self.num_patches} patches of dimension {self.dim}, "
                f"as seeds and law say, got shape {tuple(X.shape)}"
            )
        self.X, self.y = X, y
        self.device = torch.device(device) if device is not None else X.device
        fitting = chunk_size(X.shape, X.element_size(), self.device)
        self.chunk = fitting if chunk is None else positive_int("chunk", chunk)

    @classmethod
    def draw(
        cls, law: Law, n: int, seeds, *, dtype=torch.float64, device=None, chunk: int | None = None
    ) -> Samples:
        """n inputs of ``law`` for each seed, held in memory: 4 or 8 S n D d bytes.

        Parameters
        ----------
        law : Law
        n, seeds : int, list of int (inputs of each seed)
        dtype, device, chunk : as in the class; the drawing is done on the CPU

        Raises
        ------
        ValueError
            If ``n`` or a seed is out of range, the inputs do not fit in memory, or ``law`` is none.
        """
        seeds = seed_list(seeds)
        check_law(law)
        floating(dtype)
        numbers = len(seeds) * positive_int("n", n) * law.partition.num_patches * law.dim
        fits_memory(f"{n:,} inputs for each of {len(seeds)} seeds", numbers, dtype.itemsize)
        X, y = _draw(law, seeds, n, dtype)
        return cls(law, X.to(device), y.to(device), seeds, chunk=chunk)

    def __repr__(self) -> str:
        shape = f"{self.n} inputs of {self.num_patches} patches of dimension {self.dim}"
        return f"Samples({shape} for each of {self.num_seeds} seeds, {self.dtype}, of {self.law!r})"

    def chunks(self):
        """Yield (X (S, m, D, d), y (S, m)) until all inputs have passed."""
        for start in range(0, self.n, self.chunk):
            rows = slice(start, start + self.chunk)
            yield self.X[:, rows].to(self.device), self.y[:, rows].to(self.device)


def _draw(law, seeds, n: int, dtype):
    """The first n inputs of each seed, (S, n, D, d) and (S, n)."""
    X = torch.empty(len(seeds), n, law.partition.num_patches, law.dim, dtype=dtype)
    y = torch.empty(X.shape[:2], dtype=dtype)

    def fill(job):
        s, start = job
        rows = slice(start, min(start + BLOCK, n))
        drawn = draw_block(law, seeds[s], start // BLOCK, dtype)
        X[s, rows], y[s, rows] = (part[: rows.stop - rows.start] for part in drawn)

    # Others' laws may draw from a global state, which threads would share.
    with ThreadPoolExecutor(torch.get_num_threads() if draws_by_coefficients(law) else 1) as pool:
        list(pool.map(fill, [(s, start) for s in range(len(seeds)) for start in range(0, n, BLOCK)]))
    return X, y


def draw_block(law, seed: int, block: int, dtype):
    """Block number ``block`` of a seed: X (500, D, d) and y (500,), on the CPU.

    It is ``law.sample`` with a seed made of both numbers; of Assumption 1 in other types than float64 the
    normals are drawn in float32, which is twice as fast.
    """
    mixed = np.random.SeedSequence([seed, int(Stream.COEFFICIENTS), block])
    own = int(mixed.generate_state(1, np.uint64)[0])
    if not draws_by_coefficients(law):
        why = f": the inputs of a run are drawn {BLOCK} at a time, and what is too many is left out"
        return draw_from(law, BLOCK, own % 2**32, dtype, why=why)  # 32 bits: no generator takes fewer
    if dtype == torch.float64:
        return law.sample(BLOCK, own)
    s, y, _ = law.sample_coefficients(BLOCK, own)
    w = law.feature.numpy().astype(np.float32)
    X = generator(own, Stream.NOISE).standard_normal((BLOCK, *s.shape[1:], law.dim), dtype=np.float32)
    X -= (X @ w)[..., None] * w  # (500, D, 1) * (d,)
    X *= np.float32(law.noise_std)
    X += s.astype(np.float32)[..., None] * w
    return torch.from_numpy(X).to(dtype), torch.from_numpy(y).to(dtype)
