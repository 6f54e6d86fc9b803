"""Block attention is optimal: two inequalities against every input, and rows that try to refute them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from enumeration import positive_inputs
from flint import arb
from scipy.optimize import brentq

from patch_lab.certify.blocks import psi, two_inequalities
from patch_lab.certify.descent import Undecided

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


def test_what_is_false_is_not_decided():
    with pytest.raises(Undecided, match="D = 6"):
        two_inequalities(6, 2, Fraction(1, 2))
