"""Small training runs that several tests make."""

from __future__ import annotations

import torch

from patch_lab.images.data.sets import ImageSet
from patch_lab.images.training.config import TrainConfig

#: Every array of a run is a few kB: a step takes milliseconds.
TINY = TrainConfig(
    dataset="digits",
    vit="reader",
    patch_size=2,
    depth=1,
    heads=2,
    width=8,
    mlp_width=8,
    train_size=160,
    test_size=60,
    val_size=40,
    epochs=3,
    batch_size=20,
    lr=3e-3,
    warmup_epochs=1.0,
    augment="shift",
    device="cpu",
    threads=1,
)


def toy_set(n=80, size=8) -> ImageSet:
    """Two classes of noise, one brighter above and one brighter below."""
    g = torch.Generator().manual_seed(0)
    labels = torch.arange(n) % 2
    images = torch.randint(120, (n, 3, size, size), generator=g)
    images[labels == 0, :, : size // 2] += 100
    images[labels == 1, :, size // 2 :] += 100
    images = images.byte()
    return ImageSet("toy", "made up", ("above", "below"), images, labels, images.flip(0), labels.flip(0))


def same_model(a, b) -> bool:
    """Are all parameters and buffers equal to the bit?"""
    one, other = a.state_dict(), b.state_dict()
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)
