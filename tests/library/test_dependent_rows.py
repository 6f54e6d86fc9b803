"""Attention from its function without independent rows: few patches need none, many patches need some."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import least_squares, linear_sum_assignment


def twins(D, p, delta):
    """Rows 1/D + t_i e, t_i the roots of T_(p+1)(t) = delta for Chebyshev's T; the others fixed."""
    t = np.cos((math.acos(delta) + 2 * math.pi * np.arange(p + 1)) / (p + 1))
    e = np.zeros(D)
    e[:2] = 0.9 / D, -0.9 / D
    rest = np.full((D - p - 1, D), 1 / D)
    for k, row in enumerate(rest):
        row[:3] += np.array([1, 1, -2]) * (k + 1) / (4 * D * D)
    return np.vstack([1 / D + t[:, None] * e, rest])


def _apart(S, T, x, k):
    one, other = (x @ S.T) ** k, (x @ T.T) ** k
    return np.abs(one.sum(1) - other.sum(1)).max() / np.abs(one).sum(1).max()


@pytest.mark.parametrize(("D", "p"), [(4, 3), (9, 3), (6, 5), (8, 7)])
def test_dependent_rows_hide_a_continuum(D, p):
    S, T = twins(D, p, 0.3), twins(D, p, -0.4)
    x = np.random.default_rng(0).standard_normal((200, D))
    for R in (S, T):
        assert R.min() > 0 and abs(R.sum(1) - 1).max() < 1e-12
        assert min(np.abs(R[i] - R[j]).max() for i in range(D) for j in range(i)) > 1e-4
    # Both parts of the activation, to rounding; one degree further the functions are apart. (Reading x less
    # its mean leaves t_i <e, x>, so that the difference is not a small part of the whole.)
    assert max(_apart(S, T, x, k) for k in (1, p)) < 1e-13
    assert _apart(S, T, x - x.mean(1, keepdims=True), p + 1) > 1e-5
    distance = ((S[:, None] - T[None]) ** 2).sum(2)
    assert distance[linear_sum_assignment(distance)].sum() > 1e-6


@pytest.mark.parametrize("p", [3, 5])
def test_an_adversary_finds_no_twin_of_few_dependent_rows(p):
    """D = 3 <= p patches whose rows lie on one line: fit the function from many starts, compare the rows."""
    D, rng = 3, np.random.default_rng(p)
    e = np.array([0.2, -0.15, -0.05])
    S = 1 / 3 + np.array([1.0, 0.2, -0.7])[:, None] * e
    x = rng.standard_normal((60, D))
    target, fits = ((D * x @ S.T) ** p).sum(1), 0
    for _ in range(10):

        def off(z):
            T = np.exp(z.reshape(D, D))
            T /= T.sum(1, keepdims=True)
            return ((D * x @ T.T) ** p).sum(1) - target

        found = least_squares(off, rng.standard_normal(D * D), xtol=1e-15, ftol=1e-15, gtol=1e-15)
        if np.abs(found.fun).max() < 1e-9:
            fits += 1
            T = np.exp(found.x.reshape(D, D))
            T /= T.sum(1, keepdims=True)
            distance = ((S[:, None] - T[None]) ** 2).sum(2)
            assert distance[linear_sum_assignment(distance)].sum() < 1e-6
    assert fits >= 2
