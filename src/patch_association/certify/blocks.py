"""Block attention is optimal: three inequalities between six expectations, in ball arithmetic.

Theorem "Block attention is optimal" of the book asks that a cubic form is nowhere positive on probability
vectors. Proposition "Three inequalities" gives a sufficient condition in its six coefficients, each an
expectation over finitely many inputs.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction

from flint import arb

from patch_association._validate import divides
from patch_association.certify.descent import Undecided
from patch_association.certify.field import ball


def three_inequalities(num_patches: int, set_size: int, q) -> dict:
    """Prove that no A and no v do better than block attention with the best alpha, at p = 3 and nu = 0.

    Returns
    -------
    dict of str to arb
        ``t1``, ``spare`` = 3 h - (L - 2) max(t_d, 0) and ``curve`` = t1 - 3 t2 + 2 t3, over E[w*].

    Raises
    ------
    Undecided
        If one of the inequalities is false or not decided.
    """
    D, C, L = divides(num_patches, set_size)
    if L < 3:
        raise ValueError(f"at least three sets are needed, got {L}")
    law = _law(C, L, Fraction(q))
    v = _strength(law)
    whole, sums = arb(0), [arb(0)] * 6
    for cubes, (chance, moments) in law.items():
        w = 1 / (1 + (v * cubes).exp())
        whole += chance * w
        sums = [total + w * moment for total, moment in zip(sums, moments)]
    ways = (
        D,
        D * (C - 1),
        D * (C - 1) * (C - 2),
        D * (D - C),
        D * (D - C) * (C - 1),
        D * (D - C) * (D - 2 * C),
    )
    t1, t2, t3, t4, t5, td = (x / (n * whole) if n else arb(0) for x, n in zip(sums, ways))
    h = -_larger(t4, (t4 + (C - 1) * t5) / C)
    found = {"t1": t1, "spare": 3 * h - (L - 2) * _larger(td, arb(0)), "curve": t1 - 3 * t2 + 2 * t3}
    signs = {"t1 <= 0": t1 < 0, "h >= 0": h > 0, "(L-2) t_d <= 3h": found["spare"] > 0}
    signs["t1 - 3 t2 + 2 t3 >= 0, or t2 <= t3"] = C == 2 or found["curve"] > 0 or t2 < t3
    for name, holds in signs.items():
        if not holds:
            raise Undecided(f"{name} is not certain at D = {D}, C = {C}, q = {q}")
    return found


def _law(C: int, L: int, q: Fraction) -> dict:
    """{sum of n^3: (chance, six sums over patches in different places times the chance)}, as balls.

    A set is known by r, how many of its patches carry a sign, and n, their sum; the inputs are the multisets
    of L - 1 random sets and the signal set.
    """
    kinds = {}
    for plus, minus in itertools.product(range(C + 1), repeat=2):
        if plus + minus <= C:
            ways = math.comb(C, plus) * math.comb(C - plus, minus)
            chance = ways * (q / 2) ** (plus + minus) * (1 - q) ** (C - plus - minus)
            kinds[plus + minus, plus - minus] = chance
    exact = defaultdict(lambda: [Fraction(0)] * 7)
    for chosen in itertools.combinations_with_replacement(kinds, L - 1):
        chance = Fraction(math.factorial(L - 1))
        for kind in set(chosen):
            times = chosen.count(kind)
            chance *= kinds[kind] ** times / math.factorial(times)
        sets = [(C, C), *chosen]
        cubes = sum(n**3 for _, n in sets)
        M, R = sum(n for _, n in sets), sum(r for r, _ in sets)
        squares = sum(n * n for _, n in sets)
        mixed, pairs = sum(r * n for r, n in sets), sum((n * n - r) * n for r, n in sets)
        moments = (
            M,
            mixed - M,
            sum(n**3 - 3 * n * r + 2 * n for r, n in sets),
            R * M - mixed,
            (squares - R) * M - pairs,
            M**3 - 3 * M * squares + 2 * cubes,
        )
        exact[cubes] = [a + chance * b for a, b in zip(exact[cubes], (1, *moments))]
    return {key: (ball(one[0]), [ball(x) for x in one[1:]]) for key, one in exact.items()}


def _strength(law) -> arb:
    """The zero v* of E[w K], K = sum n^3, which falls in v."""

    def pull(v):
        return sum((chance * cubes / (1 + (v * cubes).exp()) for cubes, (chance, _) in law.items()), arb(0))

    low, high = 0.0, 1.0
    while not pull(arb(high)) < 0:
        high *= 2
        if high > 2**20:
            raise Undecided("v* is not finite")
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if pull(arb(middle)) > 0 else (low, middle)
    width = 1e-11 * high
    if not (pull(arb(low - width)) > 0 > pull(arb(high + width))):
        raise Undecided(f"v* near {low:g} is not enclosed")
    return arb(low - width).union(arb(high + width))


def _larger(x: arb, y: arb) -> arb:
    return x.max(y)
