"""Certificates for the sign of the first move: at one q and every number of sets, and at one size over q.

For nu = 0 and a diagonal that tends to zero the drift of gamma - rho has the sign of Delta(u) =
E[w M^(p-2) (1 - s_a)(1 - s_b)], w = 1 / (1 + exp(u M^p)), which falls in u, and alpha* belongs to the zero
u* of the falling f(u) = E[w M^p]. So f(u) < 0 < Delta(u) at one u proves that companions win at every alpha
up to alpha*, and Delta(u) < 0 < f(u) that they lose at alpha*.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, fmpq, fmpq_poly, fmpz_poly

from patch_lab.certify.descent import Undecided
from patch_lab.certify.field import ball


def sign_at(law, p: int, tail: arb | None = None) -> int:
    """1 if companions win up to alpha*, -1 if they lose there, 0 if undecided.

    ``law`` is a list of (M, chance, weighted chance) with balls: E[1; M] and E[(1 - s_a)(1 - s_b); M].
    ``tail`` bounds what the votes that are not listed can add to f and to Delta.
    """
    m = np.array([float(M) ** p for M, _, _ in law])
    P = np.array([float(chance.mid()) for _, chance, _ in law])
    low, high = -70.0, 7.0  # of log u
    while high - low > 1e-9:
        middle = (low + high) / 2
        positive = (P * m) @ (1 / (1 + np.exp(np.clip(math.exp(middle) * m, -700, 700)))) > 0
        low, high = (middle, high) if positive else (low, middle)
    weighted = np.array([float(M) ** (p - 2) * float(W.mid()) for M, _, W in law])
    wins = weighted @ (1 / (1 + np.exp(np.clip(math.exp(low) * m, -700, 700)))) > 0
    side = 1 if wins else -1
    # Past the zero by little or by much: a narrow law needs little, a law for a range of q needs more.
    for off in (1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2):
        u = arb(math.exp(low) * (1 + side * off))
        f = delta = arb(0, 0 if tail is None else tail.upper())
        for M, P, W in law:
            w = 1 / (1 + (u * M**p).exp())
            f += P * w * M**p
            delta += W * w * M ** (p - 2)
        if (wins and f < 0 and delta > 0) or (not wins and f > 0 and delta < 0):
            return side
    return 0


def law_at(n: int, set_size: int, q: arb):
    """The law of M for n random patches and a ball of q, by the numbers of +1 and of -1."""
    P, W = {}, {}
    half, rest = _powers(q / 2, n), _powers(1 - q, n)
    for plus in range(n + 1):
        for minus in range(n + 1 - plus):
            r, R = plus + minus, plus - minus
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
    pieces, stack = [], [(start, Fraction(1))]
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


def every_number_of_sets(set_size: int, q: Fraction, degree: int, delta: Fraction) -> dict:
    """Companions win at every alpha up to alpha*, for each L >= 3: by moments for large L, one by one below.

    The certificate by moments (proposition "A certificate by moments" of the book) is two polynomial
    inequalities in n = (L-1) C. They hold for all n >= n_1 when, written in n - n_1, every coefficient is
    positive.
    """
    first, second = _moment_certificates(set_size, q, degree, delta)
    n1 = set_size * 2
    while not (positive_from(first, n1) and positive_from(second, n1)):
        n1 *= 2
        if n1 > 10**7:
            raise Undecided(f"no certificate by moments at C = {set_size}, q = {q}")
    low = n1 // 2
    while n1 - low > set_size:
        middle = (low + n1) // 2
        good = positive_from(first, middle) and positive_from(second, middle)
        low, n1 = (low, middle) if good else (middle, n1)
    one_by_one(set_size, q, degree, n1)
    return {"by moments from n": n1, "one by one": len(range(2 * set_size, n1, set_size))}


def one_by_one(set_size: int, q: Fraction, degree: int, below: int) -> None:
    """Decide each L with n = (L-1) C < below, from the exact law of M."""
    a, b = q.numerator, q.denominator
    one = fmpz_poly([a, 2 * (b - a), a])  # (q/2, 1-q, q/2) times 2 b, the powers of z shifted by one
    turned = fmpz_poly([2 * a, 2 * (b - a)]) ** 2  # the same weighted with 1 - s, for two patches
    block, n = one**set_size, 2 * set_size
    fewer = one ** (n - 2)
    while n < below:
        scale = arb(2 * b) ** n
        plain, weighted = (fewer * one * one).coeffs(), (fewer * turned).coeffs()
        weighted += [0] * (len(plain) - len(weighted))
        # Votes beyond twelve standard deviations weigh nothing; a bound takes their place.
        reach = int(12 * math.sqrt(n * q)) + 2 * set_size
        listed = range(max(0, n - reach), min(2 * n, n + reach) + 1)
        law = [(set_size - n + k, arb(plain[k]) / scale, arb(weighted[k]) / scale) for k in listed]
        rest = sum(plain[: listed[0]]) + sum(plain[listed[-1] + 1 :])
        rest += sum(weighted[: listed[0]]) + sum(weighted[listed[-1] + 1 :])
        if sign_at(law, degree, arb(rest) / scale * (n + set_size) ** degree) != 1:
            raise Undecided(f"not won at n = {n}, q = {q}")
        fewer, n = fewer * block, n + set_size


def _moment_certificates(C: int, q: Fraction, p: int, delta: Fraction):
    """Polynomials in n that must be positive."""
    x = fmpq_poly([0, 1])
    moment = _random_moments(q, 4 * p)

    def of_vote(k):
        return sum((math.comb(k, i) * C ** (k - i) * moment[i] for i in range(k + 1)), fmpq_poly([0]))

    def turned(k):
        total = fmpq_poly([0])
        for s, t in ((s, t) for s in (-1, 0, 1) for t in (-1, 0, 1)):
            chance = math.prod(1 - q if one == 0 else q / 2 for one in (s, t)) * (1 - s) * (1 - t)
            for i in range(k + 1):
                factor = chance * math.comb(k, i) * (C + s + t) ** (k - i)
                total += fmpq(factor.numerator, factor.denominator) * moment[i](x - 2)
        return total

    A, B, H = of_vote(p), of_vote(2 * p), of_vote(4 * p)
    d = fmpq(delta.numerator, delta.denominator)
    cube = (1 + d) * (1 + d) * (1 + d)
    return 3 * d * B * B * B - cube * A * A * H, B * turned(p - 2) - (1 + d) * A * turned(2 * p - 2)


def _random_moments(q: Fraction, most: int):
    """[fmpq_poly]: E R^k as a polynomial in n for the sum R of n random patches, k = 0 ... most."""
    values = [[Fraction(int(k == 0)) for k in range(most + 1)]]  # n = 0
    for _ in range(most // 2):
        before = values[-1]
        values.append(
            [
                sum(
                    (
                        math.comb(k, i) * before[i] * (1 if i == k else q if (k - i) % 2 == 0 else 0)
                        for i in range(k + 1)
                    ),
                    start=Fraction(0),
                )
                for k in range(most + 1)
            ]
        )
    polynomials = []
    for k in range(most + 1):
        total = fmpq_poly([0])  # Lagrange through n = 0, 1, ..., k // 2: the degree of E R^k
        for i in range(k // 2 + 1):
            term = fmpq_poly([fmpq(values[i][k].numerator, values[i][k].denominator)])
            for j in range(k // 2 + 1):
                if j != i:
                    term *= fmpq_poly([-j, 1]) * fmpq(1, i - j)
            total += term
        polynomials.append(total)
    return polynomials


def positive_from(polynomial: fmpq_poly, start: int) -> bool:
    """Whether all coefficients in x - ``start`` are positive: then so is the polynomial from there on.

    Examples
    --------
    >>> [positive_from(fmpq_poly([-6, 1, 1]), start) for start in (2, 3)]
    [False, True]
    """
    shifted = polynomial(fmpq_poly([start, 1]))
    return bool(shifted.coeffs()) and all(c > 0 for c in shifted.coeffs())


def _powers(x: arb, most: int):
    result = [arb(1)]
    for _ in range(most):
        result.append(result[-1] * x)
    return result


def describe(pieces) -> list:
    """The pieces of :func:`window` as text."""
    return [f"[{float(a):.6f}, {float(b):.6f}]: {sign:+d}" for a, b, sign in pieces]
