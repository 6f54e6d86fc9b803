"""The sweeps of section 4.2 of Li et al. (2023) at a small size: pictures in front of backgrounds.

A deep ViT (5 blocks, 4 heads) learns CIFAR-10's pictures, 26 pixels wide on a background of 32, from the
patches that are picture most. Everything is in float32 on one thread.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.backgrounds import backgrounds, compose, right_answers, train_on_scenes, with_head
from patch_lab.images.data import load
from patch_lab.kit.seeds import TEST
from patch_lab.kit.sweeps.sweep import Sweep, grid

#: Pictures that are kept in memory: the first of the packed file, where classes take turns.
TRAIN = 10_000
TESTS = 2000
SHAPE: dict[str, Any] = dict(depth=5, heads=4, width=64, mlp_width=64, patch_size=4)
EPOCHS = 10
SEEDS = (0, 1, 2)
KEPT = (64, 49, 36, 25)
#: Of the pictures whose background misleads; and of the pretraining on the eight other classes.
FEWER_EPOCHS = 5
PRETRAINING = 10
AIRPLANE = 0
BIRD = 2
EIGHT = tuple(c for c in range(10) if c not in (AIRPLANE, BIRD))
#: In training so many birds have plants behind them, and so many airplanes.
WITH_PLANTS = {BIRD: 0.9, AIRPLANE: 0.1}


@lru_cache(maxsize=1)
def _pictures():
    return load("cifar10", train_size=TRAIN, test_size=TESTS)


def _source() -> dict:
    data = _pictures()
    return {"source": f"{data.origin}, {TRAIN} and {TESTS} pictures", "sha256": data.digest()}


def _kept(scenes, kept: int, which: str, seed: int):
    """The patches that remain: those that are picture most, or as many at random."""
    if which == "most covered":
        return scenes.most_covered(kept, SHAPE["patch_size"])
    order = torch.rand(len(scenes), 64, generator=torch.Generator().manual_seed(seed)).argsort(dim=1)
    return order[:, :kept].sort(dim=1).values


def _measured(model, sets, kept, which, seed, epochs=EPOCHS) -> dict:
    keep = [_kept(scenes, kept, which, seed + k) for k, scenes in enumerate(sets)]
    losses = train_on_scenes(model, sets[0], keep[0], epochs=epochs, seed=seed)
    return {
        "relevant": round(sets[1].relevant(keep[1], SHAPE["patch_size"]), 4),
        "accuracy": float(right_answers(model, sets[1], keep[1]).mean()),
        "loss": round(float(losses[-1]), 4),
    }


def classes_cell(N: int, kept: int, seed: int) -> dict:
    """Figure 6(a), (b): ten classes in front of plants, test accuracy after ten epochs from scratch."""
    data = _pictures()
    order = torch.randperm(TRAIN, generator=torch.Generator().manual_seed(seed))[:N]
    sets = [
        compose(data.train_images[order], data.train_labels[order], backgrounds("plants", N, seed), seed),
        compose(
            data.test_images, data.test_labels, backgrounds("plants", TESTS, seed, held_out=True), TEST + seed
        ),
    ]
    return _measured(ViT(ViTConfig(**SHAPE), seed), sets, kept, "most covered", seed)


def spurious_cell(start: str, which: str, kept: int, epochs: int, seed: int) -> dict:
    """Figure 6(c): birds and airplanes; plants stand behind most birds and few airplanes in training.

    ``start``: "scratch", or "eight classes", a model pretrained on the other classes with 500 pictures each.
    Also the accuracy on test scenes whose background speaks against their class.
    """
    sets = []
    against = torch.empty(0)
    for held_out in (False, True):
        data = _pictures()
        images, labels = (
            (data.test_images, data.test_labels) if held_out else (data.train_images, data.train_labels)
        )
        ours = (labels == AIRPLANE) | (labels == BIRD)
        images = images[ours]
        birds = (labels[ours] == BIRD).long()
        n = len(birds)
        draw = torch.Generator().manual_seed(TEST * held_out + seed)
        chance = torch.full((n,), 0.5) if held_out else torch.where(birds == 1, *WITH_PLANTS.values())
        plants = torch.rand(n, generator=draw) < chance
        behind = backgrounds("plants", n, seed, held_out) * plants[:, None, None, None]
        sets.append(compose(images, birds, behind, TEST * held_out + seed))
        against = plants != (birds == 1)
    model = with_head(_eight_classes(), 2, seed) if start == "eight classes" else None
    model = model or ViT(ViTConfig(**SHAPE, num_classes=2), seed)
    result = _measured(model, sets, kept, which, seed, epochs)
    right = right_answers(model, sets[1], _kept(sets[1], kept, which, seed + 1))
    return {**result, "against": float(right[against.numpy()].mean())}


@lru_cache(maxsize=1)
def _eight_classes():
    """A ViT trained on 500 pictures of each of the eight other classes, without backgrounds."""
    data = _pictures()
    chosen = torch.cat([torch.nonzero(data.train_labels == c)[:500, 0] for c in EIGHT])
    labels = torch.searchsorted(torch.tensor(EIGHT), data.train_labels[chosen])
    bare = compose(data.train_images[chosen], labels, backgrounds("clean", len(chosen), 0), 0, side=32)
    model = ViT(ViTConfig(**SHAPE, num_classes=len(EIGHT)), 0)
    train_on_scenes(model, bare, None, epochs=PRETRAINING)
    return model


_CONFIG = dict(**SHAPE, batch_size=50, side=26, tests=TESTS)

_SPURIOUS = (("most covered", 64), ("most covered", 25), ("random", 25))


def _spurious_cells(start: str) -> tuple[dict, ...]:
    return tuple(
        dict(start=start, which=which, kept=kept, epochs=FEWER_EPOCHS, seed=seed)
        for seed in SEEDS
        for which, kept in _SPURIOUS
    )


SWEEPS = (
    Sweep(
        name="background-classes",
        summary="Figure 6(a), (b), small: CIFAR-10 in front of plants, test accuracy over alpha_* and N.",
        cells=grid(seed=SEEDS, N=(500, 1000, 2000), kept=KEPT),
        run=classes_cell,
        config=_CONFIG | {"epochs": EPOCHS},
        data=_source,
    ),
    Sweep(
        name="background-spurious",
        summary="Figure 6(c), smallest: birds and airplanes, a background that misleads, from scratch.",
        cells=_spurious_cells("scratch"),
        run=spurious_cell,
        config=_CONFIG,
        data=_source,
    ),
    Sweep(
        name="background-starts",
        summary="Figure 6(c), smallest: the same from a model pretrained on the eight other classes.",
        cells=_spurious_cells("eight classes"),
        run=spurious_cell,
        config=_CONFIG | {"pretraining_epochs": PRETRAINING},
        data=_source,
    ),
)
