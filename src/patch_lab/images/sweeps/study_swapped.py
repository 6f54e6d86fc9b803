"""The attention of another training: what a ViT of the study still knows with the maps of another seed.

Both networks have the same shape and recipe; their starts, the order of their pictures and which pictures are
held out differ. Heads have no order: in each layer the other's are taken in the order that fits best.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import torch

from patch_association.images.vit import ViT
from patch_lab.images.data.augment import normalize
from patch_lab.images.data.sets import validation_split
from patch_lab.images.dissect import fixed, start, through
from patch_lab.images.exchange import correlations, matched, mean_maps
from patch_lab.images.sweeps import study
from patch_lab.images.sweeps.images import packed
from patch_lab.images.training.run import load_run
from patch_lab.kit.records import rounded
from patch_lab.kit.sweeps.sweep import Sweep

#: Training pictures over which the attention of vanilla heads is averaged.
ESTIMATED = 1000
#: What takes the place of a layer's attention, for every picture. Mirrored: each patch looks where it looked,
#: left for right. Exchanged: each head has the next one's map.
MAPS = (
    "own",
    "own, mirrored",
    "own, heads averaged",
    "own, heads exchanged",
    "another's",
    "another's, heads averaged",
    "another's, places shuffled",
    "uniform",
)
_AT_ONCE = 500


def groups(depth: int) -> list[list[int]]:
    """The layers that are changed together, numbered from 0: each by itself, the outer two, all."""
    singles = [[layer] for layer in range(depth)]
    return [*singles, [0, 1], [depth - 2, depth - 1], list(range(depth))]


def alternatives(own: torch.Tensor, raw: torch.Tensor, grid: int, seed: int) -> tuple[torch.Tensor, ...]:
    """The maps of :data:`MAPS`, each (L, H, N, N), from a network's own and another's as they are."""
    places = torch.arange(grid * grid).view(grid, grid)
    generator = torch.Generator().manual_seed(seed)
    mirror = places.flip(1).flatten()
    shuffle = torch.randperm(grid * grid, generator=generator)
    theirs, scattered = (matched(own, maps) for maps in (raw, raw[..., shuffle, :][..., shuffle]))
    return (
        own,
        own[..., mirror],
        own.mean(dim=1, keepdim=True).expand_as(own),
        own.roll(1, dims=1),
        theirs,
        theirs.mean(dim=1, keepdim=True).expand_as(own),
        scattered,
        torch.full_like(own, 1 / own.shape[-1]),
    )


def swapped_cell(model: str, width: int, epochs: int, seed: int, other: int) -> dict:
    """A ViT of the study with the maps of another one, trained (or gone on with) where no folder holds them.

    Returns
    -------
    dict
        ``unchanged``, the accuracy on the ``n`` pictures that the network held out; ``right``, for each of
        :data:`MAPS` the accuracy with these in each of :func:`groups`; ``correlation``, (L, H), of its own
        maps and the other's in their order, and ``mirrored``, of its own maps and the mirrored ones.
    """
    mine, another = (_network(model, width, epochs, s) for s in (seed, other))
    return rounded(_swapped(mine, another, seed, other), 4)


@torch.no_grad()
def _swapped(mine: ViT, another: ViT, seed: int, other: int) -> dict:
    """What :func:`swapped_cell` returns."""
    data = study.pictures()
    depth = mine.config.depth
    train, val = validation_split(data.num_train, study.COMMON["val_size"], seed)
    some, held_out = (normalize(data.train_images[k], *data.statistics()) for k in (train[:ESTIMATED], val))
    own, raw = (mean_maps(network, some) for network in (mine, another))
    kinds = alternatives(own, raw, mine.config.grid, 10 * seed + other)
    right = torch.zeros(len(kinds), len(groups(depth)))
    unchanged = 0.0
    for batch, labels in zip(held_out.split(_AT_ONCE), data.train_labels[val].split(_AT_ONCE)):
        seen: list[torch.Tensor] = []
        unchanged += int((through(mine, start(mine, batch), seen=seen).argmax(dim=1) == labels).sum())
        for k, maps in enumerate(kinds):
            for g, layers in enumerate(groups(depth)):
                edits = {layer: fixed(maps[layer]) for layer in layers}
                logits = through(mine, seen[layers[0]], edits, layers[0])
                right[k, g] += (logits.argmax(dim=1) == labels).sum()
    n = len(held_out)
    return {
        "n": n,
        "unchanged": unchanged / n,
        "right": {name: (counts / n).tolist() for name, counts in zip(MAPS, right.double())},
        "correlation": correlations(own, matched(own, raw)).tolist(),
        "mirrored": correlations(own, kinds[MAPS.index("own, mirrored")]).tolist(),
    }


def _network(model: str, width: int, epochs: int, seed: int) -> ViT:
    """The network of a cell of the study."""
    study.train_cell(model, epochs, study.WHOLE, seed, width)
    network: Any = load_run(study.folder(model, width, epochs, study.WHOLE, seed)).model
    return network


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
