"""What a trained ViT knows of the grid of its patches, in one call: its encodings, and its attention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from tqdm import tqdm

from patch_association.checks import fits_memory, real_array
from patch_association.images import families
from patch_association.images.families import Encodings
from patch_association.images.locality import (
    Locality,
    RowsAndColumns,
    components,
    encoding_locality,
    grid_sides,
    neighbor_recall,
    row_and_column,
    similarity,
)
from patch_association.images.pretrained import check_pictures, finite_maps
from patch_association.images.weights import Given, given

# Bytes of maps that are looked at together.
_AT_ONCE = 2**28


@dataclass(frozen=True)
class Looking:
    """Where the patches of a ViT look, on some pictures; L layers of H heads on N patches.

    Attributes
    ----------
    pictures : int
    grid : pair of int (rows and columns of patches on these pictures)
    share : (L, H) array
        How positional a head is (:func:`~patch_association.images.maps.positional_share`); NaN where it looks
        everywhere alike.
    neighbors : (L, H) array
        The share of a patch's neighbors at a side among the eight patches that it looks at most on average.
    maps : (L, H, N, N) array
        Mean attention.
    """

    pictures: int
    grid: tuple[int, int]
    share: np.ndarray
    neighbors: np.ndarray
    maps: np.ndarray

    def __repr__(self) -> str:
        layers, heads = self.share.shape
        told = self.share[np.isfinite(self.share)]
        finding = "each looks everywhere alike"
        if told.size:
            finding = f"mean maps explain {told.min():.0%} to {told.max():.0%}"
        return f"Looking({self.pictures} pictures, {layers} layers of {heads} heads: {finding})"


@dataclass(frozen=True)
class Look:
    """What a ViT knows of the grid of its patches.

    Attributes
    ----------
    name : str
        What was looked at: the file, the model's name or its class.
    tokens : dict
        Tokens that are no patches, as class and register tokens: how many by name.
    encodings : Encodings or None
        Where they were found, P, and its grid; None for a network without learned encodings.
    locality : Locality or None (by the cosines of centered encodings; of grids of at least 3 x 3)
    neighbors : float or None
        The share of a patch's neighbors at a side among its four most similar patches, by the same; None, as
        the measures around it, where encodings are zero or all the same, as at the start of some networks.
    components : int or None (how many principal components hold 90% of the encodings' variance)
    sums : RowsAndColumns or None (how far they are a vector for the row plus one for the column)
    attention : Looking or None (on the pictures, if there were any)
    """

    name: str
    tokens: dict[str, int]
    encodings: Encodings | None
    locality: Locality | None
    neighbors: float | None
    components: int | None
    sums: RowsAndColumns | None
    attention: Looking | None

    def __repr__(self) -> str:
        lines = [f"tokens that are no patches: {self.tokens or 'none'}"]
        if self.encodings is not None:
            rows, columns = self.encodings.grid
            lines.append(f"{rows} x {columns} encodings in {self.encodings.called!r}")
        if self.sums is not None:
            lines.append(f"neighbors found {self.neighbors:.0%}, row plus column {self.sums.share:.0%}")
        return f"Look({self.name}; {'; '.join(lines)}; {self.attention or 'no pictures'})"


def look(model, pictures=None, *, grid=None, heads=None, norm=None, mean=0.5, std=0.5, progress=None) -> Look:
    """What the encodings of a trained ViT know of the grid of patches, and its attention on pictures.

    Parameters
    ----------
    model : module, dict of tensors, array or tensor, or str or path
        Of the families that :mod:`~patch_association.images.pretrained` names; a path is a ``.npz``,
        ``.safetensors``, ``.pth``, ``.pt`` or ``.bin`` file, or a folder with one.
    pictures : (n, c, H, W) or (n, H, W, c) tensor or array, optional
        At least two, of a size that the model takes. Floating-point numbers as they are, in the model's
        precision; whole numbers 0 to 255 are divided by 255, less ``mean``, divided by ``std``.
    grid : pair of int, optional
        Rows and columns of patches, where neither the model nor the pictures say them and they are no square.
    heads : int, optional
        Where only tensors are given, which do not tell.
    norm : "before" or "after", optional
        As in :func:`~patch_association.images.pretrained.attention_of`.
    mean, std : float or c of them
        Of the pictures that the model was trained on. Models differ: 0.5 is AugReg's.
    progress : bool, optional
        A bar after five seconds; by default on a terminal only.

    Raises
    ------
    ValueError
        If there is nothing to look at: neither encodings nor, without pictures, attention; and where
        :func:`~patch_association.images.pretrained.attention_of` refuses.

    Examples
    --------
    >>> from patch_association.images import ViT, ViTConfig
    >>> pictures = torch.rand(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    >>> seen = look(ViT(ViTConfig.named("reader", attention="positional")), pictures)
    >>> seen.encodings.grid, seen.attention.share.round(6).tolist()
    ((8, 8), [[1.0, 1.0, 1.0, 1.0]])
    """
    return look_at(given(model), pictures, grid, heads, mean, std, progress, norm)


@torch.no_grad()
def look_at(
    read: Given, pictures=None, grid=None, heads=None, mean=0.5, std=0.5, progress=None, norm=None
) -> Look:
    """:func:`look` at what was read already.

    Parameters
    ----------
    read : Given (as :func:`~patch_association.images.weights.given` gives it)
    pictures, grid, heads, mean, std, progress, norm : as in :func:`look`, and so the errors
    """
    model = read.model
    name = read.name
    tensors = families.tensors_of(model)
    images = None
    if pictures is not None:
        images = check_pictures(_normalized(pictures, mean, std, families.channels_of(model)))
        images = images.to(next((x.dtype for x in tensors.values() if x.is_floating_point()), images.dtype))
    attention = None if images is None else _looked(read, images, grid, heads, norm, progress)
    try:
        encodings = families.encodings_in(model, name, grid, read.about, images, attention and attention.grid)
    except ValueError:
        if images is None or families.has_positions(tensors):
            raise
        encodings = None  # rotary or relative positions: there is nothing to measure but the attention
    local, near, needed, sums = (None, None, None, None) if encodings is None else _measured(encodings)
    tokens = families.other_tokens(tensors) if encodings is None else encodings.tokens
    return Look(name, tokens, encodings, local, near, needed, sums, attention)


def _normalized(pictures, mean, std, channels):
    colors_last = isinstance(pictures, np.ndarray)  # unless the shape tells
    if isinstance(pictures, np.ndarray) and pictures.dtype.kind in "fiu":
        pictures = torch.from_numpy(np.array(pictures))
    if isinstance(pictures, torch.Tensor) and pictures.ndim == 4:
        colors = (1, 3) if channels is None else (channels,)
        may_be_first = pictures.shape[1] in colors
        may_be_last = pictures.shape[3] in colors
        if may_be_first != may_be_last:
            colors_last = may_be_last
        if colors_last:
            pictures = pictures.movedim(3, 1)  # (n, H, W, c) -> (n, c, H, W)
    if not isinstance(pictures, torch.Tensor) or pictures.is_floating_point() or pictures.ndim != 4:
        return pictures
    if pictures.dtype == torch.bool:
        raise ValueError("pictures must be numbers, of whole ones 0 to 255, got torch.bool")
    if pictures.numel():
        least, largest = (x.item() for x in pictures.to(torch.int64).aminmax())
        if least < 0 or largest > 255:
            raise ValueError(f"pictures of whole numbers must lie in 0 to 255, got {least} to {largest}")
    mean, std = (torch.from_numpy(real_array("mean and std", x)).reshape(-1, 1, 1) for x in (mean, std))
    return ((pictures / 255 - mean) / std).float()


def _measured(encodings: Encodings):
    P = encodings.P
    grid = encodings.grid
    if min(grid) < 2 or not P.norm(dim=1).all() or not (P - P.mean(dim=0)).norm(dim=1).all():
        return None, None, None, None
    local = encoding_locality(P, grid=grid) if min(grid) > 2 else None
    G = similarity(P)
    near = neighbor_recall(similarity(P, centered=True, cosine=True), grid, min(4, len(P) - 1))
    return local, near, components(G, 0.9), row_and_column(G, grid)


def _looked(read: Given, images, grid, heads, norm, progress) -> Looking:
    """One pass over the pictures; sums over even and odd pictures apart tell the positional share."""
    n = len(images)
    sums = None
    if n < 2:
        raise ValueError(f"pictures must be at least two, got {n}: of one nothing is known of others")
    if (images == images[:1]).all():
        raise ValueError(f"pictures must differ, got one {n} times: what is of all is not told from it")
    disable = None if progress is None else not progress
    bar = tqdm(total=n, desc="looking", unit="picture", delay=5, leave=False, disable=disable)
    start = 0
    at_once = 2
    while start < n:
        maps, sides = finite_maps(read, images[start : start + at_once], heads, grid, norm)
        if sums is None:
            if sides is None:
                raise ValueError(
                    f"{read.name} has {maps[0].shape[-1]} patches on these pictures: say grid=(rows, columns)"
                )
            sums = _Sums(len(maps), maps[0].shape[1], sides)
            at_once = max(2, _AT_ONCE // (4 * sums.maps[0].numel()) // 2 * 2)  # even: the halves take turns
        for layer, S in enumerate(maps):
            sums.add(layer, S.float())
        bar.update(len(maps[0]))
        start += len(maps[0])
    bar.close()
    return sums.looking(n)  # pyright: ignore[reportOptionalMemberAccess]


class _Sums:
    """What is summed over pictures, for the even and the odd ones."""

    def __init__(self, L: int, H: int, grid: tuple[int, int]):
        self.grid = grid_sides(grid, 1)
        N = self.grid[0] * self.grid[1]
        fits_memory(f"mean maps of {L} x {H} heads on {N} patches", 3 * L * H * N * N, 4)
        self.maps = torch.zeros(2, L, H, N, N)
        self.squares, self.rows = torch.zeros(2, 2, L, H, dtype=torch.float64)

    def add(self, layer: int, S: torch.Tensor) -> None:
        """Attention (B, H, N, N) of one layer; the first picture of a batch is an even one."""
        S = S.cpu()
        around = S - 1 / S.shape[-1]  # else the maps of a network that was never trained drown in rounding
        for half in (0, 1):
            mine = around[half::2]
            self.maps[half, layer] += mine.sum(dim=0)
            self.squares[half, layer] += (mine.double() ** 2).sum(dim=(0, 2, 3))
            self.rows[half, layer] += (mine.double().sum(dim=-1) ** 2).sum(dim=(0, 2))

    def looking(self, n: int) -> Looking:
        """The measures, from sums over n pictures."""
        N = self.maps.shape[-1]
        counts = ((n + 1) // 2, n // 2)
        rest = energy = 0
        for half in (0, 1):
            M = self.maps[1 - half].double() / counts[1 - half]
            inner = (self.maps[half] * M).sum(dim=(2, 3))
            rest = rest + self.squares[half] - 2 * inner + counts[half] * (M**2).sum(dim=(2, 3))
            energy = energy + self.squares[half] - self.rows[half] / N
        maps = (self.maps.sum(dim=0) / n + 1 / N).numpy()
        near = [[neighbor_recall(S, self.grid, min(8, N - 1)) for S in layer] for layer in maps]
        return Looking(n, self.grid, (1 - rest / energy).numpy(), np.array(near), maps)
