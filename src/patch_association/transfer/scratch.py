"""Model (T) trained from scratch on the downstream samples: A and v together, seeds in one batch.

The gradient is written out, for all seeds at once. With u = X v, z = D S u and the label folded into
X, dL/dz_ni = slope_n sigma'(z_ni), and

    dL/dv = D sum_n X_n^T S^T g_n,     dL/dS = D sum_n g_n u_n^T,
    dL/dA_ij = S_ij (dL/dS_ij - sum_r S_ir dL/dS_ir),   the diagonal left out (Simplification 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import finite, positive_int
from patch_association.transfer.fine_tuning import Descent, _seeds


@dataclass(frozen=True)
class Trained:
    """What training from scratch leaves: ``scores`` (S, D, D), ``value`` (S, d), ``loss`` (S,)."""

    scores: torch.Tensor
    value: torch.Tensor
    loss: torch.Tensor


def loss_and_gradients(X, scores, value, degree: int, linear: float):
    """The loss (S,) and its derivatives by the off-diagonal of A (S, D, D) and by v (S, d).

    ``X`` is y X, of shape (S, n, D, d).
    """
    S_, n, D, d = X.shape
    attention = torch.softmax(scores, dim=-1)
    u = (X.reshape(S_, n * D, d) @ value[:, :, None]).view(S_, n, D)
    z = D * u @ attention.mT  # (S, n, D) @ (S, D, D) -> (S, n, D)
    power = z ** (degree - 1)
    F = ((power + linear) * z).sum(dim=2)
    g = (degree * power + linear) * (-torch.sigmoid(-F) / n)[:, :, None]  # (S, n, D)
    by_u = D * (g @ attention)  # (S, n, D) @ (S, D, D): S^T g_n
    by_value = (by_u.reshape(S_, 1, n * D) @ X.reshape(S_, n * D, d))[:, 0]
    by_attention = D * (g.mT @ u)  # (S, D, n) @ (S, n, D) -> (S, D, D)
    by_scores = attention * (by_attention - (attention * by_attention).sum(dim=-1, keepdim=True))
    by_scores.diagonal(dim1=-2, dim2=-1).zero_()
    return torch.nn.functional.softplus(-F).mean(dim=1), by_scores, by_value


def train_from_scratch(
    X, y, seeds, descent: Descent | None = None, diagonal: float = 4.0, ratio: float = 1.0
) -> Trained:
    """Gradient descent on A and v from small random starts (Parametrization 3.1, realistic case).

    Parameters
    ----------
    X : (S, n, D, d) tensor
        A and v are trained in its precision.
    y : (S, n) tensor
    seeds : list of S int
        Of the starts.
    descent : Descent
        Steps of v as in fine-tuning; A starts with the same omega, unscaled, off its diagonal.
    diagonal : float
        sigma_A, held fixed.
    ratio : float
        How many times faster A moves than v does in units of D v: A <- A - ratio eta D^2 dL/dA with
        the eta of v. Equal rates for A and v, the paper's choice, are ratio 1 / D^2.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    descent, seeds = descent or Descent(), _seeds(seeds)
    if X.ndim != 4 or X.shape[0] != len(seeds) or tuple(y.shape) != tuple(X.shape[:2]):
        raise ValueError(
            f"X must be ({len(seeds)}, n, D, d) and y ({len(seeds)}, n), "
            f"got {tuple(X.shape)} and {tuple(y.shape)}"
        )
    ratio = finite("ratio", ratio, minimum=0)
    S_, n, D, d = X.shape
    signed = y[:, :, None, None] * X
    generators = [generator(seed, Stream.SCRATCH_START) for seed in seeds]
    A = torch.from_numpy(np.stack([g.standard_normal((D, D)) for g in generators])) * descent.init_std
    v = torch.from_numpy(np.stack([g.standard_normal(d) for g in generators])) * (descent.init_std / D)
    A, v = A.to(X.dtype), v.to(X.dtype)
    A.diagonal(dim1=-2, dim2=-1).fill_(finite("diagonal", diagonal))
    for _ in range(descent.steps):
        _, by_scores, by_value = loss_and_gradients(signed, A, v, descent.degree, descent.linear)
        limit = descent.clip * v.norm(dim=1) / by_value.norm(dim=1).clamp_min(1e-300)
        eta = limit.clamp_max(descent.rate / D**2)
        v = v - eta[:, None] * by_value
        A = A - (ratio * D**2 * eta)[:, None, None] * by_scores
    loss, _, _ = loss_and_gradients(signed, A, v, descent.degree, descent.linear)
    return Trained(A, v, loss)


def draw_inputs(data, n: int, seeds) -> tuple[torch.Tensor, torch.Tensor]:
    """X (S, n, D, d) and y (S, n): n fresh samples of each seed."""
    drawn = [data.sample(positive_int("n", n), seed) for seed in _seeds(seeds)]
    return torch.stack([X for X, _ in drawn]), torch.stack([y for _, y in drawn])
