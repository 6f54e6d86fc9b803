"""Section 2's example: independent Gaussian patches under a cubic convolutional label."""

import itertools

import pytest
import torch
from sampler_checks import binomial_fits, chi_square_fits, standard_normal, uncorrelated

from patch_association.structure import Partition
from patch_lab.beyond.gaussian_data import GaussianData

PARTITION = Partition([1, 0, 0, 1, 2, 2])


@pytest.mark.parametrize("filters", ["shared", "convolution"])
def test_label_by_its_definition(filters):
    data = GaussianData(PARTITION, dim=3, filters=filters, seed=2)
    X, y = data.sample(40, seed=3)
    for x, label in zip(X.tolist(), y.tolist()):
        f = 0.0
        for patches in PARTITION.sets.tolist():
            response = sum(
                sum(a * b for a, b in zip(data.filters[k].tolist(), x[patch]))
                for k, patch in enumerate(patches)
            )
            f += response**3
        assert label == (1 if f > 0 else -1)


def test_filters():
    shared = GaussianData(PARTITION, dim=3, seed=2).filters
    assert torch.equal(shared[0], shared[1])
    drawn = GaussianData(PARTITION, dim=3, filters="convolution", seed=2).filters
    assert not torch.equal(drawn[0], drawn[1])
    for filters in (shared, drawn):
        assert torch.allclose(filters.norm(dim=1), torch.ones(2, dtype=torch.float64), atol=1e-12)
    own = torch.tensor([[1, 0], [0, 2]])
    assert torch.equal(GaussianData(PARTITION, dim=2, filters=own).filters, own.double())


def test_inputs_are_independent_standard_normals_and_labels_are_fair():
    """Exact chi-square and binomial quantiles at 1e-9; 30 checks fail together at a rate below 1e-7."""
    X, y = GaussianData(PARTITION, dim=2).sample(20_000, seed=5)
    z = X.numpy()
    assert standard_normal(z) and chi_square_fits((z**2).sum(), z.size)
    columns = z.reshape(len(z), -1)
    for a, b in itertools.combinations(range(columns.shape[1]), 2):
        assert uncorrelated(columns[:, a], columns[:, b])
    assert binomial_fits(int((y > 0).sum()), len(y), 0.5) and set(y.tolist()) == {-1, 1}


def test_at_two_sets_the_label_is_linear():
    """sign(a^3 + b^3) = sign(a + b)."""
    data = GaussianData(Partition([0, 1, 0, 1]), dim=2, filters="convolution", seed=1)
    X, y = data.sample(500, seed=2)
    assert torch.equal(y, torch.sign(data.set_responses(X).sum(dim=1)))
