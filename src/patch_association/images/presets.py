"""Named training runs, each with what it needs.

The recipe of the small images (peak 1e-3, 5 epochs of warm-up, label smoothing 0.1, AutoAugment)
is the one that a public training of this very architecture on CIFAR-10 uses; the paper names AdamW,
the cosine, 300 epochs, the batch sizes and AutoAugment.
"""

from __future__ import annotations

from patch_association.images.config import TrainConfig

_SMALL_IMAGES = dict(vit="small", patch_size=4, epochs=300, batch_size=128)

PRESETS: dict[str, TrainConfig] = {
    # Seconds on a laptop, no download: that everything works, not that it learns well.
    "smoke": TrainConfig(
        dataset="photographs", train_size=1000, test_size=500, val_size=200, vit="reader", epochs=5,
        batch_size=80, lr=3e-3, warmup_epochs=1.0, label_smoothing=0.0, workers=0, threads=1,
    ),
    "cifar10": TrainConfig(dataset="cifar10", augment="autoaugment-cifar10", **_SMALL_IMAGES),
    # The permuted pictures of Figure 5 need patch_size=2: add --set patch_size=2 --set tile=S.
    "cifar100": TrainConfig(dataset="cifar100", augment="autoaugment-cifar10", **_SMALL_IMAGES),
    "svhn": TrainConfig(dataset="svhn", augment="autoaugment-svhn", **_SMALL_IMAGES),
    # Several GPUs, the official files; RandAugment on top of random windows.
    "imagenet": TrainConfig(
        dataset="imagenet", vit="tiny", augment="randaugment", epochs=300, batch_size=1024, val_size=10000,
        warmup_epochs=10.0, workers=12, checkpoint_seconds=600.0,
    ),
}  # fmt: skip


def preset(name: str) -> TrainConfig:
    """A preset by name.

    Raises
    ------
    ValueError
        If there is none of this name; the message lists those there are.
    """
    if name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
