"""Short runs in double precision, the recorded training steps, and the arrangement of Figure 1a."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from patch_association.figures.images import montage
from patch_association.images.data import ImageSet
from patch_association.images.permutation import GridPermutation
from patch_association.images.short import train_short
from patch_association.images.vit import ViT, ViTConfig
from patch_association.sweeps import vit_steps


@pytest.fixture(scope="module")
def data():
    g = torch.Generator().manual_seed(0)
    images = torch.randint(256, (60, 3, 16, 16), generator=g, dtype=torch.uint8)
    labels = torch.arange(60) % 3
    return ImageSet("noise", "noise", ("a", "b", "c"), images[:40], labels[:40], images[40:], labels[40:])


def small(attention):
    shape = dict(image_size=16, num_classes=3, width=16, heads=2, mlp_width=16)
    return ViT(ViTConfig.named("reader", attention=attention, **shape))


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
def test_shuffled_training_is_renamed_training(data, attention):
    shuffle = GridPermutation(16, 4, seed=3)
    order = torch.from_numpy(shuffle.patch_order(4))
    first = small(attention)
    second = copy.deepcopy(first)
    with torch.no_grad():
        second.positions.copy_(first.positions[:, order])
    settings = dict(steps=5, batch_size=8)
    runs = train_short(first, data, **settings), train_short(second, data, permutation=shuffle, **settings)
    assert np.abs(runs[0].losses - runs[1].losses).max() < 1e-12
    assert (runs[0].right == runs[1].right).all()
    assert (second.positions - first.positions[:, order]).abs().max() < 1e-12
    assert not torch.equal(first.positions, small(attention).positions.double())  # something was learned


def test_same_seed_same_run_and_double_precision(data):
    runs = [train_short(small("positional"), data, 3, batch_size=8, seed=s) for s in (0, 0, 1)]
    assert runs[0].losses.tolist() == runs[1].losses.tolist() != runs[2].losses.tolist()
    assert runs[0].accuracy == runs[0].right.mean() and len(runs[0].right) == 20
    model = small("positional")
    train_short(model, data, 1, batch_size=8)
    assert {p.dtype for p in model.parameters()} == {torch.float64}


@pytest.mark.parametrize("settings", [dict(steps=0), dict(steps=1, batch_size=0), dict(steps=1, seed=-1)])
def test_short_runs_refuse(data, settings):
    with pytest.raises(ValueError, match="must be"):
        train_short(small("vanilla"), data, **settings)


def test_montage_puts_row_i_in_the_place_of_patch_i():
    rows = np.arange(9)[:, None] * 100 + np.arange(9)[None, :]
    picture = montage(rows)
    for i in range(9):
        r, c = divmod(i, 3)
        assert (picture[3 * r : 3 * r + 3, 3 * c : 3 * c + 3].reshape(-1) == rows[i]).all()


def test_kept_bytes_counts_what_autograd_saves():
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh())
    # Saved: the input of the layer (4 x 5), the output of tanh (4 x 7), which the square saves again.
    assert vit_steps._kept_bytes(model, torch.randn(4, 5)) == 4 * (4 * 5 + 4 * 7)


def test_a_step_is_measured_for_both_kinds(monkeypatch):
    monkeypatch.setitem(vit_steps.SHAPES, "small", ("reader", {"image_size": 8}, 2))
    found = vit_steps.vit_step("small")
    assert found["tokens"] == 4 and found["batch"] == 2
    assert set(found["seconds"]) == set(found["kept_bytes"]) == {"vanilla", "positional"}
