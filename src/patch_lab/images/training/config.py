"""Every setting of a training run, in one flat list that ``--set key=value`` reaches, and the presets."""

from __future__ import annotations

import math
import os
import types
import typing
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from functools import cache

from patch_association.checks import finite, positive_int, probability, seed_number
from patch_lab.images import AUGMENTATIONS, STARTS, VALUES

MODELS = ("vit", "resnet18", "vgg19", "small_cnn", "residual_cnn")
_PRECISIONS = ("auto", "float32", "bf16")
_OPTIMIZERS = ("adamw", "adam", "sgd")
_SCHEDULES = ("cosine", "triangle")
#: Shares of the peak at which a triangle begins and ends.
_FIRST = 0.2
_LAST = 0.07
# What may differ when a run is resumed: how fast and where it runs, never what it computes.
FREE_ON_RESUME = ["root", "download", "device", "compile", "workers", "checkpoint_seconds", "minutes"]


def learning_rate(
    step: int, total: int, warmup: int, peak: float, schedule: str = "cosine", last: float = 0.0
) -> float:
    """The rate of step 0, ..., total - 1: linear to ``peak`` in ``warmup`` steps, then a cosine to ``last``.

    The ``schedule`` "triangle" rises from a fifth of the peak, and falls linearly to 7% of it (airbench,
    arXiv:2404.00498).
    """
    least = _FIRST if schedule == "triangle" else 0.0
    if step < warmup:
        return peak * (least + (1 - least) * (step + 1) / warmup)
    if schedule == "triangle":
        return peak * (1 - (1 - _LAST) * (step + 1 - warmup) / max(1, total - warmup))
    return last + (peak - last) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """``seed``: every draw of a run follows from it."""

    seed: int = 0

    def __post_init__(self):
        seed_number("seed", self.seed)


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """The files: ``dataset`` is a name of :func:`patch_lab.images.data.load`, "imagenet" or "folder".

    ``root`` is where its files lie; ``train_size`` and ``test_size`` keep the first so many.
    """

    dataset: str = "cifar10"
    root: str | None = None
    download: bool = False
    train_size: int | None = None
    test_size: int | None = None
    image_size: int = 224

    def __post_init__(self):
        positive_int("image_size", self.image_size)
        _true_or_false(self, "download")


@dataclass(frozen=True, kw_only=True)
class FeedSettings(Seeded):
    """The batches: ``val_size`` training pictures are held out for every choice.

    ``tile`` is the grid shuffle size s (0: no shuffle), drawn from ``tile_seed``; it acts after ``augment``.
    ``batch_size`` is the global one, over all processes. An epoch leaves out what does not fill a last
    batch. ``workers`` read pictures from the disk.
    """

    val_size: int = 5000
    augment: str = "shift-flip"
    tile: int = 0
    tile_seed: int = 0
    batch_size: int = 128
    workers: int = 4

    def __post_init__(self):
        Seeded.__post_init__(self)
        positive_int("batch_size", self.batch_size)
        for name in ("val_size", "tile", "workers"):
            positive_int(name, getattr(self, name), minimum=0)
        seed_number("tile_seed", self.tile_seed)
        _one_of(self, augment=AUGMENTATIONS)
        _few_enough(self, "workers")


@dataclass(frozen=True, kw_only=True)
class VitChanges:
    """What a run may change of the ViT that it names, where it is given: see :class:`ViTConfig`."""

    attention: str = "positional"
    patch_size: int | None = None
    depth: int | None = None
    heads: int | None = None
    width: int | None = None
    mlp_width: int | None = None
    pooling: str | None = None
    positions: str | None = None
    shared_positions: bool | None = None
    position_std: float | None = None
    drop_path: float | None = None
    score_scale: str | None = None
    two_gelus: bool | None = None

    def vit_changes(self) -> dict:
        """What is changed in the named ViT configuration."""
        values = {field.name: getattr(self, field.name) for field in fields(VitChanges)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class ModelSettings(VitChanges, Seeded):
    """The network and its start: ``model`` is "vit", "resnet18", "vgg19", "small_cnn" or "residual_cnn".

    ``vit`` names a configuration of :meth:`ViTConfig.named`, which :class:`VitChanges` change. ``start``,
    ``values`` and ``margin`` say where it starts (:func:`~patch_lab.images.starts.start_like`; layers are
    scaled on the first training pictures).
    """

    model: str = "vit"
    vit: str = "small"
    start: str = "usual"
    values: str = "usual"
    margin: float = 3.0

    def __post_init__(self):
        Seeded.__post_init__(self)
        finite("margin", self.margin, minimum=0)
        _one_of(self, model=MODELS, start=STARTS, values=VALUES)
        if self.model != "vit" and (self.start, self.values) != ("usual", "usual"):
            raise ValueError(f"start and values are of a vit, got them for {self.model}")


@dataclass(frozen=True, kw_only=True)
class OptimizerSettings:
    """The loss and the steps.

    ``optimizer`` is "adamw", with ``lr``, ``weight_decay`` (of matrices; not of biases, norms, P) and betas
    (0.9, ``beta2``), "adam", with an L2 decay of every parameter, or "sgd", with its own Nesterov momentum
    and quick norms, as ``residual_cnn`` likes it (:func:`~patch_lab.images.training.step.make_optimizer`).
    The rate has a linear warm-up over ``warmup_epochs``, then, by ``schedule``, a "cosine" down to
    ``lr_last`` or the other side of a "triangle". ``lookahead`` averages weights on the way
    (:class:`~patch_lab.images.training.step.Lookahead`); ``ema`` is the decay of a running average of
    weights, which is what is evaluated (0: none), and ``mixup`` the alpha with which two pictures of a
    batch are mixed (0: not at all); ``label_smoothing``; gradients are clipped to the norm ``clip`` (0: not
    at all).
    """

    epochs: int = 300
    optimizer: str = "adamw"
    lr: float = 1e-3
    lr_last: float = 0.0
    weight_decay: float = 0.05
    beta2: float = 0.999
    warmup_epochs: float = 5.0
    schedule: str = "cosine"
    lookahead: bool = False
    ema: float = 0.0
    mixup: float = 0.0
    label_smoothing: float = 0.1
    clip: float = 1.0

    def __post_init__(self):
        positive_int("epochs", self.epochs)
        for name in ("lr", "lr_last", "weight_decay", "warmup_epochs", "clip", "mixup"):
            finite(name, getattr(self, name), minimum=0)
        for name in ("label_smoothing", "beta2", "ema"):
            probability(name, getattr(self, name))
        _true_or_false(self, "lookahead")
        _one_of(self, optimizer=_OPTIMIZERS, schedule=_SCHEDULES)
        if self.ema and self.lookahead:
            raise ValueError("weights are averaged by lookahead or by ema, got both")
        if self.warmup_epochs > self.epochs:
            raise ValueError(
                f"warmup_epochs must be at most epochs, got {self.warmup_epochs:g} of {self.epochs}: "
                "set it as well (--epochs N alone shortens it)"
            )

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step of the run, counted from 0, where an epoch has ``steps``."""
        warmup = math.ceil(self.warmup_epochs * steps)
        return learning_rate(step, self.epochs * steps, warmup, self.lr, self.schedule, self.lr_last)


@dataclass(frozen=True, kw_only=True)
class MachineSettings:
    """Where and how fast: ``device`` "auto" takes a GPU when there is one.

    ``precision`` "auto" is bf16 where a GPU has it; ``compile`` uses torch.compile, on a GPU with CUDA
    graphs; ``threads`` (0: PyTorch's choice) is for the CPU, where one is best for small models and the
    last bits of a result depend on how many. A checkpoint is written at least every
    ``checkpoint_seconds`` and at the end; after ``minutes`` (0: no limit) the run stops with one.
    """

    device: str = "auto"
    precision: str = "auto"
    compile: bool = False
    threads: int = 0
    checkpoint_seconds: float = 60.0
    minutes: float = 0.0

    def __post_init__(self):
        positive_int("threads", self.threads, minimum=0)
        for name in ("checkpoint_seconds", "minutes"):
            finite(name, getattr(self, name), minimum=0)
        _true_or_false(self, "compile")
        _one_of(self, precision=_PRECISIONS)
        _few_enough(self, "threads")


@dataclass(frozen=True, kw_only=True)
class TrainConfig(MachineSettings, OptimizerSettings, ModelSettings, FeedSettings, DataSettings):
    """A training run. The defaults are the paper's where it says, and the usual ones where it does not.

    A flat list, each part of it described where it is defined: a function names in its signature the part
    that it reads. The test pictures are looked at once, by the finished model (with ``mirrored_test`` also
    with logits averaged over each and its mirror image).

    Examples
    --------
    >>> config = TrainConfig(dataset="digits", vit="reader", patch_size=2, epochs=20)
    >>> config.attention, config.weight_decay
    ('positional', 0.05)
    """

    mirrored_test: bool = False

    def __post_init__(self):
        for part in (DataSettings, FeedSettings, ModelSettings, OptimizerSettings, MachineSettings):
            part.__post_init__(self)
        _true_or_false(self, "mirrored_test")

    def as_dict(self) -> dict:
        """The settings as JSON values."""
        return asdict(self)


def _one_of(settings, **choices) -> None:
    for name, allowed in choices.items():
        if getattr(settings, name) not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(settings, name)!r}")


def _true_or_false(settings, name: str) -> None:
    if not isinstance(getattr(settings, name), bool):
        raise ValueError(f"{name} must be true or false, got {getattr(settings, name)!r}")


def _few_enough(settings, name: str) -> None:
    """Thousands of threads, or of workers, end in a crash."""
    if getattr(settings, name) > (most := max(64, os.cpu_count() or 1)):
        raise ValueError(f"{name} must be at most {most} here, got {getattr(settings, name)}")


def with_settings(config: TrainConfig, settings) -> TrainConfig:
    """``config`` with "key=value" settings applied, each value read as its key's type.

    Raises
    ------
    ValueError
        On an unknown key or a value of another type; the message lists the keys or the type.

    Examples
    --------
    >>> with_settings(TrainConfig(), ["lr=2e-3", "attention=vanilla"]).lr
    0.002
    """
    hints = _hints()
    changes = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, got {setting!r}")
        if key not in hints:
            names = [item.name for item in fields(config)]
            raise ValueError(f"there is no setting {key!r}{_meant(key, names)}; there are {', '.join(names)}")
        changes[key] = _value(key, text, hints[key])
    return replace(config, **changes)


def _meant(word: str, names: list[str]) -> str:
    """The name that is most like a word, in letters or as its initials: "learning_rate" may mean "lr"."""

    def first(text):
        return "".join(part[:1] for part in text.split("_"))

    alike = [name for name in names if "_" in word + name and (first(name) == word or first(word) == name)]
    inside = [name for name in names if len(word) > 1 and (word in name or name in word.split("_"))]
    close = get_close_matches(word, names, 1, 0.7 if len(word) > 3 else 0.5)
    best = next(iter((*alike, *close, *inside)), None)
    return "" if best is None else f" (did you mean {best}?)"


@cache
def _hints() -> dict[str, typing.Any]:
    return typing.get_type_hints(TrainConfig)


def _value(key, text, kind):
    kinds = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    if text.lower() == "none" and type(None) in kinds:
        return None
    kind = next(k for k in kinds if k is not type(None))
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{key} must be true or false, got {text!r}")
        return text.lower() == "true"
    try:
        return kind(text)
    except ValueError:
        words = "an integer" if kind is int else "a number"
        raise ValueError(f"{key} must be {words}, got {text[:60]!r}") from None


# The recipe of the small images (peak 1e-3, 5 epochs of warm-up, label smoothing 0.1, AutoAugment)
# is the one that a public training of this very architecture on CIFAR-10 uses; the paper names AdamW,
# the cosine, 300 epochs, the batch sizes and AutoAugment.
_SMALL_IMAGES: dict[str, typing.Any] = dict(vit="small", patch_size=4, epochs=300, batch_size=128)
PRESETS: dict[str, TrainConfig] = {
    # Seconds on a laptop, no download: that everything works, not that it learns well.
    "smoke": TrainConfig(
        dataset="photographs", train_size=1000, test_size=500, val_size=200, vit="reader", epochs=5,
        batch_size=80, lr=3e-3, warmup_epochs=1.0, label_smoothing=0.0, workers=0, threads=1,
    ),
    "cifar10": TrainConfig(dataset="cifar10", augment="autoaugment-cifar10", **_SMALL_IMAGES),
    # Nine of ten pictures right in half an hour of a CPU core, for a CNN: after airbench (arXiv:2404.00498),
    # numbers rounded.
    "cifar10-cnn": TrainConfig(
        dataset="cifar10", model="residual_cnn", augment="reflect-flip", epochs=12, batch_size=1000,
        optimizer="sgd", lr=1.5, weight_decay=1.3e-3, warmup_epochs=2.75, schedule="triangle",
        lookahead=True, label_smoothing=0.2, clip=0.0,
    ),
    # The permuted pictures of Figure 5 need patch_size=2: add --set patch_size=2 --set tile=S.
    "cifar100": TrainConfig(dataset="cifar100", augment="autoaugment-cifar10", **_SMALL_IMAGES),
    "svhn": TrainConfig(dataset="svhn", augment="autoaugment-svhn", **_SMALL_IMAGES),
    # What a public training of this very shape uses (GitHub omihub777/ViT-CIFAR, ab9043ea): P from N(0, 1), a
    # class token, scores over the root of the width, a GELU after either layer of an MLP, Adam with L2 decay,
    # no clipping, nothing held out. Different here: the rate moves at every step, matrices start as Xavier's.
    "vit-cifar": TrainConfig(
        dataset="cifar10", augment="autoaugment-cifar10", vit="small", patch_size=4, epochs=200,
        batch_size=128, val_size=0, attention="vanilla", pooling="cls", position_std=1.0, score_scale="width",
        two_gelus=True, optimizer="adam", lr=1e-3, lr_last=1e-5, weight_decay=5e-5, warmup_epochs=5.0,
        clip=0.0,
    ),
    # Several GPUs, the official files; RandAugment on top of random windows.
    "imagenet": TrainConfig(
        dataset="imagenet", vit="tiny", augment="randaugment", epochs=300, batch_size=1024, val_size=10000,
        warmup_epochs=10.0, workers=12, checkpoint_seconds=600.0,
    ),
}  # fmt: skip


def preset(name: str) -> TrainConfig:
    """A preset by name; a ValueError lists those there are."""
    if name not in PRESETS:
        raise ValueError(
            f"there is no preset {name!r}{_meant(name, list(PRESETS))}; there are {', '.join(PRESETS)}"
        )
    return PRESETS[name]
