"""The empirical risk of model (T) and its gradient, derived by hand, for many seeds at once.

With u = X v, z = k u S^T, F = sum_i sigma(z_i) and the mean logistic loss l over N samples,

    h_i = dl/dF sigma'(z_i) k,     dl/dF = -y / (1 + exp(y F)) / N,
    dl/dv = sum_n X_n^T (S^T h_n),     K = sum_n h_n u_n^T,
    dl/dA_ij = S_ij (K_ij - sum_r S_ir K_ir) / scale   off the diagonal, 0 on it.

k is the prefactor, D in (T). Nothing of size N D d is made but X itself.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import islice
from operator import add

import numpy as np
import torch

from patch_association.checks import finite, odd_degree
from patch_association.defaults import DEFAULT


@dataclass(frozen=True)
class Totals:
    """Sums over some samples, per seed: enough to make loss, error and gradient of any union."""

    loss: torch.Tensor  # (S,)
    wrong: torch.Tensor  # (S,) misclassified, F = 0 counting half
    dv: torch.Tensor  # (S, d)
    K: torch.Tensor  # (S, D, D)

    def __add__(self, other: Totals) -> Totals:
        return Totals(self.loss + other.loss, self.wrong + other.wrong, self.dv + other.dv, self.K + other.K)


def loss_and_gradients(X, y, scores, value, degree=DEFAULT.degree, linear=DEFAULT.linear, *, scale=1.0):
    """The mean logistic loss of model (T) and its gradient, per seed.

    Parameters
    ----------
    X : (S, N, D, d) tensor
        N inputs for each of S seeds.
    y : (S, N) tensor of -1, +1
    scores : (S, D, D) tensor
        A. Its diagonal takes part but is frozen (Simplification 3.1): its gradient is 0.
    value : (S, d) tensor
        v.
    degree, linear : int, float
        sigma(x) = x^p + nu x.
    scale : float
        What the scores are divided by in the softmax; (T) has sqrt(d), section 4.1 has 1.

    Returns
    -------
    loss : (S,), dA : (S, D, D), dv : (S, d)

    Raises
    ------
    ValueError
        If the shapes do not fit together, or the degree is even.
    """
    check_shapes(X, y, scores, value)
    degree = odd_degree(degree)
    linear = finite("linear", linear, minimum=0)
    if finite("scale", scale) <= 0:
        raise ValueError(f"scale must be positive, got {scale}")
    S = torch.softmax(scores / scale, dim=-1)
    chunk = chunk_size(X.shape, X.element_size(), X.device)
    chunks = zip(X.split(chunk, dim=1), y.split(chunk, dim=1))
    with workers(X.device, -(-X.shape[1] // chunk)) as pool:
        sums = total(chunks, pool, S, value, degree, linear, scores.shape[-1])
    N = y.shape[1]
    return sums.loss / N, score_gradient(S, sums.K, scale) / N, sums.dv / N


@contextmanager
def workers(device, num_chunks: int):
    """(A pool whose threads take a chunk each, their number); None on a GPU and for a single chunk.

    Chunks are small, and an operation split among torch's own threads waits for the slowest of them:
    on a busy machine that costs more than the operation. One thread a chunk does not wait.
    """
    threads = torch.get_num_threads()
    if device.type == "cuda" or threads == 1:
        yield None
        return
    torch.set_num_threads(1)
    try:
        yield None if num_chunks == 1 else (_pool(threads), threads)
    finally:
        torch.set_num_threads(threads)


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that wait for work: to start them takes as long as a small chunk."""
    return ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has none of the threads


def total(chunks, pool, *arguments) -> Totals:
    """The sums over all chunks, added in their order: the same result for any number of threads."""
    return reduce(add, _parts(iter(chunks), pool, arguments))


def _parts(chunks, pool, arguments):
    if pool is None:
        yield from (accumulate(X, y, *arguments) for X, y in chunks)
        return
    threads, at_once = pool
    # A few at a time: chunks may be drawn or read only when their turn comes.
    while some := list(islice(chunks, at_once)):
        yield from threads.map(lambda chunk: accumulate(*chunk, *arguments), some)


def accumulate(X, y, S, value, degree: int, linear: float, prefactor: float) -> Totals:
    """The sums of one chunk: X (S, n, D, d), y (S, n), S (S, D, D) the attention, value (S, d)."""
    u = times(X, value)  # (S, n, D)
    z = torch.bmm(u, S.transpose(1, 2)).mul_(prefactor)  # (S, n, D) @ (S, D, D) -> (S, n, D)
    yF, h = readout(z, y, -prefactor * y, degree, linear)
    return Totals(
        loss=-torch.nn.functional.logsigmoid(yF).sum(dim=1),
        wrong=((yF < 0).sum(dim=1) + (yF == 0).sum(dim=1) / 2).to(yF),
        dv=transposed_times(X, torch.bmm(h, S)),  # (S, n, D) @ (S, D, D), then X^T: (S, d)
        K=torch.bmm(h.transpose(1, 2), u),  # (S, D, n) @ (S, n, D) -> (S, D, D)
    )


def readout(z, y, weight, degree: int, linear: float):
    """(y F, weight sigma'(z) / (1 + exp(y F))) with F = sum_i sigma(z_i) and sigma(x) = x^p + nu x.

    The sum is over axis 2 of z, (S, n, rows, ...), which is used up; ``y`` and ``weight`` fit the rest.
    With ``weight`` = -y times the weight of a sample the second is the derivative of the loss by z.
    """
    even = z * z
    if degree > 3:
        even = even ** ((degree - 1) // 2)  # z^(p-1)
    yF = y * z.mul_(even + linear).sum(dim=2)
    pull = torch.sigmoid(-yF).mul_(weight)
    return yF, even.mul_(degree).add_(linear).mul_(pull.unsqueeze(2))


def score_gradient(S, K, scale: float = 1.0):
    """dl/dA from K = sum_n h_n u_n^T: the softmax's derivative row by row, the diagonal frozen."""
    dA = S * (K - (S * K).sum(dim=2, keepdim=True))  # (S, D, D)
    dA.diagonal(dim1=1, dim2=2).zero_()
    return dA / scale


def times(X, value):
    """X v for each seed: (S, n, D, d), (S, d) -> (S, n, D)."""
    seeds, n, D, d = X.shape
    rows = X.reshape(seeds, n * D, d)
    if X.is_cuda:
        return torch.bmm(rows, value[:, :, None]).view(seeds, n, D)
    # On the CPU a product per seed runs at the memory's speed; a batched one is up to ten times slower.
    out = X.new_empty(seeds, n * D)
    for s in range(seeds):
        if _streams(X):
            np.einsum("rd,d->r", rows[s].numpy(), value[s].numpy(), out=out[s].numpy())
        else:
            torch.mv(rows[s], value[s], out=out[s])
    return out.view(seeds, n, D)


def transposed_times(X, weights):
    """sum_{n, j} weights_nj X_nj for each seed: (S, n, D, d), (S, n, D) -> (S, d)."""
    seeds, n, D, d = X.shape
    rows = X.reshape(seeds, n * D, d)
    weights = weights.reshape(seeds, n * D)
    if X.is_cuda:
        return torch.bmm(weights[:, None, :], rows).view(seeds, d)
    out = X.new_empty(seeds, d)
    for s in range(seeds):
        if _streams(X):
            np.einsum("r,rd->d", weights[s].numpy(), rows[s].numpy(), out=out[s].numpy())
        else:
            torch.mv(rows[s].T, weights[s], out=out[s])
    return out


# From this dimension on NumPy's einsum, which reads one row after the other, passes BLAS, which reads
# several at once: 3.5 ms against 6.9 for both products with 33 MB, d = 144 (EPYC, one thread); at d = 16
# it takes 2.5 ms against 1.5 for 16 MB.
_LONG_ROW = 32


def _streams(X) -> bool:
    return X.shape[-1] >= _LONG_ROW and X.dtype in (torch.float32, torch.float64)


# Bytes of X in a chunk: read from memory once and from cache the second time.
CHUNK_BYTES = 8_000_000
_SHARED = 4  # chunks come in such numbers, so that two threads, or four, have as many each


def chunk_size(shape, element_size: int, device) -> int:
    """Inputs of each seed that make 8 MB at most, on a GPU 128 times that; at least one.

    Inputs that fill more than one chunk are divided evenly into a multiple of four. It depends on the shape
    alone: sums have the same order whatever the number of threads.
    """
    seeds, n, D, d = shape
    room = CHUNK_BYTES * (128 if device.type == "cuda" else 1)
    most = min(n, max(1, room // (seeds * D * d * element_size)))
    if most == n or device.type == "cuda":
        return most
    chunks = _SHARED * -(-n // (_SHARED * most))
    return -(-n // chunks)


def check_shapes(X, y, scores, value) -> None:
    """Refuse tensors whose shapes do not fit together."""
    for name, tensor, axes in (("X", X, 4), ("y", y, 2), ("scores", scores, 3), ("value", value, 2)):
        if not isinstance(tensor, torch.Tensor) or tensor.ndim != axes:
            shape = tuple(tensor.shape) if isinstance(tensor, torch.Tensor) else type(tensor).__name__
            raise ValueError(f"{name} must be a tensor of {axes} axes, the first over seeds, got {shape}")
    seeds, n, D, d = X.shape
    expected = {"y": (y, (seeds, n)), "scores": (scores, (seeds, D, D)), "value": (value, (seeds, d))}
    for name, (tensor, shape) in expected.items():
        if tuple(tensor.shape) != shape:
            raise ValueError(f"{name} must have shape {shape} to fit X, got {tuple(tensor.shape)}")
