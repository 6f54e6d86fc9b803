"""Where the paper starts: W_O at random, W_V, W_K, W_Q "from a good pretrained model".

Assumption 1 asks for orthonormal images: |W_V mu_j - p_j| <= sigma, |W_K mu_j - q_j| <= delta and
|W_Q mu_j - r_j| <= delta, with norms of at most 1. Section 4.1 prints W_Q = W_K = delta^2 I / c_0^2 and
W_V = sigma^2 U / c_0^2 instead, U orthonormal. At c_0 = 0.01, delta = 0.2 that is 400 I. The readings here
are all those that make some sense of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import finite, fits_memory, positive_int, seed_list
from patch_association.shallow.data import PatternData
from patch_association.shallow.network import Weights

#: How W_K = W_Q and W_V scale, as functions of (delta, sigma, c_0), in the readings without an error.
SCALES = {
    "printed": lambda delta, sigma, c0: ((delta / c0) ** 2, (sigma / c0) ** 2),
    "square root": lambda delta, sigma, c0: (delta / c0, sigma / c0),
    "no noise": lambda delta, sigma, c0: (delta, sigma),
    "no noise, squared": lambda delta, sigma, c0: (delta**2, sigma**2),
    "unit": lambda delta, sigma, c0: (1.0, 1.0),
}
#: "assumption" is Assumption 1 taken literally, and what we use: every error has its full length.
READINGS = ("assumption", *SCALES)
HEADS = ("shared", "per position")


def initial_weights(
    data: PatternData,
    seeds=(0,),
    *,
    num_neurons: int = 100,
    reading: str = "assumption",
    head: str = "shared",
    value_error: float = 0.1,
    score_error: float = 0.2,
    output_std: float = 0.01,
    longest: float | None = None,
    dtype=torch.float64,
) -> Weights:
    """The start of Algorithm 1, one network a seed; m_a = m_b = d as in section 4.1.

    Parameters
    ----------
    data : PatternData
        Gives d, the patterns, c_0 and, for a head per position, L.
    seeds : sequence of int
    num_neurons : int
        m.
    reading : str
        One of ``READINGS``. "assumption": W_V = U + sigma E, W_K = I + delta E', W_Q = I + delta E'',
        with E, E', E'' of random unit columns in a basis that extends the patterns; so p_j = U mu_j,
        q_j = r_j = mu_j, and every error of Assumption 1 has its full length. (Orthonormal patterns.)
    head : "shared" or "per position"
        Entries +-1/sqrt(m), one a for all positions or an a_(l) each. Algorithm 1 says the second.
    value_error, score_error, output_std : float
        sigma, delta, xi.
    longest : float, optional
        Singular values of W_V, W_K and W_Q above this are cut down to it, which is the nearest matrix of that
        spectral norm; with 1 the start obeys the norms of Assumption 1 as well. The errors shrink with the
        cut: :func:`check_assumption` says to what.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown, the patterns are not orthonormal where ``reading`` is
        "assumption", or the noise is 0 where the reading divides by it.
    """
    if not isinstance(data, PatternData):
        raise ValueError(f"data must be a PatternData, got {type(data).__name__}")
    if reading not in READINGS:
        raise ValueError(f"reading must be one of {', '.join(READINGS)}, got {reading!r}")
    if head not in HEADS:
        raise ValueError(f"head must be 'shared' or 'per position', got {head!r}")
    m, d, L = positive_int("num_neurons", num_neurons), data.dim, data.num_tokens
    sigma = finite("value_error", value_error, minimum=0)
    delta = finite("score_error", score_error, minimum=0)
    xi = finite("output_std", output_std, minimum=0)
    if longest is not None and not finite("longest", longest) > 0:
        raise ValueError(f"longest must be positive, got {longest!r}")
    if reading in ("printed", "square root") and not data.noise > 0:
        raise ValueError(f"data must have noise above 0 for the reading {reading!r}, got {data.noise:g}")
    seeds = seed_list(seeds)
    entries = m * (d + (1 if head == "shared" else L))
    fits_memory(f"{len(seeds)} networks of {m:,} neurons", 2 * len(seeds) * entries)
    parts = {name: [] for name in ("head", "output", "value", "key", "query")}
    for seed in seeds:
        # A stream for each matrix: the same seed has the same W_O and a in all readings.
        streams = generator(seed, Stream.SHALLOW_START).spawn(5)
        shape = (m,) if head == "shared" else (L, m)
        parts["head"].append((streams[0].integers(0, 2, shape) * 2.0 - 1.0) / np.sqrt(m))
        parts["output"].append(xi * streams[1].standard_normal((m, d)))
        U = _orthonormal(streams[2], d)
        if reading == "assumption":
            to_basis = _basis(data)
            errors = [_unit_columns(stream, d) @ to_basis for stream in streams[2:]]
            value, key, query = U + sigma * errors[0], np.eye(d) + delta * errors[1], None
            query = np.eye(d) + delta * errors[2]
        else:
            scale, value_scale = SCALES[reading](delta, sigma, data.noise)
            value, key, query = value_scale * U, scale * np.eye(d), scale * np.eye(d)
        for name, matrix in (("value", value), ("key", key), ("query", query)):
            parts[name].append(matrix if longest is None else _cut(matrix, longest))
    return Weights(*(torch.from_numpy(np.stack(parts[name])).to(dtype) for name in parts))


@dataclass(frozen=True)
class AssumptionCheck:
    """What Assumption 1 asks, measured; arrays of shape (R,).

    sigma, delta : constants with which the assumption holds, for the polar factors of the images as
    orthonormal p_j and q_j = r_j; at most sqrt(M) (sqrt(2 M)) times the least possible ones
    norm : the largest spectral norm of W_V, W_K and W_Q, which the assumption wants to be at most 1
    """

    sigma: np.ndarray
    delta: np.ndarray
    norm: np.ndarray

    def holds(self, num_patterns: int) -> np.ndarray:
        """sigma <= 1 / M and delta < 1/2: the constants of the assumption, O(1/M) read as 1/M."""
        return (self.sigma <= 1 / num_patterns) & (self.delta < 0.5)


def check_assumption(weights: Weights, data: PatternData) -> AssumptionCheck:
    """How far the images of the patterns are from orthonormal ones."""
    P = data.patterns.to(weights.value)  # (M, d)
    value, key, query = (W @ P.T for W in (weights.value, weights.key, weights.query))  # (R, ., M)
    sigma = (value - nearest_frame(value)).norm(dim=-2).amax(-1)
    common = nearest_frame(key + query)  # q_j = r_j: one frame for both
    delta = torch.maximum((key - common).norm(dim=-2).amax(-1), (query - common).norm(dim=-2).amax(-1))
    norms = [torch.linalg.matrix_norm(W, ord=2) for W in (weights.value, weights.key, weights.query)]
    found = sigma, delta, torch.stack(norms).amax(0)
    return AssumptionCheck(*(x.double().numpy() for x in found))


def nearest_frame(images):
    """The matrix with orthonormal columns nearest to the images (R, ., M): their polar factor."""
    U, _, Vh = torch.linalg.svd(images, full_matrices=False)
    return U @ Vh


def _cut(matrix, longest):
    """The nearest matrix, in the Frobenius norm, whose spectral norm is at most ``longest``."""
    U, lengths, Vh = np.linalg.svd(matrix)
    return U @ np.diag(np.minimum(lengths, longest)) @ Vh


def _orthonormal(stream, d):
    Q, R = np.linalg.qr(stream.standard_normal((d, d)))
    return Q * np.sign(np.diag(R))


def _unit_columns(stream, d):
    E = stream.standard_normal((d, d))
    return E / np.linalg.norm(E, axis=0, keepdims=True)


def _basis(data):
    """(d, d) orthonormal rows, the first M of them the patterns: coordinates in which errors are columns."""
    P = data.patterns.numpy()
    if np.abs(P @ P.T - np.eye(len(P))).max() > 1e-9:
        raise ValueError("data must have orthonormal patterns for the reading 'assumption'")
    _, _, Vh = np.linalg.svd(P)
    return np.concatenate([P, Vh[len(P) :]])
