"""Pictures in front of backgrounds, and a ViT that sees some of their patches."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.backgrounds import (
    backgrounds,
    compose,
    logits_of,
    right_answers,
    train_on_scenes,
    with_head,
)
from patch_lab.images.sweeps import backgrounds as sweep

SMALL = ViTConfig(image_size=16, patch_size=4, depth=2, heads=2, width=8, mlp_width=8, num_classes=3)


def made(n=5, seed=0, side=10, value=200):
    pictures = torch.full((n, 3, 16, 16), value, dtype=torch.uint8)
    return compose(pictures, torch.arange(n) % 3, backgrounds("clean", n, seed, size=16), seed, side)


@settings(max_examples=15)
@given(seed=st.integers(0, 500), side=st.integers(1, 16))
def test_a_picture_covers_a_square_of_its_side(seed, side):
    scenes = made(4, seed, side)
    assert (scenes.covered.sum(dim=(1, 2)) == side**2).all()
    # A constant picture stays constant when it is shrunk, and nothing else is drawn on.
    assert ((scenes.images == 200) == scenes.covered[:, None]).all()
    coverage = scenes.coverage(4)
    for k in range(4):
        by_hand = [
            scenes.covered[k, i : i + 4, j : j + 4].double().mean()
            for i in range(0, 16, 4)
            for j in range(0, 16, 4)
        ]
        assert torch.allclose(coverage[k].double(), torch.stack(by_hand))
    kept = scenes.most_covered(7, 4)
    lost = torch.ones(4, 16).scatter_(1, kept, 0.0)
    assert (kept.diff(dim=1) > 0).all()
    assert (coverage.gather(1, kept).amin(dim=1) >= (coverage * lost).amax(dim=1)).all()
    everything = scenes.most_covered(16, 4)
    assert scenes.relevant(everything, 4) == pytest.approx(side**2 / 256)
    assert scenes.relevant(kept, 4) >= scenes.relevant(everything, 4) - 1e-7


def test_removed_patches_are_gone_and_the_others_stay_where_they_were():
    model, scenes = ViT(SMALL, 0).double(), made()
    images = torch.rand(5, 3, 16, 16, dtype=torch.float64)
    everything = torch.arange(16).expand(5, -1)
    assert (logits_of(model, images, everything) - model(images)).abs().max() < 1e-12
    assert torch.equal(logits_of(model, images), model(images))
    keep = scenes.most_covered(6, 4)
    before = logits_of(model, images, keep)
    order = keep[:, torch.randperm(6, generator=torch.Generator().manual_seed(1))]
    assert (logits_of(model, images, order) - before).abs().max() < 1e-12
    # Whatever is drawn on a removed patch, nothing that is left sees it.
    for k in range(5):
        for patch in set(range(16)) - set(keep[k].tolist()):
            i, j = divmod(patch, 4)
            images[k, :, 4 * i : 4 * i + 4, 4 * j : 4 * j + 4] += 7
    assert (logits_of(model, images, keep) - before).abs().max() < 1e-12


@pytest.mark.slow
def test_a_run_depends_on_its_seed_alone_and_learns():
    bright, dark = made(40, 1, 16, 220), made(40, 2, 16, 30)
    scenes = type(bright)(
        torch.cat([bright.images, dark.images]),
        torch.cat([torch.ones(40), torch.zeros(40)]).long(),
        torch.cat([bright.covered, dark.covered]),
    )
    keep, runs = scenes.most_covered(9, 4), []
    for _ in range(2):
        model = ViT(SMALL, 3)
        losses = train_on_scenes(model, scenes, keep, epochs=6, lr=5e-3, batch_size=20, seed=4)
        runs.append((losses, right_answers(model, scenes, keep)))
    assert np.array_equal(runs[0][0], runs[1][0]) and losses[-1] < 0.5 * losses[0]
    assert runs[0][1].all()
    fresh = with_head(model, 5, seed=1)
    assert fresh.head.out_features == 5 and torch.equal(fresh.embed.weight, model.embed.weight)


def test_who_goes_by_the_plants_is_wrong_wherever_they_mislead(monkeypatch):
    """``against`` counts birds without plants and airplanes before them."""
    generator = torch.Generator().manual_seed(0)
    images = torch.full((40, 3, 32, 32), 200, dtype=torch.uint8)
    labels = torch.randint(0, 3, (40,), generator=generator)
    pictures = SimpleNamespace(
        train_images=images, train_labels=labels, test_images=images, test_labels=labels
    )
    monkeypatch.setattr(sweep, "_pictures", lambda: pictures)
    monkeypatch.setattr(sweep, "train_on_scenes", lambda *a, **k: [0.0])

    def by_plants(model, scenes, keep):
        around = scenes.images * ~scenes.covered[:, None]
        return ((around.flatten(1) > 0).any(dim=1) == (scenes.labels == 1)).numpy()

    monkeypatch.setattr(sweep, "right_answers", by_plants)
    cell = sweep.spurious_cell("scratch", "most covered", 49, 1, 0)
    assert cell["against"] == 0.0 and 0 < cell["accuracy"] < 1
