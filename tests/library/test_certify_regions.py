"""Traps and signs: each certified inequality against the condition it stands for, counted without it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from patch_association.exact.risk import PopulationRisk
from patch_lab.certify import rounded, signs
from patch_lab.certify.descent import Undecided
from patch_lab.certify.field import Field
from patch_lab.certify.law import atoms
from patch_lab.certify.traps import Away, Towards
from patch_lab.dynamics.first_move import FirstMove

D, C, RATE, SCORE_RATE = 6, 2, Fraction(4), Fraction(24)
TOWARDS = Towards((Fraction(1, 16), Fraction(3, 8)), Fraction(1, 32), Fraction(1, 2), Fraction(3, 4))
AWAY = Away(
    (Fraction(1, 16), Fraction(3, 8)), Fraction(1, 32), Fraction(1, 4), Fraction(1, 2), Fraction(15, 16)
)


def stated(trap, alpha, y, z, gradient) -> dict:
    """What each inequality of a trap says at a point, from the gradient by (alpha, gamma, rho)."""
    a, b = (float(x) for x in trap.alpha)
    by_alpha, by_gamma, by_rho = gradient
    step = alpha - float(RATE) * by_alpha
    ends = {
        "alpha rises at the lower end": by_alpha < 0,
        "alpha falls at the upper end": by_alpha > 0,
        "no step over the upper end": step < b,
        "no step over the lower end": step > a,
    }
    if isinstance(trap, Towards):
        move = float(SCORE_RATE) / (D * (C - 1)) * by_gamma
        return ends | {"rho falls": by_rho > 0, "gamma stays": move < 1 - y / float(trap.Y)}
    X0, X = float(trap.X0), float(trap.X)
    move = float(SCORE_RATE) / (D * (D - C)) * by_rho
    return ends | {
        "gamma falls": by_gamma > 0,
        "rho stays below": -move * X / z < 1 - z / X,
        "rho stays above": move * X**2 / z < z - X0,
    }


@pytest.mark.parametrize("trap", [TOWARDS, AWAY], ids=["towards", "away"])
def test_the_inequalities_of_a_trap_are_its_conditions(trap):
    field, risk = Field(atoms(D, C, "9/10"), 1, Fraction(1, 10)), PopulationRisk(D, C, 0.9, linear=0.1)
    problems = trap.inequalities(D, C, RATE, SCORE_RATE)
    rng, seen = np.random.default_rng(0), {name: set() for name in problems}
    for _ in range(150):
        y = float(rng.uniform(0.02, float(trap.Y)))
        z = float(rng.uniform(float(getattr(trap, "X0", Fraction(1, 50))), float(trap.X)))
        alpha = float(rng.uniform(*map(float, trap.alpha)))
        gamma, rho = math.log(y) * (-1 if trap is TOWARDS else 1), math.log(z)
        said = stated(trap, alpha, y, z, risk.gradient(alpha, 1.0, gamma, rho))
        assert said.keys() == problems.keys()
        for name, problem in problems.items():
            u = alpha / float(field.alpha_of(problem.chart, [(1.0, 1.0), (y, y), (z, z)]).mid())
            value, _ = field.enclose(problem, [(u, u), (y, y), (z, z)])
            assert bool(problem.sign * value > 0) == said[name], name
            seen[name].add(said[name])
    assert sum(len(values) == 2 for values in seen.values()) >= 5, seen  # else it could not have failed


@pytest.mark.parametrize("trap", [TOWARDS, AWAY], ids=["towards", "away"])
def test_a_trap_is_covered_on_all_of_its_region(trap):
    problems = trap.inequalities(D, C, RATE, SCORE_RATE)
    low = (float(getattr(trap, "X0", 0)), float(trap.X))
    assert all((p.y, p.z) == ((0.0, float(trap.Y)), low) for p in problems.values())
    a, b, slab = map(float, (*trap.alpha, trap.slab))
    parts = {"alpha rises at the lower end": (a, a + slab), "alpha falls at the upper end": (b - slab, b)}
    parts |= {"no step over the upper end": (a, b - slab), "no step over the lower end": (a + slab, b)}
    for name, problem in problems.items():
        assert problem.alpha == parts.get(name, (a, b)), name


def test_the_signs_over_a_range_of_q_are_those_of_the_float_margin():
    pieces = signs.window(9, 3, 3, Fraction(1, 10), Fraction(1, 20_000))
    assert pieces[0][0] == Fraction(1, 10) and pieces[-1][1] == 1
    assert all(
        before[1] == after[0] and before[2] != after[2] for before, after in itertools.pairwise(pieces)
    )
    assert [sign for _, _, sign in pieces] == [-1, 0, 1, 0, -1]
    for low, high, sign in pieces:
        margins = [FirstMove(9, 3, float(q)).margin for q in (low, (low + high) / 2, high)]
        if sign == 0:
            assert margins[0] * margins[2] < 0 and high - low < 0.005
        else:
            assert all(sign * margin > 0 for margin in margins)
    assert len(signs.describe(pieces)) == len(pieces) and signs.describe([(0.25, 0.5, -1)]) == [
        "[0.250000, 0.500000]: -1"
    ]


def counted_moment(n, q, set_size, power, pair=False) -> Fraction:
    """E M^k by every draw of n random patches; with the factor (1 - s_1)(1 - s_2) for a pair."""
    total = Fraction(0)
    for s in itertools.product((-1, 0, 1), repeat=n):
        chance = math.prod(1 - q if x == 0 else q / 2 for x in s)
        total += chance * (set_size + sum(s)) ** power * ((1 - s[0]) * (1 - s[1]) if pair else 1)
    return total


def test_the_certificate_by_moments_is_the_two_stated_inequalities():
    C, q, p, d = 2, Fraction(3, 10), 3, Fraction(2, 5)
    for n, polynomials in ((n, signs._moment_certificates(C, q, p, d)) for n in (2, 4, 6)):
        A, B, H = (counted_moment(n, q, C, k) for k in (p, 2 * p, 4 * p))
        T, U = (counted_moment(n, q, C, k, pair=True) for k in (p - 2, 2 * p - 2))
        expected = (3 * d * B**3 - (1 + d) ** 3 * A**2 * H, B * T - (1 + d) * A * U)
        assert [Fraction(int(f(n).p), int(f(n).q)) for f in polynomials] == list(expected)


def test_every_number_of_sets_by_moments_and_one_by_one(monkeypatch):
    tried = []
    monkeypatch.setattr(signs, "one_by_one", lambda *arguments: tried.append(arguments))
    C, q, p, d = 4, Fraction(3, 10), 3, Fraction(2, 5)
    found = signs.every_number_of_sets(C, q, p, d)
    n = found["by moments from n"]
    first, second = signs._moment_certificates(C, q, p, d)
    assert signs.positive_from(first, n) and signs.positive_from(second, n)
    assert not (signs.positive_from(first, n - C) and signs.positive_from(second, n - C))
    assert tried == [(C, q, p, n)] and found["one by one"] == len(range(2 * C, n, C))
    with pytest.raises(Undecided, match="no certificate by moments"):
        signs.every_number_of_sets(C, Fraction(9, 10), p, d)  # companions lose there in the limit


@pytest.mark.parametrize("n", [rounded._CHUNK, 3 * rounded._CHUNK])
def test_the_slack_of_the_second_sum_is_the_worst_case_of_rounding(monkeypatch, n):
    """An error that large never happens, so no sum would show it: the bound itself is compared.

    A product of k terms is off by k u sum |x_i y_i| at most (to first order), m N by one u more.
    """
    mid = 1 + np.random.default_rng(0).random((n, 1))
    features = np.arange(1.0, n + 1)[:, None]
    field = object.__new__(rounded.RoundedField)
    field._N = features, np.abs(features)
    monkeypatch.setattr(rounded.RoundedField, "_weighted", lambda self, x: (mid, np.zeros_like(mid)))
    [[found]] = field._second_sum((np.zeros((n, 1)), np.zeros((n, 1))))
    exact = sum(Fraction(float(m)) * int(k) ** 2 for m, k in zip(mid[:, 0], features[:, 0]))
    needed = (rounded._CHUNK + 1) * Fraction(1, 2**53) * exact
    assert found.contains(arb(exact.numerator) / exact.denominator)
    assert Fraction(float(found.rad().lower())) >= needed
