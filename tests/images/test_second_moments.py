"""The grid from unlabeled pictures, by correlations of patches."""

import numpy as np
import pytest
import torch

from patch_lab.images.data import load
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.second_moments import patch_correlations, without_labels
from patch_lab.kit import records


def test_correlations_are_numpys():
    images = torch.randint(256, (30, 3, 8, 8), generator=torch.Generator().manual_seed(0)).byte()
    gray = np.einsum("nchw,c->nhw", images.numpy().astype(float), [0.299, 0.587, 0.114])
    means = gray.reshape(30, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(30, 16)
    assert np.allclose(patch_correlations(images, 2), np.corrcoef(means.T))
    images[:, :, :2, :2] = 7  # a patch that never changes
    found = patch_correlations(images, 2)
    assert (found[0] == 0).all() and np.allclose(found[1:, 1:], np.corrcoef(means.T[1:]))


@pytest.mark.parametrize(("images", "said"), [
    (torch.zeros(5, 2, 8, 8), "shape"),
    (torch.zeros(2, 3, 8, 8), "three pictures"),
    (torch.zeros(5, 3, 9, 9), "divide 9"),
])  # fmt: skip
def test_refusals(images, said):
    with pytest.raises(ValueError, match=said):
        patch_correlations(images, 2)


def test_a_shuffle_hides_nothing_from_them():
    """Photographs, a shuffle of whole patches: the same correlations elsewhere; noise has none."""
    images = load("photographs", train_size=200).train_images
    plain = without_labels(images, 4)
    permutation = GridPermutation(images.shape[-1], 4, seed=1)
    shuffled = without_labels(images, 4, permutation)
    assert plain.as_seen == plain.undone and shuffled.undone.recall == pytest.approx(plain.undone.recall)
    assert plain.undone.recall > 0.8 and shuffled.as_seen.recall < 2 * plain.undone.chance
    noise = torch.randint(256, images.shape, generator=torch.Generator().manual_seed(0)).byte()
    assert without_labels(noise, 4).undone.recall < 2 * plain.undone.chance


def test_the_record_that_ships():
    """Labels are not needed to find most neighbors, more than the learned P of the ViT beside it has."""
    found, alone = records.load("second-moments"), records.load("cifar100_positional_185")
    assert len(found) == 12
    for row in found.where(pictures_used=10_000):
        assert row["undone"]["recall"] > alone.one(seed=0)["locality"]["as_seen"]["recall"]
        whole = found.one(data=row["data"], tile=32, pictures_used=10_000)
        assert row["undone"]["recall"] == pytest.approx(whole["undone"]["recall"], abs=0.01)
        assert row["tile"] == 32 or row["as_seen"]["recall"] < 2 * row["undone"]["chance"]
