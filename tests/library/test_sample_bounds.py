"""The lower bound: against the Bayes risk by enumeration, its closed form, and every learner that is here."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from enumeration import all_partitions, inputs
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_association.data import SpatialData
from patch_association.exact.linear import linear_error
from patch_association.structure import Partition
from patch_lab.transfer.discovery import likelihood_sets
from patch_lab.transfer.sample_bounds import (
    genie_error,
    known_sets_error,
    lower_bound,
    unseen_sets,
)


def brute_genie(D, C, q, N, told):
    """Bayes risk by summing over partitions, the signal sets of the samples, and every test input.

    The training coefficients outside the signal set carry no information on the partition, so the
    learner's knowledge is the collection of seen sets (and, if told, whether the test's was seen).
    """
    partitions = [sorted(map(sorted, p)) for p in all_partitions(list(range(D)), C)]
    joint = {}
    for sets in partitions:
        for draws in itertools.product(range(len(sets)), repeat=N):
            seen = frozenset(tuple(sets[i]) for i in draws)
            for mass, y, signal, s in inputs(sets, Fraction(q).limit_denominator(100)):
                hint = (tuple(sets[signal]) in seen) if told else None
                pair = joint.setdefault((seen, hint, tuple(s)), [0.0, 0.0])
                pair[y > 0] += float(mass) / len(partitions) / len(sets) ** N
    return sum(min(pair) for pair in joint.values())


@pytest.mark.parametrize("N", [0, 1, 2])
@pytest.mark.parametrize("q", [0.3, 0.9])
def test_genie_error_is_the_bayes_risk_by_enumeration(N, q):
    assert genie_error(6, 2, q, N) == pytest.approx(brute_genie(6, 2, q, N, told=False), abs=1e-12)


def test_told_bound_is_below_and_close_to_enumeration():
    """Told whether the set was seen, the rest can be ambiguous: the formula is a lower bound."""
    for N in (0, 1, 2):
        weak, brute = genie_error(6, 2, 0.5, N, told=True), brute_genie(6, 2, 0.5, N, told=True)
        assert weak <= brute + 1e-12 and brute <= genie_error(6, 2, 0.5, N) + 1e-12


@given(
    L=st.integers(2, 60),
    C=st.integers(2, 5),
    kappa=st.floats(0.2, 2),
    N=st.integers(0, 60),
    share=st.floats(0.05, 0.95),
)
@settings(max_examples=60)
def test_the_bound_stays_above_its_closed_form(L, C, kappa, N, share):
    """The corollary: (1 - 1 / (4 L h^2)) x e0 of ceil(x L) hidden sets, x = u - h and u = (1 - 1/L)^N."""
    D, q = C * L, min(1.0, kappa * C / L)
    u = (1 - 1 / L) ** N
    law, m = unseen_sets(L, N), np.arange(L + 1)
    assert law @ (m - u * L) ** 2 <= L / 4 + 1e-9
    h = share * u
    closed = (1 - 1 / (4 * L * h**2)) * (u - h) * linear_error(C * math.ceil((u - h) * L), C, q, ties="half")
    assert genie_error(D, C, q, N, told=True) >= closed - 1e-14


@given(L=st.integers(4, 12), error=st.floats(0.03, 0.12))
@settings(max_examples=15)
def test_lower_bound_is_where_the_curve_crosses(L, error):
    D, q = 4 * L, 4 / L
    try:
        N = lower_bound(D, 4, q, error)
    except ValueError:
        assert known_sets_error(D, 4, q) >= error
        return
    assert genie_error(D, 4, q, N) <= error and (N == 0 or genie_error(D, 4, q, N - 1) > error)
    assert lower_bound(D, 4, q, error, told=True) <= N


def test_no_learner_here_beats_the_genie():
    """Greedy likelihood at N = 4 L / 2, over 12 partitions of 600 tests, with 4 standard errors of slack."""
    D, N = 64, 32
    errors = []
    for seed in range(12):
        data = SpatialData(Partition.random(D, 4, seed), 32, 16 / D)
        s, y, _ = data.sample_coefficients(N, seed)
        found = likelihood_sets(s * y[:, None] > 0, 4)
        s, y, _ = data.sample_coefficients(600, seed + 100)
        margin = y * found.score(s > 0, s < 0)
        errors.append((margin < 0).mean() + 0.5 * (margin == 0).mean())
    floor = genie_error(D, 4, 16 / D, N)
    assert np.mean(errors) > floor and np.mean(errors) < linear_error(D, 4, 16 / D, ties="half")
