"""Maps of another training: what is exchanged, heads in which order, and on which pictures it is judged."""

import json

import numpy as np
import pytest
import torch

from patch_association.images.vit import ViT
from patch_lab.images.data.augment import normalize
from patch_lab.images.data.sets import validation_split
from patch_lab.images.exchange import correlations, matched, mean_maps
from patch_lab.images.sweeps import study, study_swapped
from patch_lab.images.sweeps.study_swapped import alternatives, groups
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.run import load_run
from patch_lab.images.training.trainer import make_model
from patch_lab.kit.sweeps import registry


def test_the_cells():
    cells = [dict(cell) for cell in registry()["cifar10_study_swapped"].cells]
    assert all(cell["seed"] != cell["other"] for cell in cells)
    of_study = [dict(cell) for cell in registry()["cifar10_study"].cells]
    for cell in cells:  # both networks are networks of the study
        for seed in (cell.pop("seed"), cell.pop("other")):
            assert {**cell, "tile": study.WHOLE, "seed": seed} in of_study


@pytest.mark.slow
def test_a_cell(small_study):
    found = study_swapped.swapped_cell("positional", width=64, epochs=1, seed=1, other=2)
    assert json.loads(json.dumps(found)) == found and found["n"] == 32
    assert np.shape(found["correlation"]) == (3, 2) and list(found["right"]) == list(study_swapped.MAPS)
    assert (small_study / "positional-64-1-32-1").is_dir() and (small_study / "positional-64-1-32-2").is_dir()
    mine = load_run(small_study / "positional-64-1-32-1").record
    assert found["unchanged"] == pytest.approx(mine["metrics"][-1]["val_accuracy"], abs=1.5 / 32)
    assert found["right"]["own"] == [found["unchanged"]] * len(groups(3))  # they are its attention


@pytest.mark.parametrize("kind", ["vanilla", "positional"])
def test_every_change_agrees_with_hooks(small_study, kind):
    """Networks far from their start, and their attention replaced in the model's own forward pass."""
    mine, other = (_strong(kind, seed) for seed in (1, 2))
    found = study_swapped._swapped(mine, other, seed=3, other=4)
    data = study.pictures()
    train, held_out = validation_split(96, 32, 3)
    x, y = normalize(data.train_images[held_out], *data.statistics()), data.train_labels[held_out]
    watched = normalize(data.train_images[train], *data.statistics())
    with torch.no_grad():
        assert found["unchanged"] == float((mine(x).argmax(dim=1) == y).double().mean())
        maps = [m(watched, return_all=True)[1]["attention"] for m in (mine, other)]
        maps = [torch.stack([S.mean(dim=0) if S.ndim == 4 else S for S in of]) for of in maps]
        for model, S in zip((mine, other), maps):
            torch.testing.assert_close(mean_maps(model, watched), S, atol=1e-6, rtol=0)
        shares = []
        for name, S in zip(study_swapped.MAPS, alternatives(*maps, 8, 34)):
            by_hand = [_by_hand(mine, x, y, dict.fromkeys(layers, S)) for layers in groups(3)]
            assert found["right"][name] == pytest.approx(by_hand, abs=1e-6)
            shares += by_hand
    flipped = torch.arange(64).view(8, 8).flip(1).flatten()
    for key, S in (("mirrored", maps[0][..., flipped]), ("correlation", matched(*maps))):
        np.testing.assert_allclose(found[key], correlations(maps[0], S), atol=1e-5)
    assert len(set(shares)) > 5  # these changes matter


def _strong(kind: str, seed: int) -> ViT:
    model = make_model(TrainConfig(**study.settings(kind, 1, study.WHOLE, seed, 64)), 2, 32, 3)
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=generator) * 0.15
    model.positions.data *= 10
    data = study.pictures()
    with torch.no_grad():  # about as many pictures in either class, so that small changes move some
        model.head.bias -= model(normalize(data.train_images, *data.statistics())).median(dim=0).values
    return model.eval()


def _by_hand(model, x, y, changed):
    """Accuracy with the attention module's own scores replaced by a hook, layer by layer."""
    hooks = []
    for layer, S in changed.items():

        def instead(module, arguments, output, S=S[layer]):
            z = arguments[0]
            values = (z @ module.value.weight.T + module.value.bias).unflatten(-1, (module.heads, -1))
            mixed = torch.einsum("hij,bjhd->bihd", S, values).flatten(2)  # (H,N,N),(B,N,H,d)->(B,N,H d)
            return mixed @ module.output.weight.T + module.output.bias, None

        hooks.append(model.blocks[layer].attention.register_forward_hook(instead))
    share = float((model(x).argmax(dim=1) == y).double().mean())
    for hook in hooks:
        hook.remove()
    return share
