"""The Bayes error and the bounds on the labeling error, against enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from patch_association.exact.labels import bayes_error
from patch_association.exact.linear import labeling_error, labeling_law
from patch_lab.setting.labels import labeling_bounds


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
