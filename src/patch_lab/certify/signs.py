"""Certificates for the sign of the first move, at one size over q.

For nu = 0 and a diagonal that tends to zero the drift of gamma - rho has the sign of Delta(u) =
E[w M^(p-2) (1 - s_a)(1 - s_b)], w = 1 / (1 + exp(u M^p)), which falls in u, and alpha* belongs to the zero
u* of the falling f(u) = E[w M^p]. So f(u) < 0 < Delta(u) at one u proves that companions win at every alpha
up to alpha*, and Delta(u) < 0 < f(u) that they lose at alpha*.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from patch_lab.certify.field import ball


def sign_at(law, p: int) -> int:
    """1 if companions win up to alpha*, -1 if they lose there, 0 if undecided.

    ``law`` is a list of (M, chance, weighted chance) with balls: E[1; M] and E[(1 - s_a)(1 - s_b); M].
    """
    m = np.array([float(M) ** p for M, _, _ in law])
    P = np.array([float(chance.mid()) for _, chance, _ in law])
    low, high = -70.0, 7.0  # of log u
    while high - low > 1e-9:
        middle = (low + high) / 2
        positive = (P * m) @ (1 / (1 + np.exp(np.clip(math.exp(middle) * m, -700, 700)))) > 0
        if positive:
            low = middle
        else:
            high = middle
    weighted = np.array([float(M) ** (p - 2) * float(W.mid()) for M, _, W in law])
    wins = weighted @ (1 / (1 + np.exp(np.clip(math.exp(low) * m, -700, 700)))) > 0
    side = 1 if wins else -1
    # Past the zero by little or by much: a narrow law needs little, a law for a range of q needs more.
    for off in (1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2):
        u = arb(math.exp(low) * (1 + side * off))
        f = delta = arb(0)
        for M, P, W in law:
            w = 1 / (1 + (u * M**p).exp())
            f += P * w * M**p
            delta += W * w * M ** (p - 2)
        if (wins and f < 0 and delta > 0) or (not wins and f > 0 and delta < 0):
            return side
    return 0


def law_at(n: int, set_size: int, q: arb):
    """The law of M for n random patches and a ball of q, by the numbers of +1 and of -1."""
    P = {}
    W = {}
    half = _powers(q / 2, n)
    rest = _powers(1 - q, n)
    for plus in range(n + 1):
        for minus in range(n + 1 - plus):
            r = plus + minus
            R = plus - minus
            ways = math.comb(n, plus) * math.comb(n - plus, minus)
            chance = ways * half[r] * rest[n - r]
            pairs = (n - R) ** 2 - (n - 2 * R + r)
            P[R] = P.get(R, arb(0)) + chance
            W[R] = W.get(R, arb(0)) + chance * pairs / (n * (n - 1))
    return [(set_size + R, P[R], W[R]) for R in P]


def window(num_patches: int, set_size: int, degree: int, start: Fraction, width: Fraction):
    """Signs for every q in [start, 1] but for intervals no longer than ``width`` around the changes.

    Returns a list of (low, high, sign) in order, with sign 0 on the short intervals.
    """
    n = num_patches - set_size
    pieces = []
    stack = [(start, Fraction(1))]
    while stack:
        low, high = stack.pop()
        q = ball((low + high) / 2) + ball((high - low) / 2) * arb(0, 1)
        sign = sign_at(law_at(n, set_size, q), degree)
        if sign == 0 and high - low > width:
            middle = (low + high) / 2
            stack += [(middle, high), (low, middle)]
        elif pieces and pieces[-1][2] == sign:
            pieces[-1] = (pieces[-1][0], high, sign)
        else:
            pieces.append((low, high, sign))
    return pieces


def _powers(x: arb, most: int):
    result = [arb(1)]
    for _ in range(most):
        result.append(result[-1] * x)
    return result


def describe(pieces) -> list:
    """The pieces of :func:`window` as text."""
    return [f"[{float(a):.6f}, {float(b):.6f}]: {sign:+d}" for a, b, sign in pieces]
