"""What ``patch-association look`` reads, and the tables that it prints."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from patch_association.checks import fits_memory, positive_int
from patch_association.images import Look, ViT, families
from patch_association.images.locality import (
    components,
    grid_sides,
    neighbor_recall,
    row_and_column,
    similarity,
)
from patch_association.images.weights import Given, given
from patch_lab.images.data.folder import left_out, pictures_in, read_picture
from patch_lab.images.data.packed import load_crops
from patch_lab.images.training.run import RECORD, load_run


def model_at(path: str) -> Given:
    """The model of a training run's folder, or what :func:`~patch_association.images.weights.given` reads."""
    if (Path(path) / RECORD).is_file():
        return given(load_run(path).model)._replace(name=path)
    return given(path)


def picture_size(model, name: str, grid=None, about=None) -> tuple[int, int]:
    """Height and width in pixels of the pictures that a model takes."""
    if isinstance(model, ViT):
        return model.config.image_size, model.config.image_size
    sides = (
        (grid and grid_sides(grid, 1))
        or families.grid_of(model, about)
        or families.encodings_in(model, name).grid
    )
    return families.size_of(model, sides, name)


def read_pictures(folder: Path, size: tuple[int, int], channels, limit: int, progress: bool) -> torch.Tensor:
    """Pictures of a folder, scaled and cut in the middle to ``size``: (n, channels, height, width) uint8."""
    limit = positive_int("limit", limit, minimum=2)
    if channels not in (1, 3, None):
        raise ValueError(
            f"the model takes pictures of {channels} colors, and those of {folder} have three or one"
        )
    if folder.is_file():
        packed, _ = load_crops(folder)
        came = tuple(packed.shape[1:])
        wanted = (channels or 3, *size)
        if came != wanted:
            raise ValueError(f"{folder} holds pictures of shape {came}, the model takes {wanted}")
        return packed[_evenly(len(packed), limit)]
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of pictures")
    files, others = pictures_in(folder)
    if len(files) < 2:
        raise ValueError(f"{folder} must hold two pictures at least, got {len(files)}")
    left_out(folder, others)
    files = [files[k] for k in _evenly(len(files), limit)]
    fits_memory(f"{len(files)} pictures", 16 * len(files) * size[0] * size[1], 1)
    bar = tqdm(files, desc="reading", unit="picture", leave=False, disable=None if progress else True)
    return torch.stack([_cut(path, size, "L" if channels == 1 else "RGB") for path in bar])


def _evenly(count: int, limit: int) -> list[int]:
    """At most ``limit`` of the numbers below ``count``, spread evenly: folders are sorted by class."""
    return [k * count // min(limit, count) for k in range(min(limit, count))]


def _cut(path, size: tuple[int, int], mode: str) -> torch.Tensor:
    picture = read_picture(path).convert(mode)
    scale = min(picture.width / size[1], picture.height / size[0])
    w = size[1] * scale
    h = size[0] * scale
    left = (picture.width - w) / 2
    top = (picture.height - h) / 2
    cut = picture.resize((size[1], size[0]), 3, box=(left, top, left + w, top + h))  # 3: bicubic
    return torch.from_numpy(np.array(cut).reshape(*size, -1)).permute(2, 0, 1)  # (H, W, c) -> (c, H, W)


def tables(seen: Look) -> dict[str, pd.DataFrame]:
    """The encodings beside a random start of their shape and their own rows in another order; heads by layer.

    Columns are shares from 0 to 1, but for the number of principal components that hold 90% of the variance.
    """
    frames = {}
    if seen.encodings is not None and seen.sums is not None:
        P = seen.encodings.P
        grid = seen.encodings.grid
        generator = torch.Generator().manual_seed(0)
        start = 0.02 * torch.randn(P.shape, generator=generator)
        shuffled = P[torch.randperm(len(P), generator=generator)]
        rows = {}
        for title, E in (("this network", P), ("a random start", start), ("its rows shuffled", shuffled)):
            near = neighbor_recall(similarity(E, centered=True, cosine=True), grid, min(4, len(P) - 1))
            G = similarity(E)
            rows[title] = [near, components(G, 0.9), row_and_column(G, grid).share]
        columns = ["neighbors found", "components for 90%", "row plus column"]
        frames["Encodings"] = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    if seen.attention is not None:
        share = seen.attention.share
        near = seen.attention.neighbors
        by_layer = {"positional": share.mean(1), "the most": share.max(1), "neighbors found": near.mean(1)}
        frame = pd.DataFrame(by_layer, index=range(1, len(share) + 1))
        frames["Attention between patches, by layer"] = frame
    return frames


def page(seen: Look) -> str:
    """The tables as a page of HTML that stands alone."""
    title = html.escape(f"A look at {Path(seen.name).name}")
    parts = [
        f"<h2>{name}</h2>\n{frame.to_html(float_format='{:.3f}'.format)}"
        for name, frame in tables(seen).items()
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body><h1>{title}</h1>\n<p>{html.escape(str(seen))}</p>\n" + "\n".join(parts) + "\n</body></html>\n"
    )
