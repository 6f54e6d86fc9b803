"""The test error of model (T) with a fixed attention, from two numbers of the value vector.

On a fresh sample <v, X_j> = alpha s_j + N(0, tau^2), independently over patches, where
alpha = <v, w*>, tau = sigma |v orthogonal to w*| and s_j = <w*, X_j> in {-1, 0, 1}. So the error
P[y F < 0] + P[F = 0] / 2 is a function of (alpha, tau) alone, and no test data of dimension d is needed.

:func:`patch_association.exact.block_error.exact_error` computes it for attention that reads set sums
(beta = gamma) or everything; :class:`SampledErrors` estimates it for any attention, at a cost per value
vector that does not depend on D: F is a polynomial of alpha and tau whose coefficients are drawn once.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import finite, odd_degree, positive_int
from patch_association.data import SpatialData


def two_numbers(value: torch.Tensor, data: SpatialData) -> tuple[np.ndarray, np.ndarray]:
    """(alpha, tau) of value vectors (..., d): <v, w*> and sigma |v orthogonal to w*|, each of shape (...)."""
    if value.shape[-1] != data.dim:
        raise ValueError(
            f"value must end in the data's {data.dim} dimensions, got shape {tuple(value.shape)}"
        )
    w = data.feature.to(value)
    alpha = value @ w  # (..., d) @ (d,) -> (...)
    rest = value - alpha[..., None] * w
    return alpha.numpy(), data.noise_std * rest.norm(dim=-1).numpy()


class SampledErrors:
    """Test errors for any attention from one set of draws, common to all value vectors.

    With M = D S s and G = D S g for a draw of the coefficients s and of standard noise g,
    z = alpha M + tau G, and F = sum_k binom(p, k) alpha^(p-k) tau^k sum_i M_i^(p-k) G_i^k
    + nu (alpha sum_i M_i + tau sum_i G_i): p + 3 numbers a draw, whatever D.

    Parameters
    ----------
    attention : BlockAttention or DenseAttention
    data : SpatialData
        The test distribution; its sets may differ from the attention's.
    degree, linear : int, float
        p and nu of the activation.
    draws : int
        The standard error of an error e is sqrt(e (1 - e) / draws).
    seed : int
    """

    def __init__(
        self,
        attention,
        data: SpatialData,
        degree: int = 3,
        linear: float = 0.1,
        draws: int = 20_000,
        seed: int = 0,
    ):
        if attention.num_patches != data.partition.num_patches:
            raise ValueError(
                f"attention must have the data's {data.partition.num_patches} patches, "
                f"got {attention.num_patches}"
            )
        self.degree, self.linear = odd_degree(degree), finite("linear", linear, minimum=0)
        self.draws = positive_int("draws", draws)
        s, y, _ = data.sample_coefficients(self.draws, seed)
        draws_of_noise = generator(seed, Stream.FIXED_TEST_NOISE)
        chunk = max(1, 2**21 // attention.num_patches)
        self._moments = torch.cat(
            [
                self._chunk(attention, s[i : i + chunk] * y[i : i + chunk, None], draws_of_noise)
                for i in range(0, self.draws, chunk)
            ],
            dim=1,
        )  # (p + 3, draws)

    def _chunk(self, attention, s, draws_of_noise):
        M = attention.mix(attention.tokens(torch.from_numpy(s)[..., None]))[..., 0]  # (n, T)
        g = torch.from_numpy(draws_of_noise.standard_normal((len(s), attention.rows)))
        G = attention.mix(attention.multiplicity**0.5 * g[..., None])[..., 0]
        rows = [
            math.comb(self.degree, k) * (M ** (self.degree - k) * G**k).sum(dim=1)
            for k in range(self.degree + 1)
        ]
        return torch.stack(rows + [M.sum(dim=1), G.sum(dim=1)])

    def __call__(self, alpha, noise) -> np.ndarray:
        """The errors of value vectors with these alpha and tau (arrays of one shape)."""
        a, tau = _pair(alpha, noise)
        p, flat_a, flat_tau = self.degree, a.reshape(-1), tau.reshape(-1)
        weights = np.stack(
            [flat_a ** (p - k) * flat_tau**k for k in range(p + 1)]
            + [self.linear * flat_a, self.linear * flat_tau],
            axis=1,
        )
        errors = np.empty(len(weights))
        for i in range(0, len(weights), 64):
            F = torch.from_numpy(weights[i : i + 64]) @ self._moments  # (64, p + 3) @ (p + 3, draws)
            errors[i : i + 64] = ((F < 0).double().mean(dim=1) + 0.5 * (F == 0).double().mean(dim=1)).numpy()
        return errors.reshape(a.shape)


def _pair(alpha, noise) -> tuple[np.ndarray, np.ndarray]:
    a, tau = np.broadcast_arrays(np.asarray(alpha, dtype=np.float64), np.asarray(noise, dtype=np.float64))
    if not (np.isfinite(a).all() and np.isfinite(tau).all()):
        raise ValueError("alpha and noise must be finite numbers")
    if (tau < 0).any():
        raise ValueError(f"noise must be at least 0, got {tau.min()}")
    return a, tau
