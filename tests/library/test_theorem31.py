"""The corrected Theorem 3.1: every step of its proofs that can be computed, against enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import linprog

from patch_association.exact.integer_sums import trinomial
from patch_association.exact.linear import linear_error
from patch_lab.setting import linear_bounds, weighted


def _enumerated_law(weights: np.ndarray, q: float) -> dict[int, float]:
    """The law of y g at y = +1 for integer patch weights (L, C), by visiting every outcome."""
    L, _C = weights.shape
    law: dict[int, float] = {}
    for signal in range(L):
        others = np.delete(weights, signal, axis=0).reshape(-1)
        for signs in itertools.product((-1, 0, 1), repeat=others.size):
            active = int(np.abs(signs).sum())
            chance = (q / 2) ** active * (1 - q) ** (others.size - active) / L
            value = int(weights[signal].sum() + others @ np.array(signs, dtype=int))
            law[value] = law.get(value, 0.0) + chance
    return law


@given(
    weights=st.lists(st.lists(st.integers(-3, 4), min_size=2, max_size=2), min_size=2, max_size=4),
    q=st.floats(0, 1),
)
@settings(max_examples=40, deadline=None)
def test_patch_weights_have_the_enumerated_law(weights, q):
    weights = np.array(weights)
    law = weighted.weighted_law(weights, 2, q)
    expected = _enumerated_law(weights, q)
    assert law.mass.sum() == pytest.approx(1, abs=1e-12)
    for value, chance in expected.items():
        assert law.at(value) == pytest.approx(chance, abs=1e-12)


def test_the_monotone_link_is_the_best_threshold():
    law = weighted.weighted_law(np.array([1, 3, 4]), 2, 0.6)
    support, mass = law.support, law.mass
    thresholds = np.arange(support[0] - 1, -support[0] + 2) + 0.5
    # y g < t at y = +1 errs, -y g > t at y = -1 errs; thresholds between integers, and both directions.
    errors = [(mass[support < t].sum() + mass[-support > t].sum()) / 2 for t in thresholds]
    best = min(min(errors), 1 - max(errors))
    assert weighted.best_monotone_error(law) == pytest.approx(best, abs=1e-12)


@given(C=st.integers(1, 5), others=st.integers(1, 8), q=st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_no_link_beats_the_threshold_on_the_symmetric_sum(C, others, q):
    D = C * (others + 1)
    law = trinomial(D - C, q).shift(C)
    half = linear_error(D, C, q, "half")
    assert weighted.best_arbitrary_error(law) == pytest.approx(half, abs=1e-12)
    assert weighted.best_monotone_error(law) == pytest.approx(half, abs=1e-12)


@given(C=st.integers(1, 5), others=st.integers(1, 8), q=st.floats(0, 1), larger=st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_the_symmetric_error_grows_with_q_and_with_the_number_of_patches(C, others, q, larger):
    q, larger = sorted((q, larger))
    D = C * (others + 1)
    here = linear_error(D, C, q, "half")
    assert linear_error(D, C, larger, "half") >= here - 1e-12
    assert linear_error(D + C, C, q, "half") >= here - 1e-12


@given(a=st.lists(st.floats(-3, 3), min_size=1, max_size=9), s=st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_sums_of_signs_are_not_too_small(a, s):
    a = np.array(a)
    if np.abs(a).max() < 1e-3:
        a[0] = 1.0
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=a.size)))
    size = math.sqrt(float((a**2).sum()))
    sums = np.abs(signs @ a)
    # A sum within rounding of the threshold counts as beyond it: the bound is on a strict tail.
    assert (sums > s * size - 1e-12).mean() / 2 >= linear_bounds.rademacher_tail(s) - 1e-12


STYLES = {
    "equal": lambda L, rng: np.ones((L, 1), int),
    "one strong": lambda L, rng: np.r_[25, np.ones(L - 1, int)][:, None],
    "geometric": lambda L, rng: (2 ** (np.arange(L) * 6 // L))[:, None],
    "few": lambda L, rng: (np.arange(L) < 3).astype(int)[:, None],
    "random": lambda L, rng: rng.integers(-2, 6, (L, 1)),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("L", [40, 90])
def test_no_weights_fall_below_the_bounds(style, L):
    rng = np.random.default_rng(5)
    for q in (1.0, 0.6):
        a = STYLES[style](L, rng)
        error = weighted.best_monotone_error(weighted.weighted_law(a, 1, q))
        bound = linear_bounds.any_weights_bound(L, 1, q)
        assert (bound > 0.02 or q < 1) and error >= bound
        assert error >= linear_bounds.spread_weights_bound(a, q)


def test_the_bound_is_its_formula():
    D, C, q = 240, 2, 0.9
    t = np.linspace(1e-4, 0.999, 4000)
    expected = 0.0
    for r in range(1, D // C):
        s = np.sqrt(C / ((1 - t) * q * r))
        h = np.maximum(np.maximum(1 / 4 - s / 3, 0.217 - s / 4), 0)
        expected += ((1 - np.exp(-q * r * (t + (1 - t) * np.log(1 - t)))) * h).max()
    expected /= D // C
    bound = linear_bounds.any_weights_bound(D, C, q)
    assert bound <= expected + 1e-9  # a coarser grid of a maximum
    assert bound == pytest.approx(expected, rel=5e-3)


def test_the_boundary_is_the_least_size():
    D = linear_bounds.any_weights_boundary(4, 0.5)
    assert (
        linear_bounds.any_weights_bound(D, 4, 0.5) >= 1 / 8 > linear_bounds.any_weights_bound(D - 4, 4, 0.5)
    )


def test_unequal_weights_win_at_tiny_sizes():
    error, weights = weighted.search_weights(4, 2, 0.5, largest=4)
    assert error == pytest.approx(0.123046875, abs=1e-12) and weights.tolist() == [3, 3, 3, 4]
    assert error < 1 / 8 < linear_error(8, 2, 0.5, "half")


@pytest.mark.parametrize(("L", "C"), [(2, 1), (2, 2), (3, 1), (3, 2)])
def test_no_weights_separate_the_data(L, C):
    # Every input at label +1, its signs enumerated: a linear program finds no weights with a margin.
    D, inputs = L * C, []
    for signal in range(L):
        for signs in itertools.product((-1, 0, 1), repeat=D - C):
            x = np.ones(D)
            x[np.arange(D) // C != signal] = signs
            inputs.append(x)
    rule = np.c_[-np.array(inputs), np.ones(len(inputs))]  # margin <= <a, x>
    box = [(-1, 1)] * D + [(None, None)]
    found = linprog(np.r_[np.zeros(D), -1], rule, np.zeros(len(inputs)), bounds=box)
    assert found.status == 0 and abs(found.fun) < 1e-9
    alone = rule[: 3 ** (D - C)]  # one signal set alone is separable
    assert linprog(np.r_[np.zeros(D), -1], alone, np.zeros(len(alone)), bounds=box).fun < -0.5


def test_unequal_weights_fall_below_an_eighth_where_equal_ones_do_not():
    # L = 6, C = 2, q = 0.31, by convolution; the error of the best threshold on the score.
    q, errors = 0.31, {}
    for weights in ((3,) * 6, (3, 3, 3, 3, 3, 4)):
        law = {1: {}, -1: {}}
        for signal, weight in enumerate(weights):
            rest = {0: 1.0}
            for other, a in enumerate(weights):
                for _ in range(2 * (other != signal)):
                    moved = {}
                    for x, chance in rest.items():
                        for sign, part in ((-1, q / 2), (0, 1 - q), (1, q / 2)):
                            moved[x + a * sign] = moved.get(x + a * sign, 0) + chance * part
                    rest = moved
            for label in (1, -1):
                for x, chance in rest.items():
                    score = label * 2 * weight + x
                    law[label][score] = law[label].get(score, 0) + chance / 6
        scores = sorted({*law[1], *law[-1]})
        least = 1.0
        for cut in scores:  # the score `cut` itself may go either way
            below = sum(p for x, p in law[1].items() if x < cut)
            above = sum(p for x, p in law[-1].items() if x > cut)
            least = min(least, (below + above + min(law[1].get(cut, 0), law[-1].get(cut, 0))) / 2)
        errors[weights] = least
        assert least == pytest.approx(
            weighted.best_monotone_error(weighted.weighted_law(np.array(weights), 2, q)), abs=1e-12
        )
    assert errors[(3, 3, 3, 3, 3, 4)] < 1 / 8 < errors[(3,) * 6]


def _wrong_and_tied(weights: tuple[int, ...], C: int, q: Fraction) -> tuple[Fraction, Fraction]:
    """P[y g < 0] and P[y g = 0] for set weights, by visiting the sums of all sets."""
    sums = {}
    for signs in itertools.product((-1, 0, 1), repeat=C):
        active = sum(map(abs, signs))
        sums[sum(signs)] = sums.get(sum(signs), 0) + (q / 2) ** active * (1 - q) ** (C - active)
    wrong = tied = Fraction(0)
    for signal, own in enumerate(weights):
        others = weights[:signal] + weights[signal + 1 :]
        for values in itertools.product([s for s in sums if sums[s]], repeat=len(others)):
            chance = math.prod(sums[s] for s in values) / len(weights)
            score = own * C + sum(a * s for a, s in zip(others, values))
            wrong, tied = wrong + chance * (score < 0), tied + chance * (score == 0)
    return wrong, tied


@pytest.mark.parametrize(
    "weights, C, error, equal",
    [
        ((3, 2, 2, 2, 2), 3, Fraction(3943, 20480), Fraction(397, 2048)),
        ((5, 4, 4), 5, Fraction(143, 3072), Fraction(7, 128)),
    ],
)
def test_unequal_weights_win_where_nothing_ties(weights, C, error, equal):
    assert _wrong_and_tied(weights, C, Fraction(1)) == (error, 0)
    assert _wrong_and_tied((1,) * len(weights), C, Fraction(1)) == (equal, 0)
    law = weighted.weighted_law(np.array(weights), C, 1.0)
    assert weighted.best_monotone_error(law) == pytest.approx(float(error), abs=1e-12)
    assert linear_error(len(weights) * C, C, 1.0) == pytest.approx(float(equal), abs=1e-12)
    assert error < equal


@pytest.mark.parametrize(("L", "C"), [(3, 3), (3, 5), (3, 7), (3, 9), (5, 3), (5, 5)])
def test_one_heavy_set_wins_what_the_formula_says(L, C):
    def at(n, k):  # P[a sum of n fair signs is k]
        return Fraction(math.comb(n, (n - k) // 2), 2**n) if k <= n else Fraction(0)

    n, rest = (L - 1) * C, (L - 2) * C
    won = (at(n, C + 1) - Fraction(L - 1, 2**C) * (at(rest, 1) - at(rest, 2 * C + 1))) / L
    heavy, tied = _wrong_and_tied((C,) + (C - 1,) * (L - 1), C, Fraction(1))
    equal, never = _wrong_and_tied((1,) * L, C, Fraction(1))
    assert equal - heavy == won and tied == never == 0
    assert (won > 0) == ((L, C) != (3, 3)) and won >= 0
    if L == 3:
        assert won == Fraction(math.comb(2 * C, C // 2) - 2 * math.comb(C, C // 2), 3 * 4**C)


@given(weights=st.lists(st.integers(2, 5), min_size=2, max_size=6), C=st.integers(1, 4), q=st.floats(0.05, 1))
@settings(max_examples=100, deadline=None)
def test_what_unequal_weights_win_is_bounded(weights, C, q):
    n = (len(weights) - 1) * C
    error = weighted.best_monotone_error(weighted.weighted_law(np.array(weights), C, q))
    most = (0.469 + 0.56 * max(weights) / min(weights)) / math.sqrt(q * n)
    assert error >= linear_error(n + C, C, q, "half") - most


@pytest.mark.parametrize("chi", [0.5, 2.0, 5.0, 19.7, 400.0])
def test_the_limit_is_its_integral(chi):
    corners = [min(1, 1 / (s**2 * chi)) for s in (0.868, 0.396)]
    integral = quad(lambda x: linear_bounds.rademacher_tail(1 / math.sqrt(chi * x)), 1e-9, 1, points=corners)[
        0
    ]
    assert linear_bounds.any_weights_limit(chi) == pytest.approx(float(integral), abs=1e-8)
