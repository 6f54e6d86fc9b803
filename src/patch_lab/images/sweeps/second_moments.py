"""The grid from unlabeled pictures of CIFAR-10 and CIFAR-100: a baseline for learned P."""

from __future__ import annotations

from dataclasses import asdict

from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.second_moments import without_labels
from patch_lab.images.sweeps.section_six import FILES, SETS, SOURCES, data, pictures
from patch_lab.kit.records import rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

PATCH = 4
WHOLE = 32
SIZES = (100, 1000, 10_000)


def cell(data: str, pictures_used: int, tile: int) -> dict:
    """Correlations of gray patch means over the first training pictures, in tiles of one fixed shuffle.

    Returns
    -------
    dict
        ``as_seen`` and ``undone``: ``recall``, ``chance`` and ``correlation``, as of learned P.
    """
    shown = pictures(data).train_images[:pictures_used]
    permutation = None if tile == WHOLE else GridPermutation(shown.shape[-1], tile, seed=0)
    locality = without_labels(shown, PATCH, permutation)
    return rounded({"as_seen": asdict(locality.as_seen), "undone": asdict(locality.undone)}, 4)


SWEEPS = (
    Sweep(
        name="second-moments",
        summary="Neighbors by correlations of gray patches over unlabeled pictures of CIFAR (JPEG).",
        cells=grid(data=SETS, tile=(WHOLE, PATCH), pictures_used=SIZES),
        run=cell,
        config={"patch": PATCH, "tile_seed": 0, "files": FILES, "sources": SOURCES},
        data=data,
    ),
)
