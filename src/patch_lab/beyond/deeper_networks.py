"""From model (T) to an ordinary Vision Transformer, one switch at a time, many seeds at a time.

Parameters have a leading axis of R seeds. A training sums the losses of the seeds, and neither gradient
descent nor Adam mixes entries, so every seed is a run of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.checks import finite, fits_memory, made_of, positive_int, seed_number
from patch_association.defaults import DEFAULT
from patch_association.model import polynomial_activation

SCORES = ("free", "gram", "positional", "vanilla", "uniform")


@dataclass(frozen=True)
class Design:
    """The shape of a network, and what its scores see.

    Attributes
    ----------
    block : bool
        False: model (T) and its relatives, F = sum_(h,c) a_hc sum_i sigma(D sum_j S_ij <v_hc, X_j>), S the
        product of the layers' attentions. True: the blocks of a ViT, mean pooling, a linear head.
    scores : str
        "free": a matrix A a layer and head; "gram": P P^T; "positional": (P W_Q)(P W_K)^T; "vanilla", only
        with ``block``: the same of tokens that hold P; "uniform": none.
    layers, heads : int
    width : int
        Columns c of the value matrix a head without ``block`` (1: the value vector of (T), a = 1); with it
        the width m of the tokens, which the heads share out.
    encoding_dim : int
        Columns of P; with "vanilla" the width.
    encoding_std : float
        Of the entries of P at the start.
    diagonal : float
        Of a free A without ``block``, where it stays as it is; 1 in model (T).
    residual, norm, mlp : bool
        Of ``block``: z + f(z) in place of f(z); layer norm before attention, MLP and head; a ReLU layer of
        twice the width after attention.
    """

    block: bool = False
    scores: str = "free"
    layers: int = 1
    heads: int = 1
    width: int = 1
    encoding_dim: int = 16
    encoding_std: float = 1.0
    diagonal: float = DEFAULT.diagonal
    residual: bool = True
    norm: bool = True
    mlp: bool = True

    def __post_init__(self):
        if self.scores not in SCORES or (self.scores == "vanilla" and not self.block):
            raise ValueError(f"scores must be one of {', '.join(SCORES)}, got {self.scores!r}")
        for name in ("layers", "heads", "width", "encoding_dim"):
            positive_int(name, getattr(self, name))
        finite("encoding_std", self.encoding_std, minimum=0)
        finite("diagonal", self.diagonal)
        if self.block and self.width % self.heads:
            raise ValueError(f"width must be a multiple of {self.heads} heads, got {self.width}")
        if self.scores == "vanilla" and self.encoding_dim != self.width:
            raise ValueError(
                f"vanilla attention adds P to tokens of width {self.width}, got {self.encoding_dim}"
            )


class Network(nn.Module):
    """R networks of one design, for inputs of D patches in d dimensions.

    Parameters
    ----------
    design : Design
    seeds : int
        R.
    num_patches, dim : int
        D and d.
    seed : int
        Of the starts.
    """

    def __init__(self, design: Design, seeds: int, num_patches: int, dim: int, seed: int = 0):
        super().__init__()
        made_of("design", design, "Design", "block", "scores")
        self.design = design
        self.seeds = positive_int("seeds", seeds)
        self.num_patches = positive_int("num_patches", num_patches)
        self._draw = torch.Generator().manual_seed(seed_number("seed", seed))
        D = self.num_patches
        m = design.width
        H = design.heads
        layers = design.layers
        if design.scores in ("gram", "positional", "vanilla"):
            self.encodings = self._normal(D, design.encoding_dim, std=design.encoding_std)
        if design.scores == "free":
            self.scores = self._normal(layers, H, D, D, std=DEFAULT.init_std)
        if design.scores in ("positional", "vanilla"):
            e = design.encoding_dim
            k = m // H if design.block else e
            self.W_Q = self._normal(layers, H, e, k, std=e**-0.5)
            self.W_K = self._normal(layers, H, e, k, std=e**-0.5)
        if not design.block:
            self.value = self._normal(positive_int("dim", dim), H * m, std=DEFAULT.init_std)
            self.weights = nn.Parameter(torch.ones(self.seeds, H * m), requires_grad=m > 1)
            return
        self.embed = self._normal(positive_int("dim", dim), m, std=dim**-0.5)
        self.W_V = self._normal(layers, m, m, std=m**-0.5)
        self.W_O = self._normal(layers, m, m, std=m**-0.5)
        if design.mlp:
            self.W_in = self._normal(layers, m, 2 * m, std=m**-0.5)
            self.b_in = nn.Parameter(torch.zeros(self.seeds, layers, 1, 2 * m))
            self.W_out = self._normal(layers, 2 * m, m, std=(2 * m) ** -0.5)
        self.head = self._normal(m, std=m**-0.5)

    def _normal(self, *shape: int, std: float) -> nn.Parameter:
        sizes = " x ".join(f"{n:,}" for n in (self.seeds, *shape))
        fits_memory(f"weights of shape {sizes}", 2 * self.seeds * math.prod(shape), 4)
        return nn.Parameter(std * torch.randn(self.seeds, *shape, generator=self._draw))

    def layer_scores(self, layer: int, Z: torch.Tensor | None = None) -> torch.Tensor:
        """A of a layer: (R, H, D, D), or (R, n, H, D, D) where it depends on the tokens Z (R, n, D, m)."""
        D = self.num_patches
        scores = self.design.scores
        if scores == "uniform":
            return torch.zeros(self.seeds, self.design.heads, D, D)
        if scores == "free":
            # The diagonal of (T) stays where it is; a ViT's, if it has residuals, is as free as the rest.
            on_diagonal = torch.eye(D, dtype=torch.bool)
            return self.scores[:, layer].masked_fill(on_diagonal, self.design.diagonal)
        if scores == "gram":
            return (self.encodings @ self.encodings.mT)[:, None].expand(-1, self.design.heads, -1, -1)
        W_Q = self.W_Q[:, layer]  # (R, H, e, k)
        W_K = self.W_K[:, layer]
        P = self.encodings[:, None] if scores == "positional" else Z[:, :, None]  # type: ignore[index]
        if scores == "vanilla":
            W_Q = W_Q[:, None]
            W_K = W_K[:, None]
        return (P @ W_Q) @ (P @ W_K).mT / math.sqrt(W_Q.shape[-1])

    def forward(self, X: torch.Tensor, keep: list | None = None) -> torch.Tensor:
        """F for inputs X (R, n, D, d), shape (R, n); ``keep`` collects each layer's S."""
        return (self._blocks if self.design.block else self._simple)(X, [] if keep is None else keep)

    def _simple(self, X, keep):
        R, n, D, _ = X.shape
        H = self.design.heads
        u = (X @ self.value[:, None]).reshape(R, n, D, H, -1)  # (R, n, D, H c) -> (R, n, D, H, c)
        for layer in range(self.design.layers):
            keep.append(torch.softmax(self.layer_scores(layer), dim=-1))
            u = _mix(keep[-1], u)
        z = polynomial_activation(D * u, DEFAULT.degree, DEFAULT.linear).sum(dim=2)  # (R, n, H, c)
        return torch.einsum("rnc,rc->rn", z.flatten(2), self.weights)

    def _blocks(self, X, keep):
        design = self.design
        R, n, D, _ = X.shape
        norm = (lambda Z: F.layer_norm(Z, Z.shape[-1:])) if design.norm else (lambda Z: Z)
        Z = X @ self.embed[:, None]
        if design.scores == "vanilla":
            Z = Z + self.encodings[:, None]
        for layer in range(design.layers):
            normed = norm(Z)
            keep.append(torch.softmax(self.layer_scores(layer, normed), dim=-1))
            V = (normed @ self.W_V[:, layer, None]).reshape(R, n, D, design.heads, -1)
            new = _mix(keep[-1], V).reshape(R, n, D, -1) @ self.W_O[:, layer, None]
            Z = Z + new if design.residual else new
            if design.mlp:
                hidden = F.relu(norm(Z) @ self.W_in[:, layer, None] + self.b_in[:, layer, None])
                new = hidden @ self.W_out[:, layer, None]
                Z = Z + new if design.residual else new
        return torch.einsum("rnm,rm->rn", norm(Z).mean(dim=2), self.head)

    @torch.no_grad()
    def maps(self, X: torch.Tensor) -> torch.Tensor:
        """(R, layers, H, D, D) each head's S, where it depends on the input its mean over X (n, D, d)."""
        keep: list[torch.Tensor] = []
        self(X.expand(self.seeds, *X.shape), keep)
        return torch.stack([S.mean(dim=1) if S.ndim == 5 else S for S in keep], dim=1)

    def gram(self) -> torch.Tensor | None:
        """(R, D, D) P P^T, where there are encodings."""
        P = getattr(self, "encodings", None)
        return None if P is None else (P @ P.mT).detach()


def _mix(S: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """sum_j S_ij V_j for each head: S (R, H, D, D) or (R, n, H, D, D), V (R, n, D, H, k)."""
    if S.ndim == 5:
        return (S @ V.transpose(2, 3)).transpose(2, 3)  # (R, n, H, D, D) @ (R, n, H, D, k)
    R, n, D, H, k = V.shape
    flat = V.permute(0, 3, 2, 1, 4).reshape(R, H, D, n * k)
    return (S @ flat).reshape(R, H, D, n, k).permute(0, 3, 2, 1, 4)
