"""Model (1) on inputs that are changed: tokens joined with their neighbors, and a little token noise."""

from __future__ import annotations

from dataclasses import replace

import torch

from patch_association.checks import made_of, positive_int
from patch_association.shallow.network import Weights
from patch_association.shallow.tokens import Tokens


def with_neighbors(tokens: Tokens, width: int) -> Tokens:
    """Each token joined with its next ``width - 1`` neighbors, as a convolution sees them.

    The token at l becomes (x_l, x_{l+1}, ..., x_{l+width-1}), the last ones going on at the first. Model
    (1) with identity attention on these tokens is a convolutional network: one kernel of ``width``
    tokens, ReLU neurons, mean pooling. Width 1 changes nothing.

    Raises
    ------
    ValueError
        If the width exceeds the number of tokens, or the tokens are weighted: a weight says how
        many tokens show a pattern, not where they stand.
    """
    made_of("tokens", tokens, "Tokens", "X", "share", "num_tokens")
    width = positive_int("width", width)
    if width > tokens.num_tokens:
        raise ValueError(f"width must be at most the {tokens.num_tokens} tokens, got {width}")
    if width > 1 and not bool((tokens.share == tokens.share.flatten()[0]).all()):
        raise ValueError("tokens must count alike for a convolution, got tokens of different weights")
    shifted = [torch.roll(tokens.X, -offset, dims=-2) for offset in range(width)]
    return replace(tokens, X=torch.cat(shifted, dim=-1))  # (n, L, width d)


def noise_gain(weights: Weights, tokens: Tokens, num_tokens: int, attention: str = "softmax"):
    """Standard deviation of F under token noise, to first order, for each input: shape (R, n).

    Independent noise N(0, c_0^2 I) on each of L tokens moves F by c_0 times this, up to O(c_0^2): each
    of the f_j L tokens that show pattern j pulls with dF/dmu_j / (f_j L), so the variance is
    c_0^2 / L sum_j |dF/dmu_j|^2 / f_j.

    Parameters
    ----------
    weights : Weights (with one head for all positions)
    tokens : Tokens (a :func:`~patch_association.shallow.population.population`)
    num_tokens : int (L)
    attention : str

    Raises
    ------
    ValueError
        If L is no positive integer, or the head differs by position.
    """
    L = positive_int("num_tokens", num_tokens)
    n, _M = tokens.share.shape
    X = tokens.X.expand(n, -1, -1).clone().requires_grad_()
    deviations = []
    for r in range(weights.num_trials):
        inputs = Tokens(X, tokens.y, tokens.share, tokens.probability, tokens.pattern)
        F = _output_of(weights.trial(r), inputs, attention)
        (slope,) = torch.autograd.grad(F.sum(), X)  # (n, M, d)
        ratio = torch.where(tokens.share > 0, (slope**2).sum(-1) / tokens.share, 0.0)
        deviations.append((ratio.sum(-1) / L).sqrt())
    return torch.stack(deviations)


def _output_of(weights, tokens, attention):
    """F (n,) of one network, written for autograd: the neurons' gates are constants almost everywhere."""
    share = tokens.share
    V = tokens.X @ weights.value[0].mT
    if attention == "softmax":
        scores = (tokens.X @ weights.key[0].mT) @ (tokens.X @ weights.query[0].mT).mT
        Z = torch.softmax(scores + share.log()[..., None], dim=-2).mT @ V
    else:
        Z = V if attention == "identity" else (share[..., None, :] @ V).expand_as(V)
    if weights.head.ndim > 2:
        raise ValueError("weights must share one head over positions: a population has no positions")
    heard = torch.relu(Z @ weights.output[0].mT) @ weights.head[0]  # (n, M)
    return (share * heard).sum(-1)
