"""The test error of model (T): under Assumption 1 from two numbers of the value vector, else on inputs.

On a fresh input of Assumption 1, <v, X_j> = alpha s_j + N(0, tau^2) independently over patches, with
alpha = <v, w*>, tau = sigma |v - alpha w*| and s_j = <w*, X_j> in {-1, 0, 1}. So the error
P[y F < 0] + P[F = 0] / 2 is a function of the attention and of (alpha, tau), and no test input of
dimension d is needed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch

from patch_association.checks import fits_memory, positive_int
from patch_association.data import (
    Law,
    assumption_one,
    check_law,
    draw_from,
    draws_by_coefficients,
    inputs_and_labels,
)
from patch_association.defaults import DEFAULT
from patch_association.streams import Stream, generator
from patch_association.training.gradients import chunk_size


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
    >>> from patch_association import Partition, SpatialData
    >>> sets = Partition.blocks(4, 4, 2, 2)
    >>> fresh = HeldOut(SpatialData(sets, dim=8, q=0.0), 1000)
    >>> fresh.errors(torch.from_numpy(sets.same_set / 4.0)[None], alpha=[1.0], tau=[0.0]).tolist()
    [0.0]
    """

    def __init__(self, law: Law, n: int, seed: int = 0, *, dtype=torch.float64, device=None):
        self.law: Any = check_law(law)
        self.n = positive_int("n", n)
        self.seed = positive_int("seed", seed, minimum=0)
        self.num_patches = law.partition.num_patches
        self.dim = law.dim
        self.X = None
        if draws_by_coefficients(law):
            s, y, _ = self.law.sample_coefficients(n, seed)
            self.s, self.y = (torch.from_numpy(x).to(dtype=dtype, device=device) for x in (s, y))
        else:
            fits_memory(f"{n:,} inputs", n * self.num_patches * self.dim)
            self.X, self.y = draw_from(law, n, seed, dtype, device)

    @classmethod
    def of(cls, X, y) -> HeldOut:
        """Held-out inputs of one's own: X (n, D, d) and labels y (n,) of -1 and +1, arrays or tensors.

        Parameters
        ----------
        X, y : (n, D, d) and (n,) arrays or tensors

        Raises
        ------
        ValueError
            If the shapes do not fit together, or a number is not finite or a label not -1 or +1.

        Examples
        --------
        >>> own = HeldOut.of(torch.ones(2, 4, 1), [1, -1])
        >>> own.errors_of(torch.full((1, 4, 4), 0.25), torch.ones(1, 1)).tolist()
        [0.5]
        """
        own = cls.__new__(cls)
        X, y = inputs_and_labels(X, y)
        if len(X) != 1:
            raise ValueError(f"X must have shape (n, D, d): one test set, got {tuple(X.shape)}")
        own.law = None
        own.seed = None
        own.X = X[0]
        own.y = y[0]
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
        alpha, tau : (S,) (<v, w*> and sigma |v - alpha w*|)
        degree, linear, prefactor : int, float, float (p, nu, and by default D)

        Raises
        ------
        ValueError
            If the inputs are not Assumption 1's: then two numbers do not tell (:meth:`errors_of`).
        """
        assumption_one("law", self.law)
        s = self.s.to(S)
        noise = self._noise.to(S)
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
        prefactor = S.shape[-1] if prefactor is None else prefactor
        y = self.y.to(S)
        errors = []
        for attention, u in zip(S, fields):
            z = u @ attention.T * prefactor  # (n, D) @ (D, D) -> (n, D)
            even = z * z
            errors.append(error_rate(y * (z * (even ** ((degree - 1) // 2) + linear)).sum(dim=1)))
        return torch.stack(errors)
