"""Where the paper starts: W_O at random, W_V, W_K, W_Q "from a good pretrained model".

Assumption 1 asks for orthonormal images: |W_V mu_j - p_j| <= sigma, |W_K mu_j - q_j| <= delta and
|W_Q mu_j - r_j| <= delta, with norms of at most 1. Section 4.1 prints W_Q = W_K = delta^2 I / c_0^2 and
W_V = sigma^2 U / c_0^2 instead, U orthonormal. At c_0 = 0.01, delta = 0.2 that is 400 I. We take Assumption 1
literally; the laboratory has the readings that make some sense of what is printed.
"""

from __future__ import annotations

import numpy as np
import torch

from patch_association.checks import finite, fits_memory, one_of, positive_int, seed_list
from patch_association.shallow.data import PatternData
from patch_association.shallow.network import Weights
from patch_association.streams import Stream, generator, random_signs


def initial_weights(
    data: PatternData,
    seeds=(0,),
    *,
    num_neurons: int = 100,
    head: str = "shared",
    value_error: float = 0.1,
    score_error: float = 0.2,
    output_std: float = 0.01,
) -> Weights:
    """The start of Algorithm 1, one network a seed; m_a = m_b = d as in section 4.1.

    W_V = U + sigma E, W_K = I + delta E', W_Q = I + delta E'', with E, E', E'' of random unit columns in a
    basis that extends the patterns; so p_j = U mu_j, q_j = r_j = mu_j, and every error of Assumption 1 has
    its full length.

    Parameters
    ----------
    data : PatternData
        Gives d, the patterns, c_0 and, for a head per position, L.
    seeds : sequence of int
    num_neurons : int
        m.
    head : "shared" or "per position"
        Entries +-1/sqrt(m), one a for all positions or an a_(l) each. Algorithm 1 says the second.
    value_error, score_error, output_std : float
        sigma, delta, xi.

    Returns
    -------
    Weights
        In float64; their norms may exceed the 1 of Assumption 1 (``cut`` of the laboratory).

    Raises
    ------
    ValueError
        If an argument is out of range or unknown, or the patterns are not orthonormal.
    """
    if not isinstance(data, PatternData):
        raise ValueError(f"data must be a PatternData, got {type(data).__name__}")
    one_of("head", head, "shared", "per position")
    m = positive_int("num_neurons", num_neurons)
    d = data.dim
    L = data.num_tokens
    sigma = finite("value_error", value_error, minimum=0)
    delta = finite("score_error", score_error, minimum=0)
    xi = finite("output_std", output_std, minimum=0)
    seeds = seed_list(seeds)
    entries = m * (d + (1 if head == "shared" else L))
    fits_memory(f"{len(seeds)} networks of {m:,} neurons", 2 * len(seeds) * entries)
    parts = {name: [] for name in ("head", "output", "value", "key", "query")}
    for seed in seeds:
        # A stream for each matrix: the same seed has the same W_O and a in all readings of the laboratory.
        streams = generator(seed, Stream.SHALLOW_START).spawn(5)
        shape = (m,) if head == "shared" else (L, m)
        parts["head"].append(random_signs(streams[0], shape) / np.sqrt(m))
        parts["output"].append(xi * streams[1].standard_normal((m, d)))
        U = orthonormal(streams[2], d)
        to_basis = _basis(data)
        errors = [_unit_columns(stream, d) @ to_basis for stream in streams[2:]]
        value = U + sigma * errors[0]
        key = np.eye(d) + delta * errors[1]
        query = np.eye(d) + delta * errors[2]
        for name, matrix in (("value", value), ("key", key), ("query", query)):
            parts[name].append(matrix)
    return Weights(*(torch.from_numpy(np.stack(parts[name])) for name in parts))


def orthonormal(stream, d) -> np.ndarray:
    """A random orthonormal matrix (d, d), from the generator ``stream``."""
    Q, R = np.linalg.qr(stream.standard_normal((d, d)))
    return Q * np.sign(np.diag(R))


def _unit_columns(stream, d):
    E = stream.standard_normal((d, d))
    return E / np.linalg.norm(E, axis=0, keepdims=True)


def _basis(data):
    """(d, d) orthonormal rows, the first M of them the patterns: coordinates in which errors are columns."""
    P = data.patterns.numpy()
    if np.abs(P @ P.T - np.eye(len(P))).max() > 1e-9:
        raise ValueError("data must have orthonormal patterns")
    _, _, Vh = np.linalg.svd(P)
    return np.concatenate([P, Vh[len(P) :]])
