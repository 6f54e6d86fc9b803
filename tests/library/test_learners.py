"""The learners, their training, and the sweep that uses them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from patch_association.model import SimplifiedViT
from patch_association.structure import Partition
from patch_lab.beyond.adam import test_inputs as draw_test_inputs  # not a test
from patch_lab.beyond.adam import train_learner
from patch_lab.beyond.gaussian_data import GaussianData
from patch_lab.beyond.gaussian_learners import GramScores, OneLayerViT, make_learner

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
