"""The exact population of section 3.2 without token noise: a finite sum.

Without noise a token is its pattern, and model (1) with one a for all positions sees an input through the
fractions of its patterns alone. With fixed counts there are two inputs, one of each class. With
multinomial counts there are finitely many count vectors, each with its probability. Risk, error, gradient
and attention mass are then sums, and descent on them needs no sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import torch
from scipy.special import gammaln

from patch_association.checks import positive_int
from patch_association.shallow.data import PatternData
from patch_association.shallow.network import (
    Weights,
    attention_map,
    chunk_size,
    forward,
    loss_and_slope,
)
from patch_association.shallow.tokens import Tokens

#: Count vectors that a law may hold.
MAX_ATOMS = 2_000_000


def population(data: PatternData, max_atoms: int = MAX_ATOMS) -> Tokens:
    """All inputs of the noiseless law, with their probabilities: the tokens are the M patterns.

    Parameters
    ----------
    data : PatternData
    max_atoms : int

    Raises
    ------
    ValueError
        If there are more than ``max_atoms`` count vectors.
    """
    if not isinstance(data, PatternData):
        raise ValueError(f"data must be a PatternData, got {type(data).__name__}")
    max_atoms = positive_int("max_atoms", max_atoms)
    if data.counts == "fixed":
        counts = data.class_counts()
        y = np.array([1.0, -1.0])
        probability = np.array([0.5, 0.5])
    else:
        counts, y, probability = _multinomial(data, max_atoms)
    pattern = torch.arange(data.num_patterns)[None]
    share = torch.from_numpy(counts / data.num_tokens)
    return Tokens(data.patterns[None], torch.from_numpy(y), share, torch.from_numpy(probability), pattern)


def mean_fractions(tokens: Tokens) -> tuple[float, float]:
    """(alpha_*, alpha_#) of Definition 1: the mean fractions of label-relevant and of confusion tokens."""
    share = tokens.share * tokens.probability[:, None]
    return float((share * tokens.relevant).sum()), float((share * tokens.confusion).sum())


def _multinomial(data, max_atoms):
    L, M = data.num_tokens, data.num_patterns
    atoms = math.comb(L + M - 1, M - 1)
    if atoms > max_atoms:
        raise ValueError(
            f"max_atoms must be at least {atoms}, the count vectors of {L} tokens over {M} patterns, "
            f"got {max_atoms}"
        )
    counts = _compositions(L, M)
    log_ways = gammaln(L + 1) - gammaln(counts + 1).sum(axis=1)
    with np.errstate(divide="ignore"):
        log_p = np.log(data.chances())
    # 0 log 0 = 0: a pattern that cannot occur and does not.
    terms = np.where(counts[:, None] == 0, 0.0, counts[:, None] * log_p)  # (atoms, 2, M)
    chance = 0.5 * np.exp(log_ways[:, None] + terms.sum(axis=2)).sum(axis=1)
    lead = counts[:, 0] - counts[:, 1]
    tied = lead == 0
    if data.ties == "redraw":
        # A tie is drawn again for the same class, and ties are alike for both: conditioning on no tie.
        keep = ~tied & (chance > 0)
        return counts[keep], np.sign(lead[keep]).astype(float), chance[keep] / chance[~tied].sum()
    keep = ~tied & (chance > 0)
    tied = tied & (chance > 0)
    y = np.concatenate([np.sign(lead[keep]), np.ones(tied.sum()), -np.ones(tied.sum())])
    both = np.concatenate([chance[keep], chance[tied] / 2, chance[tied] / 2])
    return np.concatenate([counts[keep], counts[tied], counts[tied]]), y, both


def _compositions(L: int, M: int) -> np.ndarray:
    """(comb(L + M - 1, M - 1), M) every way to write L as an ordered sum of M counts."""
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([L], dtype=np.int64)
    for _ in range(M - 1):
        repeat = left + 1
        rows = np.repeat(rows, repeat, axis=0)
        first = np.repeat(np.cumsum(repeat) - repeat, repeat)
        value = np.arange(len(rows), dtype=np.int64) - first
        rows = np.column_stack([rows, value])
        left = np.repeat(left, repeat) - value
    return np.column_stack([rows, left])


@dataclass(frozen=True)
class Measures:
    """Of R networks on some inputs: arrays of shape (R,).

    On a :func:`population` they are exact; on drawn inputs they are estimates.

    Attributes
    ----------
    risk : mean hinge loss max(1 - y F, 0)
    error : P[y F < 0] + P[F = 0] / 2
    mass : the left side of (15): attention to label-relevant tokens, averaged over query tokens and inputs
    confused : attention to confusion tokens, averaged alike
    margin : the least y F over inputs that occur
    """

    risk: np.ndarray
    error: np.ndarray
    mass: np.ndarray
    confused: np.ndarray
    margin: np.ndarray


def measure(weights: Weights, tokens: Tokens, attention: str = "softmax") -> Measures:
    """Risk, error, attention mass and margin of R networks.

    Parameters
    ----------
    weights, tokens, attention : as in :func:`~patch_association.shallow.network.forward`

    Raises
    ------
    ValueError
        If an argument is of another class, or ``attention`` another word.
    """
    size = chunk_size(weights, tokens)
    parts = [_measure_part(weights, part, attention) for part in tokens.chunks(size)]
    *sums, margins = zip(*parts)
    measures = *(reduce(add, column) for column in sums), torch.stack(margins).amin(0)
    return Measures(*(x.detach().double().cpu().numpy() for x in measures))


def _measure_part(weights, tokens, attention):
    """The sums of :class:`Measures` over these inputs and their least margin, each of shape (R,)."""
    F = forward(weights, tokens, attention).F
    yF = tokens.y * F
    risk, _ = loss_and_slope(F, tokens.y, tokens.probability)
    wrong = (yF < 0).to(yF) + 0.5 * (yF == 0).to(yF)
    error = (tokens.probability * wrong).sum(-1)
    S = attention_map(weights, tokens.X, tokens.share, attention)
    # (R, n, L_key, L_query) times the shares of the queries: what an average query pays to each key.
    share = tokens.share if tokens.share.ndim == 3 else tokens.share[None]
    paid = tokens.probability[..., None] * (S @ share[..., None])[..., 0]  # (R, n, L)
    mass, confused = ((paid * where).sum((-2, -1)) for where in (tokens.relevant, tokens.confusion))
    return risk, error, mass, confused, yF.amin(-1)
