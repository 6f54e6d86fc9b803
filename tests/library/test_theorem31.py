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
from scipy.stats import norm

from patch_association.exact.integer_sums import trinomial
from patch_association.exact.linear import linear_error
from patch_lab.setting import linear_bounds, weighted


@given(C=st.integers(1, 5), others=st.integers(1, 8), q=st.floats(0, 1))
@settings(max_examples=150)
def test_no_link_beats_the_threshold_on_the_symmetric_sum(C, others, q):
    D = C * (others + 1)
    law = trinomial(D - C, q).shift(C)
    half = linear_error(D, C, q, "half")
    assert weighted.best_arbitrary_error(law) == pytest.approx(half, abs=1e-12)
    assert weighted.best_monotone_error(law) == pytest.approx(half, abs=1e-12)


@given(C=st.integers(1, 5), others=st.integers(1, 8), q=st.floats(0, 1), larger=st.floats(0, 1))
@settings(max_examples=150)
def test_the_symmetric_error_grows_with_q_and_with_the_number_of_patches(C, others, q, larger):
    q, larger = sorted((q, larger))
    D = C * (others + 1)
    here = linear_error(D, C, q, "half")
    assert linear_error(D, C, larger, "half") >= here - 1e-12
    assert linear_error(D + C, C, q, "half") >= here - 1e-12


def _loud(n, q, r):
    """tau_r(n) by its definition."""
    Z = trinomial(n, q)
    return (Z.below(-r) + Z.below(-r - 1)) / 2


@given(a=st.lists(st.integers(1, 4), min_size=1, max_size=6), q=st.sampled_from([0.6, 1.0]))
@settings(max_examples=60)
def test_a_sum_of_signs_is_seldom_in_a_short_interval(a, q):
    signs = np.array(list(itertools.product((-1, 0, 1), repeat=len(a))))
    chance = np.where(signs == 0, 1 - q, q / 2).prod(axis=1)
    value = signs @ np.array(a)
    for x in range(5):
        held = max(chance[(t <= value) & (value <= t + 2 * x)].sum() for t in value)
        bound = 1 - 2 * linear_bounds.loud_tails(np.array([len(a)]), q, 8)[0, x // min(a)]
        assert held <= bound + 1e-12
        if max(a) == 1 and q == 1:
            assert held == pytest.approx(bound, abs=1e-12)  # whole steps of one parity: nothing is given away


@given(a=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=4))
@settings(max_examples=60)
def test_each_set_errs_as_often_as_its_heavier_patches_say(a):
    """Step 3 at one set and at any threshold, and then the sum over ranks, by visiting every outcome."""
    a, q, errors = np.array(a), 0.8, []
    for signal, row in enumerate(a):
        others = np.delete(a, signal, axis=0).reshape(-1)
        signs = np.array(list(itertools.product((-1, 0, 1), repeat=others.size)))
        chance, Z = np.where(signs == 0, 1 - q, q / 2).prod(axis=1), signs @ others
        A = row.sum()
        errors.append(min(chance[t - A > Z].sum() + chance[t + A < Z].sum() for t in range(-30, 31)) / 2)
        for least in (1, 2, 3):
            assert errors[-1] >= _loud(int((others >= least).sum()), q, A // least) - 1e-12
    order = np.argsort(-a.reshape(-1), kind="stable")
    for level in (0.2, 0.35, 0.5):
        seen, paid = np.zeros(len(a), int), np.zeros(len(a))
        for k, j in enumerate(order, 1):
            seen[j // 2] += 1
            own = seen[j // 2]
            paid[j // 2] += max(max(level - _loud(k - own, q, r), 0) / r for r in range(own, 20))
        assert (level - np.array(errors) <= paid + 1e-12).all()


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


@pytest.mark.parametrize(("L", "C", "q"), [(7, 1, 1.0), (40, 2, 0.9), (30, 3, 1.0)])
def test_the_bounds_are_their_formulas(L, C, q):
    D, best = L * C, 0.0
    tau = np.array([[_loud(n, q, r) for r in range(D + 2)] for n in range(D)])
    for level in np.linspace(0.02, 0.5, 25):

        def G(n, i, a=level):
            return (np.maximum(a - tau[n, i:], 0) / np.arange(i, D + 2)).max()

        paid = sum(max(G(k - i, i) for i in range(1, min(k, C) + 1)) for k in range(1, D + 1))
        best = max(best, level - paid / L)
    assert linear_bounds.any_weights_bound(D, C, q) == pytest.approx(best, abs=1e-10)
    assert linear_bounds.set_weights_bound(D, C, q) == pytest.approx(tau[::C, C].mean(), abs=1e-12)


def test_unequal_weights_win_at_tiny_sizes():
    error, weights = weighted.search_weights(4, 2, 0.5, largest=4)
    assert error == pytest.approx(0.123046875, abs=1e-12) and weights.tolist() == [3, 3, 3, 4]
    assert error < 1 / 8 < linear_error(8, 2, 0.5, "half")


def _law(weights: tuple[int, ...], C: int, q: Fraction) -> dict[int, Fraction]:
    """The law of y g for set weights, by visiting the sums of all sets."""
    sums, law = {}, {}
    for signs in itertools.product((-1, 0, 1), repeat=C):
        active = sum(map(abs, signs))
        sums[sum(signs)] = sums.get(sum(signs), 0) + (q / 2) ** active * (1 - q) ** (C - active)
    for signal, own in enumerate(weights):
        others = weights[:signal] + weights[signal + 1 :]
        for values in itertools.product([s for s in sums if sums[s]], repeat=len(others)):
            score = own * C + sum(a * s for a, s in zip(others, values))
            law[score] = law.get(score, 0) + math.prod(sums[s] for s in values) / len(weights)
    return law


def _wrong_and_tied(weights: tuple[int, ...], C: int, q: Fraction) -> tuple[Fraction, Fraction]:
    law = _law(weights, C, q)
    return sum((p for score, p in law.items() if score < 0), Fraction(0)), law.get(0, Fraction(0))


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


def test_unequal_weights_fall_below_an_eighth_where_equal_ones_do_not():
    """L = 6, C = 2, q = 0.31: the best threshold lies between two scores, on the one side or the other."""
    least = []
    for weights in ((3,) * 6, (3, 3, 3, 3, 3, 4)):
        law = {score: float(p) for score, p in _law(weights, 2, Fraction(31, 100)).items()}
        cuts = [score + side for score in (*law, *(-score for score in law)) for side in (-0.5, 0.5)]
        errors = [sum(p * ((g < cut) + (-g > cut)) for g, p in law.items()) / 2 for cut in cuts]
        found = weighted.best_monotone_error(weighted.weighted_law(np.array(weights), 2, 0.31))
        least.append(min(errors))
        assert found == pytest.approx(least[-1], abs=1e-12)
    assert least[1] < 1 / 8 < least[0]


@given(weights=st.lists(st.integers(2, 5), min_size=2, max_size=6), C=st.integers(1, 4), q=st.floats(0.05, 1))
@settings(max_examples=100)
def test_what_unequal_weights_win_is_bounded(weights, C, q):
    n = (len(weights) - 1) * C
    error = weighted.best_monotone_error(weighted.weighted_law(np.array(weights), C, q))
    most = (0.469 + 0.56 * max(weights) / min(weights)) / math.sqrt(q * n)
    assert error >= linear_error(n + C, C, q, "half") - most


@pytest.mark.parametrize("q", [1.0, 0.05])
def test_large_sets_reach_the_limits_of_the_bounds(q):
    """Both are approached from below."""
    C, chi = 48, 8.0
    D = C * round(chi * C / q)
    sets = quad(lambda x: norm.cdf(-1 / math.sqrt(chi * x)), 0, 1)[0]
    assert 0.025 > norm.cdf(-2 / math.sqrt(chi)) - linear_bounds.any_weights_bound(D, C, q) > 0
    assert 0.01 > sets - linear_bounds.set_weights_bound(D, C, q) > 0


@given(weights=st.lists(st.integers(8, 9), min_size=2, max_size=6), C=st.integers(1, 5), q=st.floats(0.05, 1))
@settings(max_examples=100)
def test_weights_of_nearly_one_size_win_at_most_half_a_step(weights, C, q):
    error = weighted.best_monotone_error(weighted.weighted_law(np.array(weights), C, q))
    assert error >= _loud((len(weights) - 1) * C, q, C) - 1e-12


@pytest.mark.parametrize(
    ("weights", "q", "equal"), [((3, 3, 3, 4), 0.5, 0.1334), ((3,) * 5 + (4,), 0.31, 0.1340)]
)
def test_unequal_weights_win_only_with_a_threshold_off_the_middle(weights, q, equal):
    """Every input of both labels, one by one: the error at each threshold, and which is least."""
    law = weighted.weighted_law(np.array(weights), 2, q)
    score, chance = law.support, law.mass

    def error(at):
        wrong = [(score < at) + (score == at) / 2, (-score > at) + (-score == at) / 2]
        return sum(float(chance @ each) for each in wrong) / 2

    least, threshold = weighted.best_threshold(law)
    assert threshold == 1.5 and least == pytest.approx(error(1.5), abs=1e-12)
    assert least == pytest.approx(weighted.best_monotone_error(law), abs=1e-12)
    assert least == pytest.approx(min(error(half / 2) for half in range(40)), abs=1e-12)
    assert least < round(equal, 4) < weighted.threshold_error(law, 0) == pytest.approx(error(0), abs=1e-12)
    with pytest.raises(ValueError, match="threshold"):
        weighted.threshold_error(law, math.nan)
