"""Block attention is optimal: two inequalities against every input, and rows that try to refute them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from enumeration import positive_inputs
from flint import arb
from moment_certificates import moment_certificates
from scipy.optimize import brentq

from patch_lab.certify.blocks import psi, two_inequalities
from patch_lab.certify.descent import Undecided
from patch_lab.dynamics.optimality import cubic_form

pytestmark = pytest.mark.usefixtures("sixty_four_bits")


def weighted_inputs(D, C, q):
    """(inputs, D) signs with the signal set anywhere, and P times w* at v*."""
    s, P = positive_inputs(D, C, q)
    K = (s.reshape(len(s), -1, C).sum(2) ** 3).sum(1)

    def w(v):
        return P / (1 + np.exp(np.clip(v * K, -700, 700)))

    return s, w(brentq(lambda v: w(v) @ K, 1e-6, 50, xtol=1e-14))


@pytest.mark.parametrize(("D", "C", "q"), [(8, 2, "3/10"), (9, 3, "1/2"), (6, 2, "1/10")])
def test_the_coefficients_are_means_over_all_inputs(D, C, q):
    s, w = weighted_inputs(D, C, float(Fraction(q)))
    at = {
        "one": s[:, 0],
        "two_inside": s[:, 0] ** 2 * s[:, 1],
        "two_outside": s[:, 0] ** 2 * s[:, C],
        "pair_outside": s[:, 0] * s[:, 1] * s[:, C],
        "three_outside": s[:, 0] * s[:, C] * s[:, 2 * C],
    }
    if C > 2:
        at["three_inside"] = s[:, 0] * s[:, 1] * s[:, 2]
    found = two_inequalities(D, C, q)
    for name, product in at.items():
        assert float(found[name].mid()) == pytest.approx(w @ product / w.sum(), rel=1e-6)


@pytest.mark.parametrize(("a", "b", "L"), [(0.5, 0.1, 3), (0.02, 0.1, 3), (2.0, 0.3, 8), (0.0, 0.1, 4)])
def test_the_share_of_companions_that_costs_most_is_taken(a, b, L):
    c = np.linspace(0, a, 200_001)
    least = (c + L * (np.sqrt(a - c + b) - b**0.5) ** 2).min()
    assert float(psi(arb(a), arb(b), L)) == pytest.approx(least, abs=1e-9)


def test_no_row_refutes_what_is_proved():
    """Rows at random, and rows that climb on all inputs, where the sharper inequality is needed."""
    D, C, q = 9, 3, 0.3
    two_inequalities(D, C, Fraction(3, 10))
    s, w = weighted_inputs(D, C, q)
    rng = np.random.default_rng(5)
    for power in (0.05, 0.3, 1.0):
        S = rng.dirichlet(np.full(D, power), 40)
        for _ in range(30):  # multiplicative ascent stays on the simplex
            heard = s @ S.T  # (inputs, rows)
            value, slope = w @ heard**3, 3 * (heard**2 * w[:, None]).T @ s  # (rows,), (rows, D)
            assert value.max() < 1e-12
            S = S * np.exp(20 * slope / w.sum())
            S /= S.sum(1, keepdims=True)


# Many sets


@pytest.mark.parametrize(
    ("C", "q", "L"), [(2, "1/2", 60), (3, "1/2", 150), (4, "4/5", 120), (2, "9/10", 200)]
)
def test_the_bounds_by_moments_hold(C, q, L):
    """Each certificate, over L B^3, is at most what it bounds, from the exact law at this number of sets."""
    q = Fraction(q)
    form = cubic_form(L * C, C, float(q))
    bounds = moment_certificates(C, q, Fraction(1, 3))
    types = []
    for plus, minus in itertools.product(range(C + 1), repeat=2):
        if plus + minus <= C:
            chance = (q / 2) ** (plus + minus) * (1 - q) ** (C - plus - minus)
            types.append((plus - minus, math.comb(C, plus) * math.comb(C - plus, minus) * chance))
    B = float(C**6 + (L - 1) * sum(chance * n**6 for n, chance in types))
    assert bounds["strength"](L) > 0 and 2 * C**3 / B <= form.strength <= 4 / 3 * 2 * C**3 / B
    value = {}
    for name, bound in bounds.items():
        x = bound(L)
        value[name] = float(Fraction(int(x.p), int(x.q))) / (L * B**3)
    one = np.zeros(2 * C**3 + 1)
    for n, chance in types:
        one[n**3 + C**3] += float(chance)
    law = np.array([1.0])
    for _ in range(L - 1):
        law = np.convolve(law, one)
    K = C**3 + np.arange(len(law)) - len(law) // 2
    w = law @ (1 / (1 + np.exp(np.clip(form.strength * K, -700, 700))))  # E[w*]
    u = (form.two_outside + (C - 1) * form.pair_outside) / C
    outside = -3 * max(form.two_outside, u) - (L - 2) * max(form.three_outside, 0)
    assert value["one"] <= -form.one * w
    # v (gain - v^2 / 4 rest) at the least v in the first term and the largest in the second
    a4, a6, a10 = (float(sum(chance * n**k for n, chance in types)) for k in (4, 6, 10))
    v = 2 * C**3 / B
    rest = a4 * (C**6 + (L - 2) * a6) + a10 / 3
    least = (L - 1) / (4 * C) * (v * a4 - (4 / 3 * v) ** 3 / 4 * rest) - 1 / 2
    assert value["one"] == pytest.approx(least / L, rel=1e-9)
    if C > 2:
        t1, t2, t3 = form.one, form.two_inside, form.three_inside
        second = 3 * (t3 - t2) - 2 / C * (t1 - 3 * t2 + 2 * t3)
        assert value["inside"] * (L - 1) / 4 <= second * w
    assert value["outside"] <= outside * w


def test_what_is_false_is_not_decided():
    with pytest.raises(Undecided, match="D = 6"):
        two_inequalities(6, 2, Fraction(1, 2))
