"""What the chapters ask of short runs: coupled pairs, attention maps."""

import numpy as np
import pytest
import torch
from training import toy_set

from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.maps import AttentionMaps, attention_maps
from patch_lab.images.training.short import coupled_runs, in_double, train_short

DATA = toy_set(60, size=16)


def shape(attention, **changes):
    return ViTConfig.named(
        "reader",
        attention=attention,
        image_size=16,
        num_classes=2,
        width=16,
        heads=2,
        mlp_width=16,
        **changes,
    )


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_coupled_runs_agree_and_move(attention, pooling):
    shuffle = GridPermutation(16, 8, seed=4)  # tiles of four whole patches; its square moves tiles too
    found = coupled_runs(shape(attention, pooling=pooling), DATA, shuffle, steps=5, seed=2, batch_size=8)
    assert found.gap == max(found.losses_apart, found.positions_apart) < 1e-12
    assert found.moved > 1e-3 and found.differ == 0
    model = ViT(shape(attention, pooling=pooling), seed=2)
    alone = train_short(model, DATA, steps=5, batch_size=8, seed=2)
    assert np.array_equal(found.original.losses, alone.losses)
    start = ViT(model.config, seed=2).positions
    assert found.moved == (model.positions - start).detach().abs().max().item()


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
def test_attention_maps_are_means_of_the_models_attention(attention):
    model = ViT(shape(attention, depth=2), seed=4)
    with torch.no_grad():
        model.positions.mul_(30)  # so that positional attention is far from uniform
    found = attention_maps(model, DATA, pictures=3, layer=1)
    assert isinstance(found, AttentionMaps) and found.maps.shape == (2, 16, 16)
    assert np.abs(found.maps.sum(axis=-1) - 1).max() < 1e-12
    each, entropies = [], []
    for picture in DATA.test_images[:3]:
        with torch.no_grad():
            S = model(in_double(DATA)(picture[None]), return_all=True)[1]["attention"][1].numpy()
        S = S.reshape(2, 16, 16)
        each.append(S)
        entropies.append(-(S * np.log(S)).sum(axis=-1).mean() / np.log(16))
    assert np.abs(found.maps - np.mean(each, axis=0)).max() < 1e-12
    assert found.entropy == pytest.approx(np.mean(entropies), rel=1e-10) and found.entropy < 0.999
