"""The attention of another training: what a ViT of the study still knows with the maps of another seed.

Both networks have the same shape and recipe; their starts, the order of their pictures and which pictures are
held out differ. Heads have no order: in each layer the other's are taken in the order that fits best.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import torch

from patch_association.images.data.augment import normalize
from patch_association.images.data.sets import validation_split
from patch_association.images.dissect import fixed, start, through
from patch_association.images.exchange import correlations, matched, mean_maps
from patch_association.images.models.vit import ViT
from patch_association.records import rounded
from patch_association.sweeps import study
from patch_association.sweeps.images import packed
from patch_association.sweeps.sweep import Sweep

#: Training pictures over which the attention of vanilla heads is averaged.
ESTIMATED = 1000
#: What takes the place of a layer's attention, for every picture.
MAPS = ("own", "another's", "another's, places shuffled", "uniform")
_AT_ONCE = 500


def groups(depth: int) -> list[list[int]]:
    """The layers that are changed together, numbered from 0: each by itself, the outer two, all."""
    singles = [[layer] for layer in range(depth)]
    return [*singles, [0, 1], [depth - 2, depth - 1], list(range(depth))]


def swapped_cell(model: str, width: int, epochs: int, seed: int, other: int) -> dict:
    """A ViT of the study with the maps of another one, trained (or gone on with) where no folder holds them.

    Returns
    -------
    dict
        ``unchanged``, the accuracy on the ``n`` pictures that the network held out; ``right``, for each of
        :data:`MAPS` the accuracy with these in each of :func:`groups`; ``correlation``, (L, H), of its own
        maps and the other's in their order.
    """
    mine, another = (_network(model, width, epochs, each) for each in (seed, other))
    return rounded(_swapped(mine, another, seed), 4)


@torch.no_grad()
def _swapped(mine: ViT, another: ViT, seed: int) -> dict:
    """What :func:`swapped_cell` returns; ``seed`` is that of ``mine``."""
    data, depth = study.pictures(), mine.config.depth
    train, val = validation_split(data.num_train, study.COMMON["val_size"], seed)
    some, held_out = (normalize(data.train_images[k], *data.statistics()) for k in (train[:ESTIMATED], val))
    own, theirs = (mean_maps(each, some) for each in (mine, another))
    theirs = matched(own, theirs)
    places = torch.randperm(own.shape[-1], generator=torch.Generator().manual_seed(seed))
    kinds = (own, theirs, theirs[..., places, :][..., places], torch.full_like(own, 1 / own.shape[-1]))
    right = torch.zeros(len(kinds), len(groups(depth)))
    unchanged = 0.0
    for batch, labels in zip(held_out.split(_AT_ONCE), data.train_labels[val].split(_AT_ONCE)):
        unchanged += int((mine(batch).argmax(dim=1) == labels).sum())
        x = start(mine, batch)
        for k, maps in enumerate(kinds):
            for g, layers in enumerate(groups(depth)):
                edits = {layer: fixed(maps[layer]) for layer in layers}
                right[k, g] += (through(mine, x, edits).argmax(dim=1) == labels).sum()
    n = len(held_out)
    return {
        "n": n,
        "unchanged": unchanged / n,
        "right": {name: (counts / n).tolist() for name, counts in zip(MAPS, right.double())},
        "correlation": correlations(own, theirs).tolist(),
    }


def _network(model: str, width: int, epochs: int, seed: int) -> ViT:
    """The network of a cell of the study."""
    from patch_association.images.training.run import load_run

    study.train_cell(model, epochs, study.WHOLE, seed, width)
    found: Any = load_run(study.folder(model, width, epochs, study.WHOLE, seed)).model
    return found


SWEEPS = (
    Sweep(
        name="cifar10_study_swapped",
        summary="ViTs of the study with the attention maps of another seed, on pictures that they held out.",
        cells=tuple(
            {"model": model, "width": width, "epochs": epochs, "seed": seed, "other": other}
            for width, epochs in ((64, 10), (128, 40))
            for model in ("vanilla", "positional")
            for seed, other in permutations(study.SEEDS, 2)
        ),
        run=swapped_cell,
        config={
            **study.SAID,
            "vit": study.VIT,
            "wide": study.WIDE,
            "estimated": ESTIMATED,
            "maps": list(MAPS),
            "groups": groups(study.VIT["depth"]),
        },
        data=packed,
        grows=True,
    ),
)
