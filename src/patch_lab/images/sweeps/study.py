"""CIFAR-10 for some hours of a CPU: ViTs of positional and of vanilla attention, also on shuffled pictures.

Every training run keeps its checkpoint in a folder of its own, so that an interrupted cell goes on where it
was; the record grows with the cells that are finished.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from patch_association.images.locality import encoding_locality, locality
from patch_lab.images.data import load
from patch_lab.images.data.augment import normalize
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.sweeps.images import packed
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.run import train
from patch_lab.kit.records import decode, encode, rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

#: Checkpoints, below the folder in which the command is run.
FOLDER = Path("runs") / "cifar10_study"
WHOLE = 32  # tiles of this side are the picture: no shuffle
SEEDS = (0, 1, 2)
_WATCHED = 200  # training pictures over which attention is averaged
COMMON: dict[str, Any] = dict(
    dataset="cifar10", val_size=5000, augment="shift-flip", label_smoothing=0.1, weight_decay=0.05,
    device="cpu", precision="bf16", threads=1,
)  # fmt: skip
# What a record says of its runs beside their settings. Tokens of positional attention were in bfloat16 under
# autocast once: a record of such runs does not say this, and is not gone on with.
SAID = {**COMMON, "tokens": "float32"}
# The rate is the best of RATES on validation pictures for vanilla attention: one recipe for both kinds, in
# vanilla's favor.
VIT: dict[str, Any] = dict(model="vit", vit="small", patch_size=4, depth=6, batch_size=128, lr=2e-3)
#: Widths of a ViT's tokens, and of the larger one its own rate, the best of WIDE_RATES for vanilla attention.
WIDTHS = (64, 128)
WIDE = dict(lr=1e-3)


def settings(
    model: str, epochs: int, tile: int, seed: int, width: int, augment: str = COMMON["augment"]
) -> dict[str, Any]:
    """The settings of a cell for :class:`TrainConfig`; ``model`` is the kind of attention.

    Heads have 32 numbers, MLPs twice the width, and the rate warms up over a tenth of the epochs.
    """
    choices = dict(epochs=epochs, tile=tile, seed=seed, augment=augment)
    if width % 32:
        raise ValueError(f"the width of a ViT must be a multiple of 32, got {width}")
    shape = dict(attention=model, width=width, heads=width // 32, mlp_width=2 * width)
    wide = WIDE if width == WIDTHS[1] else {}
    return {**COMMON, **VIT, **wide, **choices, **shape, "warmup_epochs": epochs / 10}


@lru_cache(maxsize=1)
def pictures():
    """CIFAR-10 from the packed file, read once."""
    return load("cifar10")


@torch.no_grad()
def watched(model, data, permutation) -> dict:
    """What is kept of a ViT at an epoch: P, and the mean maps' recall of neighbors, (layer, head).

    Recall is of places on the original picture, where the shuffle leaves patches whole.
    """
    c = model.config
    shuffle = permutation if permutation.tile % c.patch_size == 0 else None
    pictures = normalize(permutation(data.train_images[:_WATCHED]), *data.statistics())
    maps = model(pictures, return_all=True)[1]["attention"]
    maps = [S.mean(dim=0) if S.ndim == 4 else S for S in maps]  # (B, H, N, N) -> (H, N, N)
    encodings = encoding_locality(model.positions[0], shuffle)
    undone = [S if shuffle is None else shuffle.undo(S, c.patch_size) for S in maps]
    return {
        "recall": encodings.recall,
        "correlation": encodings.correlation,
        "attention": [[locality(head, c.grid).recall for head in S] for S in undone],
        "positions": encode(model.positions[0]),
    }


def train_cell(
    model: str, epochs: int, tile: int, seed: int, width: int, augment: str = COMMON["augment"]
) -> dict:
    """One training run on 45,000 pictures of CIFAR-10, resumed where its folder holds a checkpoint.

    Returns
    -------
    dict
        ``test_accuracy`` and ``val_accuracy`` after the last epoch, ``test_n``, ``parameters``,
        ``metrics`` by epoch (with ``recall`` and ``correlation`` of P P^T and ``attention``, the recall of
        the mean maps of each layer and head; shuffle undone), and for seed 0 of the narrowest ViT
        ``positions``, the P of each epoch, (epochs, N, width) in half precision.
    """
    options = settings(model, epochs, tile, seed, width, augment)
    where = folder(model, width, epochs, tile, seed, augment)
    return trained(options, pictures(), where, keep_positions=width == WIDTHS[0] and seed == 0)


def folder(
    model: str, width: int, epochs: int, tile: int, seed: int, augment: str = COMMON["augment"]
) -> Path:
    """Where the checkpoint of a cell is kept."""
    unusual = () if augment == COMMON["augment"] else (augment,)
    return FOLDER / "-".join(str(part) for part in (model, width, epochs, tile, seed, *unusual))


def trained(options: dict[str, Any], data, folder: Path, keep_positions: bool = False) -> dict:
    """The summary of a run with these settings, gone on with where ``folder`` holds a checkpoint.

    Raises
    ------
    KeyboardInterrupt
        If a signal stopped the run; its checkpoint is kept.
    """
    config = TrainConfig(**options)
    permutation = GridPermutation(data.image_size, config.tile or data.image_size, config.tile_seed)
    watch = partial(watched, data=data, permutation=permutation) if config.model == "vit" else None
    run = train(config, folder, resume=True, progress=False, data=data, watch=watch)
    if not run.record["finished"]:
        stopped = f"{folder.name} was stopped by signal {run.stopped_by}"
        raise KeyboardInterrupt(f"{stopped} and keeps its checkpoint")
    return summary(run.record, keep_positions)


def summary(record: dict, keep_positions: bool) -> dict:
    """What the study keeps of the record of a run."""
    rows = [dict(row) for row in record["metrics"]]
    held = [decode(row.pop("positions")) for row in rows if "positions" in row]
    result = {
        "test_accuracy": record["test"]["accuracy"],
        "test_n": record["test"]["n"],
        "parameters": record["parameters"],
        "metrics": rows,
    }
    if "val_accuracy" in rows[-1]:
        result["val_accuracy"] = rows[-1]["val_accuracy"]
    if "mirrored_accuracy" in record["test"]:
        result["test_mirrored_accuracy"] = record["test"]["mirrored_accuracy"]
    result = rounded(result, 4)
    return result | ({"positions": encode(np.array(held))} if held and keep_positions else {})


def rate_cell(model: str, lr: float, width: int) -> dict:
    """A ViT trained for a few epochs at a rate: accuracy on validation pictures.

    Returns
    -------
    dict
        ``val_accuracy`` and ``train_accuracy`` of every epoch.
    """
    config = TrainConfig(**{**settings(model, RATE_EPOCHS, WHOLE, 0, width), "lr": lr})
    data = replace(pictures(), test_images=pictures().test_images[:1], test_labels=pictures().test_labels[:1])
    rows = train(config, progress=False, data=data).record["metrics"]
    return rounded({name: [row[name] for row in rows] for name in ("val_accuracy", "train_accuracy")}, 4)


#: Largest rates that were tried for vanilla attention, and for how many epochs.
RATES = (1e-3, 2e-3, 4e-3)
RATE_EPOCHS = 4
#: The same for the larger width.
WIDE_RATES = (5e-4, 1e-3, 2e-3)
#: Epochs of a short run and of a long one.
SHORT = 10
LONG = 40
KINDS = ("vanilla", "positional")


def _vits(width: int, epochs: int, tiles, seeds) -> tuple[dict, ...]:
    """Pairs of ViTs: what is to be compared stands side by side."""
    return grid(width=width, epochs=epochs, tile=tiles, seed=seeds, model=KINDS)


def _cells() -> tuple[dict, ...]:
    """Cheap ones first: short runs of a seed, of the others, then long ones, then a wider ViT."""
    cells = []
    for epochs in (SHORT, LONG):
        for seed in SEEDS:
            # A tile of 4 pixels, a patch, only renames patches; one of 2 pixels takes them apart.
            cells += _vits(WIDTHS[0], epochs, (WHOLE, 4, 2) if seed == 0 else WHOLE, seed)
    for epochs in (SHORT, LONG):
        cells += _vits(WIDTHS[1], epochs, WHOLE, SEEDS)
        cells += _vits(WIDTHS[0], epochs, (4, 2), SEEDS[1:])
    return tuple(cells)


def _rates(name: str, size: str, width: int, rates) -> Sweep:
    return Sweep(
        name=name,
        summary=f"Validation accuracy of the {size} vanilla ViT after a few epochs, by learning rate.",
        cells=grid(lr=rates, model="vanilla"),
        run=partial(rate_cell, width=width),
        config={**SAID, "vit": VIT, "width": width, "epochs": RATE_EPOCHS},
        data=packed,
    )


SWEEPS = (
    Sweep(
        name="cifar10_study",
        summary="ViTs of six layers on CIFAR-10 (JPEG), whole and with shuffled tiles.",
        cells=_cells(),
        run=train_cell,
        config={
            **SAID,
            "vit": VIT,
            "wide": WIDE,
            "watched": _WATCHED,
            "widths": list(WIDTHS),
            "short": SHORT,
            "long": LONG,
        },
        data=packed,
        grows=True,
    ),
    Sweep(
        name="cifar10_study_unmirrored",
        summary="Short runs of the study's narrowest ViTs on pictures that are shifted and not mirrored.",
        cells=grid(model=KINDS),
        run=partial(train_cell, epochs=SHORT, tile=WHOLE, seed=0, width=WIDTHS[0], augment="shift"),
        config={**SAID, "augment": "shift", "vit": VIT, "width": WIDTHS[0], "epochs": SHORT},
        data=packed,
    ),
    _rates("cifar10_study_rates", "narrow", WIDTHS[0], RATES),
    _rates("cifar10_study_rates_wide", "wide", WIDTHS[1], WIDE_RATES),
)
