"""Where a descent's inputs come from: held in memory, or drawn again at each pass.

Inputs are drawn in blocks of 500, each with a generator of its own, so that the first n inputs of a
seed are the same for every n, in every order and on any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import positive_int
from patch_association.data import SpatialData
from patch_association.training.gradients import chunk_size

BLOCK = 500


class Samples:
    """N labelled inputs for each of S seeds, read a chunk at a time.

    Parameters
    ----------
    X : (S, N, D, d) tensor
    y : (S, N) tensor of -1, +1
    chunk : int, optional
        Inputs of each seed in a chunk; by default as many as make 8 MB (a thread works on one chunk,
        with about five arrays of (S, chunk, D) besides), on a GPU 128 times that.
    device : optional
        Where the arithmetic is done; by default where X lies. Chunks of an X that lies elsewhere
        travel there one at a time, so X may exceed the device's memory, and a memory-mapped X
        (``torch.from_numpy`` of a ``numpy.memmap``) that of the machine.
    """

    def __init__(self, X, y, *, chunk: int | None = None, device=None, seeds=None):
        if not isinstance(X, torch.Tensor) or X.ndim != 4 or not X.is_floating_point() or 0 in X.shape:
            raise ValueError(f"X must be a tensor of floats of shape (S, N, D, d), got {_describe(X)}")
        if not isinstance(y, torch.Tensor) or y.shape != X.shape[:2]:
            raise ValueError(f"y must be a tensor of shape {tuple(X.shape[:2])} to fit X, got {_describe(y)}")
        if not bool((y.abs() == 1).all()):
            raise ValueError("y must hold labels -1 and +1 only")
        self.X, self.y = X, y.to(X.dtype)
        self.num_seeds, self.n, self.num_patches, self.dim = X.shape
        self.dtype, self.device = X.dtype, torch.device(device) if device is not None else X.device
        self.seeds = _seeds(range(self.num_seeds) if seeds is None else seeds)
        if len(self.seeds) != self.num_seeds:
            raise ValueError(f"seeds must name the {self.num_seeds} rows of X, got {len(self.seeds)}")
        fitting = chunk_size(X.shape, X.element_size(), self.device)
        self.chunk = fitting if chunk is None else positive_int("chunk", chunk)

    @classmethod
    def draw(
        cls, law: SpatialData, n: int, seeds, *, dtype=torch.float64, device=None, chunk: int | None = None
    ) -> Samples:
        """n inputs of ``law`` for each seed, held in memory: 4 or 8 S n D d bytes."""
        seeds, n = _seeds(seeds), positive_int("n", n)
        X = torch.empty(len(seeds), n, law.partition.num_patches, law.dim, dtype=dtype)
        y = torch.empty(len(seeds), n, dtype=dtype)
        jobs = [(s, seed, block) for s, seed in enumerate(seeds) for block in range(-(-n // BLOCK))]

        def fill(job):
            s, seed, block = job
            rows = slice(block * BLOCK, min(n, (block + 1) * BLOCK))
            X_block, y_block = draw_block(law, seed, block, dtype)
            X[s, rows], y[s, rows] = X_block[: rows.stop - rows.start], y_block[: rows.stop - rows.start]

        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            list(pool.map(fill, jobs))
        return cls(X.to(device), y.to(device), chunk=chunk, seeds=seeds)

    def chunks(self):
        """Yield (X (S, m, D, d), y (S, m)) until all inputs have passed."""
        for start in range(0, self.n, self.chunk):
            rows = slice(start, start + self.chunk)
            yield self.X[:, rows].to(self.device), self.y[:, rows].to(self.device)


class StreamedSamples:
    """The same inputs as ``Samples.draw``, drawn again at each pass instead of held.

    Memory: one chunk of S ``chunk`` D d numbers. Each pass costs the drawing again, about ten times
    the arithmetic on a CPU.

    Parameters
    ----------
    law : SpatialData
    n : int
    seeds : list of int
    chunk : int
        Inputs of each seed in a chunk, rounded up to whole blocks of 500.
    """

    def __init__(
        self, law: SpatialData, n: int, seeds, *, dtype=torch.float64, device=None, chunk: int = BLOCK
    ):
        self.law, self.n, self.seeds = law, positive_int("n", n), _seeds(seeds)
        self.num_seeds, self.num_patches, self.dim = len(self.seeds), law.partition.num_patches, law.dim
        self.dtype, self.device = dtype, torch.device(device or "cpu")
        self.chunk = -(-positive_int("chunk", chunk) // BLOCK) * BLOCK

    def chunks(self):
        """Yield (X (S, m, D, d), y (S, m)) until all inputs have passed."""
        blocks = -(-self.n // BLOCK)
        for first in range(0, blocks, self.chunk // BLOCK):
            some = range(first, min(blocks, first + self.chunk // BLOCK))
            left = self.n - first * BLOCK
            drawn = [[draw_block(self.law, seed, block, self.dtype) for block in some] for seed in self.seeds]
            X = torch.stack([torch.cat([X for X, _ in blocks])[:left] for blocks in drawn])
            y = torch.stack([torch.cat([y for _, y in blocks])[:left] for blocks in drawn])
            yield X.to(self.device), y.to(self.device)


class TestCoefficients:
    """A test set that knows only what F sees: s_j = <w*, X_j> and a standard Gaussian g_j.

    <v, X_j> = alpha s_j + <v_perp, xi_j>, and for any v the second term is N(0, sigma^2 |v_perp|^2),
    independent over patches: alpha s_j + sigma |v_perp| g_j has exactly its law, without the d
    coordinates of X_j. Fresh inputs of Assumption 1, to be used at any step of any seed.

    Parameters
    ----------
    law : SpatialData
    n : int
    seed : int
        Not one of the training's: streams of different kinds never meet, but of one kind do.
    """

    __test__ = False  # not a test case, whatever its name says to a collector

    def __init__(self, law: SpatialData, n: int, seed: int = 0, *, dtype=torch.float64, device=None):
        s, y, _ = law.sample_coefficients(n, seed)
        g = generator(seed, Stream.TEST_NOISE).standard_normal(s.shape)
        self.law, self.n, self.noise_std = law, n, law.noise_std
        self.s, self.y, self.g = (torch.from_numpy(x).to(dtype=dtype, device=device) for x in (s, y, g))

    def error(self, S, alpha, orthogonal, degree: int, linear: float, prefactor: float) -> torch.Tensor:
        """(S,) P[yF < 0] + P[F = 0] / 2 for attention S (S, D, D), alpha and |v_perp| (S,)."""
        wrong = []
        for attention, a, norm in zip(S, alpha, orthogonal):
            z = (a * self.s + self.noise_std * norm * self.g) @ attention.T * prefactor  # (n, D)
            even = z * z
            yF = self.y * (z * (even ** ((degree - 1) // 2) + linear)).sum(dim=1)
            wrong.append(((yF < 0).sum() + (yF == 0).sum() / 2) / self.n)
        return torch.stack(wrong)


def draw_block(law: SpatialData, seed: int, block: int, dtype):
    """Block number ``block`` of a seed: X (500, D, d) and y (500,), on the CPU.

    In float64 it is ``law.sample`` with a seed made of both numbers; in other types the normals are
    drawn in float32, which is twice as fast.
    """
    own = int(np.random.SeedSequence([seed, int(Stream.COEFFICIENTS), block]).generate_state(1, np.uint64)[0])
    if dtype == torch.float64:
        return law.sample(BLOCK, own)
    s, y, _ = law.sample_coefficients(BLOCK, own)
    w = law.feature.numpy().astype(np.float32)
    X = generator(own, Stream.NOISE).standard_normal((BLOCK, *s.shape[1:], law.dim), dtype=np.float32)
    X -= (X @ w)[..., None] * w  # (500, D, 1) * (d,)
    X *= np.float32(law.noise_std)
    X += s.astype(np.float32)[..., None] * w
    return torch.from_numpy(X).to(dtype), torch.from_numpy(y).to(dtype)


def _seeds(seeds) -> tuple[int, ...]:
    seeds = (seeds,) if isinstance(seeds, (int, np.integer)) else tuple(seeds)
    if not seeds:
        raise ValueError("seeds must name at least one seed")
    return tuple(positive_int("seeds", seed, minimum=0) for seed in seeds)


def _describe(x) -> str:
    return f"{x.dtype} {tuple(x.shape)}" if isinstance(x, torch.Tensor) else type(x).__name__
