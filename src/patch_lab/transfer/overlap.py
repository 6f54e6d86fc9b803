"""A learner without a search for sets: it asks whether an input's active patches were active together before.

A sample's signal set is one of the C-subsets of its active patches A_n, all alike. So C patches that an
input shares with A_n hold it with probability 1 / binom(|A_n|, C); and C patches that it shares with no
sample may still be an unseen set. Both are added up over the input's +w* and over its -w*:

    T+ = sum_n binom(|A_n & U+|, C) / binom(|A_n|, C) + m e_C(w; U+) / e_C(w; all patches),

with m the expected number of unseen sets, and w_j how likely patch j lies in one. As D grows at fixed C
and q D / C^2 the error tends to the limits in :mod:`patch_lab.transfer.sample_limits`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from patch_association.checks import divides, real_array
from patch_lab.transfer.sample_bounds import binomial_ratio
from patch_lab.transfer.sample_limits import elementary_symmetric


def boolean_table(name: str, values) -> np.ndarray:
    """``values`` as an (n, D) array of booleans, n >= 1, of booleans or of zeros and ones."""
    table = real_array(name, values)
    if table.ndim != 2 or table.shape[0] == 0 or not np.isin(table, (0, 1)).all():
        raise ValueError(f"{name} must be (n, D) booleans with n >= 1, got shape {table.shape}")
    return table.astype(bool)


class SetRule:
    """What a learner without the sets judges an input by."""

    def score(self, positive, negative) -> np.ndarray:
        """(n,) T+ - T-; ``positive`` and ``negative`` are (n, D) booleans: where a patch carries +w*, -w*."""
        return self._support(positive) - self._support(negative)

    def _support(self, carried) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class OverlapRule(SetRule):
    """What :func:`overlap_rule` keeps of the samples.

    Attributes
    ----------
    active : (n, D) array of 0 and 1
        The active patches of each sample.
    weights : (D,) array
        How likely each patch lies in an unseen set, up to a common factor.
    set_size : int
        C.
    """

    active: np.ndarray
    weights: np.ndarray
    set_size: int

    def _support(self, carried) -> np.ndarray:
        C = self.set_size
        U = np.asarray(carried, dtype=np.float64)
        samples, D = self.active.shape
        sizes = np.maximum(self.active.sum(axis=1), C)  # fewer active patches share no C with anything
        seen = (binomial_ratio(U @ self.active.T, C, D) / binomial_ratio(sizes, C, D)).sum(axis=1)
        powers = np.array([self.weights**i for i in range(1, C + 1)])  # (C, D)
        everywhere = elementary_symmetric(powers.sum(axis=1), C)
        if everywhere <= 0:
            return seen  # no C patches are left that might be an unseen set
        unseen = D / C * (1 - C / D) ** samples
        return seen + unseen * elementary_symmetric(powers @ U.T, C) / everywhere


def overlap_rule(active, set_size: int, equal_weights: bool = False) -> OverlapRule:
    """The rule from the active patches of the samples, without or with a look at which sets were seen.

    Parameters
    ----------
    active : (n, D) booleans
        y <w, X_j> above the threshold.
    set_size : int
        C; divides D.
    equal_weights : bool
        All patches weigh alike. Otherwise patches in a set that two samples share weigh nothing, and others
        1 / (1 + k C e^t / lambda) after k activations in samples that share no set with another: how likely
        they are in an unseen set, with t = n C / D and lambda the mean of the active patches beyond C.

    Raises
    ------
    ValueError
        If ``active`` is no table of booleans, or C does not divide D.

    Examples
    --------
    >>> rule = overlap_rule([[True, True, False, False, True, False]], set_size=2, equal_weights=True)
    >>> rule.score([[True, True, False, False, False, False]], [[False, False, True, True, True, False]])
    array([0.06666667])
    """
    active = boolean_table("active", active)
    D, C, L = divides(active.shape[1], set_size)
    weights = np.ones(D)
    clutter = active.sum(axis=1).mean() - C
    if not equal_weights and clutter > 0:
        together = active.astype(np.float64) @ active.T  # (n, D) @ (D, n): active in both
        np.fill_diagonal(together, 0)
        first, second = np.nonzero(np.triu(together == C))
        known = (active[first] & active[second]).any(axis=0)
        alone = active[~(together >= C).any(axis=1)]
        weights = 1 / (1 + alone.sum(axis=0) * C * math.exp(len(active) / L) / clutter)
        weights[known] = 0.0
    return OverlapRule(active.astype(np.float64), weights, C)
