"""The inputs of a descent, held in memory and read in chunks.

Inputs are drawn in blocks of 500, each with a generator of its own, so that the first n inputs of a
seed are the same for every n, in every order and on any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import fits_memory, made_of, positive_int, seed_list
from patch_association.data import SpatialData
from patch_association.training.gradients import chunk_size

BLOCK = 500


class Samples:
    """N labelled inputs for each of S seeds, read a chunk at a time.

    Parameters
    ----------
    law : SpatialData
        What they were drawn from: its sets and its feature are those that a run is measured against.
    X : (S, N, D, d) tensor
    y : (S, N) tensor of -1, +1
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
    >>> from patch_association.structure import Partition
    >>> law = SpatialData(Partition.blocks(4, 4, 2, 2), dim=8, q=0.3)
    >>> Samples.draw(law, 1000, seeds=[0, 1]).X.shape
    torch.Size([2, 1000, 16, 8])
    """

    def __init__(self, law: SpatialData, X, y, seeds=None, *, chunk: int | None = None, device=None):
        if not isinstance(X, torch.Tensor) or X.ndim != 4 or not X.is_floating_point() or 0 in X.shape:
            raise ValueError(f"X must be a tensor of floats of shape (S, N, D, d), got {_describe(X)}")
        if not isinstance(y, torch.Tensor) or y.shape != X.shape[:2]:
            raise ValueError(f"y must be a tensor of shape {tuple(X.shape[:2])} to fit X, got {_describe(y)}")
        if not bool((y.abs() == 1).all()):
            raise ValueError("y must hold labels -1 and +1 only")
        made_of("law", law, "SpatialData", "partition", "feature", "sample_coefficients")
        self.law, self.n, self.dtype = law, X.shape[1], X.dtype
        self.seeds = seed_list(range(len(X)) if seeds is None else seeds)
        self.num_seeds, self.num_patches, self.dim = len(self.seeds), law.partition.num_patches, law.dim
        if X.shape != (self.num_seeds, self.n, self.num_patches, self.dim):
            raise ValueError(
                f"X must hold {self.num_seeds} seeds of {self.num_patches} patches of dimension {self.dim}, "
                f"as seeds and law say, got shape {tuple(X.shape)}"
            )
        self.X, self.y = X, y.to(X.dtype)
        self.device = torch.device(device) if device is not None else X.device
        fitting = chunk_size(X.shape, X.element_size(), self.device)
        self.chunk = fitting if chunk is None else positive_int("chunk", chunk)

    @classmethod
    def draw(
        cls, law: SpatialData, n: int, seeds, *, dtype=torch.float64, device=None, chunk: int | None = None
    ) -> Samples:
        """n inputs of ``law`` for each seed, held in memory: 4 or 8 S n D d bytes.

        Parameters
        ----------
        law : SpatialData
        n, seeds : int, list of int (inputs of each seed)
        dtype, device, chunk : as in the class; the drawing is done on the CPU

        Raises
        ------
        ValueError
            If ``n`` or a seed is out of range, or the inputs do not fit in memory.
        """
        seeds = seed_list(seeds)
        numbers = len(seeds) * positive_int("n", n) * law.partition.num_patches * law.dim
        fits_memory(f"{n:,} inputs for each of {len(seeds)} seeds", numbers, dtype.itemsize)
        X, y = _draw(law, seeds, n, dtype)
        return cls(law, X.to(device), y.to(device), seeds, chunk=chunk)

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

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        list(pool.map(fill, [(s, start) for s in range(len(seeds)) for start in range(0, n, BLOCK)]))
    return X, y


def draw_block(law: SpatialData, seed: int, block: int, dtype):
    """Block number ``block`` of a seed: X (500, D, d) and y (500,), on the CPU.

    In float64 it is ``law.sample`` with a seed made of both numbers; in other types the normals are
    drawn in float32, which is twice as fast.
    """
    mixed = np.random.SeedSequence([seed, int(Stream.COEFFICIENTS), block])
    own = int(mixed.generate_state(1, np.uint64)[0])
    if dtype == torch.float64:
        return law.sample(BLOCK, own)
    s, y, _ = law.sample_coefficients(BLOCK, own)
    w = law.feature.numpy().astype(np.float32)
    X = generator(own, Stream.NOISE).standard_normal((BLOCK, *s.shape[1:], law.dim), dtype=np.float32)
    X -= (X @ w)[..., None] * w  # (500, D, 1) * (d,)
    X *= np.float32(law.noise_std)
    X += s.astype(np.float32)[..., None] * w
    return torch.from_numpy(X).to(dtype), torch.from_numpy(y).to(dtype)


def _describe(x) -> str:
    return f"{x.dtype} {tuple(x.shape)}" if isinstance(x, torch.Tensor) else type(x).__name__
