"""Theorem 3.2's constructions: hard attention by enumeration, and attention scores row by row."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from enumeration import consecutive_sets, error_of_sign, set_sums
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import partitions
from torch.utils.flop_counter import FlopCounterMode

from patch_association.attention import positional_attention, self_attention, softmax_attention
from patch_association.data import SpatialData
from patch_association.model import SimplifiedViT
from patch_association.structure import Partition, association
from patch_lab.setting import constructions
from patch_lab.setting.constructions import (
    association_scores,
    derangement_scores,
    hard_attention_error,
    violations,
)
from patch_lab.setting.costs import (
    positional_attention_flops,
    self_attention_flops,
    simplified_flops,
)
from patch_lab.setting.noisy_scores import noisy_association


@pytest.mark.parametrize("q", [Fraction(1, 8), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize(
    ("D", "C", "pooled"), [(3, 1, 1), (6, 2, 1), (6, 3, 1), (6, 3, 2), (8, 2, 2), (8, 2, 4), (4, 4, 1)]
)
@pytest.mark.parametrize("degree", [3, 5])
def test_hard_attention_by_enumeration(D, C, pooled, degree, q):
    sets = consecutive_sets(D, C)

    def output(s):
        sums = set_sums(s, sets)
        return sum(sum(sums[i : i + pooled]) ** degree for i in range(0, len(sums), pooled))

    for ties, share in (("half", Fraction(1, 2)), ("error", Fraction(1))):
        expected = error_of_sign(output, sets, q, share)
        computed = hard_attention_error(D, C, float(q), degree, pooled, ties)
        assert computed == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("scores", [association_scores, derangement_scores])
def test_the_model_with_these_scores_errs_as_computed(scores):
    """4000 draws through model (T) itself, without its linear part; exact binomial bounds at 1e-9."""
    from sampler_checks import binomial_fits

    partition = Partition([0, 1, 2, 0, 1, 2])
    model = SimplifiedViT(6, 2, linear=0.0)
    with torch.no_grad():
        model.scores.copy_(torch.from_numpy(scores(partition, 60.0)))
        model.value.copy_(torch.tensor([1.0, 0.0]))
    X, y = SpatialData(partition, 2, 0.8, noise_std=0).sample(4000, seed=1)
    F = model(X).detach()
    F = torch.where(F.abs() < 1e-6, 0.0, F)  # the hard limit leaves exp(-60) of every other set
    assert binomial_fits(int((y * F <= 0).sum()), 4000, hard_attention_error(6, 2, 0.8, ties="error"))
    assert binomial_fits(
        int((y * F < 0).sum()),
        4000,
        2 * hard_attention_error(6, 2, 0.8) - hard_attention_error(6, 2, 0.8, ties="error"),
    )


@given(partitions(min_sets=2))
def test_association_and_derangement_scores(partition):
    D = partition.num_patches
    assert association(association_scores(partition, 2.5), partition).margin == 2.5
    deranged = derangement_scores(partition, 1.5)
    for i, j in itertools.product(range(D), repeat=2):
        follows = (partition.labels[i] + 1) % partition.num_sets == partition.labels[j]
        assert deranged[i, j] == (1.5 if follows else 0)
    assert not violations(deranged, partition).any()
    assert violations(association_scores(partition, 1.0), partition).all()


# --- Expected association of the truth plus noise, against counting and sampling


@pytest.mark.parametrize("size", [(4, 2), (8, 2), (12, 3), (64, 4)])
def test_pure_noise_is_at_chance(size):
    D, C = size
    expected = noisy_association(D, C, 1e9)
    assert expected.recall == pytest.approx((C - 1) / (D - 1), abs=1e-8)
    assert expected.auc == pytest.approx(0.5, abs=1e-8)
    # All C! (D-C)! / D! orders put the own set first.
    rows = 1 / len(list(itertools.combinations(range(D), C))) if D < 20 else None
    if rows:
        assert expected.exact == pytest.approx(rows**D, rel=1e-6)


def test_two_by_two_in_closed_form():
    # D = 4, C = 2: recall is P[one shifted normal beats two others], an orthant probability.
    u = 0.7
    covariance = [[2, 1], [1, 2]]  # of (companion - stranger 1, companion - stranger 2)
    orthant = stats.multivariate_normal(mean=[-u, -u], cov=covariance).cdf([0, 0])
    assert noisy_association(4, 2, 1 / u).recall == pytest.approx(orthant, abs=1e-5)


@pytest.mark.parametrize("noise", [0.25, 0.6])
def test_agrees_with_sampled_matrices(noise):
    partition, n = Partition.random(16, 4, seed=3), 600
    draws = [
        association(
            partition.same_set + noise * np.random.default_rng(s).standard_normal((16, 16)), partition
        )
        for s in range(n)
    ]
    expected = noisy_association(16, 4, noise)
    for name in ("exact", "recall", "auc"):
        values = np.array([getattr(d, name) for d in draws], dtype=float)
        # Six standard errors, and 1e-4 where the draws never vary: false alarms below 1e-8.
        bound = 6 * values.std(ddof=1) / np.sqrt(n) + 1e-4
        assert abs(values.mean() - getattr(expected, name)) < bound


# --- The operation counts, against PyTorch's own counter


def counted(function) -> int:
    with FlopCounterMode(display=False) as counter:
        function()
    return counter.get_total_flops()


@pytest.mark.parametrize("n, D, d", [(1, 3, 2), (5, 7, 4), (4, 6, 6)])
def test_formulas_equal_the_counter(n, D, d):
    X, P, v = torch.ones(n, D, d), torch.ones(D, d), torch.ones(d, 1)
    W = [torch.eye(d)] * 3
    S = torch.full((D, D), 1 / D)
    assert counted(lambda: self_attention(X, P, *W)) == self_attention_flops(n, D, d)
    assert counted(lambda: positional_attention(X, P, *W)) == positional_attention_flops(n, D, d)
    # (T) with v as a column: the counter leaves out products of a matrix and a plain vector.
    assert counted(lambda: (X @ v).squeeze(-1) @ S.T) == simplified_flops(n, D, d)


# --- The corrected Theorem 3.2: Gram matrices, chains, pairs, and the bound on hard attention


def _enumerated(row: np.ndarray, own: np.ndarray, C: int) -> tuple[bool, bool]:
    """(some Top_C meets the own set, every Top_C does), by visiting all choices of C patches."""
    meets = []
    for chosen in itertools.combinations(range(row.size), C):
        inside = np.isin(np.arange(row.size), chosen)
        if row[inside].min() >= row[~inside].max(initial=-np.inf):
            meets.append(bool((inside & own).any()))
    return any(meets), all(meets)


@given(entries=st.lists(st.integers(-1, 2), min_size=36, max_size=36))
@settings(max_examples=60)
def test_violations_agree_with_all_choices(entries):
    A, partition = np.array(entries, dtype=float).reshape(6, 6), Partition([0, 1, 2, 0, 1, 2])
    expected = np.array([_enumerated(A[i], partition.same_set[i], 2) for i in range(6)])
    assert (constructions.violations(A, partition, "strict") == expected[:, 0]).all()
    assert (constructions.violations(A, partition, "kind") == expected[:, 1]).all()
    by_index = constructions.violations(A, partition, "index")
    assert (expected[:, 1] <= by_index).all() and (by_index <= expected[:, 0]).all()


@given(
    seed=st.integers(0, 10**6),
    rank=st.integers(1, 6),
    whole=st.booleans(),
    shape=st.sampled_from([(8, 2), (9, 3), (12, 4), (6, 1)]),
)
@settings(max_examples=200)
def test_a_gram_matrix_violates_at_least_set_size_rows(seed, rank, whole, shape):
    D, C = shape
    rng = np.random.default_rng(seed)
    # Whole numbers make ties, exactly; the products are exact too.
    P = rng.integers(-2, 3, (D, rank)).astype(float) if whole else rng.standard_normal((D, rank))
    partition = Partition.random(D, C, seed=seed)
    for reading in ("index", "strict"):
        assert constructions.violations(P @ P.T, partition, reading).sum() >= C


@pytest.mark.parametrize("partition", [Partition.blocks(8, 8, 4, 2), Partition.random(60, 5, seed=2)])
def test_the_chain_violates_exactly_set_size_rows(partition):
    P = constructions.chain_encodings(partition)
    for reading in ("kind", "index", "strict"):
        bad = constructions.violations(P @ P.T, partition, reading)
        assert bad.sum() == partition.set_size
        assert set(partition.labels[bad]) == {partition.num_sets - 1}


def test_pairs_avoid_the_own_set_off_the_diagonal():
    partition = Partition.random(32, 4, seed=1)
    P = constructions.paired_encodings(partition, share=5.0, repel=0.2, lift=0.3)
    G, same = P @ P.T, partition.same_set
    pair = partition.labels[:, None] // 2 == partition.labels[None, :] // 2
    assert np.diag(G) == pytest.approx(5.0 + 3 * 0.2 + 0.3)
    assert G[pair & ~same] == pytest.approx(5.0)
    assert G[same & ~np.eye(32, dtype=bool)] == pytest.approx(4.8)
    assert G[~pair] == pytest.approx(0.0, abs=1e-12)
    assert not constructions.violations(np.round(G, 9), partition, "strict", diagonal=False).any()
    assert constructions.violations(np.round(G, 9), partition, "strict").sum() >= 4
    wanted = constructions.association_scores(partition, 3.0)
    W_Q, W_K = constructions.query_key_for(wanted, P)
    assert np.abs((P @ W_Q) @ (P @ W_K).T - wanted).max() < 1e-10


@pytest.mark.parametrize("strength", [0.5, 3.0, 20.0])
def test_association_and_derangement_are_one_function(strength):
    partition = Partition.random(24, 4, seed=4)
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((50, 24)))
    outputs = []
    for scores in (
        constructions.association_scores(partition, strength),
        constructions.derangement_scores(partition, strength),
        constructions.derangement_scores(partition, strength, shift=4),
    ):
        S = softmax_attention(torch.from_numpy(scores))
        outputs.append(torch.tanh(24 * x @ S.T).sum(dim=1) + ((x @ S.T) ** 5).sum(dim=1))
    assert torch.allclose(outputs[0], outputs[1], atol=1e-10) and torch.allclose(
        outputs[0], outputs[2], atol=1e-10
    )


@pytest.mark.parametrize(
    "D, C, q, p, k",
    [(64, 8, 0.02, 3, 1), (96, 8, 0.05, 3, 1), (48, 12, 0.01, 3, 2), (60, 6, 0.02, 3, 1)],
)
def test_the_bound_is_above_the_exact_error(D, C, q, p, k):
    bound = constructions.hard_attention_bound(D, C, q, p, k)
    assert constructions.hard_attention_error(D, C, q, p, k, ties="error") <= bound < 1


@pytest.mark.parametrize("k", [1, 2])
def test_the_bound_is_its_formula(k):
    D, C, q, p = 2**20, 8, 1e-4, 3
    totals = []
    for b in range(1, C):
        reach = C if k == 1 else C - b  # a pooled partner takes away at most b
        crowded = D / C / k * stats.binom.sf(b, k * C, q) + stats.binom.sf(2 * q * D, D, q)
        totals.append(crowded + math.exp(-(reach ** (2 * p)) / (4 * b ** (2 * p - 1) * q * D)))
    assert constructions.hard_attention_bound(D, C, q, p, k) == pytest.approx(min(totals), rel=1e-9)
