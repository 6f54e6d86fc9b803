"""Theorem 3.1's quantities against enumeration at small sizes and integers at large ones."""

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest
import torch
from enumeration import (
    coefficients_of_power,
    consecutive_sets,
    error_of_sign,
    inputs,
    labeling,
    law_of,
    set_sums,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from patch_association.exact.labels import bayes_error
from patch_association.exact.linear import (
    BOUNDARY,
    labeling_error,
    labeling_law,
    linear_error,
)
from patch_association.training.gradients import accumulate
from patch_lab.setting.labels import labeling_bounds
from patch_lab.setting.linear_bounds import any_weights_bound, any_weights_boundary
from patch_lab.setting.weighted import (
    best_arbitrary_error,
    best_monotone_error,
    critical_q,
    decode_sums,
    decoding_weights,
    search_weights,
    weighted_law,
)
from patch_lab.transfer.sample_bounds import genie_error, known_sets_error, lower_bound
from patch_lab.transfer.sample_limits import samples_per_set

SMALL = [(1, 1), (3, 1), (4, 2), (4, 4), (6, 2), (6, 3), (8, 4), (8, 2), (9, 3)]
QS = [Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(7, 8), Fraction(1)]


@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize(("D", "C"), SMALL)
def test_linear_and_labeling_error_by_enumeration(D, C, q):
    sets = consecutive_sets(D, C)
    for ties, share in (("error", Fraction(1)), ("half", Fraction(1, 2))):
        expected = error_of_sign(sum, sets, q, share)
        assert linear_error(D, C, float(q), ties) == pytest.approx(float(expected), abs=1e-12)
    expected = error_of_sign(lambda s: labeling(s, sets), sets, q, Fraction(1))
    assert labeling_error(D, C, float(q)) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize(("D", "C"), [(6, 2), (6, 3), (8, 4)])
def test_labeling_law_by_enumeration(D, C):
    sets, q = consecutive_sets(D, C), Fraction(5, 8)
    law = labeling_law(D, C, float(q))
    expected = {}
    for (y, f), p in law_of(lambda s: labeling(s, sets), sets, q).items():
        expected[y * f] = expected.get(y * f, 0) + p
    for k in {*law.support.tolist(), *expected}:
        assert law.at(k) == pytest.approx(float(expected.get(k, 0)), abs=1e-12)


@pytest.mark.parametrize("q", [Fraction(1, 16), Fraction(3, 8), Fraction(15, 16)])
def test_large_sizes_against_integers_and_in_time(q):
    """D = 2048, C = 32: the powers of two polynomials in whole numbers, by another algorithm."""
    D, C = 2048, 32
    started = time.process_time()
    computed = (
        linear_error(D, C, float(q)),
        linear_error(D, C, float(q), "half"),
        labeling_error(D, C, float(q)),
    )
    assert time.process_time() - started < 1
    a, b = q.numerator, q.denominator - q.numerator  # q/2 : 1 - q = a : 2b, in units of 1 / 2 denominator
    whole = (2 * q.denominator) ** (D - C)
    power = coefficients_of_power([a, 2 * b, a], D - C)
    below, at = sum(power[: D - C - C]), power[D - C - C]
    assert computed[0] == pytest.approx(float(Fraction(below + at, whole)), rel=1e-11)
    assert computed[1] == pytest.approx(float(Fraction(2 * below + at, 2 * whole)), rel=1e-11)

    one_set, unit = coefficients_of_power([a, 2 * b, a], C), (2 * q.denominator) ** C
    passed = [p if abs(k - C) > 0.9 * C else 0 for k, p in enumerate(one_set)]
    passed[C] = unit - sum(passed)  # the sets that do not pass add nothing
    L = D // C
    total = coefficients_of_power(passed, L - 1)
    lost = sum(total[: C * (L - 1) - C + 1])  # the others add up to -C or less
    assert computed[2] == pytest.approx(float(Fraction(lost, unit ** (L - 1))), rel=1e-10)


@settings(max_examples=25)
@given(
    st.sampled_from([(12, 3), (16, 4), (64, 4), (256, 16)]),
    st.floats(0.01, 0.3),
    st.sampled_from(["half", "error"]),
)
def test_critical_q_is_where_the_error_is_reached_first(size, error, ties):
    q = critical_q(*size, error, ties)
    grid = np.linspace(0, 1, 301)
    if q is None:
        assert all(linear_error(*size, x, ties) < error for x in grid)
    else:
        assert linear_error(*size, q, ties) == pytest.approx(error, abs=1e-10)
        assert all(linear_error(*size, x, ties) < error for x in grid if x < q - 1e-9)


def test_critical_q_at_the_edges():
    assert critical_q(4, 4) is None  # one set: never wrong
    assert critical_q(16, 4, error=0) == 0
    # 0.3 = q - 3 q^2 / 4
    assert critical_q(3, 1, error=0.3, ties="error") == pytest.approx((1 - 0.1**0.5) * 2 / 3)
    assert critical_q(3, 1, error=0.34, ties="error") is None


def test_the_boundary_is_the_limit():
    assert BOUNDARY == pytest.approx(stats.norm.isf(1 / 8) ** -2) and 0.7556 < BOUNDARY < 0.7558
    gaps = []
    for C in (4, 16, 64):
        D = 8 * C * C
        gaps.append(abs(critical_q(D, C) * (D - C) / C**2 - BOUNDARY))
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 2e-3


@st.composite
def weights_and_sizes(draw):
    """One weight per set, or one per patch."""
    L, C = draw(st.sampled_from([(1, 2), (2, 1), (2, 3), (3, 2), (4, 1), (4, 2)]))
    weight = (
        st.integers(-3, 3) if draw(st.booleans()) else st.lists(st.integers(-3, 3), min_size=C, max_size=C)
    )
    return draw(st.lists(weight, min_size=L, max_size=L)), L, C


@settings(max_examples=40)
@given(weights_and_sizes(), st.sampled_from(QS))
def test_weighted_law_and_best_links_by_enumeration(case, q):
    weights, L, C = case
    sets = consecutive_sets(L * C, C)
    per_patch = [w for row in weights for w in (row if isinstance(row, list) else [row] * C)]

    def score(s):
        return sum(weight * coefficient for weight, coefficient in zip(per_patch, s))

    joint = law_of(score, sets, q)
    expected = {}
    for (y, g), p in joint.items():
        expected[y * g] = expected.get(y * g, 0) + p
    law = weighted_law(weights, C, float(q))
    for k in {*law.support.tolist(), *expected}:
        assert law.at(k) == pytest.approx(float(expected.get(k, 0)), abs=1e-12)

    values = sorted({g for _, g in joint})
    free = sum(min(joint.get((1, g), 0), joint.get((-1, g), 0)) for g in values)
    assert best_arbitrary_error(law) == pytest.approx(float(free), abs=1e-12)
    # A monotone link is a threshold, either way up: positive from some value on, or up to it.
    thresholds = []
    for t in [*values, values[-1] + 1]:
        rising = sum(p for (y, g), p in joint.items() if (g >= t) != (y == 1))
        thresholds += [rising, 1 - rising]
    assert best_monotone_error(law) == pytest.approx(float(min(thresholds)), abs=1e-12)


@pytest.mark.parametrize(("L", "C"), [(2, 1), (3, 2), (2, 4)])
def test_decoding_reads_every_set_sum_and_reaches_the_labeling_error(L, C):
    sets, q, wrong = consecutive_sets(L * C, C), Fraction(3, 4), Fraction(0)
    weights = decoding_weights(L, C)
    for p, y, _, s in inputs(sets, q):
        sums = set_sums(s, sets)
        spelled = decode_sums(sum(w * n for w, n in zip(weights, sums)), L, C).tolist()
        assert spelled == sums
        wrong += p * (y * sum(n for n in spelled if 10 * abs(n) > 9 * C) <= 0)
    assert labeling_error(L * C, C, float(q)) == pytest.approx(float(wrong), abs=1e-12)


def test_a_sum_of_exactly_nine_tenths_does_not_pass():
    """C = 10: nine is 0.9 C, and 0.9 C is not above itself."""
    q = 0.9
    law = labeling_law(20, 10, q)
    assert law.at(10 + 9) == law.at(10 - 9) == 0
    assert law.at(10 + 10) == pytest.approx((q / 2) ** 10, rel=1e-12)
    assert law.at(10) == pytest.approx(1 - 2 * (q / 2) ** 10, rel=1e-12)


# --- The exact room by hand: expansions, edges of searches, and draws that need no many-sample bound


def test_bounds_begin_and_end_where_they_say():
    D = any_weights_boundary(4, 0.3, error=0.1)
    assert any_weights_bound(D, 4, 0.3) >= 0.1 > any_weights_bound(D - 4, 4, 0.3)
    for q, error in ((0.0, 0.1), (0.3, 0.45)):
        with pytest.raises(ValueError, match="the bound reaches error at usable sizes only for"):
            any_weights_boundary(4, q, error)
    floor = known_sets_error(16, 4, 0.9)
    with pytest.raises(ValueError, match="error must be above"):
        lower_bound(16, 4, 0.9, floor)
    N = lower_bound(16, 4, 0.9, 1.001 * floor)
    assert genie_error(16, 4, 0.9, N) <= 1.001 * floor < genie_error(16, 4, 0.9, N - 1)
    assert lower_bound(16, 4, 0.9, 0.5) == 0
    assert samples_per_set(lambda t: 1 - t / 4, 0.25) == pytest.approx(3, abs=1e-4)
    assert samples_per_set(lambda t: 1 - t / 4, 0.25) >= 3 and samples_per_set(lambda t: 0.0, 0.1) <= 1e-4
    assert samples_per_set(lambda t: 1 - t / 4, 0.5, most=2.0) == 2.0
    with pytest.raises(ValueError, match=r"the error must reach 0\.25 by t = 2, got 0\.5 there"):
        samples_per_set(lambda t: 1 - t / 4, 0.25, most=2.0)


def test_among_weights_of_equal_error_the_first_is_returned():
    """One set: whatever its weight, the sign is the same."""
    error, weights = search_weights(1, 2, 0.4, largest=3)
    assert weights.tolist() == [1] and error == pytest.approx(0, abs=1e-15)


def test_an_output_of_zero_is_half_an_error():
    X, y = torch.ones(1, 3, 4, 2, dtype=torch.float64), torch.tensor([[1.0, -1.0, 1.0]], dtype=torch.float64)
    S = torch.full((1, 4, 4), 0.25, dtype=torch.float64)
    for entry, wrong in ((0.0, 1.5), (1.0, 1.0), (-1.0, 2.0)):
        value = torch.full((1, 2), entry, dtype=torch.float64)
        assert accumulate(X, y, S, value, 3, 0.1, 1.0).wrong.tolist() == [wrong]


# --- The Bayes error and the bounds on the labeling error, against enumeration


@pytest.mark.parametrize("size", [(6, 2), (6, 3), (8, 4), (9, 3)])
@pytest.mark.parametrize("q", [0.2, 0.5, 1.0])
def test_bayes_error_by_enumeration(size, q):
    D, C = size
    s = np.array(list(itertools.product((-1, 0, 1), repeat=D)))
    blocks = s.reshape(len(s), D // C, C)
    p = np.where(s == 0, 1 - q, q / 2)

    def likelihood(y):  # mean over signal sets of 1[the set is all y] times the law of the rest
        total = np.zeros(len(s))
        for signal in range(D // C):
            rest = np.delete(p.reshape(blocks.shape), signal, axis=1).prod(axis=(1, 2))
            total += (blocks[:, signal] == y).all(axis=1) * rest
        return total / (D // C)

    least = np.minimum(likelihood(1), likelihood(-1)).sum() / 2
    assert bayes_error(D, C, q) == pytest.approx(least, abs=1e-13)


sizes = st.tuples(st.integers(1, 24), st.integers(1, 6)).map(lambda t: (t[0] * t[1], t[0]))
probabilities = st.floats(0, 1)


@given(sizes, probabilities)
def test_bounds_hold(size, q):
    low, high = labeling_bounds(*size, q)
    error = labeling_error(*size, q)
    assert low <= error * (1 + 1e-9) + 1e-15 and error <= high * (1 + 1e-9) + 1e-15


@given(sizes, probabilities)
def test_labeling_function_is_bayes_up_to_ten(size, q):
    law = labeling_law(*size, q)
    halves = law.below(0) + law.at(0) / 2
    bayes = bayes_error(*size, q)
    assert bayes <= halves * (1 + 1e-9) + 1e-15
    if size[1] <= 10:
        assert bayes == pytest.approx(halves, rel=1e-9, abs=1e-15)


def test_the_bounds_on_the_labeling_error_by_hand():
    """C = 11 lets ten through, C = 10 asks for all (9 is not above 9); three sets, so M = 2."""
    for C, passed in ((10, 0.25**10), (11, 0.25**11 + 11 * 0.5 * 0.25**10)):
        r = 0.25**C
        low, high = labeling_bounds(3 * C, C, 0.5)
        assert low == pytest.approx(2 * r * (1 - 2 * passed), rel=1e-12)
        assert high == pytest.approx(2 * r + (C > 10) * (2 * passed) ** 2 / 2, rel=1e-12)
    assert labeling_bounds(200, 1, 1.0) == (0.0, 1.0)  # a sign a patch: the bounds say nothing
