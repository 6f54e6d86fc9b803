"""Learners that are not given the sets: they estimate w*, round the patches, and look for the sets.

All start from the first moment sum_n y_n sum_j X_nj, whose mean is N C w*. What they do with the
responses z_nj = y_n <w, X_nj> differs: :func:`coactivation_rows` keeps for every patch the patches it
is most often active with; :func:`likelihood_sets` searches for the sets that best explain the
samples, and classifies by the Bayes rule for what it has not found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from patch_association.checks import positive_int, real_array
from patch_lab.transfer.overlap import SetRule, boolean_table
from patch_lab.transfer.sample_bounds import binomial_ratio

# Two samples that share more active patches than this offer too many candidate sets to try them all.
_MOST_SHARED = 9


def first_moment(X, y) -> np.ndarray:
    """(d,) the unit vector along sum_n y_n sum_j X_nj, for X (n, D, d) and y (n,).

    Raises
    ------
    ValueError
        If the shapes do not fit, a number is not finite, or a label is neither -1 nor +1.
    """
    X, y = checked_samples(X, y)
    w = np.tensordot(y, X.sum(axis=1), axes=1)  # (n,), (n, d) -> (d,)
    return w / max(np.linalg.norm(w), 1e-300)


def refined_feature(X, y, set_size: int) -> tuple[np.ndarray, float]:
    """The feature from its own responses, and the threshold that tells active patches.

    At least C patches of a sample respond with about +1 (times the length of w along w*), so half
    the C-th highest response, in the median over samples, separates 0 from 1. Patches that pass,
    with their signs, give sum sign(z_nj) X_nj: it uses the spurious features as well, and its mean has
    N (C + q (D - C)) copies of w* where the first moment has N C.

    Returns
    -------
    w : (d,) array of unit length
    threshold : float
        y <w, X_j> above it counts as the feature.

    Raises
    ------
    ValueError
        As :func:`first_moment`; if there are fewer than C patches.
    """
    X, y = checked_samples(X, y)
    C = positive_int("set_size", set_size)
    if C > X.shape[1]:
        raise ValueError(f"set_size must be at most the {X.shape[1]} patches, got {C}")
    w = first_moment(X, y)

    def respond(w):
        z = X @ w  # (n, D, d) @ (d,) -> (n, D)
        return z, 0.5 * float(np.median(np.sort(y[:, None] * z, axis=1)[:, -C]))

    for _ in range(3):
        z, threshold = respond(w)
        signs = np.where(np.abs(z) > abs(threshold), np.sign(z), 0.0)
        w = np.tensordot(signs, X, axes=2)  # (n, D), (n, D, d) -> (d,)
        w /= max(np.linalg.norm(w), 1e-300)
    return w, respond(w)[1]


def coactivation(X, y, w) -> np.ndarray:
    """(D, D) M = mean_n relu(z_ni) relu(z_nj), z = y <w, X>: same set 1 / L more often than others.

    Raises
    ------
    ValueError
        As :func:`first_moment`; if w is no vector of d finite numbers.
    """
    X, y = checked_samples(X, y)
    w = real_array("w", w)
    if w.shape != X.shape[2:]:
        raise ValueError(f"w must have shape {X.shape[2:]}, as the patches of X have, got {w.shape}")
    z = np.maximum(y[:, None] * (X @ w), 0.0)
    return z.T @ z / len(y)


def coactivation_rows(M, set_size: int) -> np.ndarray:
    """(D, D) scores that attend to the C highest entries of each row of M: 50 there, 0 elsewhere.

    The patch itself always counts among the C.
    """
    M = np.array(M, dtype=np.float64)
    D = M.shape[0]
    if M.shape != (D, D) or not 1 <= positive_int("set_size", set_size) <= D:
        raise ValueError(f"M must be square with at least set_size = {set_size} rows, got shape {M.shape}")
    np.fill_diagonal(M, np.inf)
    top = np.argsort(-M, axis=1, kind="stable")[:, :set_size]
    scores = np.zeros((D, D))
    np.put_along_axis(scores, top, 50.0, axis=1)
    return scores


@dataclass(frozen=True)
class FoundSets(SetRule):
    """Disjoint sets of C patches that :func:`likelihood_sets` accepted; the other patches stay open.

    Its score is the Bayes rule that trusts the found sets and takes the rest as a random split.
    """

    sets: tuple[tuple[int, ...], ...]
    num_patches: int
    set_size: int

    def _support(self, active) -> np.ndarray:
        active = np.asarray(active, dtype=bool)
        support = np.zeros(active.shape[0])
        for members in self.sets:
            support += active[:, members].all(axis=1)
        return support + self._open(active)

    def _open(self, active) -> np.ndarray:
        """m binom(n+, C) / binom(M, C): the expected number of full sets among the open patches."""
        open_patches = np.setdiff1d(np.arange(self.num_patches), [i for s in self.sets for i in s])
        M, C = open_patches.size, self.set_size
        return (
            M / C * binomial_ratio(active[:, open_patches].sum(axis=1), C, M)
            if M
            else np.zeros(active.shape[0])
        )


def likelihood_sets(active, set_size: int) -> FoundSets:
    """Sets that explain which patches are active, by greedy ascent of the likelihood.

    A sample's likelihood is proportional to the number of true sets all of whose patches are active.
    With some sets found and the rest a uniformly random split, its expectation is
    K_n + m binom(r_n, C) / binom(M, C), with K_n found sets active in sample n, and r_n of the M = Cm
    open patches. The sum of its logarithms over samples is what a new set must raise. Candidates are
    the C-subsets of the active patches that two samples share; after the first pass, each found set
    is taken out in turn and the best candidate put in.

    Parameters
    ----------
    active : (n, D) booleans
        y <w, X_j> above the threshold.
    set_size : int
        C; divides D.

    Raises
    ------
    ValueError
        If ``active`` is no table of booleans, or C does not divide D.
    """
    active = boolean_table("active", active)
    D = active.shape[1]
    C = positive_int("set_size", set_size)
    if D % C:
        raise ValueError(f"set_size must divide the {D} patches, got {C}")
    candidates, full = _candidates(active, C)
    search = _Search(active, C, candidates, full)
    search.grow()
    for chosen in list(search.chosen):
        search.exchange(chosen)
    return FoundSets(tuple(tuple(int(i) for i in candidates[k]) for k in search.chosen), D, C)


class _Search:
    """Greedy search; ``full[k]`` marks the samples in which candidate k is all active."""

    def __init__(self, active, C, candidates, full):
        self.active = active
        self.C = C
        self.candidates = candidates
        self.full = full
        self.chosen: list[int] = []
        self.value = self._value([])

    def _value(self, chosen) -> float:
        """sum_n log(K_n + m binom(r_n, C) / binom(M, C)), empty samples held at a small constant."""
        n, D = self.active.shape
        K = self.full[chosen].sum(axis=0) if chosen else np.zeros(n)
        open_patches = np.ones(D, dtype=bool)
        if chosen:
            open_patches[self.candidates[chosen].reshape(-1)] = False
        M = int(open_patches.sum())
        rest = M / self.C * binomial_ratio(self.active[:, open_patches].sum(axis=1), self.C, M) if M else 0.0
        # A sample without any full set is impossible without rounding errors: a small floor keeps it finite.
        return float(np.log(K + rest + 1e-4).sum())

    def _free(self):
        if not len(self.candidates):
            return np.zeros(0, dtype=int)
        used = np.zeros(self.active.shape[1], dtype=bool)
        if self.chosen:
            used[self.candidates[self.chosen].reshape(-1)] = True
        return np.flatnonzero(~used[self.candidates].any(axis=1))

    def best(self):
        """The best free candidate among those that explain the most unexplained samples."""
        free = self._free()
        if not free.size:
            return None, -math.inf
        explained = (
            self.full[self.chosen].any(axis=0) if self.chosen else np.zeros(len(self.active), dtype=bool)
        )
        cover = self.full[free][:, ~explained].sum(axis=1)
        order = free[np.argsort(-cover, kind="stable")[:24]]
        values = [self._value([*self.chosen, int(k)]) for k in order]
        at = int(np.argmax(values))
        return int(order[at]), values[at]

    def grow(self):
        while True:
            k, value = self.best()
            if k is None or value <= self.value:
                return
            self.chosen.append(k)
            self.value = value

    def exchange(self, k):
        """Take one set out and grow again; keep the better of the two."""
        before = list(self.chosen), self.value
        self.chosen = [c for c in self.chosen if c != k]
        self.value = self._value(self.chosen)
        self.grow()
        if self.value <= before[1]:
            self.chosen, self.value = before


def _candidates(active, C):
    """C-subsets of the patches that two samples share, with the samples in which each is all active."""
    subsets: set[tuple[int, ...]] = set()
    for a in range(len(active)):
        shared = active[a] & active[a + 1 :]
        for row in shared[shared.sum(axis=1) >= C]:
            members = np.flatnonzero(row)
            if members.size <= _MOST_SHARED:
                subsets.update(combinations(members.tolist(), C))
    candidates = np.array(sorted(subsets), dtype=int).reshape(-1, C)
    full = np.ones((len(candidates), len(active)), dtype=bool)
    columns = active.T
    for place in range(C):
        full &= columns[candidates[:, place]]
    return candidates, full


def checked_samples(X, y) -> tuple[np.ndarray, np.ndarray]:
    """Samples (n, D, d) and their labels (n,), checked."""
    X, y = real_array("X", X), real_array("y", y)
    if X.ndim != 3 or y.shape != (X.shape[0],) or X.shape[0] == 0:
        raise ValueError(f"X must be (n, D, d) and y (n,) with n >= 1, got {X.shape} and {y.shape}")
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError("y must hold -1 and +1 only")
    return X, y
