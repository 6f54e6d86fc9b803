"""Theorem 3.2's constructions: hard attention by enumeration, and attention scores row by row."""

import itertools
from fractions import Fraction

import pytest
import torch
from enumeration import consecutive_sets, error_of_sign, set_sums
from hypothesis import given
from strategies import partitions

from patch_association.data import SpatialData
from patch_association.model import SimplifiedViT
from patch_association.structure import Partition, association
from patch_lab.setting.constructions import (
    association_scores,
    derangement_scores,
    hard_attention_error,
    violations,
)


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
