"""Polynomials in the number of sets that certify block attention, by the moments of one set."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpq_poly

from patch_lab.certify.blocks import _products, _types


def moment_certificates(C: int, q: Fraction, delta: Fraction) -> dict:
    """Polynomials in L of theorem "Block attention at many sets": where all are positive, it is optimal.

    ``strength``: v* is between v_0 = 2 C^3 / B and (1 + delta) v_0, B = E (sum n^3)^2. ``one`` and
    ``outside`` are L B^3 times bounds of -t_1 and of -3 max(t_4, u) - (L - 2) max(t_d, 0), ``inside`` is
    4 L B^3 / ((L - 1)(1 - 1/C)) times one of the second part of b; all before the division by E[w*].
    """
    types = _types(C, q).items()

    def E(f):
        return fmpq_poly([_rational(sum(chance * f(n, r) for (n, r), chance in types))])

    def moment(k):
        return E(lambda n, r: n**k)

    product = _products(C)
    a4, a6, a10, a12 = map(moment, (4, 6, 10, 12))
    L = fmpq_poly([0, 1])
    A = C**3
    x = _rational(q)
    B = A**2 + (L - 1) * a6
    H = A**4 + 6 * A**2 * (L - 1) * a6 + 3 * (L - 1) * (L - 2) * a6**2 + (L - 1) * a12
    d = _rational(delta)
    most = 2 * A * (1 + d)  # v* B is at most this, and at least 2 A
    cube = most * most * most

    def falls(gain, rest, *others):
        """B^3 times the least of v (gain - v^2/4 (sum of rest + others))."""
        return 2 * A * gain * B**2 - cube * fmpq(1, 4) * sum(others, rest)

    one = (L - 1) * fmpq(1, 4 * C) * falls(a4, a4 * (A**2 + (L - 2) * a6), a10 / 3) - B**3 / 2
    mixed = E(lambda n, r: Fraction(r * n**6, C))
    four = falls(a4 * x, a4 * (x * (A**2 + (L - 3) * a6) + mixed), x * a10 / 3)
    four = (L - 2) * fmpq(1, 4 * C) * four - x * B**3 / 2
    pair = E(lambda n, r: abs(product["pair"](n, r)) * n**6)
    bent = fmpq(1, 10)  # above 1 / (6 sqrt 3), the largest curvature of the slope of the loss
    five = bent * most * most * pair * B / 2 + (L - 2) * cube * pair * a4 * fmpq(1, 16 * C)
    apart = 3 * bent * most * most * a4**2 * fmpq(1, C**2) * B + (L - 3) * cube * a4**3 * fmpq(1, 8 * C**3)
    polynomials = {
        "strength": 3 * d * B**3 - (1 + d) * (1 + d) * (1 + d) * A**2 * H,
        "one": one,
        "outside": 3 * (four - (C - 1) * five) * fmpq(1, C) - (L - 2) * apart,
    }
    if C > 2:

        def odd(n, r):
            return _inside(C, product, n, r)

        up = E(lambda n, r: max(odd(n, r) * n**3, 0))
        far = E(lambda n, r: max(odd(n, r) * n**3, 0) * n**6)
        gain = E(lambda n, r: odd(n, r) * n**3)
        polynomials["inside"] = falls(gain, up * (A**2 + (L - 2) * a6), far / 3)
    return polynomials


def _inside(C, product, n, r):
    """The polynomial Y of a set with -b / (1 - 1/C) = E[w* Y], in the case without t_1 alone."""
    first, second, third = (product[name](n, r) for name in ("s", "mixed", "triple"))
    return (2 * first + (3 * C - 6) * second - (3 * C - 4) * third) / C


def _rational(x) -> fmpq:
    x = Fraction(x)
    return fmpq(x.numerator, x.denominator)
