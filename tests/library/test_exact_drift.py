"""The first move of the scores against the exact gradient at a tiny diagonal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.small_diagonal import small_diagonal_drift


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(2, 1), (4, 2), (6, 2), (6, 3), (4, 4), (12, 4), (16, 4), (24, 6)]),
    st.floats(0, 1),
    st.floats(-0.4, 0.4),
    st.sampled_from([3, 5]),
    st.floats(0, 1),
)
def test_it_is_the_limit_of_the_exact_gradient(size, q, alpha, degree, linear):
    (D, C), beta = size, 1e-4
    ours = small_diagonal_drift(D, C, q, alpha, degree, linear)
    risk = PopulationRisk(D, C, q, degree=degree, linear=linear)
    counts = np.array([D * (C - 1), D * (D - C)])
    # The mean of both sides of beta = 0 leaves an error of second order.
    sides = [-risk.gradient(alpha, b, 0.0, 0.0)[1:] / math.expm1(b) for b in (beta, -beta)]
    for mine, exact, count in zip(ours, np.mean(sides, axis=0) / np.maximum(1, counts), counts):
        if count == 0:
            assert math.isnan(mine)
        else:
            assert mine == pytest.approx(exact, rel=1e-5, abs=1e-8)


def test_signs():
    # While alpha is small, w is 1/2 on both sides of M = 0 and companions come together.
    inside, outside = small_diagonal_drift(16, 4, 0.8, 1e-3)
    assert inside > outside
    for D, C, q in [(16, 4, 0.8), (24, 4, 0.2), (9, 3, 1.0), (6, 2, 0.5)]:
        inside, outside = small_diagonal_drift(D, C, q, 1e-4)
        # 6 alpha^3 E[M (1 - s_a)(1 - s_b)] / (2 L), and that mean is C - 2 q.
        assert inside - outside == pytest.approx(3e-12 * (C - 2 * q) / (D / C), rel=1e-4)
    # At its end, where only the misclassified inputs still pull, they can be pushed apart.
    inside, outside = small_diagonal_drift(16, 4, 0.8, 0.3)
    assert inside < 0
