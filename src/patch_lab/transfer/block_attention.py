"""Attention that is held fixed while the value vector is trained (problem E-tilde).

With S fixed, model (T) is F(X) = sum_i sigma(<R_i, v>), where R = D S X depends on the data alone.
So the attention is applied once, before training, and never again. With the three values of Lemma
4.1, S = (Lambda - Gamma) I + (Gamma - Xi) same_set + Xi, and R costs O(D d) an input instead of
O(D^2 d):

    R_i = D (a X_i + b W_{l(i)} + c t),   a = Lambda - Gamma,  b = Gamma - Xi,  c = Xi,

with W_l the sum over set l and t the sum over all patches. When a = 0 (beta = gamma) all patches
of a set read the same, and one row per set, counted C times, is enough; when also b = 0, one row
in all, counted D times.
"""

from __future__ import annotations

import numpy as np
import torch

from patch_association.attention import attention_values, softmax_attention
from patch_association.checks import finite, real_array
from patch_association.structure import Partition


class BlockAttention:
    """Attention of Lemma 4.1: Lambda to itself, Gamma inside the set, Xi to everyone else.

    Parameters
    ----------
    partition : Partition
        The sets that the attention believes in; they need not be those of the data.
    beta, gamma, rho : float
        The scores on the diagonal, inside a set and across sets.

    Attributes
    ----------
    itself, same, other : float
        Lambda, Gamma, Xi: the softmax of a row.
    level : "patch", "set" or "all"
        How many rows of R differ: D, L or one.
    rows : int
        Their number T.
    multiplicity : int
        How many patches share a row.

    Raises
    ------
    ValueError
        If the scores are not finite numbers.
    """

    def __init__(self, partition: Partition, beta: float, gamma: float, rho: float = 0.0):
        D, C = _check_partition(partition)
        scores = finite("beta", beta), finite("gamma", gamma), finite("rho", rho)
        self._set(partition, *map(float, attention_values(D, C, *scores)))

    @classmethod
    def hard(cls, partition: Partition) -> BlockAttention:
        """The limit beta = gamma -> infinity: every patch averages over its own set."""
        _, C = _check_partition(partition)
        return cls._of(partition, 1 / C, 1 / C, 0.0)

    @classmethod
    def uniform(cls, partition: Partition) -> BlockAttention:
        """Every patch averages over all patches: attention that knows nothing."""
        D, _ = _check_partition(partition)
        return cls._of(partition, 1 / D, 1 / D, 1 / D)

    @classmethod
    def _of(cls, partition, itself, same, other):
        made = cls.__new__(cls)
        made._set(partition, itself, same, other)
        return made

    def _set(self, partition, itself, same, other):
        self.partition = partition
        self.num_patches = partition.num_patches
        self.itself = itself
        self.same = same
        self.other = other
        if partition.num_sets == 1:
            other = same  # nobody is in another set
        if partition.set_size == 1:
            same = itself  # nobody else is in the set
        self._a = _difference(itself, same)
        self._b = _difference(same, other)
        self._c = other
        if self._a:
            self.level = "patch"
        else:
            self.level = "set" if self._b else "all"
        D, L = partition.num_patches, partition.num_sets
        self.rows = {"patch": D, "set": L, "all": 1}[self.level]
        self.multiplicity = D // self.rows
        self._order = partition.sets.reshape(-1)  # (L, C) -> (D,): patches set by set
        self._sorted = bool((np.diff(self._order) > 0).all())

    @property
    def coefficients(self) -> tuple[float, float, float]:
        """(a, b, c) of the module's equation."""
        return self._a, self._b, self._c

    @property
    def is_hard(self) -> bool:
        """Whether every patch averages over its own set and reads nothing else."""
        return self.level == "set" and self.other == 0

    @property
    def in_set_mass(self) -> float:
        """Lambda + (C - 1) Gamma: the attention that a patch pays to its own set."""
        return self.itself + (self.partition.set_size - 1) * self.same

    def matrix(self) -> torch.Tensor:
        """S as a (D, D) tensor, for comparison: nothing here needs it."""
        S = np.where(self.partition.same_set, self.same, self.other)
        np.fill_diagonal(S, self.itself)
        return torch.from_numpy(S)

    def tokens(self, X: torch.Tensor) -> torch.Tensor:
        """What attention sees of X, (..., D, d) -> (..., T, d): patches by set, set sums, or their sum."""
        _check_inputs(X, self.num_patches)
        if self.level == "all":
            return X.sum(dim=-2, keepdim=True)
        if not self._sorted:
            X = X.index_select(-2, torch.from_numpy(self._order))
        return self._set_sums(X) if self.level == "set" else X

    def mix(self, u: torch.Tensor) -> torch.Tensor:
        """D S applied to tokens u of shape (..., T, k): O(T k)."""
        a, b, c = (self.num_patches * x for x in self.coefficients)
        if self.level == "all":
            return c * u
        if self.level == "set":
            return b * u + c * u.sum(dim=-2, keepdim=True)
        sums = self._set_sums(u)
        # (..., L, k): what a patch adds to its own share
        around = b * sums + c * sums.sum(dim=-2, keepdim=True)
        L = self.partition.num_sets
        C = self.partition.set_size
        grouped = u.reshape(*u.shape[:-2], L, C, u.shape[-1])  # (..., D, k) -> (..., L, C, k)
        return torch.add(around.unsqueeze(-2), grouped, alpha=a).reshape(u.shape)

    def read(self, X: torch.Tensor) -> torch.Tensor:
        """The distinct rows of R = D S X: (..., D, d) -> (..., T, d), set by set."""
        return self.mix(self.tokens(X))

    def _set_sums(self, X):
        L = self.partition.num_sets
        C = self.partition.set_size
        return X.reshape(*X.shape[:-2], L, C, X.shape[-1]).sum(dim=-2)  # (..., D, d) -> (..., L, d)

    def __repr__(self) -> str:
        return (
            f"BlockAttention({self.partition!r}, itself={self.itself:.4g}, same={self.same:.4g}, "
            f"other={self.other:.4g})"
        )


class DenseAttention:
    """Attention of any scores A, such as those of a pre-trained model: S = softmax(A) over rows.

    Parameters
    ----------
    scores : (D, D) array or tensor of finite numbers
        A.
    """

    level = "patch"
    multiplicity = 1

    def __init__(self, scores):
        if isinstance(scores, torch.Tensor):
            scores = scores.detach().to("cpu", torch.complex128 if scores.is_complex() else torch.float64)
        A = torch.from_numpy(real_array("scores", scores))
        if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
            raise ValueError(f"scores must be a square matrix, got shape {tuple(A.shape)}")
        self.num_patches = self.rows = A.shape[0]
        self._S = softmax_attention(A)

    def matrix(self) -> torch.Tensor:
        """The attention S written out, of shape (D, D)."""
        return self._S

    def tokens(self, X: torch.Tensor) -> torch.Tensor:
        """X itself: a dense attention may read every patch differently."""
        _check_inputs(X, self.num_patches)
        return X

    def mix(self, u: torch.Tensor) -> torch.Tensor:
        """D S u for u of shape (..., D, k): O(D^2 k)."""
        return self.num_patches * torch.matmul(self._S, u)

    def read(self, X: torch.Tensor) -> torch.Tensor:
        """R = D S X, (..., D, d)."""
        return self.mix(self.tokens(X))

    def __repr__(self) -> str:
        return f"DenseAttention({self.num_patches} patches)"


def _difference(x: float, y: float) -> float:
    """x - y, and 0 where only rounding is left: the level of an attention rests on it."""
    return 0.0 if abs(x - y) <= 1e-14 * max(x, y) else x - y


def _check_partition(partition) -> tuple[int, int]:
    if not isinstance(partition, Partition):
        raise ValueError(f"partition must be a Partition, got {type(partition).__name__}")
    return partition.num_patches, partition.set_size


def _check_inputs(X, D: int) -> None:
    if X.ndim < 2 or X.shape[-2] != D:
        raise ValueError(f"X must have shape (..., {D}, d), got {tuple(X.shape)}")
