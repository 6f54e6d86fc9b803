"""The law of an input, listed: every way to give the random sets a type, with an exact probability.

Written apart from :mod:`patch_association.exact.risk` and its convolution, which it checks. Given y = +1 the
signal set carries +1 throughout and the other L - 1 sets are independent. A set of type (k, m) has k patches
with s = +1, m with s = -1 and the rest with s = 0; which patches they are does not matter to the model on the
family of three scores. So an input is a multiset of L - 1 types, here called an *atom*. At D = 16, C = 4
there are 680 of them, at D = 36 there are 319,770.

For attention (Lambda, Gamma, Xi) to itself, a companion and a stranger, patch i of a set with sum n hears

    Lambda s_i + Gamma (n - s_i) + Xi (M - n),        M = the sum over all patches,

so that sum_i (...)^p is a homogeneous polynomial in (Lambda, Gamma, Xi) with integer coefficients. These
coefficients, and M for the linear part of the activation, are the columns of :attr:`Atoms.features`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

import numpy as np

from patch_association.checks import divides, odd_degree
from patch_association.defaults import DEFAULT

_MOST_ATOMS = 1_000_000


def exact_number(name: str, value) -> Fraction:
    """``value`` as a Fraction: an int, a Fraction or text. A float is refused, since 0.3 is not 3/10."""
    if isinstance(value, (str, Rational)) and not isinstance(value, bool):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            pass
    raise ValueError(f"{name} must be an exact fraction such as '3/10', got {value!r}")


@dataclass(frozen=True)
class Atoms:
    """Every multiset of types of the L - 1 random sets.

    Attributes
    ----------
    features : (n, K) int64 array
        The coefficient of Lambda^a Gamma^b Xi^c in sum_i (...)^p for each of :attr:`powers`, then M.
    powers : tuple of (a, b, c)
        All with a + b + c = p; K is one more than their number.
    numerator : list of int
        The probability of each atom is ``numerator / denominator``, exactly; they add up to one.
    denominator : int
    nonzero : (n,) int64 array
        How many random patches have s = +1 or -1.
    """

    num_patches: int
    set_size: int
    q: Fraction
    degree: int
    features: np.ndarray
    powers: tuple
    numerator: list
    denominator: int
    nonzero: np.ndarray

    @property
    def size(self) -> int:
        """The number of atoms."""
        return len(self.numerator)


def atoms(num_patches: int, set_size: int, q, degree: int = DEFAULT.degree) -> Atoms:
    """List the atoms of Assumption 1.

    Parameters
    ----------
    num_patches, set_size : int
        D and C; C divides D.
    q : Fraction, int or str
        Exact: ``Fraction(3, 10)`` or ``"3/10"``. A float is refused, since 0.3 is not 3/10.
    degree : int
        p, odd and at least 3.

    Raises
    ------
    ValueError
        On arguments that do not fit, and beyond a million atoms.
    """
    D, C, L = divides(num_patches, set_size)
    p = odd_degree(degree)
    q = exact_number("q", q)
    if not 0 <= q <= 1:
        raise ValueError(f"q must lie in [0, 1], got {q}")
    types = [(k, m) for k in range(C + 1) for m in range(C + 1 - k)]
    count = math.comb(L - 1 + len(types) - 1, L - 1)
    if count > _MOST_ATOMS:
        raise ValueError(f"at most {_MOST_ATOMS:,} atoms are listed, got {count:,} for D = {D}, C = {C}")
    # Chances over the common denominator (2 b)^C of q = a / b.
    a, b = q.numerator, q.denominator
    chance = [
        math.comb(C, k) * math.comb(C - k, m) * a ** (k + m) * (2 * (b - a)) ** (C - k - m) for k, m in types
    ]
    counts = np.zeros((count, len(types)), dtype=np.int64)
    numerator = []
    for row, chosen in enumerate(itertools.combinations_with_replacement(range(len(types)), L - 1)):
        ways = math.factorial(L - 1)
        for index in set(chosen):
            times = chosen.count(index)
            counts[row, index] = times
            ways //= math.factorial(times)
            ways *= chance[index] ** times
        numerator.append(ways)
    powers = tuple((i, j, p - i - j) for i in range(p, -1, -1) for j in range(p - i, -1, -1))
    features = _features(C, p, types, counts, powers)
    nonzero = counts @ np.array([k + m for k, m in types], dtype=np.int64)
    return Atoms(D, C, q, p, features, powers, numerator, (2 * b) ** (D - C), nonzero)


def _features(C: int, p: int, types, counts, powers) -> np.ndarray:
    """(n, K): the coefficients of every atom, then its M; the signal set is the type (C, 0) once more."""
    signal = types.index((C, 0))
    counts = counts.copy()
    counts[:, signal] += 1
    sums = np.array([k - m for k, m in types], dtype=np.int64)
    M = counts @ sums  # (n,)
    if len(types) * counts.shape[1] * C * (int(M.max()) + 2 * C) ** p * math.factorial(p) > 2**53:
        raise ValueError(f"coefficients of degree {p} with D = {int(M.max())} pass 2^53")
    columns = []
    for a, b, c in powers:
        ways = math.factorial(p) // (math.factorial(a) * math.factorial(b) * math.factorial(c))
        column = np.zeros(len(counts), dtype=np.int64)
        for index, (k, m) in enumerate(types):
            n = k - m
            inside = k * (n - 1) ** b + (-1) ** a * m * (n + 1) ** b  # patches with s = +1 and -1
            if a == 0:
                inside += (C - k - m) * n**b
            column += counts[:, index] * (ways * inside) * (M - n) ** c
        columns.append(column)
    return np.stack([*columns, M], axis=1)
