"""The simplified Vision Transformer (T): one layer, one head, attention that sees positions only."""

from __future__ import annotations

import math

import torch
from torch import nn

from patch_association.attention import softmax_attention
from patch_association.checks import finite, fits_memory, floating, odd_degree, positive_int, seed_number
from patch_association.defaults import DEFAULT


def polynomial_activation(x: torch.Tensor, degree: int, linear: float) -> torch.Tensor:
    """sigma(x) = x^p + nu x, the activation of model (T): p odd and at least 3, nu >= 0.

    Parameters
    ----------
    x : tensor of any shape
    degree, linear : int, float (p and nu)

    Raises
    ------
    ValueError
        If p is not odd and at least 3, or nu is negative or not finite.
    """
    odd_degree(degree)
    finite("linear", linear, minimum=0)
    return x**degree + linear * x


class SimplifiedViT(nn.Module):
    """Model (T): F(X) = sum_i sigma(D sum_j S_ij <v, X_j>), with S = softmax(A) over rows.

    Simplification 3.1 turns one layer of positional attention into this: the scores A themselves
    are trained (in place of P with A = P P^T, patches as rows), their diagonal stays fixed, and
    the value matrix is one vector v repeated.

    Parameters
    ----------
    num_patches : int
        D.
    dim : int
        d, the dimension of a patch.
    degree : int
        p, odd and at least 3.
    linear : float
        nu >= 0, the linear part of the activation.
    diagonal : float
        sigma_A = beta, the fixed diagonal of A.
    init_std : float, optional
        omega: off-diagonal scores and v start as N(0, omega^2), as in Parametrization 3.1, case 2. By
        default only v is drawn, with omega = 0.01, and the scores start at zero. At v = 0 F would be 0.
    seed : int
        Of that start.
    scaled : bool
        Divide the scores by sqrt(d) inside the softmax, as (T) writes and section 4.1 does not.
    dtype : torch dtype
        float64 by default: printed results are then the same on every machine.

    Attributes
    ----------
    scores : (D, D) parameter
        A. Its diagonal takes part in S but receives no gradient.
    value : (d,) parameter
        v.

    Raises
    ------
    ValueError
        On sizes, degrees, numbers or seeds that do not fit.

    Examples
    --------
    >>> F = SimplifiedViT(num_patches=16, dim=8)
    >>> F(torch.zeros(5, 16, 8, dtype=torch.float64)).shape
    torch.Size([5])
    """

    def __init__(
        self,
        num_patches: int,
        dim: int,
        degree: int = DEFAULT.degree,
        linear: float = DEFAULT.linear,
        diagonal: float = DEFAULT.diagonal,
        *,
        init_std: float | None = None,
        seed: int = 0,
        scaled: bool = False,
        dtype=torch.float64,
    ):
        super().__init__()
        self.num_patches = positive_int("num_patches", num_patches)
        self.dim = positive_int("dim", dim)
        self.degree = odd_degree(degree)
        self.linear = finite("linear", linear, minimum=0)
        self.diagonal = finite("diagonal", diagonal)
        self.scale = math.sqrt(self.dim) if scaled else 1.0
        value_std = DEFAULT.init_std if init_std is None else finite("init_std", init_std, minimum=0)
        score_std = 0.0 if init_std is None else value_std
        seed = seed_number("seed", seed, bits=64)
        floating(dtype)
        fits_memory(
            f"a model of {self.num_patches:,} patches of dimension {self.dim:,}",
            2 * self.num_patches**2 + self.dim,
            dtype.itemsize,
        )
        generator = torch.Generator().manual_seed(seed)
        square = self.num_patches, self.num_patches
        A = score_std * torch.randn(square, generator=generator, dtype=dtype) + 0.0
        v = value_std * torch.randn(self.dim, generator=generator, dtype=dtype)
        self.scores = nn.Parameter(A.fill_diagonal_(self.diagonal))
        self.value = nn.Parameter(v)

    def attention(self) -> torch.Tensor:
        """S = softmax(A), shape (D, D), with the diagonal of A held fixed."""
        held = torch.diag_embed(self.scores.diagonal())
        # The diagonal enters by value but not by gradient: Simplification 3.1 does not train it.
        return softmax_attention(self.scores - held + held.detach(), self.scale)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """F(X) for X of shape (n, D, d), as a tensor of shape (n,).

        Raises
        ------
        ValueError
            If X has another shape or type.
        """
        if not isinstance(X, torch.Tensor) or X.dtype != self.value.dtype:
            kind = X.dtype if isinstance(X, torch.Tensor) else type(X).__name__
            raise ValueError(f"X must be a tensor of the model's type {self.value.dtype}, got {kind}")
        if X.ndim != 3 or tuple(X.shape[1:]) != (self.num_patches, self.dim):
            raise ValueError(f"X must have shape (n, {self.num_patches}, {self.dim}), got {tuple(X.shape)}")
        u = X @ self.value  # (n, D, d) @ (d,) -> (n, D); first, since S X would cost d times as much
        z = self.num_patches * u @ self.attention().T  # (n, D) @ (D, D) -> (n, D)
        return polynomial_activation(z, self.degree, self.linear).sum(dim=1)

    def extra_repr(self) -> str:
        return (
            f"num_patches={self.num_patches}, dim={self.dim}, degree={self.degree}, "
            f"linear={self.linear:g}, diagonal={self.diagonal:g}, scale={self.scale:g}"
        )
