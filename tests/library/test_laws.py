"""Laws of integer sums, against sums that are spelled out."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from enumeration import coefficients_of_power
from hypothesis import given
from hypothesis import strategies as st

from patch_association.exact import integer_sums
from patch_association.exact.integer_sums import IntegerLaw, trinomial
from patch_lab.setting.weighted import mixed_law


@st.composite
def integer_laws(draw):
    size = draw(st.integers(1, 5))
    mass = np.array(draw(st.lists(st.integers(1, 9), min_size=size, max_size=size)), dtype=float)
    return IntegerLaw(draw(st.integers(-6, 6)), mass / mass.sum())


def as_dict(law):
    return {int(k): float(p) for k, p in zip(law.support, law.mass)}


def assert_same(law, expected):
    computed = as_dict(law)
    for k in computed.keys() | expected.keys():
        assert computed.get(k, 0.0) == pytest.approx(expected.get(k, 0.0), abs=1e-14)


@given(integer_laws(), integer_laws(), st.integers(0, 5), st.integers(-12, 12))
def test_sums_copies_shifts_maps_and_probabilities(a, b, n, k):
    expected, squares, total = {}, {}, IntegerLaw(0, np.ones(1))
    for (i, p), (j, r) in itertools.product(as_dict(a).items(), as_dict(b).items()):
        expected[i + j] = expected.get(i + j, 0.0) + p * r
    assert_same(a + b, expected)
    for _ in range(n):
        total = total + a
    assert_same(a.times(n), as_dict(total))
    assert as_dict(a.shift(k)) == {j + k: p for j, p in as_dict(a).items()}
    for j, p in as_dict(a).items():
        squares[j * j] = squares.get(j * j, 0.0) + p
    assert_same(a.map(lambda j: j * j), squares)
    assert a.below(k) == pytest.approx(sum(p for j, p in as_dict(a).items() if j < k), abs=1e-15)
    assert a.at(k) == as_dict(a).get(k, 0.0)


@given(integer_laws(), integer_laws(), st.floats(0, 1))
def test_mixtures(a, b, weight):
    expected = {
        k: (1 - weight) * as_dict(a).get(k, 0) + weight * as_dict(b).get(k, 0)
        for k in {*as_dict(a), *as_dict(b)}
    }
    assert_same(mixed_law([a, b], [1 - weight, weight]), expected)


@pytest.mark.parametrize("n", [0, 1, 7, 60])
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 8), Fraction(3, 4), Fraction(1)])
def test_trinomial_by_its_sum(n, q):
    """P[K = k] = sum over i of n! / (i + k)! i! (n - 2i - k)! times the chances."""
    law = trinomial(n, float(q))
    for k in range(-n, n + 1):
        exact = Fraction(0)
        for minus in range(n + 1):
            plus = minus + k
            if 0 <= plus and plus + minus <= n:
                ways = math.comb(n, plus) * math.comb(n - plus, minus)
                exact += ways * (q / 2) ** (plus + minus) * (1 - q) ** (n - plus - minus)
        assert law.at(k) == pytest.approx(float(exact), rel=1e-13, abs=1e-300)


def test_tails_keep_their_relative_accuracy():
    """2016 signs, q = 1/4: the whole law down to 1e-300 against integers."""
    n = 2016
    exact = coefficients_of_power([1, 6, 1], n)  # times 8^-n
    law = trinomial(n, 0.25)
    for k in range(-n, n + 1, 63):
        value = float(Fraction(exact[k + n], 8**n))
        if value > 1e-290:
            assert law.at(k) == pytest.approx(value, rel=1e-11)


def test_fourier_convolution_agrees_with_the_direct_one(monkeypatch):
    a, b = trinomial(200, 0.3), trinomial(100, 0.9)
    direct = (a + b).mass
    monkeypatch.setattr(integer_sums, "_DIRECT_PRODUCTS", 0)
    fourier = (a + b).mass
    assert (
        np.abs(direct - fourier).max() < 1e-15
        and (fourier >= 0).all()
        and not np.array_equal(direct, fourier)
    )
