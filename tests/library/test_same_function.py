"""Which attentions compute the same function: the theorem of the chapter on attention, without the library.

With x = (<v, X_j>)_j the function is F(x) = sum_i <s_i, x>^p + nu sum_i <s_i, x>, s_i the rows of attention.
Whole numbers here, rows that sum to the same: equality is exact.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from scipy.optimize import least_squares


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
