"""A shuffle undone from similarities alone."""

import numpy as np
import pytest

from patch_association.images.locality import grid_distances, similarity
from patch_lab.images.puzzle import assemble
from patch_lab.kit.records import decode, load


def kernel(side, width):
    return np.exp(-((grid_distances(side) / width) ** 2))


def grid(side):
    return np.stack(np.divmod(np.arange(side**2), side), axis=-1)


@pytest.mark.parametrize("side, width", [(2, 1.0), (3, 1.0), (5, 2.0), (8, 1.5)])
def test_what_falls_with_distance_is_put_together(side, width):
    found = assemble(kernel(side, width))
    assert found.at_place == found.beside == 1
    assert found.links.sum() == 4 * side * (side - 1)
    np.testing.assert_array_equal(found.hops, np.abs(grid(side)[:, None] - grid(side)[None]).sum(axis=-1))


@pytest.mark.parametrize("model", ["ViT-Tiny/16", "DeiT-Tiny/16"])
def test_trained_encodings_know_every_place_in_whatever_order(model):
    G = decode(load("vit_encodings").one(model=model)["similarity"])
    assert assemble(G).at_place == assemble(G).beside == 1
    order = np.random.default_rng(0).permutation(196)
    shuffled = assemble(G[np.ix_(order, order)])
    own = grid(14)[order]
    turned = [x if k else x[:, ::-1] for x in (shuffled.places,) for k in (0, 1)]
    flips = [np.where(flip, 13 - x, x) for x in turned for flip in np.ndindex(2, 2)]
    assert max((x == own).all(axis=1).mean() for x in flips) == 1


def test_random_encodings_know_nothing():
    # After the best of eight turns a piece is at its place with chance below 8/196: the mean over 20 x 196
    # pieces stays below 0.1 with a false alarm below 1e-6.
    starts = [0.02 * np.random.default_rng(seed).standard_normal((196, 192)) for seed in range(20)]
    found = [assemble(similarity(start)) for start in starts]
    assert np.mean([one.at_place for one in found]) < 0.1
    assert np.mean([one.beside for one in found]) < 0.1
