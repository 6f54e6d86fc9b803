"""What removing tokens does, against enumerations that were written without the library."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shallow_oracle import printed_mass

from patch_lab.shallow_vit.sparsify import (
    attention_received,
    fractions_after,
    least_risk_after_random_removal,
)


@given(
    n=st.tuples(st.integers(1, 5), st.integers(0, 4), st.integers(0, 4)).filter(lambda n: n[1] < n[0]),
    kept=st.integers(1, 9),
)
def test_no_function_beats_the_floor_of_random_removal(n, kept):
    """Every subset of every class by hand; the best output for each bag of patterns by trying both kinks."""
    L = sum(n)
    kept = min(kept, L)
    chance = {}
    for side, counts in enumerate((n, (n[1], n[0], n[2]))):
        tokens = [j for j, many in enumerate(counts) for _ in range(many)]
        for subset in combinations(range(L), kept):
            bag = tuple(sorted(tokens[k] for k in subset))
            chance.setdefault(bag, [0, 0])[side] += 1 / math.comb(L, kept)
    # The hinge risk of a bag is convex and piecewise linear in the output, with kinks at -1 and 1.
    best = sum(
        min(0.5 * p * max(1 - F, 0) + 0.5 * q * max(1 + F, 0) for F in (-1, 1)) for p, q in chance.values()
    )
    assert least_risk_after_random_removal(L, n[0] / L, n[1] / L, kept) == pytest.approx(best, abs=1e-12)


@given(
    counts=st.tuples(st.integers(1, 6), st.integers(0, 5), st.integers(0, 4)).filter(lambda n: n[1] < n[0]),
    data=st.data(),
)
def test_fractions_after_removal_are_counted_and_the_margin_grows(counts, data):
    a, b, others = counts
    gone = data.draw(st.integers(0, 10))
    # Ten times the tokens, so that a tenth of every pattern can go.
    L, share = 10 * (a + b + others), gone / 10
    left = (10 * a, (10 - gone) * b, (10 - gone) * others)
    found = fractions_after(10 * a / L, 10 * b / L, share)
    assert found == pytest.approx((left[0] / sum(left), left[1] / sum(left)), abs=1e-12)
    more = fractions_after(10 * a / L, 10 * b / L, min(1.0, share + 0.05))
    if b + others and share < 1:
        assert more[0] - more[1] > found[0] - found[1]


@given(st.lists(st.integers(1, 5), min_size=3, max_size=5), st.floats(0.1, 3))
def test_a_token_receives_what_the_printed_softmax_gives_it(counts, score):
    M = len(counts)
    pattern = torch.tensor([j for j, n in enumerate(counts) for _ in range(n)])
    X = torch.eye(M, dtype=torch.float64)[pattern]
    root = score**0.5 * torch.eye(M, dtype=torch.float64)
    received = attention_received(torch.tensor(counts).double() / sum(counts), score)
    for j in range(M):
        # printed_mass averages over queries; one token gets that of its pattern over its count.
        by_hand = float(printed_mass(root, root, X, pattern == j)) * len(pattern) / counts[j]
        assert float(received[j]) == pytest.approx(by_hand, abs=1e-12)
    order = np.argsort(np.array(counts), kind="stable")
    assert (np.diff(received.numpy()[order]) > -1e-12).all(), "the common patterns receive most"
