"""The test error of model (T), from two numbers of the value vector.

On a fresh input of Assumption 1, <v, X_j> = alpha s_j + N(0, tau^2) independently over patches, with
alpha = <v, w*>, tau = sigma |v - alpha w*| and s_j = <w*, X_j> in {-1, 0, 1}. So the error
P[y F < 0] + P[F = 0] / 2 is a function of the attention and of (alpha, tau), and no test input of
dimension d is needed. Where attention is hard or uniform nothing need be drawn at all:
:func:`~patch_lab.transfer.block_error.exact_error`.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import finite, made_of, odd_degree, positive_int
from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT


def two_numbers(value: torch.Tensor, law: SpatialData) -> tuple[np.ndarray, np.ndarray]:
    """(alpha, tau) of value vectors (..., d): <v, w*> and sigma |v - alpha w*|, each of shape (...).

    Raises
    ------
    ValueError
        If the last axis is not the law's d.
    """
    if value.shape[-1] != law.dim:
        raise ValueError(f"value must end in the law's {law.dim} dimensions, got shape {tuple(value.shape)}")
    w = law.feature.to(value)
    alpha = value @ w  # (..., d) @ (d,) -> (...)
    rest = value - alpha[..., None] * w
    return alpha.numpy(), law.noise_std * rest.norm(dim=-1).numpy()


def error_rate(yF: torch.Tensor) -> torch.Tensor:
    """The share of y F < 0, with F = 0 counting half, over the last axis."""
    return (yF < 0).double().mean(dim=-1) + (yF == 0).double().mean(dim=-1) / 2


class HeldOut:
    """n fresh inputs, of which only what F sees is drawn: s_j, y and a standard Gaussian number a patch.

    Parameters
    ----------
    law : SpatialData
        Its sets may differ from those of the attention that is tested.
    n : int
        The standard error of an error e is sqrt(e (1 - e) / n).
    seed : int
        Not one of the training's: streams of different kinds never meet, but of one kind do.

    Raises
    ------
    ValueError
        If ``law`` is no such law, or ``n`` or ``seed`` is out of range.

    Examples
    --------
    >>> from patch_association.structure import Partition
    >>> sets = Partition.blocks(4, 4, 2, 2)
    >>> fresh = HeldOut(SpatialData(sets, dim=8, q=0.0), 1000)
    >>> fresh.errors(torch.from_numpy(sets.same_set / 4.0)[None], alpha=[1.0], tau=[0.0]).tolist()
    [0.0]
    """

    def __init__(self, law: SpatialData, n: int, seed: int = 0, *, dtype=torch.float64, device=None):
        made_of("law", law, "SpatialData", "partition", "feature", "sample_coefficients")
        s, y, _ = law.sample_coefficients(positive_int("n", n), seed)
        self.law, self.n, self.seed = law, n, seed
        self.s, self.y = (torch.from_numpy(x).to(dtype=dtype, device=device) for x in (s, y))

    @cached_property
    def _noise(self) -> torch.Tensor:
        noise = generator(self.seed, Stream.TEST_NOISE).standard_normal(tuple(self.s.shape))
        return torch.from_numpy(noise).to(self.s)

    def errors(
        self, S, alpha, tau, degree=DEFAULT.degree, linear=DEFAULT.linear, prefactor=None
    ) -> torch.Tensor:
        """(S,) the error under each attention S (S, D, D), with alpha and tau (S,) of its own.

        Parameters
        ----------
        S : (S, D, D) tensor
        alpha, tau : (S,) (as :func:`two_numbers` gives them)
        degree, linear, prefactor : int, float, float (p, nu, and by default D)
        """
        prefactor = S.shape[-1] if prefactor is None else prefactor
        found = []
        for attention, a, noise in zip(S, alpha, tau):
            z = (a * self.s + noise * self._noise) @ attention.T * prefactor  # (n, D) @ (D, D) -> (n, D)
            even = z * z
            found.append(error_rate(self.y * (z * (even ** ((degree - 1) // 2) + linear)).sum(dim=1)))
        return torch.stack(found)

    def errors_under(self, attention, alpha, tau, degree=DEFAULT.degree, linear=DEFAULT.linear) -> np.ndarray:
        """The errors of many value vectors under one attention, at a cost for each that is free of D.

        With M = D S s and G = D S g for a draw of the coefficients s and of standard noise g,
        F = sum_k binom(p, k) alpha^(p-k) tau^k sum_i M_i^(p-k) G_i^k + nu (alpha sum_i M_i + tau sum_i G_i):
        p + 3 numbers a draw.

        Parameters
        ----------
        attention : BlockAttention or DenseAttention
        alpha, tau : arrays of one shape
            As :func:`two_numbers` gives them.
        degree, linear : int, float
            p and nu of the activation.

        Returns
        -------
        array of the same shape

        Raises
        ------
        ValueError
            If p or nu, alpha or tau is out of range, or the attention has another number of patches.
        """
        p, nu = odd_degree(degree), finite("linear", linear, minimum=0)
        a, tau = np.broadcast_arrays(np.asarray(alpha, dtype=np.float64), np.asarray(tau, dtype=np.float64))
        if not (np.isfinite(a).all() and np.isfinite(tau).all() and (tau >= 0).all()):
            raise ValueError(f"alpha must be finite, and tau finite and at least 0, got {alpha} and {tau}")
        if attention.num_patches != self.law.partition.num_patches:
            raise ValueError(
                f"attention must have the law's {self.law.partition.num_patches} patches, "
                f"got {attention.num_patches}"
            )
        flat, noise = a.reshape(-1, 1), tau.reshape(-1, 1)
        k = np.arange(p + 1)
        weights = torch.from_numpy(np.hstack([flat ** (p - k) * noise**k, nu * flat, nu * noise]))
        moments = self._moments(attention, p)
        errors = [error_rate(some @ moments) for some in weights.split(64)]  # (64, p + 3) @ (p + 3, n)
        return torch.cat(errors).numpy().reshape(a.shape)

    def _moments(self, attention, p: int) -> torch.Tensor:
        """(p + 3, n): the coefficients of y F in alpha and tau, the label folded into s as F is odd."""
        draws, chunk = generator(self.seed, Stream.FIXED_TEST_NOISE), max(1, 2**21 // attention.num_patches)
        found = []
        for s in (self.s * self.y[:, None]).double().cpu().split(chunk):
            M = attention.mix(attention.tokens(s[..., None]))[..., 0]  # (n, T)
            g = torch.from_numpy(draws.standard_normal((len(s), attention.rows)))
            G = attention.mix(attention.multiplicity**0.5 * g[..., None])[..., 0]
            terms = [math.comb(p, k) * (M ** (p - k) * G**k).sum(dim=1) for k in range(p + 1)]
            found.append(torch.stack([*terms, M.sum(dim=1), G.sum(dim=1)]))
        return torch.cat(found, dim=1)
