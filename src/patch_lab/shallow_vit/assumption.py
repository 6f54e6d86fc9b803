"""Readings of the printed start of Li et al., and how far a start is from their Assumption 1."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from patch_association.checks import finite, one_of, seed_list
from patch_association.shallow import PatternData, Weights, initial_weights
from patch_association.shallow.initial import orthonormal
from patch_association.streams import Stream, generator

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


def printed_start(
    data: PatternData,
    seeds,
    reading: str,
    value_error: float = 0.1,
    score_error: float = 0.2,
    **start,
) -> Weights:
    """The start by one of ``READINGS`` of section 4.1: W_O and a are those of every reading.

    Parameters
    ----------
    data, seeds, value_error, score_error, start
        As in :func:`~patch_association.shallow.initial.initial_weights`, and so the errors.
    reading : str
        One of ``READINGS``.

    Raises
    ------
    ValueError
        If ``reading`` is another word, or the noise is 0 where it divides by it.
    """
    one_of("reading", reading, *READINGS)
    sigma = finite("value_error", value_error)
    delta = finite("score_error", score_error)
    weights = initial_weights(data, seeds, value_error=sigma, score_error=delta, **start)
    if reading == "assumption":
        return weights
    if reading in ("printed", "square root") and not data.noise > 0:
        raise ValueError(f"data must have noise above 0 for the reading {reading!r}, got {data.noise:g}")
    scale, value_scale = SCALES[reading](delta, sigma, data.noise)
    streams = (generator(seed, Stream.SHALLOW_START).spawn(5)[2] for seed in seed_list(seeds))
    U = torch.from_numpy(np.stack([orthonormal(stream, data.dim) for stream in streams]))
    scores = scale * torch.eye(data.dim, dtype=torch.float64).expand(len(U), -1, -1)
    moved = [W.to(weights.value) for W in (value_scale * U, scores, scores)]
    return Weights(weights.head, weights.output, *moved)


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
    measures = sigma, delta, torch.stack(norms).amax(0)
    return AssumptionCheck(*(x.double().numpy() for x in measures))


def nearest_frame(images):
    """The matrix with orthonormal columns nearest to the images (R, ., M): their polar factor."""
    U, _, Vh = torch.linalg.svd(images, full_matrices=False)
    return U @ Vh


def cut(weights: Weights, longest: float) -> Weights:
    """The same networks with W_V, W_K and W_Q of a spectral norm of at most ``longest``.

    Singular values above it are cut down to it, which is the nearest matrix of that norm. With 1 a start
    obeys the norms of Assumption 1 as well; :func:`check_assumption` says what is left of its errors.

    Raises
    ------
    ValueError
        If ``longest`` is not positive.
    """
    if not finite("longest", longest) > 0:
        raise ValueError(f"longest must be positive, got {longest!r}")
    shorter = {
        name: torch.from_numpy(np.stack([_cut(W, longest) for W in getattr(weights, name).numpy()]))
        for name in ("value", "key", "query")
    }
    return replace(weights, **shorter)


def _cut(matrix, longest):
    """The nearest matrix, in the Frobenius norm, whose spectral norm is at most ``longest``."""
    U, lengths, Vh = np.linalg.svd(matrix)
    return U @ np.diag(np.minimum(lengths, longest)) @ Vh
