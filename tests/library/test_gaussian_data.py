"""Section 2's example: independent Gaussian patches under a cubic convolutional label."""

import itertools

import numpy as np
import pytest
import torch
from sampler_checks import binomial_fits, chi_square_fits, standard_normal, uncorrelated

from patch_association.model import SimplifiedViT
from patch_association.structure import Partition
from patch_lab.beyond.adam import test_inputs as draw_test_inputs  # not a test
from patch_lab.beyond.adam import train_learner
from patch_lab.beyond.gaussian_data import GaussianData
from patch_lab.beyond.gaussian_learners import GramScores, OneLayerViT, make_learner

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


# --- The learners, their training, and the sweep that uses them


FOUR = Partition.blocks(4, 4, 2, 2)
DATA = GaussianData(FOUR, 8)


# --- the learners


def test_gram_scores_are_model_T_at_its_own_gram_matrix():
    gram, (X, _) = GramScores(16, 8, seed=3), DATA.sample(6)
    theorem = SimplifiedViT(16, 8)
    with torch.no_grad():
        theorem.scores.copy_(gram.encodings @ gram.encodings.T)
        theorem.value.copy_(gram.value)
    assert torch.allclose(gram(X), theorem(X), rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", ["gram-4", "positional-random", "self-attention", "vit", "vit-positional"])
def test_permuting_patches_with_their_encodings_changes_nothing(kind):
    model, (X, _) = make_learner(kind, 16, 8, 0), DATA.sample(6)
    if "vit" in kind:
        model = model.double()
    order = torch.from_numpy(np.random.default_rng(0).permutation(16))
    with torch.no_grad():
        before = model(X)
        wrong = model(X[:, order])
        model.encodings.copy_(model.encodings[order])
        after = model(X[:, order])
    assert torch.allclose(before, after, rtol=1e-9) and not torch.allclose(before, wrong, rtol=1e-4)


def test_only_positional_attention_ignores_the_input():
    (X, _), (other, _) = DATA.sample(4, seed=0), DATA.sample(4, seed=1)
    blind = OneLayerViT(16, 8, positional=True)
    seeing = OneLayerViT(16, 8)
    assert torch.equal(blind.attention_scores(X), blind.attention_scores(other))
    assert not torch.allclose(seeing.attention_scores(X), seeing.attention_scores(other))


# --- training


def test_no_input_is_drawn_twice():
    drawn = []

    class Watched:
        def sample(self, n, seed):
            drawn.append(seed)
            return DATA.sample(n, seed=seed)

    for seed in (0, 1):
        train_learner(
            make_learner("linear", 16, 8), Watched(), steps=4, batch=2, seed=seed, points=1, n_curve=2
        )
    draw_test_inputs(Watched(), 2)
    # Two runs of four batches and one look at the same held-out inputs each, then the test inputs.
    assert len(drawn) == 11 and len(set(drawn)) == 10 and drawn[0] == drawn[5]
