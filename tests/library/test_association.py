"""The association test against its definition: pairs counted one by one, ties broken in every order."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import scored_partitions

from patch_association.structure import Partition, association
from patch_lab.beyond import row_separation

finite_floats = st.floats(allow_nan=False, allow_infinity=False)


@given(scored_partitions(), st.integers(1, 3))
def test_a_stack_gives_what_its_matrices_give(case, copies):
    A, partition = case
    stack = np.stack([np.roll(A, k, axis=1) for k in range(copies)])
    found = association(stack, partition)
    for k in range(copies):
        for name, value in vars(association(stack[k], partition)).items():
            assert getattr(found, name).shape == (copies,)
            assert np.allclose(getattr(found, name)[k], value, rtol=1e-14, equal_nan=True), name


def top(scores, candidates, size, order):
    """The ``size`` highest of ``candidates``, ties going to whom ``order`` names first."""
    return set(sorted(candidates, key=lambda j: (-scores[j], order.index(j)))[:size])


def naive_recall(A, partition):
    """The mean over rows and over all orders in which ties can be broken."""
    D, C = partition.num_patches, partition.set_size
    total = Fraction(0)
    for i in range(D):
        others = [j for j in range(D) if j != i]
        companions = {j for j in others if partition.labels[j] == partition.labels[i]}
        orders = list(itertools.permutations(others))
        found = sum(len(top(A[i], others, C - 1, order) & companions) for order in orders)
        total += Fraction(found, len(orders) * (C - 1) * D)
    return float(total)


def naive_auc(A, partition):
    """Pairs of a companion and a stranger in one row, a tie counting one half."""
    D, rows = partition.num_patches, []
    for i in range(D):
        wins = []
        for j, k in itertools.product(range(D), repeat=2):
            companion = j != i and partition.labels[j] == partition.labels[i]
            if companion and partition.labels[k] != partition.labels[i]:
                wins.append(Fraction(2 if A[i, j] > A[i, k] else 1 if A[i, j] == A[i, k] else 0, 2))
        rows.append(sum(wins) / len(wins))
    return float(sum(rows) / D)


def naive_top_c(A, partition):
    """(strict, weak): is Top_C the own set under every order of ties, and under some order?"""
    D, C = partition.num_patches, partition.set_size
    strict, weak = True, True
    for i in range(D):
        own = {j for j in range(D) if partition.labels[j] == partition.labels[i]}
        hits = [top(A[i], range(D), C, order) == own for order in itertools.permutations(range(D))]
        strict, weak = strict and all(hits), weak and any(hits)
    return strict, weak


tiny = st.sampled_from(
    [Partition([0, 1, 0, 1]), Partition([0, 1, 1, 0, 0, 1]), Partition([2, 0, 1, 1, 0, 2])]
)


@st.composite
def tiny_scores(draw):
    partition = draw(tiny)
    D = partition.num_patches
    A = draw(hnp.arrays(np.float64, (D, D), elements=st.integers(-1, 1).map(float)))
    # Lift the own sets in some draws: else exact association is too rare to be tested.
    return A + draw(st.sampled_from([0, 1, 2, 3])) * partition.same_set, partition


@settings(max_examples=25)
@given(tiny_scores())
def test_recall_and_auc_with_ties_broken_in_every_order(case):
    A, partition = case
    measured = association(A, partition)
    assert measured.recall == pytest.approx(naive_recall(A, partition), abs=1e-12)
    assert measured.auc == pytest.approx(naive_auc(A, partition), abs=1e-12)


@settings(max_examples=25)
@given(tiny_scores())
def test_exact_is_top_c_under_every_order_and_weak_under_some(case):
    A, partition = case
    measured = association(A, partition)
    assert (measured.exact, measured.exact_weak) == naive_top_c(A, partition)


@given(st.one_of(scored_partitions(min_sets=2), scored_partitions(finite_floats, min_sets=2)))
def test_margin_and_exactness_row_by_row(case):
    A, partition = case
    measured = association(A, partition)
    gaps = []
    for i, row in enumerate(A.tolist()):
        inside = [a for j, a in enumerate(row) if partition.same_set[i, j]]
        gaps.append(min(inside) - max(a for j, a in enumerate(row) if not partition.same_set[i, j]))
    assert measured.margin == min(gaps)
    if partition.set_size > 1:
        assert measured.auc == pytest.approx(naive_auc(A, partition), abs=1e-12)
    assert measured.exact == (measured.margin > 0)
    assert measured.exact_weak == (measured.margin >= 0)


def test_margins_at_the_ends_of_float64():
    """Two scores near the ends of float64 lie infinitely far apart, without a warning."""
    sets = Partition([0, 0, 1, 1])
    far = np.where(sets.same_set, 1e308, -1e308)
    assert association(far, sets).margin == math.inf and association(-far, sets).margin == -math.inf
    assert row_separation(far, sets) == (1.0, 0.0) and row_separation(-far, sets) == (0.0, 1.0)


@pytest.mark.parametrize("D", [1, 3])
def test_one_set_has_nothing_to_separate(D):
    measured = association(np.eye(D), Partition([0] * D))
    assert measured.exact and measured.exact_weak
    assert measured.margin == math.inf and math.isnan(measured.auc)
    assert math.isnan(measured.recall) if D == 1 else measured.recall == 1


@pytest.mark.parametrize(
    ("scores", "came"),
    [
        (np.zeros((3, 3)), r"\(3, 3\)"),
        (np.zeros((4, 5)), r"\(4, 5\)"),
        (np.zeros(16), r"\(16,\)"),
        ([[1, 2], [3]], r"\[\[1, 2\], \[3\]\]"),
        (np.full((4, 4), np.nan), "16 NaN or infinite"),
        (np.diag([np.inf, 0, 0, 0]), "1 NaN or infinite"),
        (np.zeros((4, 4), dtype=complex), "complex128"),
        (torch.zeros(4, 4, dtype=torch.complex64), "complex64"),
        (np.full((4, 4), "a"), "<U1"),
    ],
)
def test_scores_that_are_no_matrix_of_finite_numbers(scores, came):
    with pytest.raises(ValueError, match=r"scores must .*" + came):
        association(scores, Partition([0, 0, 1, 1]))


@given(st.one_of(scored_partitions(min_sets=2, min_size=2), tiny_scores()))
def test_rows_that_separate_companions_from_strangers(case):
    A, partition = case
    D, toward, away = partition.num_patches, 0, 0
    for i in range(D):
        companions = [A[i, j] for j in range(D) if j != i and partition.same_set[i, j]]
        strangers = [A[i, j] for j in range(D) if not partition.same_set[i, j]]
        toward += all(a > b for a, b in itertools.product(companions, strangers))
        away += all(a < b for a, b in itertools.product(companions, strangers))
    assert row_separation(A, partition) == pytest.approx((toward / D, away / D), abs=1e-12)
    with pytest.raises(ValueError, match="telling companions from strangers needs both, got Partition"):
        row_separation(np.zeros((2, 2)), Partition([0, 1]))
    with pytest.raises(ValueError, match=r"scores must have shape \(4, 4\)"):  # a stack only where it may be
        row_separation(np.zeros((3, 4, 4)), Partition([0, 0, 1, 1]))
