"""The trained models that chapters compare, and the one loop that trains them all.

Every learner maps inputs (n, D, d) to outputs F(X) of shape (n,), whose sign is the prediction,
and can say what it thinks of the patches: ``attention_scores(X)``, a (D, D) matrix of who attends
to whom, and ``encoding_gram()``, the matrix P P^T of Definition 2.2 where there are encodings.
Nothing here knows the sets. A seed fixes a run. All train in float64, so that a run comes out the
same on another machine, except the ViT: four times dearer there, it takes float32 unless asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import torch
from scipy.optimize import minimize_scalar
from torch import nn
from torch.nn import functional as F

from patch_association._streams import GAUSSIAN_BATCHES, GAUSSIAN_CURVE, GAUSSIAN_TEST
from patch_association._validate import finite, positive_int
from patch_association.attention import positional_attention, self_attention, softmax_attention
from patch_association.conventions import DEFAULT, GAUSSIAN
from patch_association.intervals import Estimate, mean
from patch_association.model import SimplifiedViT, polynomial_activation

DTYPE = torch.float64


class Linear(nn.Module):
    """F(X) = sum_j <w_j, X_j> + b: logistic regression on all D d numbers, the baseline."""

    def __init__(self, num_patches: int, dim: int, seed: int = 0):
        super().__init__()
        self.weights = nn.Parameter(0.01 * _normal((num_patches, dim), seed))
        self.bias = nn.Parameter(torch.zeros((), dtype=DTYPE))

    def forward(self, X):
        return torch.einsum("njd,jd->n", X, self.weights) + self.bias  # (n, D, d), (D, d) -> (n,)

    def attention_scores(self, X):
        """None: a linear model attends to nothing."""
        return None

    def encoding_gram(self):
        """None: it has no encodings."""
        return None


class FreeScores(SimplifiedViT):
    """Model (T) as the theorems train it: A is free off its fixed diagonal, F = sum_i sigma(D (S u)_i)."""

    def __init__(self, num_patches: int, dim: int, seed: int = 0, diagonal: float = GAUSSIAN.diagonal):
        super().__init__(
            num_patches, dim, diagonal=diagonal, init_std=GAUSSIAN.init_std, seed=seed, dtype=DTYPE
        )

    def attention_scores(self, X):
        """A."""
        return self.scores.detach()

    def encoding_gram(self):
        """None: Simplification 3.1 trains A in the place of P P^T."""
        return None


class _PositionalModel(nn.Module):
    """F(X) = sum_i sigma(D sum_j S_ij <v, X_j>): the readout of model (T) over any scores of positions."""

    def __init__(self, num_patches: int, dim: int, seed: int, diagonal: float):
        super().__init__()
        self.num_patches = num_patches
        # Rows of squared length about ``diagonal``: A = P P^T then starts near where FreeScores does.
        scale = math.sqrt(finite("diagonal", diagonal, minimum=0) / num_patches)
        self.encodings = nn.Parameter(scale * _normal((num_patches, num_patches), seed, 0))
        self.value = nn.Parameter(GAUSSIAN.init_std * _normal((dim,), seed, 1))

    def attention_scores(self, X):
        """A."""
        return self.positional_scores().detach()

    def encoding_gram(self):
        """P P^T, (D, D)."""
        return (self.encodings @ self.encodings.T).detach()

    def forward(self, X):
        u = X @ self.value  # (n, D, d) @ (d,) -> (n, D)
        z = self.num_patches * u @ softmax_attention(self.positional_scores()).T  # (n, D) @ (D, D) -> (n, D)
        return polynomial_activation(z, DEFAULT.degree, DEFAULT.linear).sum(dim=1)


class GramScores(_PositionalModel):
    """Model (T) with A = P P^T, trained through P in R^{D x D}: Simplification 3.1 before A is set free."""

    def __init__(self, num_patches: int, dim: int, seed: int = 0, diagonal: float = GAUSSIAN.diagonal):
        super().__init__(num_patches, dim, seed, diagonal)

    def positional_scores(self):
        """A = P P^T."""
        return self.encodings @ self.encodings.T


class PositionalScores(_PositionalModel):
    """Positional attention of Definition 3.2, A = (P W_Q)(P W_K)^T, with the readout of (T).

    ``start="identity"`` begins at W_Q = W_K = I, where A = P P^T; ``"random"`` draws both with
    entries N(0, 1/D), so that A and P P^T have nothing to do with each other at the start.
    """

    def __init__(
        self,
        num_patches: int,
        dim: int,
        seed: int = 0,
        start: str = "identity",
        diagonal: float = GAUSSIAN.diagonal,
    ):
        super().__init__(num_patches, dim, seed, diagonal)
        if start not in ("identity", "random"):
            raise ValueError(f'start must be "identity" or "random", got {start!r}')
        if start == "identity":
            W_Q, W_K = torch.eye(num_patches, dtype=DTYPE), torch.eye(num_patches, dtype=DTYPE)
        else:
            W_Q, W_K = (_normal((num_patches, num_patches), seed, k) / math.sqrt(num_patches) for k in (2, 3))
        self.W_Q, self.W_K = nn.Parameter(W_Q), nn.Parameter(W_K)

    def positional_scores(self):
        """A = (P W_Q)(P W_K)^T."""
        return (self.encodings @ self.W_Q) @ (self.encodings @ self.W_K).T


class SelfAttention(nn.Module):
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

    def encoding_gram(self):
        """P P^T, (D, D)."""
        return (self.encodings @ self.encodings.T).detach()

    def _attend(self, X):
        W_V = self.value[:, None]
        return self_attention(X, self.encodings, self.W_Q, self.W_K, W_V, return_attention=True)


class OneLayerViT(nn.Module):
    """A small Vision Transformer of one layer and one head, with all that (T) leaves out.

    Z = X E + P;  Z += Attention(LN(Z)) W_O;  Z += MLP(LN(Z));  F = <head, mean_i LN(Z)_i> + b.
    With ``positional=True`` queries and keys see LN(P) alone (Definition 3.2).
    """

    def __init__(
        self,
        num_patches: int,
        dim: int,
        seed: int = 0,
        width: int = 32,
        positional: bool = False,
        dtype=torch.float32,
    ):
        super().__init__()
        self.positional = bool(positional)
        m = width
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
        self.to(dtype)

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

    def encoding_gram(self):
        """P P^T, (D, D)."""
        return (self.encodings @ self.encodings.T).detach()

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
    make: object
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
    "self-attention": Recipe("self-attention", SelfAttention, 1e-2, 256),
    "vit": Recipe("one-layer ViT", OneLayerViT, 3e-3, 128),
    "vit-positional": Recipe("positional ViT", partial(OneLayerViT, positional=True), 3e-3, 128),
}


def make_learner(kind: str, num_patches: int, dim: int, seed: int = 0) -> nn.Module:
    """A fresh learner of a kind of :data:`RECIPES`."""
    if kind not in RECIPES:
        raise ValueError(f"kind must be one of {', '.join(RECIPES)}, got {kind!r}")
    num_patches, dim = positive_int("num_patches", num_patches), positive_int("dim", dim)
    return RECIPES[kind].make(num_patches, dim, positive_int("seed", seed, minimum=0))


def train(
    learner: nn.Module,
    data,
    *,
    steps: int,
    batch: int = 512,
    learning_rate: float = 1e-2,
    clip: float = 5.0,
    seed: int = 0,
    points: int = 20,
    n_curve: int = 4000,
) -> list[tuple[int, float]]:
    """Train in place on the logistic loss mean log(1 + exp(-y F(X))), with fresh inputs in every step.

    Adam, its rate falling to zero along a cosine, gradients clipped to the norm ``clip``.

    Parameters
    ----------
    data : an object with ``sample(n, seed)`` -> (X, y)
    steps, batch, learning_rate, clip
        Of the optimizer.
    seed : int
        Of the batches; learners with the same seed see the same inputs.
    points, n_curve : int
        How many points of the learning curve are taken, and on how many held-out inputs.

    Returns
    -------
    The learning curve: pairs (step, error), from step 0 to the last.

    Raises
    ------
    ValueError
        On sizes and rates that are not positive.
    FloatingPointError
        When the loss is no longer finite.
    """
    steps, batch = positive_int("steps", steps), positive_int("batch", batch)
    points = positive_int("points", points)
    if not (finite("learning_rate", learning_rate) > 0 and finite("clip", clip) > 0):
        raise ValueError(f"learning_rate and clip must be positive, got {learning_rate!r} and {clip!r}")
    optimizer = torch.optim.Adam(learner.parameters(), lr=learning_rate)
    held_out = data.sample(n_curve, seed=GAUSSIAN_CURVE)
    marks = {round(steps * k / points) for k in range(points + 1)}
    curve = [(0, error_on(learner, *held_out))]
    for step in range(steps):
        X, y = data.sample(batch, seed=GAUSSIAN_BATCHES + seed * 10_000_000 + step)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * (1 + math.cos(math.pi * step / steps)) / 2
        optimizer.zero_grad(set_to_none=True)
        loss = F.softplus(-y * learner(X).to(y)).mean()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss.item()} at step {step}")
        loss.backward()
        nn.utils.clip_grad_norm_(learner.parameters(), clip)
        optimizer.step()
        if step + 1 in marks:
            curve.append((step + 1, error_on(learner, *held_out)))
    return curve


def first_step(data, diagonal: float, n: int = 20_000, parts: int = 20, seed: int = 0) -> Estimate:
    """Which way model (T) first moves: mean of -dL/dA_ij over companions, less that over strangers.

    At A = ``diagonal`` I and v = r w*, with w* the shared filter of ``data`` and r >= 0 the length
    that minimizes the loss at this A. Positive: attention moves toward the own set. The interval
    comes from ``parts`` independent parts of the ``n`` inputs.
    """
    D, partition = data.partition.num_patches, data.partition
    n, parts = positive_int("n", n), positive_int("parts", parts, minimum=2)
    if n % parts:
        raise ValueError(f"n must be a multiple of parts, got {n} inputs in {parts} parts")
    X, y = data.sample(n, seed=seed)
    model = SimplifiedViT(D, data.dim, diagonal=diagonal)
    direction = data.filters[0]

    def loss(r):
        with torch.no_grad():
            model.value.copy_(r * direction)
            return float(F.softplus(-y * model(X)).mean())

    r = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-4}).x
    loss(r)  # leaves v at its best length
    same = torch.from_numpy(partition.same_set)
    companions = same & ~torch.eye(D, dtype=torch.bool)
    moves = []
    for X_part, y_part in zip(X.split(n // parts), y.split(n // parts)):
        (gradient,) = torch.autograd.grad(F.softplus(-y_part * model(X_part)).mean(), model.scores)
        moves.append(float(gradient[~same].mean() - gradient[companions].mean()))
    return mean(moves)


@torch.no_grad()
def error_on(learner: nn.Module, X, y) -> float:
    """The share of inputs with y F(X) < 0, outputs of exactly zero counted by half."""
    outputs = y * torch.cat([learner(part) for part in X.split(2000)]).to(y)
    return float((outputs < 0).double().mean() + (outputs == 0).double().mean() / 2)


def test_inputs(data, n: int = 20_000):
    """The inputs on which finished learners are compared: never seen in training or on its curve."""
    return data.sample(n, seed=GAUSSIAN_TEST)


def _normal(shape, seed: int, stream: int = 0) -> torch.Tensor:
    """Standard normal entries; each stream of a seed is independent of the others."""
    generator = torch.Generator().manual_seed(1000 * seed + stream)
    return torch.randn(shape, generator=generator, dtype=DTYPE)
