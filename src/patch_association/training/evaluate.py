"""The test error of model (T): under Assumption 1 from two numbers of the value vector, else on inputs.

On a fresh input of Assumption 1, <v, X_j> = alpha s_j + N(0, tau^2) independently over patches, with
alpha = <v, w*>, tau = sigma |v - alpha w*| and s_j = <w*, X_j> in {-1, 0, 1}. So the error
P[y F < 0] + P[F = 0] / 2 is a function of the attention and of (alpha, tau), and no test input of
dimension d is needed. Where attention is hard or uniform nothing need be drawn at all:
:func:`~patch_lab.transfer.block_error.exact_error`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import finite, fits_memory, odd_degree, positive_int
from patch_association.data import (
    Law,
    SpatialData,
    assumption_one,
    check_law,
    draw_from,
    draws_by_coefficients,
    inputs_and_labels,
)
from patch_association.defaults import DEFAULT
from patch_association.training.gradients import chunk_size


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
    """n fresh inputs; of Assumption 1's only what F sees: s_j, y and a standard Gaussian number a patch.

    Inputs that are at hand: :meth:`of`.

    Parameters
    ----------
    law : Law
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

    def __init__(self, law: Law, n: int, seed: int = 0, *, dtype=torch.float64, device=None):
        self.law: Any = check_law(law)
        self.n, self.seed = positive_int("n", n), positive_int("seed", seed, minimum=0)
        self.num_patches, self.dim, self.X = law.partition.num_patches, law.dim, None
        if draws_by_coefficients(law):
            s, y, _ = self.law.sample_coefficients(n, seed)
            self.s, self.y = (torch.from_numpy(x).to(dtype=dtype, device=device) for x in (s, y))
        else:
            fits_memory(f"{n:,} inputs", n * self.num_patches * self.dim)
            self.X, self.y = draw_from(law, n, seed, dtype, device)

    @classmethod
    def of(cls, X, y) -> HeldOut:
        """Held-out inputs of one's own: X (n, D, d) and labels y (n,) of -1 and +1, arrays or tensors.

        Raises
        ------
        ValueError
            If the shapes do not fit together, or a number is not finite or a label not -1 or +1.

        Examples
        --------
        >>> own = HeldOut.of(np.ones((2, 4, 1)), [1, -1])
        >>> own.errors_of(torch.full((1, 4, 4), 0.25), torch.ones(1, 1)).tolist()
        [0.5]
        """
        own, (X, y) = cls.__new__(cls), inputs_and_labels(X, y)
        if len(X) != 1:
            raise ValueError(f"X must have shape (n, D, d): one test set, got {tuple(X.shape)}")
        own.law, own.seed, own.X, own.y = None, None, X[0], y[0]
        own.n, own.num_patches, own.dim = own.X.shape
        return own

    def __repr__(self) -> str:
        return f"HeldOut({self.n} inputs of {self.num_patches} patches of dimension {self.dim})"

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

        Raises
        ------
        ValueError
            If the inputs are not Assumption 1's: then two numbers do not tell (:meth:`errors_of`).
        """
        assumption_one("law", self.law)
        s, noise = self.s.to(S), self._noise.to(S)
        fields = (a * s + tau_a * noise for a, tau_a in zip(alpha, tau))
        return self._errors(S, fields, degree, linear, prefactor)

    def errors_of(
        self, S, value, degree=DEFAULT.degree, linear=DEFAULT.linear, prefactor=None
    ) -> torch.Tensor:
        """(S,) the error under each attention S (S, D, D) with value vectors (S, d), whatever the inputs.

        Parameters
        ----------
        S, value : tensors of one type and device, which are those of the arithmetic
        degree, linear, prefactor : int, float, float (p, nu, and by default D)
        """
        if self.X is None:
            w = self.law.feature.to(value)
            alpha = value @ w  # (S, d) @ (d,) -> (S,)
            tau = self.law.noise_std * (value - alpha[:, None] * w).norm(dim=1)
            return self.errors(S, alpha, tau, degree, linear, prefactor)
        chunks = self.X.split(chunk_size((1, *self.X.shape), self.X.element_size(), self.X.device))
        fields = (torch.cat([X.to(v) @ v for X in chunks]) for v in value)  # (n, D, d) @ (d,) -> (n, D)
        return self._errors(S, fields, degree, linear, prefactor)

    def _errors(self, S, fields, degree, linear, prefactor) -> torch.Tensor:
        prefactor, y, found = S.shape[-1] if prefactor is None else prefactor, self.y.to(S), []
        for attention, u in zip(S, fields):
            z = u @ attention.T * prefactor  # (n, D) @ (D, D) -> (n, D)
            even = z * z
            found.append(error_rate(y * (z * (even ** ((degree - 1) // 2) + linear)).sum(dim=1)))
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
        assumption_one("law", self.law)
        p, nu = odd_degree(degree), finite("linear", linear, minimum=0)
        a, tau = np.broadcast_arrays(np.asarray(alpha, dtype=np.float64), np.asarray(tau, dtype=np.float64))
        if not (np.isfinite(a).all() and np.isfinite(tau).all() and (tau >= 0).all()):
            raise ValueError(f"alpha must be finite, and tau finite and at least 0, got {alpha} and {tau}")
        if attention.num_patches != self.num_patches:
            raise ValueError(
                f"attention must have the law's {self.num_patches} patches, got {attention.num_patches}"
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
