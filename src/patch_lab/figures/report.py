"""A page of HTML on what a trained ViT knows of the grid of its patches: ``patch-association look``."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from torch import nn
from tqdm import tqdm

from patch_association._validate import fits_memory, positive_int
from patch_association.images import Look, families
from patch_association.images.families import Encodings
from patch_association.images.locality import components, neighbor_recall, row_and_column, similarity
from patch_association.images.looking import Looking
from patch_lab.figures.patches import mark_patch
from patch_lab.figures.style import CATEGORIES, SCORES, WIDTHS, looks, use_style
from patch_lab.figures.tables import Table, table
from patch_lab.images.data.folder import SUFFIXES, read_picture
from patch_lab.images.data.packed import load_crops

_WAYS = {(0, -1): "left", (0, 1): "right", (-1, 0): "up", (1, 0): "down"}
#: From here on a head is called a shift: the share of patches whose first key is one step away.
_SHIFT = 0.75
_CSS = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1F2328; background: #fff }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; overflow-wrap: anywhere } h2 { font-size: 1.1rem; margin-top: 2rem }
svg { width: 100%; height: auto } .pa-table { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; padding: .5rem 0 } th, td { padding: .2rem .7rem; text-align: left }
thead th { border-bottom: 1px solid #1F2328; vertical-align: bottom }
"""


def picture_size(model, name: str, grid=None) -> tuple[int, int]:
    """Height and width in pixels of the pictures that a model takes."""
    tensors: Mapping = model.state_dict() if isinstance(model, nn.Module) else model
    shape, rows = families.patch_projection(tensors), grid or families.grid_of(model)
    if shape is None:
        raise ValueError(f"{name} has no convolution that embeds patches: their size is not known")
    rows = rows or families.encodings_in(model, name).grid
    return rows[0] * shape[1], rows[1] * shape[2]


def read_pictures(folder: Path, size: tuple[int, int], limit: int, progress: bool) -> torch.Tensor:
    """Pictures of a folder, scaled and cut in the middle to ``size``: (n, 3, height, width) uint8."""
    limit = positive_int("limit", limit, minimum=2)
    if folder.is_file():
        packed, _ = load_crops(folder)
        if tuple(packed.shape[2:]) != size:
            raise ValueError(
                f"{folder} holds pictures of {tuple(packed.shape[2:])} pixels, the model takes {size}"
            )
        return packed[_evenly(len(packed), limit)]
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of pictures")
    files = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.name[0] != "."
    )
    if len(files) < 2:
        raise ValueError(
            f"{folder} must hold two pictures at least ({', '.join(SUFFIXES)}), got {len(files)}"
        )
    files = [files[k] for k in _evenly(len(files), limit)]
    fits_memory(f"{len(files)} pictures", 16 * len(files) * size[0] * size[1], 1)
    bar = tqdm(files, desc="reading", unit="picture", leave=False, disable=None if progress else True)
    return torch.stack([_cut(path, size) for path in bar])


def _evenly(count: int, limit: int) -> list[int]:
    """At most ``limit`` of the numbers below ``count``, spread evenly: folders are sorted by class."""
    return [k * count // min(limit, count) for k in range(min(limit, count))]


def _cut(path, size: tuple[int, int]) -> torch.Tensor:
    picture = read_picture(path)
    scale = min(picture.width / size[1], picture.height / size[0])
    w, h = size[1] * scale, size[0] * scale
    left, top = (picture.width - w) / 2, (picture.height - h) / 2
    cut = picture.resize((size[1], size[0]), 3, box=(left, top, left + w, top + h))  # 3: bicubic
    return torch.from_numpy(np.array(cut)).permute(2, 0, 1)  # (H, W, 3) -> (3, H, W)


def report(seen: Look, mean=(0.5,), std=(0.5,)) -> str:
    """A page of HTML that stands alone: figure and tables of what was seen.

    Parameters
    ----------
    seen : Look
    mean, std : numbers (what the pictures were normalized with, to be said)
    """
    use_style()
    title = html.escape(Path(seen.name).name)
    facts = [f"Tokens that are no patches: {', '.join(f'{n} {token}' for token, n in seen.tokens.items())}."]
    facts = facts if seen.tokens else ["All tokens are patches."]
    figure = plot_look(seen)
    parts = [f"<h2>Where a patch looks</h2>\n{_svg(figure, _caption(seen))}\n<p>{_caption(seen)}</p>"]
    plt.close(figure)
    if seen.encodings is not None:
        rows, columns = seen.encodings.grid
        where = f"<code>{html.escape(seen.encodings.called)}</code>"
        facts.append(f"Encodings of {rows} × {columns} patches in {where}.")
        if seen.sums is not None:
            parts.append(f"<h2>Encodings</h2>\n{encoding_table(seen.encodings)._repr_html_()}")
    if seen.attention is not None:
        layers, heads = seen.attention.share.shape
        facts.append(f"{layers} layers of {heads} heads, seen on {seen.attention.pictures} pictures.")
        facts.append(
            f"Their pixels, from 0 to 1, were lessened by {_list(mean)} and divided by {_list(std)}."
        )
        parts.append(f"<h2>Attention between patches</h2>\n{layer_table(seen.attention)._repr_html_()}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>A look at {title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_CSS}</style></head>\n<body><h1>A look at {title}</h1>\n<p>{' '.join(facts)}</p>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _list(numbers) -> str:
    return " / ".join(f"{x:g}" for x in np.ravel(numbers))


def _caption(seen: Look) -> str:
    said = "One patch (star): how similar its centered encoding is to all others'." if seen.encodings else ""
    if seen.attention is None:
        return said
    return (
        f"{said} Mean attention of one patch in the three most positional heads. Below: the share of a "
        "head's attention that its mean map explains on other pictures, by layer; the same against the share "
        "of neighbors at a side among the eight patches with most attention (dotted: chance); and what four "
        "patches get of all attention between patches (dotted: evenly)."
    )


def encoding_table(found: Encodings) -> Table:
    """The encodings beside a random start of their shape and their own rows in another order."""
    P, grid = found.P, found.grid
    generator = torch.Generator().manual_seed(0)
    start = 0.02 * torch.randn(P.shape, generator=generator)
    shuffled = P[torch.randperm(len(P), generator=generator)]
    rows = []
    for title, encodings in (("this network", P), ("a random start", start), ("its rows shuffled", shuffled)):
        G, sums = similarity(encodings), row_and_column(similarity(encodings), grid)
        near = neighbor_recall(similarity(encodings, centered=True, cosine=True), grid, min(4, len(P) - 1))
        rows.append((title, near, components(G, 0.9), sums.share, sums.isotropic, sums.kronecker))
    names = [
        "encodings",
        "neighbors found",
        "components for 90%",
        "row plus column",
        "by smoothness",
        "orthogonal",
    ]
    return table(
        pd.DataFrame(rows, columns=names),
        digits={"neighbors found": "1%", "row plus column": "1%", "by smoothness": "0%", "orthogonal": "1%"},
        caption="Neighbors found: share of a patch's neighbors at a side among its four most similar. "
        "Components: how many hold 90% of the variance. Row plus column: variance that a vector for the row "
        "plus one for the column explains; by smoothness: what it would of a smooth field without direction; "
        "orthogonal: what it explains of the similarities if both are orthogonal.",
    )


def layer_table(seen: Looking) -> Table:
    """What the heads of each layer do."""
    rows = []
    for layer in range(len(seen.share)):
        share, near = seen.share[layer], seen.neighbors[layer]
        rows.append((layer + 1, share.mean(), share.max(), near.mean(), seen.sink_share[layer],
                     seen.corners[layer], _shifts(seen, layer)))  # fmt: skip
    names = [
        "layer",
        "positional",
        "the most",
        "neighbors found",
        "to four patches",
        "to the corners",
        "shifts",
    ]
    return table(
        pd.DataFrame(rows, columns=names).set_index("layer"),
        digits=dict.fromkeys(names[1:6], "0%"),
        caption="Positional: share of a head's attention, beyond uniform, that its mean map explains on "
        "other pictures, below 0 where uniform attention explains more, mean over heads and the most. "
        "Neighbors found: of those at a side, among the eight patches with most mean attention. To four "
        "patches: of attention between patches, to those that get most. Shifts: heads whose first key is one "
        "step away, the same one for "
        f"{_SHIFT:.0%} of the patches or more.",
    )


def _shifts(seen: Looking, layer: int) -> str:
    found = []
    for head, (step, common) in enumerate(zip(seen.step[layer], seen.step_share[layer])):
        if common >= _SHIFT and 0 < np.abs(step).max() <= 1:
            ways = [_WAYS[one] for one in ((step[0], 0), (0, step[1])) if any(one)]
            way = " and ".join(ways)
            found.append(f"head {head + 1} {way} ({common:.0%})")
    return ", ".join(found) or "–"


def plot_look(seen: Look) -> Figure:
    """Maps of one patch; on pictures shares by layer, against the neighbors found, and what sinks get."""
    attention = seen.attention
    maps = []
    if seen.encodings is not None:
        P, (rows, columns) = seen.encodings.P, seen.encodings.grid
        maps.append(("encodings", similarity(P, centered=True), SCORES))
    if attention is not None:
        rows, columns = attention.grid
        best = np.argsort(-np.nan_to_num(attention.share, nan=-np.inf), axis=None)[:3]
        for layer, head in (divmod(int(k), attention.share.shape[1]) for k in best):
            maps.append((f"layer {layer + 1}, head {head + 1}", attention.maps[layer, head], "Blues"))
    patch = rows // 2 * columns + columns // 2
    figure = plt.figure(figsize=(WIDTHS["wide"], 2.0 if attention is None else 4.6))
    above, *below = figure.subfigures(1 if attention is None else 2, 1, squeeze=False)[:, 0]
    for ax, (title, A, colors) in zip(above.subplots(1, len(maps), squeeze=False)[0], maps):
        row = A[patch]
        limit = np.abs(np.delete(row, patch)).max() if colors is SCORES else row.max()
        low = -limit if colors is SCORES else 0
        ax.imshow(row.reshape(rows, columns), cmap=colors, vmin=low, vmax=limit, interpolation="nearest")
        mark_patch(ax, patch, columns)
        ax.set(title=title, xticks=[], yticks=[])
    if attention is not None:
        _draw_heads(below[0].subplots(1, 3), attention)
    return figure


def _draw_heads(axes, seen: Looking) -> None:
    layers, heads = np.arange(1, len(seen.share) + 1), seen.share.shape[1]
    by_layer, against, sinks = axes
    color = CATEGORIES[0]
    by_layer.plot(np.repeat(layers, heads), seen.share.ravel(), ".", color=color)
    by_layer.plot(layers, seen.share.mean(axis=1), color=color)
    by_layer.set(xlabel="layer", ylabel="positional", ylim=(min(0, seen.share.min()), 1.02))
    against.plot(seen.share.ravel(), seen.neighbors.ravel(), ".", color=color)
    against.axhline(8 / (seen.maps.shape[-1] - 1), linestyle=":", linewidth=1, color=CATEGORIES[-1])
    against.set(xlabel="positional", ylabel="neighbors found", ylim=(-0.03, 1.03))
    for name, style in looks(["most looked at", "corners"]).items():
        sinks.plot(layers, seen.sink_share if name != "corners" else seen.corners, label=name, **style)
    sinks.axhline(4 / seen.maps.shape[-1], linestyle=":", linewidth=1, color=CATEGORIES[-1])
    sinks.set(xlabel="layer", ylabel="to four patches", ylim=(0, 1))
    sinks.legend()


def _svg(figure: Figure, alt: str) -> str:
    """The figure as an element of a page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(alt)}"', 1)
