"""Block attention is optimal: three inequalities against every input, and rows that try to refute them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq

from patch_association.certify.blocks import three_inequalities
from patch_association.certify.descent import Undecided
from patch_association.certify.statements import BLOCKS
from patch_association.exact.optimality import cubic_form

pytestmark = pytest.mark.usefixtures("sixty_four_bits")


def weighted_inputs(D, C, q):
    """(inputs, D) signs with the signal set anywhere, and P times w* at v*."""
    draws = np.array(list(itertools.product((0, 1, -1), repeat=D - C)))
    P = np.prod(np.where(draws == 0, 1 - q, q / 2), axis=1) * C / D
    s = np.concatenate([np.insert(draws, [k * C] * C, 1, axis=1) for k in range(D // C)])  # (inputs, D)
    P, K = np.tile(P, D // C), (s.reshape(len(s), -1, C).sum(2) ** 3).sum(1)
    w = lambda v: P / (1 + np.exp(np.clip(v * K, -700, 700)))
    return s, w(brentq(lambda v: w(v) @ K, 1e-6, 50, xtol=1e-14))


def test_the_coefficients_are_means_over_all_inputs():
    D, C, q = 8, 2, 0.3
    s, w = weighted_inputs(D, C, q)
    t = [w @ x / w.sum() for x in (s[:, 0], s[:, 0] ** 2 * s[:, 1], s[:, 0] ** 2 * s[:, 2])]
    t5, td = (w @ x / w.sum() for x in (s[:, 0] * s[:, 1] * s[:, 2], s[:, 0] * s[:, 2] * s[:, 4]))
    found = three_inequalities(D, C, Fraction(3, 10))
    spare = -3 * max(t[2], (t[2] + t5) / 2) - 2 * td
    assert float(found["t1"].mid()) == pytest.approx(t[0], rel=1e-8)
    assert float(found["spare"].mid()) == pytest.approx(spare, rel=1e-7)


def test_no_row_refutes_what_is_proved():
    """Rows at random, and rows that climb on all inputs, at a size where the inequalities hold."""
    D, C, q = 8, 2, 0.3
    three_inequalities(D, C, Fraction(3, 10))
    s, w = weighted_inputs(D, C, q)
    rng = np.random.default_rng(5)
    for power in (0.05, 0.3, 1.0):
        S = rng.dirichlet(np.full(D, power), 300)
        for _ in range(40):  # multiplicative ascent stays on the simplex
            heard = s @ S.T  # (inputs, rows)
            value, slope = w @ heard**3, 3 * (heard**2 * w[:, None]).T @ s  # (rows,), (rows, D)
            assert value.max() < 1e-12
            S = S * np.exp(20 * slope / w.sum())
            S /= S.sum(1, keepdims=True)


def test_the_steps_of_the_proof():
    rng = np.random.default_rng(6)
    for C in (2, 3, 4, 7):
        x = np.concatenate([rng.dirichlet(np.full(C, a), 2000) for a in (0.1, 1.0, 5.0)])
        P2, P3 = (x**2).sum(1), (x**3).sum(1)
        assert (P3 - C**-2 <= (C + 1) / C * (P2 - 1 / C) + 1e-14).all()
        e2 = (1 - P2) / 2
        e3 = (1 - 3 * P2 + 2 * P3) / 6
        assert (e3 <= (C - 2) / (3 * C) * e2 + 1e-14).all()


@pytest.mark.parametrize(("D", "C", "q"), [(9, 3, "4/5"), (12, 4, "4/5"), (16, 2, "4/5")])
def test_where_a_row_refutes_the_condition_nothing_is_proved(D, C, q):
    assert cubic_form(D, C, float(Fraction(q))).largest(96)[0] > 1e-4
    with pytest.raises(Undecided, match="3h"):
        three_inequalities(D, C, q)


@pytest.mark.parametrize("setting", [one for one in BLOCKS if one[0] <= 16])
def test_the_settings_of_the_statement(setting):
    D, C, q = setting
    found = three_inequalities(D, C, q)
    form = cubic_form(D, C, float(Fraction(q)))
    h = -max(form.two_outside, (form.two_outside + (C - 1) * form.pair_outside) / C)
    spare = 3 * h - (D // C - 2) * max(form.three_outside, 0)
    assert float(found["spare"].mid()) == pytest.approx(spare, rel=1e-6)
    assert math.isclose(float(found["t1"].mid()), form.one, rel_tol=1e-6)
    if C > 2:
        curve = form.one - 3 * form.two_inside + 2 * form.three_inside
        assert float(found["curve"].mid()) == pytest.approx(curve, rel=1e-6)


def test_two_sets_are_refused():
    with pytest.raises(ValueError, match="three sets"):
        three_inequalities(8, 4, "1/2")
