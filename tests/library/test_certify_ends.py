"""Where a certified run ends: conditions against plain enumeration; claims that must not come through."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from patch_lab.certify.descent import Undecided
from patch_lab.certify.ends import End
from patch_lab.certify.law import atoms
from patch_lab.certify.rounded import RoundedField

D, C, Q, NU = 8, 2, Fraction(1, 2), Fraction(1, 10_000)
END = End(
    (Fraction(9, 64), Fraction(3, 16)), Fraction(1, 2), Fraction(1, 4), Fraction(7, 32), Fraction(1, 2048)
)
RATES = Fraction(1, 400), Fraction(64, 400)


pytestmark = pytest.mark.usefixtures("sixty_four_bits")


def loss(alpha, gamma, rho):
    """The risk by every draw, every patch and the model's own formula."""
    s = np.array(list(itertools.product((0, 1, -1), repeat=D - C)))
    P = np.prod(np.where(s == 0, 1 - float(Q), float(Q) / 2), axis=1)
    s = np.hstack([np.ones((len(s), C)), s])
    S = np.full((D, D), math.exp(rho))
    for i in range(D):
        S[i, i // C * C : (i // C + 1) * C] = math.exp(gamma)
        S[i, i] = math.e
    z = D * alpha * s @ (S / S.sum(1, keepdims=True)).T  # (inputs, D)
    return P @ np.log1p(np.exp(-(z**3 + float(NU) * z).sum(1)))


def slopes(x, h=1e-3):
    """(gradient, Hessian) by central differences."""
    e = h * np.eye(3)
    gradient = np.array([(loss(*(x + d)) - loss(*(x - d))) / (2 * h) for d in e])
    hessian = [
        [(loss(*(x + a + b)) - loss(*(x + a - b)) - loss(*(x - a + b)) + loss(*(x - a - b))) for b in e]
        for a in e
    ]
    return gradient, np.array(hessian) / (4 * h * h)


def test_the_conditions_hold_on_counted_inputs():
    _, alpha, k = END.prove(RoundedField(atoms(D, C, Q), 1, NU), *RATES)
    rng = np.random.default_rng(3)
    roots = np.sqrt([float(RATES[0]), float(RATES[1]) / (D * (C - 1)), float(RATES[1]) / (D * (D - C))])
    for _ in range(12):
        a, rho = rng.uniform(9 / 64, 3 / 16), -math.log(2048) - rng.exponential()
        far = math.log(4) + rng.exponential()
        assert slopes(np.array([a, far, rho]))[0][1] > 0
        _, hessian = slopes(np.array([a, rng.uniform(math.log(2), math.log(32 / 7)), rho]))
        assert np.abs(hessian * np.outer(roots, roots)).sum(1).max() < 2
    at = float(alpha.mid())
    assert [slopes(np.array([at + d, 1.0, -40.0]), 1e-5)[0][0] > 0 for d in (-1e-4, 1e-4)] == [False, True]
    _, hessian = slopes(np.array([at, 1.0, -40.0]))
    assert hessian[0, 0] > 0 and hessian[1, 1] > 0
    pull = slopes(np.array([at, 1.0, -9.0]))[0][2] * math.exp(9.0)
    assert pull == pytest.approx(float(k.mid()), rel=0.02)


@pytest.mark.parametrize(
    ("end", "rates", "words"),
    [
        (replace(END, X=Fraction(1, 2)), RATES, "gamma: no sign|row sum"),
        (END, (Fraction(2), RATES[1]), "row sum"),
        (END, (RATES[0], Fraction(10**6)), "gamma"),
        (replace(END, alpha=(Fraction(11, 64), Fraction(3, 16))), RATES, "zero of dL/dalpha"),
        (replace(END, near=Fraction(1, 2), beyond=Fraction(15, 32)), RATES, "gamma"),
    ],
)
def test_false_claims_are_not_certified(end, rates, words):
    with pytest.raises(Undecided, match=words):
        end.prove(RoundedField(atoms(D, C, Q), 1, NU), *rates)
