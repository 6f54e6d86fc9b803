"""Beside the study on CIFAR-10: a CNN, controls, a hundred classes, and the paper's ViT for a few epochs.

All are trained as the study's ViTs are, with checkpoints in folders of their own. The residual CNN names nine
of ten pictures; of the controls one learns no scores, one knows no places, and one has random labels.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from patch_association.streams import Stream, generator
from patch_lab.images.data import load
from patch_lab.images.data.sets import ImageSet
from patch_lab.images.sweeps import study
from patch_lab.images.sweeps.images import packed
from patch_lab.images.sweeps.vit_tiny import FILES, SOURCES, file
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.run import train
from patch_lab.kit.sweeps.sweep import Sweep, grid

_TINY = "tiny_imagenet_halfA.npz"
#: Epochs of a run on a hundred classes, and with the paper's ViT.
TINY_EPOCHS = (10, 40)
PAPER_EPOCHS = 5
# The paper's ViT; the rate is a usual one for its width and was not tuned.
PAPER: dict[str, Any] = dict(
    model="vit", vit="small", patch_size=4, batch_size=128, lr=1e-3, epochs=PAPER_EPOCHS,
    warmup_epochs=PAPER_EPOCHS / 10, tile=study.WHOLE, seed=0,
)  # fmt: skip


# After airbench (arXiv:2404.00498), numbers rounded. Widths and epochs were chosen on 5,000 validation
# pictures, first seed, no shuffle; with these choices made, all pictures are for training. (The study's ViTs
# have 45,000.)
CNN: dict[str, Any] = {
    **study.COMMON,
    **dict(model="residual_cnn", optimizer="sgd", lr=1.5, weight_decay=1.3e-3, batch_size=1000, clip=0.0),
    **dict(augment="reflect-flip", label_smoothing=0.2, epochs=12, warmup_epochs=2.75),
    **dict(schedule="triangle", lookahead=True, mirrored_test=True, val_size=0),
}
#: Each arm by what it changes: the kind of attention and, for one, where P goes. One recipe and rate for all.
ARMS: dict[str, dict[str, str]] = {
    "vanilla": dict(attention="vanilla"),
    "positional": dict(attention="positional"),
    "shifts": dict(attention="shifts"),
    "uniform": dict(attention="uniform"),
    "no encodings": dict(attention="vanilla", positions="none"),
}
CONTROL: dict[str, Any] = dict(
    study.COMMON, model="vit", vit="small", patch_size=4, depth=2, width=64, heads=8, mlp_width=128, epochs=6,
    warmup_epochs=0.6, batch_size=128, lr=2e-3, precision="float32",
)  # fmt: skip


#: The controls' recipe for fewer steps and pictures, and what is changed in it under random labels.
SHORTER: dict[str, Any] = CONTROL | dict(epochs=4, warmup_epochs=0.4, val_size=1000)
SHORTER_PICTURES = 13_800
SHORTER_TESTED = 1000
CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "true labels": {},
    "equal labels": {},
    "noise": {},
    "one fixed order": dict(tile=4),
    "a tenth of the rate": dict(lr=CONTROL["lr"] / 10),
    "P from N(0, 1)": dict(position_std=1.0),
}


def cnn_cell(tile: int, seed: int) -> dict:
    """One training run on all 50,000 training pictures, resumed where its folder holds a checkpoint.

    Returns
    -------
    dict
        ``test_accuracy`` and ``test_mirrored_accuracy`` (logits averaged over a picture and its mirror
        image) after the last epoch, ``test_n``, ``parameters`` and ``metrics`` by epoch.
    """
    folder = study.FOLDER.with_name("cifar10_study_cnn") / f"{tile}-{seed}"
    return study.trained({**CNN, "tile": tile, "seed": seed}, study.pictures(), folder)


def control_cell(arm: str, seed: int) -> dict:
    """One training run on 45,000 pictures of CIFAR-10, resumed where its folder holds a checkpoint.

    Eight heads, so that hand-written shifts look in all eight directions.

    Returns
    -------
    dict
        ``test_accuracy``, ``val_accuracy``, ``test_n``, ``parameters``, ``metrics`` by epoch.
    """
    folder = study.FOLDER.with_name("cifar10_controls") / f"{arm.replace(' ', '-')}-{seed}"
    return study.trained({**CONTROL, **ARMS[arm], "seed": seed}, study.pictures(), folder)


def relabeled(data: ImageSet, seed: int) -> ImageSet:
    """The same pictures, with the labels of the training pictures in a random order.

    How often each label occurs stays as it is; nothing that a label says about its picture does.
    """
    order = generator(seed, Stream.RANDOM_LABELS).permutation(len(data.train_labels))
    labels = data.train_labels[torch.from_numpy(order)]
    return replace(data, origin=f"{data.origin}, labels in random order {seed}", train_labels=labels)


def random_labels_cell(attention: str, seed: int) -> dict:
    """The controls' recipe on 45,000 pictures with random labels.

    Returns
    -------
    dict
        As of :func:`control_cell`.
    """
    folder = study.FOLDER.with_name("cifar10_random_labels") / f"{attention}-{seed}"
    options = {**CONTROL, "attention": attention, "seed": seed}
    return study.trained(options, relabeled(study.pictures(), seed), folder)


def with_equal_labels(data: ImageSet) -> ImageSet:
    """The same pictures; all training pictures have the first label."""
    labels = torch.zeros_like(data.train_labels)
    return replace(data, origin=f"{data.origin}, equal labels", train_labels=labels)


def of_noise(data: ImageSet, seed: int) -> ImageSet:
    """The same labels beside training pictures whose values are independent and uniform."""
    rng = generator(seed, Stream.RANDOM_PIXELS)
    noise = rng.integers(0, 256, data.train_images.shape, dtype=np.uint8)
    return replace(data, origin=f"{data.origin}, noise {seed}", train_images=torch.from_numpy(noise))


def changed_cell(attention: str, change: str, seed: int) -> dict:
    """A shorter run with random labels in which one thing is changed (:data:`CHANGES`).

    Returns
    -------
    dict
        As of :func:`control_cell`.
    """
    data = study.pictures().limited(SHORTER_PICTURES, SHORTER_TESTED)
    if change == "equal labels":
        data = with_equal_labels(data)
    elif change != "true labels":
        data = relabeled(data, seed)
    if change == "noise":
        data = of_noise(data, seed)
    options = {**SHORTER, **CHANGES[change], "attention": attention, "seed": seed}
    folder = (
        study.FOLDER.with_name("cifar10_labels_changed") / f"{attention}-{change.replace(' ', '-')}-{seed}"
    )
    return study.trained(options, data, folder)


def halved(data: ImageSet) -> ImageSet:
    """The same pictures at half the side: each pixel is the mean of four, rounded.

    Raises
    ------
    ValueError
        If the side is odd.
    """
    if data.image_size % 2:
        raise ValueError(f"the side of a picture to be halved must be even, got {data.image_size}")

    def half(images):
        n, c, side, _ = images.shape
        fours = images.reshape(n, c, side // 2, 2, side // 2, 2)
        return ((fours.sum(dim=(3, 5)) + 2) // 4).to(images.dtype)  # the sum of four is an int64

    images = {f"{part}_images": half(getattr(data, f"{part}_images")) for part in ("train", "test")}
    return replace(data, origin=f"{data.origin}, at {data.image_size // 2} pixels", **images)


@lru_cache(maxsize=1)
def tiny() -> ImageSet:
    """The hundred classes at 32 pixels, read once."""
    return halved(load("tiny-imagenet", file(_TINY)))


def tiny_data() -> dict:
    """Where the pictures of a hundred classes come from, once they are at hand."""
    file(_TINY)
    return {"source": SOURCES["tiny_imagenet"], "sha256": FILES[_TINY]}


def tiny_cell(model: str, epochs: int, seed: int) -> dict:
    """The study's narrowest ViT, trained on 45,000 pictures of a hundred classes.

    Returns
    -------
    dict
        As of :func:`~patch_lab.images.sweeps.study.train_cell`; never with ``positions``.
    """
    options = study.settings(model, epochs, study.WHOLE, seed, study.WIDTHS[0]) | {"dataset": "tiny-imagenet"}
    folder = study.FOLDER.with_name("tiny_imagenet_study") / f"{model}-{epochs}-{seed}"
    return study.trained(options, tiny(), folder)


def paper_cell(model: str) -> dict:
    """The paper's ViT for a few epochs on 45,000 pictures of CIFAR-10.

    Returns
    -------
    dict
        As of :func:`~patch_lab.images.sweeps.study.train_cell`, and ``step_cpu_s``, the seconds of
        processor time of a step of training (the median of some), whatever else the machine does.
    """
    options = study.COMMON | PAPER | {"attention": model}
    folder = study.FOLDER.with_name("cifar10_paper_size") / model
    return study.trained(options, study.pictures(), folder) | {"step_cpu_s": _step_cpu_s(options)}


def _step_cpu_s(options: dict[str, Any]) -> float:
    """Processor time of one more step of such a run, in seconds."""

    def seconds(epochs: int) -> float:
        start = time.process_time()
        train(replace(config, epochs=epochs), progress=False, data=data)
        return time.process_time() - start

    batch = options["batch_size"]
    steps = 5
    val = 1
    config = TrainConfig(**options | {"val_size": val, "warmup_epochs": 0.0})
    data = study.pictures().limited(steps * batch + val, 1)
    seconds(1)  # the first steps also pay for what is made once
    return round((seconds(3) - seconds(1)) / (2 * steps), 4)


SWEEPS = (
    Sweep(
        name="cifar10_study_cnn",
        summary="A residual CNN on CIFAR-10 (JPEG), whole and with shuffled tiles.",
        # The whole pictures, then tiles of a patch of the study's ViTs, of less, and of more.
        cells=grid(tile=(32, 4, 2, 8, 16), seed=study.SEEDS),
        run=cnn_cell,
        config=CNN,
        data=packed,
        grows=True,
    ),
    Sweep(
        name="cifar10_controls",
        summary="A ViT of two layers on CIFAR-10 (JPEG): positional and vanilla attention beside controls.",
        cells=grid(seed=range(5), arm=tuple(ARMS)),
        run=control_cell,
        config={**CONTROL, "arms": ARMS},
        data=packed,
        grows=True,
    ),
    Sweep(
        name="cifar10_random_labels",
        summary="The controls' ViT on CIFAR-10 (JPEG) with the labels in a random order.",
        cells=grid(seed=range(3), attention=study.KINDS[::-1]),
        run=random_labels_cell,
        config=CONTROL,
        data=packed,
        grows=True,
    ),
    Sweep(
        name="cifar10_labels_changed",
        summary="Shorter runs with random labels in which labels, pictures or the recipe are changed.",
        cells=grid(seed=range(2), change=tuple(CHANGES), attention=study.KINDS[::-1]),
        run=changed_cell,
        config={**SHORTER, "pictures": SHORTER_PICTURES, "changes": CHANGES},
        data=packed,
        grows=True,
    ),
    Sweep(
        name="tiny_imagenet_study",
        summary="The study's narrowest ViTs on 100 classes of Tiny ImageNet at 32 pixels.",
        cells=grid(epochs=TINY_EPOCHS, seed=study.SEEDS, model=study.KINDS),
        run=tiny_cell,
        config={**study.SAID, "dataset": "tiny-imagenet", "vit": study.VIT, "width": study.WIDTHS[0]},
        data=tiny_data,
        grows=True,
    ),
    Sweep(
        name="cifar10_paper_size",
        summary="The paper's ViT (7 layers, 12 heads, width 384) for a few epochs on CIFAR-10 (JPEG).",
        cells=grid(model=study.KINDS[::-1]),
        run=paper_cell,
        config={**study.SAID, "vit": PAPER},
        data=packed,
        grows=True,
    ),
)
