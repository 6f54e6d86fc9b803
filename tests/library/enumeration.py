"""Assumption 1 by enumeration: every label, signal set and draw of signs with its exact probability.

Written from the paper's words alone, in rational arithmetic, so that it shares neither code nor
rounding with the library. Only for tiny sizes: there are 2 L 3^(D - C) inputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np


def consecutive_sets(num_patches: int, set_size: int) -> list[list[int]]:
    """Sets of consecutive patches; the law is the same for any other grouping."""
    return [list(range(first, first + set_size)) for first in range(0, num_patches, set_size)]


def inputs(sets: list[list[int]], q: Fraction) -> Iterator[tuple[Fraction, int, int, list[int]]]:
    """(probability, label, signal set, coefficients <w*, X_j>) of every input."""
    D, L = sum(map(len, sets)), len(sets)
    chance = {-1: q / 2, 0: 1 - q, 1: q / 2}
    for y, signal in product((-1, 1), range(L)):
        outside = [patch for patch in range(D) if patch not in sets[signal]]
        for deltas in product((-1, 0, 1), repeat=len(outside)):
            probability = Fraction(1, 2) * Fraction(1, L)
            s = [y] * D
            for patch, delta in zip(outside, deltas):
                s[patch] = delta
                probability *= chance[delta]
            if probability:
                yield probability, y, signal, s


def positive_inputs(D: int, C: int, q: float, anywhere: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """(s (n, D), chance (n,)): every input at y = +1 in floats, its signal set anywhere or the first."""
    rest = np.array(list(product((-1.0, 0.0, 1.0), repeat=D - C)))
    chance = np.where(rest == 0, 1 - q, q / 2).prod(axis=1)
    places = range(D // C) if anywhere else [0]
    s = np.concatenate([np.insert(rest, [k * C] * C, 1.0, axis=1) for k in places])
    return s, np.tile(chance, len(places)) / len(places)


def predictions(s: np.ndarray, C: int, alpha: float, scores, degree: int = 3, linear: float = 0.0):
    """F (n,) of inputs (n, D) of model (T) with scores (beta, gamma, rho), by its formula."""
    D, (beta, gamma, rho) = s.shape[1], scores
    A = np.where(np.equal.outer(np.arange(D) // C, np.arange(D) // C), float(gamma), float(rho))
    np.fill_diagonal(A, beta)
    z = D * alpha * s @ (np.exp(A) / np.exp(A).sum(axis=1, keepdims=True)).T
    return (z**degree + linear * z).sum(axis=1)


def law_of(score: Callable, sets: list[list[int]], q: Fraction) -> dict[tuple[int, object], Fraction]:
    """The joint law of the label and of ``score(s)``."""
    law: dict[tuple[int, object], Fraction] = defaultdict(Fraction)
    for probability, y, _, s in inputs(sets, q):
        law[y, score(s)] += probability
    return dict(law)


def error_of_sign(score: Callable, sets: list[list[int]], q: Fraction, tie: Fraction) -> Fraction:
    """P[y score < 0] + tie * P[score = 0]."""
    law = law_of(score, sets, q)
    return sum((p * (1 if y * g < 0 else tie if g == 0 else 0) for (y, g), p in law.items()), Fraction(0))


def set_sums(s: list[int], sets: list[list[int]]) -> list[int]:
    """The sum of the coefficients in each set."""
    return [sum(s[patch] for patch in patches) for patches in sets]


def labeling(s: list[int], sets: list[list[int]]) -> int:
    """f*: the set sums that exceed 0.9 C in size, added up."""
    C = Fraction(len(sets[0]))
    return sum(total for total in set_sums(s, sets) if abs(total) > Fraction(9, 10) * C)


def coefficients_of_power(base: list[int], n: int) -> list[int]:
    """The coefficients of (sum_i base[i] x^i)^n, exactly, by J. C. P. Miller's recurrence.

    f = b^n satisfies b f' = n b' f; comparing coefficients gives each f_k from those before it.
    """
    assert base[0] != 0
    f = [base[0] ** n]
    for k in range(1, (len(base) - 1) * n + 1):
        terms = (
            (i * (n + 1) - k) * base[i] * f[k - i] for i in range(1, min(len(base) - 1, k) + 1) if base[i]
        )
        total = sum(terms)
        assert total % (k * base[0]) == 0
        f.append(total // (k * base[0]))
    return f


def all_partitions(patches: list[int], set_size: int) -> Iterator[list[frozenset[int]]]:
    """Every split of the patches into sets of that size."""
    if not patches:
        yield []
        return
    first, rest = patches[0], patches[1:]
    for others in combinations(rest, set_size - 1):
        left = [i for i in rest if i not in others]
        for tail in all_partitions(left, set_size):
            yield [frozenset((first, *others)), *tail]
