"""The law of the set sums of Assumption 1, as weighted atoms.

Give every patch its coefficient s_j = <w*, X_j> in {-1, 0, 1}. A set enters a sum over patches of
a polynomial in (s_i, n_l) only through its *type* (n, r): n = sum of its s_j, r = number of its
nonzero s_j. The whole input therefore enters through the power sums

    P_m = sum_l n_l^m,    Q_m = sum_l r_l n_l^m,

which add up over independent sets. Their joint law is a convolution of L - 1 copies of the law of
one random set, shifted by the signal set, and it depends on no trained parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from patch_association.checks import divides, finite, odd_degree, positive_int, probability

# Candidates that one merge sorts at a time: with keys, masses, sort order and copies about 48 bytes each.
_MERGE_AT_ONCE = 8_000_000
_WORD = 2**62
# Each set is a convolution, and each of its types a shift: past these many nobody would wait.
_MOST_STEPS = 2**21
_MOST_TYPES = 2**24
_MOST_POWERS = 10_000


@dataclass(frozen=True)
class SetSums:
    """Atoms of the joint law of (P_1, ..., P_p, Q_0, ..., Q_{p-2}) given y = +1.

    Attributes
    ----------
    power_sums : dict of str to (n,) int64 arrays
        ``"P1"`` ... and ``"Q0"`` ... .
    probability : (n,) float64 array
        Sums to 1 - ``lost_mass``.
    lost_mass : float
        The total probability of the atoms that pruning dropped.
    """

    power_sums: dict
    probability: np.ndarray
    lost_mass: float

    @property
    def size(self) -> int:
        """The number of atoms."""
        return self.probability.size


class SupportTooLarge(ValueError):
    """The atoms would not fit in the number allowed."""


def set_types(set_size: int, q: float):
    """The law of one random set: arrays n, r (integers) and their probability.

    n = a - b and r = a + b, where a patches carry +1 and b carry -1: a multinomial with chances
    (q/2, q/2, 1-q). Types of probability zero are left out.

    Parameters
    ----------
    set_size, q : int, float (C; in [0, 1])

    Raises
    ------
    ValueError
        If C is no positive integer, or q lies outside [0, 1].
    SupportTooLarge
        If there are more than 2^24 types, or a probability leaves 64-bit floats.
    """
    C = positive_int("set_size", set_size)
    q = probability("q", q)
    if (C + 1) * (C + 2) // 2 > _MOST_TYPES:
        raise SupportTooLarge(f"a set of {C:,} patches has more than the {_MOST_TYPES:,} types allowed")
    rows = []
    for a in range(C + 1):
        for b in range(C + 1 - a):
            ways = math.comb(C, a) * math.comb(C - a, b)
            try:
                p = ways * (q / 2) ** (a + b) * (1 - q) ** (C - a - b)
            except OverflowError:
                raise SupportTooLarge(f"the types of a set of {C:,} patches leave 64-bit floats") from None
            if p > 0:
                rows.append((a - b, a + b, p))
    n, r, p = zip(*rows)
    return np.array(n, dtype=np.int64), np.array(r, dtype=np.int64), np.array(p)


def support_bound(num_patches: int, set_size: int, q: float) -> int:
    """How many atoms there are at most: the ways to give L - 1 random sets a type, order aside.

    Parameters
    ----------
    num_patches, set_size, q : as in :func:`law_of_set_sums`, and so the errors
    """
    _, C, L = divides(num_patches, set_size)
    kinds = len(set_types(C, q)[0])
    return math.comb(L - 1 + kinds - 1, kinds - 1)


def law_of_set_sums(
    num_patches: int, set_size: int, q: float, degree: int, prune: float, max_atoms: int
) -> SetSums:
    """Convolve L - 1 random sets with the signal set, merging equal power sums.

    Each of the L - 1 steps drops the least likely atoms, of total mass at most prune / (L - 1).

    Parameters
    ----------
    num_patches, set_size : int (D and C; C divides D)
    q : float in [0, 1]
    degree : int (p, odd and at least 3)
    prune : float (the probability that may be lost in all)
    max_atoms : int

    Raises
    ------
    SupportTooLarge
        If more than ``max_atoms`` atoms are left after some step.
    """
    D, C, L = divides(num_patches, set_size)
    degree = odd_degree(degree)
    max_atoms = positive_int("max_atoms", max_atoms)
    prune = finite("prune", prune, minimum=0)
    if L > _MOST_STEPS:
        raise SupportTooLarge(f"a law of at most {_MOST_STEPS:,} sets can be computed, got {L:,}")
    n, r, p = set_types(C, q)
    names, columns, signal = _power_sums(n, r, C, degree)
    largest = [max(int(np.abs(column).max()), s) for column, s in zip(columns, signal)]
    places = _pack([L * value for value in largest])

    keys = _encode([np.array([s], dtype=np.int64) for s in signal], places)  # (words, 1)
    steps = _encode(columns, places)  # (words, types)
    mass = np.ones(1)
    lost = 0.0
    for done in range(1, L):
        keys, mass = _convolve(keys, mass, steps, p)
        if prune:
            keys, mass, dropped = _drop_smallest(keys, mass, prune / (L - 1))
            lost += dropped
        if mass.size > max_atoms:
            raise SupportTooLarge(
                f"the law of {L - 1} random sets needs more than the {max_atoms:,} atoms allowed: "
                f"{mass.size:,} are there after {done} sets, of at most "
                f"{support_bound(D, C, q):,} without pruning; raise max_atoms or prune (now {prune:g})"
            )
    values = _decode(keys, places, len(names))
    return SetSums(dict(zip(names, values)), mass, lost)


def _power_sums(n, r, C: int, degree: int):
    """Names, per-type columns and the signal set's values of P_1..P_p, Q_0..Q_{p-2}."""
    # C^p in exact integers (p past 51 changes no verdict): it may pass 2^63 long before the support does.
    if C ** min(degree, 51) >= _WORD // 4096 or degree > _MOST_POWERS:
        raise SupportTooLarge(f"sums over sets of {C:,} to the power {degree:,} leave 64-bit integers")
    names = [f"P{m}" for m in range(1, degree + 1)] + [f"Q{m}" for m in range(degree - 1)]
    columns = [[int(k) ** m for k in n] for m in range(1, degree + 1)]
    columns += [[int(s) * int(k) ** m for k, s in zip(n, r)] for m in range(degree - 1)]
    signal = [C**m for m in range(1, degree + 1)] + [C ** (m + 1) for m in range(degree - 1)]
    return names, [np.array(column, dtype=np.int64) for column in columns], signal


def _pack(bounds):
    """Where each integer goes, (word, multiplier, offset): several signed integers to a 64-bit word.

    An integer v with |v| <= bound takes a digit of radix 2 bound + 1, so packed keys add like the
    integers they hold and equal keys mean equal integers.
    """
    places = []
    word = 0
    multiplier = 1
    for bound in bounds:
        radix = 2 * bound + 1
        if multiplier * radix >= _WORD:
            word = word + 1
            multiplier = 1
        places.append((word, multiplier, bound))
        multiplier *= radix
    return places


def _encode(columns, places) -> np.ndarray:
    keys = np.zeros((places[-1][0] + 1, len(columns[0])), dtype=np.int64)
    for column, (word, multiplier, _) in zip(columns, places):
        keys[word] += multiplier * column
    return keys


def _decode(keys, places, count: int):
    values = []
    for k in range(count):
        word, multiplier, bound = places[k]
        last = k + 1 == count or places[k + 1][0] != word
        # Shifting all digits of the word by their bounds makes them non-negative.
        shift = sum(m * b for w, m, b in places if w == word)
        digits = (keys[word] + shift) // multiplier
        values.append((digits if last else digits % (2 * bound + 1)) - bound)
    return values


def _convolve(keys, mass, steps, chances):
    """Add one random set: every atom with every type, equal keys merged."""
    together = max(1, _MERGE_AT_ONCE // mass.size)
    done_keys = keys[:, :0]
    done_mass = mass[:0]
    for start in range(0, chances.size, together):
        some = slice(start, start + together)
        # (words, n, 1) + (words, 1, types) -> (words, n types)
        new = (keys[:, :, None] + steps[:, None, some]).reshape(keys.shape[0], -1)
        weight = (mass[:, None] * chances[None, some]).reshape(-1)
        done_keys, done_mass = _merge(
            np.concatenate([done_keys, new], axis=1), np.concatenate([done_mass, weight])
        )
    return done_keys, done_mass


def _merge(keys, mass):
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys)
    keys = keys[:, order]
    new = np.ones(keys.shape[1], dtype=bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    return keys[:, starts], np.add.reduceat(mass[order], starts)


def _drop_smallest(keys, mass, budget: float):
    order = np.argsort(mass, kind="stable")
    running = np.cumsum(mass[order])
    count = int(np.searchsorted(running, budget, side="right"))
    if count == 0:
        return keys, mass, 0.0
    keep = np.ones(mass.size, dtype=bool)
    keep[order[:count]] = False
    return keys[:, keep], mass[keep], float(running[count - 1])
