"""Which attentions compute the same function: the theorem of the chapter on attention, without the library.

With x = (<v, X_j>)_j the function is F(x) = sum_i <s_i, x>^p + nu sum_i <s_i, x>, s_i the rows of attention.
Whole numbers here, rows that sum to the same: equality is exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from scipy.optimize import least_squares, linear_sum_assignment


def rows_with_sum(columns: int, total: int) -> list[tuple[int, ...]]:
    """All rows of whole numbers, none negative, with that sum."""
    if columns == 1:
        return [(total,)]
    return [
        (first, *rest) for first in range(total + 1) for rest in rows_with_sum(columns - 1, total - first)
    ]


def function_of(rows, degree: int) -> tuple[int, ...]:
    """The coefficients of sum_i <s_i, x>^p, but for the multinomial factors: one for each monomial."""
    rows = np.array(rows)
    monomials = combinations_with_replacement(range(rows.shape[1]), degree)
    return tuple(int(np.prod(rows[:, list(monomial)], axis=1).sum()) for monomial in monomials)


def determined(rows, degree: int) -> bool:
    """Whether the theorem says that the function determines the rows."""
    distinct = np.unique(rows, axis=0)
    if np.linalg.matrix_rank(distinct) < len(distinct):
        return False
    disjoint = ((distinct > 0).sum(axis=0) <= 1).all()
    return degree >= 5 or len(distinct) == len(rows) or bool(disjoint)


@pytest.mark.parametrize(("size", "total", "degree"), [(3, 5, 3), (3, 4, 5), (4, 2, 3), (4, 2, 5)])
def test_every_small_attention_is_told_by_its_function(size, total, degree):
    """All matrices whose rows have whole numbers with this sum, each set of rows once."""
    owners: dict[tuple[int, ...], list] = {}
    for rows in combinations_with_replacement(rows_with_sum(size, total), size):
        owners.setdefault(function_of(rows, degree), []).append(rows)
    told = [group for group in owners.values() if any(determined(rows, degree) for rows in group)]
    assert len(told) > 100
    assert all(len(group) == 1 for group in told)


def test_cubes_do_not_tell_rows_that_are_equal_apart():
    """Four rows that read two patches with whole weights up to seven: one coincidence at 3, none at 5."""
    segment = [(weight, 7 - weight, 0, 0) for weight in range(8)]
    for degree, coincidences in ((3, 1), (5, 0)):
        owners: dict[tuple[int, ...], list] = {}
        for rows in combinations_with_replacement(segment, 4):
            owners.setdefault(function_of(rows, degree), []).append(sorted(row[0] for row in rows))
        shared = [group for group in owners.values() if len(group) > 1]
        assert len(shared) == coincidences, shared
        assert all(group == [[0, 3, 4, 7], [1, 1, 6, 6]] for group in shared)


@pytest.mark.parametrize(("x", "y"), [("7/5", "1/5"), ("17/13", "7/13"), ("31/25", "17/25")])
def test_the_continuum_has_the_power_sums_of_zero_zero_one_one(x, y):
    """Rational points with 1 + 4 s = x^2 and 1 - 4 s = y^2."""
    x, y = Fraction(x), Fraction(y)
    assert x**2 + y**2 == 2
    roots = [(1 + x) / 2, (1 - x) / 2, (1 + y) / 2, (1 - y) / 2]
    sums = [sum(root**k for root in roots) for k in range(1, 6)]
    assert sums[:3] == [2, 2, 2] and sums[3] != 2 and sums[4] != 2


def test_a_search_finds_only_the_rows_in_another_order():
    """Least squares from random starts, at an attention without equal rows, in degree three.

    A descent that ends at residual zero anywhere else would refute the theorem.
    """
    generator = np.random.default_rng(0)
    scores = generator.standard_normal((4, 4)) + 2 * np.eye(4)
    truth = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    tests = generator.standard_normal((60, 4))
    target = ((tests @ truth.T) ** 3).sum(axis=1)

    def attention(free):
        free = free.reshape(4, 4)
        weights = np.exp(free - free.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    reached = 0
    for _ in range(12):
        found = least_squares(
            lambda free: ((tests @ attention(free).T) ** 3).sum(axis=1) - target,
            2 * generator.standard_normal(16),
            xtol=1e-15, ftol=1e-15, gtol=1e-15,
        )  # fmt: skip
        if found.cost < 1e-24:
            reached += 1
            other = attention(found.x)
            assert min(np.abs(other[list(order)] - truth).max() for order in permutations(range(4))) < 1e-6
    assert reached >= 3, "the search must reach the function from some starts"


# --- Attention from its function without independent rows: few patches need none, many patches need some


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
