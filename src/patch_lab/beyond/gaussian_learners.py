"""The models that chapters compare with one another; :mod:`patch_lab.beyond.adam` trains them all.

Every learner maps inputs (n, D, d) to outputs F(X) of shape (n,), whose sign is the prediction,
and can say what it thinks of the patches: ``attention_scores(X)``, a (D, D) matrix of who attends
to whom, and ``encoding_gram()``, the matrix P P^T of Definition 2.2 where there are encodings.
Nothing here knows the sets. A seed fixes a run. All train in float64, so that a run comes out the
same on another machine, except the ViT: four times dearer there, it takes float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.attention import positional_attention, self_attention, softmax_attention
from patch_association.checks import finite, fits_memory, one_of, positive_int, seed_number
from patch_association.defaults import DEFAULT
from patch_association.model import SimplifiedViT, polynomial_activation
from patch_lab.kit.conventions import GAUSSIAN

DTYPE = torch.float64


class Learner(nn.Module):
    """What all learners have; those without attention or without encodings say None."""

    def attention_scores(self, X):
        """(D, D): who attends to whom, on inputs X where it depends on them."""
        return None

    def encoding_gram(self):
        """The inner products of the encodings, P P^T, of shape (D, D)."""
        P = getattr(self, "encodings", None)
        return None if P is None else (P @ P.T).detach()


class Linear(Learner):
    """F(X) = sum_j <w_j, X_j> + b: logistic regression on all D d numbers, the baseline."""

    def __init__(self, num_patches: int, dim: int, seed: int = 0):
        super().__init__()
        self.weights = nn.Parameter(0.01 * _normal((num_patches, dim), seed))
        self.bias = nn.Parameter(torch.zeros((), dtype=DTYPE))

    def forward(self, X):
        return torch.einsum("njd,jd->n", X, self.weights) + self.bias  # (n, D, d), (D, d) -> (n,)


class FreeScores(SimplifiedViT, Learner):
    """Model (T) as the theorems train it: A is free off its fixed diagonal, in the place of P P^T."""

    def __init__(self, num_patches: int, dim: int, seed: int = 0, diagonal: float = GAUSSIAN.diagonal):
        super().__init__(
            num_patches, dim, diagonal=diagonal, init_std=GAUSSIAN.init_std, seed=seed, dtype=DTYPE
        )

    def attention_scores(self, X):
        return self.scores.detach()


class GramScores(Learner):
    """Model (T) with A = P P^T, trained through P in R^{D x D}: Simplification 3.1 before A is set free."""

    def __init__(self, num_patches: int, dim: int, seed: int = 0, diagonal: float = GAUSSIAN.diagonal):
        super().__init__()
        self.num_patches = num_patches
        # Rows of squared length about ``diagonal``: A then starts near where FreeScores does.
        scale = math.sqrt(finite("diagonal", diagonal, minimum=0) / num_patches)
        self.encodings = nn.Parameter(scale * _normal((num_patches, num_patches), seed, 0))
        self.value = nn.Parameter(GAUSSIAN.init_std * _normal((dim,), seed, 1))

    def positional_scores(self):
        """The scores A = P P^T, the same for all inputs."""
        return self.encodings @ self.encodings.T

    def attention_scores(self, X):
        return self.positional_scores().detach()

    def forward(self, X):
        """F(X) = sum_i sigma(D sum_j S_ij <v, X_j>), as in (T)."""
        u = X @ self.value  # (n, D, d) @ (d,) -> (n, D)
        z = self.num_patches * u @ softmax_attention(self.positional_scores()).T  # (n, D) @ (D, D) -> (n, D)
        return polynomial_activation(z, DEFAULT.degree, DEFAULT.linear).sum(dim=1)


class PositionalScores(GramScores):
    """Positional attention of Definition 3.2, A = (P W_Q)(P W_K)^T, with the readout of (T).

    ``start="identity"`` begins at W_Q = W_K = I, where A = P P^T; ``"random"`` draws both with
    entries N(0, 1/D), so that A and P P^T have nothing to do with each other at the start.
    """

    def __init__(self, num_patches: int, dim: int, seed: int = 0, start: str = "identity"):
        super().__init__(num_patches, dim, seed)
        if start not in ("identity", "random"):
            raise ValueError(f'start must be "identity" or "random", got {start!r}')
        if start == "identity":
            W_Q = torch.eye(num_patches, dtype=DTYPE)
            W_K = torch.eye(num_patches, dtype=DTYPE)
        else:
            W_Q, W_K = (_normal((num_patches, num_patches), seed, k) / math.sqrt(num_patches) for k in (2, 3))
        self.W_Q = nn.Parameter(W_Q)
        self.W_K = nn.Parameter(W_K)

    def positional_scores(self):
        """The scores A = (P W_Q)(P W_K)^T, the same for all inputs."""
        return (self.encodings @ self.W_Q) @ (self.encodings @ self.W_K).T


class SelfAttentionLearner(Learner):
    """Self-attention of Definition 3.1 on X + P with the readout of (T); P lives in R^d with the patches."""

    def __init__(self, num_patches: int, dim: int, seed: int = 0):
        super().__init__()
        self.num_patches = num_patches
        self.encodings = nn.Parameter(_normal((num_patches, dim), seed, 0))
        # Small scores at the start: with W_Q = W_K = I each patch would attend to itself alone.
        self.W_Q, self.W_K = (nn.Parameter(_normal((dim, dim), seed, k) / dim) for k in (2, 3))
        self.value = nn.Parameter(GAUSSIAN.init_std * _normal((dim,), seed, 1))

    def forward(self, X):
        z = self._attend(X)[0]  # (n, D, 1): every column of W_V is v, so one is enough
        return polynomial_activation(self.num_patches * z.squeeze(-1), DEFAULT.degree, DEFAULT.linear).sum(
            dim=1
        )

    @torch.no_grad()
    def attention_scores(self, X):
        """The mean of S over the inputs ``X``."""
        return self._attend(X)[1].mean(dim=0)

    def _attend(self, X):
        W_V = self.value[:, None]
        return self_attention(X, self.encodings, self.W_Q, self.W_K, W_V, return_attention=True)


class OneLayerViT(Learner):
    """A small Vision Transformer of one layer and one head, with all that (T) leaves out.

    Z = X E + P;  Z += Attention(LN(Z)) W_O;  Z += MLP(LN(Z));  F = <head, mean_i LN(Z)_i> + b.
    With ``positional=True`` queries and keys see LN(P) alone (Definition 3.2).
    """

    def __init__(self, num_patches: int, dim: int, seed: int = 0, positional: bool = False):
        super().__init__()
        self.positional = bool(positional)
        m = 32
        self.embed = nn.Parameter(_normal((dim, m), seed, 0) / math.sqrt(dim))
        self.encodings = nn.Parameter(_normal((num_patches, m), seed, 1))
        scale = 1 / math.sqrt(m)
        self.W_Q, self.W_K, self.W_V, self.W_O = (
            nn.Parameter(scale * _normal((m, m), seed, k)) for k in (2, 3, 4, 5)
        )
        self.W_in = nn.Parameter(scale * _normal((m, 2 * m), seed, 6))
        self.W_out = nn.Parameter(scale * _normal((2 * m, m), seed, 7))
        self.b_in = nn.Parameter(torch.zeros(2 * m, dtype=DTYPE))
        self.norms = nn.ModuleList(nn.LayerNorm(m, dtype=DTYPE) for _ in range(3))
        self.head = nn.Parameter(scale * _normal((m,), seed, 8))
        self.bias = nn.Parameter(torch.zeros((), dtype=DTYPE))
        self.to(torch.float32)

    def forward(self, X):
        Z, attended, _ = self._attend(X)
        Z = Z + attended @ self.W_O  # (n, D, m)
        Z = Z + F.gelu(self.norms[1](Z) @ self.W_in + self.b_in) @ self.W_out
        return self.norms[2](Z).mean(dim=1) @ self.head + self.bias  # (n, m) @ (m,) -> (n,)

    @torch.no_grad()
    def attention_scores(self, X):
        """The mean of S over the inputs ``X``; S itself where it sees positions alone."""
        S = self._attend(X)[2]
        return S.mean(dim=0) if S.ndim == 3 else S

    def _attend(self, X):
        Z = X.to(self.embed) @ self.embed + self.encodings  # (n, D, d) @ (d, m) + (D, m) -> (n, D, m)
        normed = self.norms[0](Z)
        if self.positional:
            return Z, *positional_attention(
                normed, self.norms[0](self.encodings), self.W_Q, self.W_K, self.W_V, return_attention=True
            )
        # Z holds the encodings already, so there is nothing left to add.
        nothing = torch.zeros_like(self.encodings)
        return Z, *self_attention(normed, nothing, self.W_Q, self.W_K, self.W_V, return_attention=True)


@dataclass(frozen=True)
class Recipe:
    """How a kind of learner is made and trained.

    Attributes
    ----------
    title : str
        What chapters call it.
    make : callable
        ``make(num_patches, dim, seed)`` -> the learner.
    learning_rate : float
        Adam's, at the start of its cosine.
    batch : int
        Fresh inputs in each step.
    """

    title: str
    make: Callable[..., nn.Module]
    learning_rate: float
    batch: int


RECIPES = {
    "linear": Recipe("linear", Linear, 1e-2, 512),
    "free-0": Recipe("(T), free A, diagonal 0", partial(FreeScores, diagonal=0.0), 1e-2, 512),
    "free-2": Recipe("(T), free A, diagonal 2", partial(FreeScores, diagonal=2.0), 1e-2, 512),
    "free-4": Recipe("(T), free A, diagonal 4", partial(FreeScores, diagonal=4.0), 1e-2, 512),
    "gram-2": Recipe("(T), A = P Pᵀ, |p|² ≈ 2", partial(GramScores, diagonal=2.0), 1e-2, 512),
    "gram-4": Recipe("(T), A = P Pᵀ, |p|² ≈ 4", partial(GramScores, diagonal=4.0), 1e-2, 512),
    "positional": Recipe("positional, W from I", PositionalScores, 1e-2, 512),
    "positional-random": Recipe("positional, W random", partial(PositionalScores, start="random"), 1e-2, 512),
    "self-attention": Recipe("self-attention", SelfAttentionLearner, 1e-2, 256),
    "vit": Recipe("one-layer ViT", OneLayerViT, 3e-3, 128),
    "vit-positional": Recipe("positional ViT", partial(OneLayerViT, positional=True), 3e-3, 128),
}


def make_learner(kind: str, num_patches: int, dim: int, seed: int = 0) -> nn.Module:
    """A fresh learner of a kind of :data:`RECIPES`."""
    one_of("kind", kind, *RECIPES)
    num_patches = positive_int("num_patches", num_patches)
    dim = positive_int("dim", dim)
    return RECIPES[kind].make(num_patches, dim, seed)


def _normal(shape, seed: int, stream: int = 0) -> torch.Tensor:
    """Standard normal entries; each stream of a seed is independent of the others."""
    fits_memory(f"weights of shape {' x '.join(f'{n:,}' for n in shape)}", 2 * math.prod(shape))
    seed = seed_number("seed", seed, bits=53)  # a thousand times as much still fits PyTorch's 63
    generator = torch.Generator().manual_seed(1000 * seed + stream)
    return torch.randn(shape, generator=generator, dtype=DTYPE)
