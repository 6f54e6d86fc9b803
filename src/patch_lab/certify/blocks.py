"""Block attention is optimal: two inequalities between six expectations, in ball arithmetic.

Theorem "Block attention is optimal" of the book asks that a cubic form is nowhere positive on probability
vectors. Proposition "Two inequalities" gives a sufficient condition in its six coefficients, each an
expectation over finitely many inputs.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, arb_poly

from patch_association.checks import divides
from patch_lab.certify.descent import Undecided
from patch_lab.certify.field import ball


def two_inequalities(num_patches: int, set_size: int, q) -> dict:
    """Prove that no A and no v do better than block attention with the best alpha, at p = 3 and nu = 0.

    Returns
    -------
    dict of str to arb
        ``one`` ... ``three_outside``: the six coefficients over E[w*], named as in
        :class:`~patch_lab.dynamics.optimality.CubicForm` (``three_inside`` only from C = 3 on); ``b``
        and ``spare`` = -3 u - psi - (L - 2) max(t_d, 0), both proved to be positive.

    Raises
    ------
    Undecided
        If one of the inequalities is false or not decided.
    """
    D, C, L = divides(num_patches, set_size)
    if L < 3 or C < 2:
        raise ValueError(f"at least three sets of at least two patches are needed, got {L} of {C}")
    sets = _one_set(C, Fraction(q))
    base = sets["chance"] ** (L - 3), (L - 3) * C**3
    fewer = (sets["chance"] ** (L - 4), (L - 4) * C**3) if L > 3 else NOTHING
    six = _coefficients(C, L, sets, base, fewer)
    return _decided(six, C, L, f"at D = {D}, C = {C}, q = {q}")


def _decided(six: dict, C: int, L: int, where: str) -> dict:
    t1, t2, t4, t5, td = (six[name] for name in ("one", "two_inside", *OUTSIDE))
    b = -t1
    if C > 2:
        t3 = six["three_inside"]
        b = b.min((3 * (t3 - t2) - 2 * (t1 - 3 * t2 + 2 * t3) / C) * (C - 1) / C)
    if not b > 0:
        raise Undecided(f"b > 0 is not certain {where}")
    u = (t4 + (C - 1) * t5) / C
    a = 3 * (t4 - u).max(arb(0))
    spare = -3 * u - psi(a, b, L) - (L - 2) * td.max(arb(0))
    if not spare > 0:
        raise Undecided(f"psi + (L-2) t_d <= -3u is not certain {where}")
    return six | {"b": b, "spare": spare}


def psi(a: arb, b: arb, L: int) -> arb:
    """The least c + L (sqrt(a - c + b) - sqrt(b))^2 over c from 0 to a, or an upper bound of it."""
    if (L - 1) ** 2 * (a + b) > L**2 * b:
        return a - b / (L - 1)
    return (
        L * (a / ((a + b).sqrt() + b.sqrt())) ** 2
    )  # at c = 0: a bound in both cases, the least in this one


OUTSIDE = ("two_outside", "pair_outside", "three_outside")
NOTHING = (arb_poly([0]), 0)


def _types(C: int, q: Fraction) -> dict:
    """{(n, r): chance} of a random set: n the sum of its signs, r how many are not zero."""
    types = {}
    for plus, minus in itertools.product(range(C + 1), repeat=2):
        if plus + minus <= C:
            ways = math.comb(C, plus) * math.comb(C - plus, minus)
            chance = ways * (q / 2) ** (plus + minus) * (1 - q) ** (C - plus - minus)
            types[plus - minus, plus + minus] = chance
    return types


def _products(C: int) -> dict:
    """Means over different patches of a set with given n and r: of s, s^2, s s', s^2 s' and s s' s''."""
    pairs = C * (C - 1)
    triples = C * (C - 1) * (C - 2)
    products = {
        "s": lambda n, r: Fraction(n, C),
        "square": lambda n, r: Fraction(r, C),
        "pair": lambda n, r: Fraction(n * n - r, pairs),
        "mixed": lambda n, r: Fraction(r * n - n, pairs),
    }
    if C > 2:
        products["triple"] = lambda n, r: Fraction(n**3 - 3 * n * r + 2 * n, triples)
    return products


def _one_set(C: int, q: Fraction) -> dict:
    """The law of n^3 of a random set, and the same weighted: polynomials in powers n^3 + C^3."""
    made = {}
    for name, product in (_products(C) | {"chance": lambda n, r: Fraction(1)}).items():
        exact = [Fraction(0)] * (2 * C**3 + 1)
        for (n, r), chance in _types(C, q).items():
            exact[n**3 + C**3] += chance * product(n, r)
        made[name] = arb_poly([ball(x) for x in exact])
    return made


def _coefficients(C: int, L: int, sets: dict, base: tuple, fewer: tuple) -> dict:
    """The six coefficients over E[w*].

    ``base`` and ``fewer`` are the laws of L - 3 and L - 4 random sets, each a polynomial and the power that
    stands for sum zero. The signal set is one of the sets looked at, or not: so two or three products each.
    """
    P, s, square, pair = (sets[name] for name in ("chance", "s", "square", "pair"))
    square_of_P = P * P
    laws = {
        "one": square_of_P + s * P * (L - 1),
        "two_inside": square_of_P + sets["mixed"] * P * (L - 1),
        "two_outside": s * P + square * P + square * s * (L - 2),
        "pair_outside": s * P + pair * P + pair * s * (L - 2),
        "three_outside": s * s * 3,
    }
    if C > 2:
        laws["three_inside"] = square_of_P + sets["triple"] * P * (L - 1)
    laws = {name: _listed(base[0] * law * (arb(1) / L), base[1] + 2 * C**3) for name, law in laws.items()}
    norm = _listed(base[0] * square_of_P, base[1] + 2 * C**3)
    apart = _listed(fewer[0] * s * s * s * (arb(L - 3) / L), fewer[1] + 3 * C**3)
    reach = max(len(norm), len(apart)) // 2  # in the middle of every list the random sets add nothing
    slopes = _slopes(norm, range(C**3 - reach, C**3 + reach + 1))

    def mean(law):
        rest = reach - len(law) // 2
        return _dot(law, slopes[rest : len(slopes) - rest])

    six = {name: mean(law) for name, law in laws.items()}
    if L > 3:
        six["three_outside"] += mean(apart)
    return {name: x / mean(norm) for name, x in six.items()}


def _slopes(law: list, K: range) -> list:
    """w* at every sum K of n^3, with v* the zero of E[w K], falling in v; ``law`` is that of its middle."""
    rest = (len(K) - len(law)) // 2
    inner = K[rest : len(K) - rest]
    sums = np.array(inner, dtype=np.float64)
    weighted = sums * np.array([float(x.mid()) for x in law])

    def rough(v):
        return float(weighted @ (1 / (1 + np.exp(np.clip(v * sums, -700, 700)))))

    low, high = 0.0, 1.0
    while not rough(high) < 0:
        high *= 2
        if high > 2**20:
            raise Undecided("v* is not finite")
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if rough(middle) > 0:
            low = middle
        else:
            high = middle
    width = 1e-9 * high
    ends = [[1 / (1 + (v * k).exp()) for k in K] for v in (arb(low - width), arb(high + width))]
    moments = [x * k for x, k in zip(law, inner)]
    pulls = [_dot(moments, w[rest : len(K) - rest]) for w in ends]
    if not (pulls[0] > 0 > pulls[1]):
        raise Undecided(f"v* near {low:g} is not enclosed")
    return [one.union(other) for one, other in zip(*ends)]  # at every K the slope is monotone in v


def _listed(law: arb_poly, middle: int) -> list:
    """The coefficients, with the zeros that a polynomial leaves out at its end."""
    coefficients = law.coeffs()
    return coefficients + [arb(0)] * (2 * middle + 1 - len(coefficients))


def _dot(x: list, y: list) -> arb:
    return (arb_mat(1, len(x), x) * arb_mat(len(y), 1, y))[0, 0]
