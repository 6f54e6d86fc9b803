"""Theorem 3.2's constructions: hard attention by enumeration, and attention scores row by row."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from enumeration import consecutive_sets, error_of_sign, set_sums
from hypothesis import given
from scipy import stats
from strategies import partitions
from torch.utils.flop_counter import FlopCounterMode

from patch_association.attention import positional_attention, self_attention
from patch_association.data import SpatialData
from patch_association.model import SimplifiedViT
from patch_association.structure import Partition, association
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
