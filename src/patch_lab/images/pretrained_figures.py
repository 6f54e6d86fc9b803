"""The figures of ViTs that others trained: where a patch looks, what its logits are, what a change costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from patch_lab.kit.figures.patches import mark_patch
from patch_lab.kit.figures.style import CATEGORIES, COLORS, INK, PAPER, SCORES, new_figure, styles_of, tints

#: Of the parts of the logits, in the order of the record.
PART_LABELS = (
    "position, position",
    "position asks, content answers",
    "content asks, position answers",
    "content, content",
)


def plot_looks(rows: Mapping[str, np.ndarray], patch: int) -> Figure:
    """Where one patch looks: (N,) rows of similarity or attention as pictures, each on its own scale.

    Parameters
    ----------
    rows : dict
        Titles and rows. A row with negative entries is drawn on the diverging colors.
    patch : int
        Whose rows they are, from 0.
    """
    fig, axes = new_figure(1, len(rows), width="wide", height=1.9)
    for ax, (title, row) in zip(axes, rows.items()):
        grid = round(len(row) ** 0.5)
        limit = np.abs(np.delete(row, patch)).max() if (row < 0).any() else row.max()
        signed = dict(cmap=SCORES, vmin=-limit) if (row < 0).any() else dict(cmap="Blues", vmin=0)
        ax.imshow(np.reshape(row, (grid, grid)), vmax=limit, interpolation="nearest", **signed)
        mark_patch(ax, patch, grid)
        ax.set(xticks=[], yticks=[], title=title)
    return fig


def draw_products(axes, products, patch: int) -> None:
    """A grid of numbered patches, the table of all products, and one row of it folded back into the grid.

    Parameters
    ----------
    axes : three Axes
    products : (N, N) whole numbers from 0 on, N a square
    patch : int (from 0: whose row is framed and folded)
    """
    products = np.asarray(products).astype(int)
    N = len(products)
    grid = round(N**0.5)
    share = (np.arange(products.max() + 1) / products.max()) ** 1.7  # the largest stand out
    shades = np.array(tints("same set", 25))[(24 * share).round().astype(int)].tolist()
    row = products[patch]
    folded = [(str(value), shades[value], INK if share[value] < 0.6 else PAPER) for value in row]
    boxes = [(str(k + 1), shades[0], INK) for k in range(N)]
    for ax, cells in ((axes[0], boxes), (axes[2], folded)):
        for k, (words, ground, color) in enumerate(cells):
            down, across = divmod(k, grid)
            ax.add_patch(Rectangle((across, down), 1, 1, facecolor=ground, edgecolor=PAPER, linewidth=2))
            ax.text(across + 0.5, down + 0.5, words, ha="center", va="center", color=color)
        down, across = divmod(patch, grid)
        ax.add_patch(
            Rectangle((across, down), 1, 1, fill=False, edgecolor=COLORS["other sets"], linewidth=2.4)
        )
        ax.set(xlim=(-0.05, grid + 0.05), ylim=(grid + 0.05, -0.05))
    axes[1].pcolormesh(np.arange(N + 1), np.arange(N + 1), products, cmap=ListedColormap(shades))
    frame = {"fill": False, "edgecolor": COLORS["other sets"], "linewidth": 2.4, "clip_on": False}
    axes[1].add_patch(Rectangle((0, patch), N, 1, **frame))
    axes[1].set(xlim=(0, N), ylim=(N, 0))
    titles = (f"{N} patches", "Products: near is large", f"Row {patch + 1} is high nearby")
    for ax, title in zip(axes, titles):
        ax.set(aspect="equal", title=title)
        ax.axis("off")


def plot_sum(rows, columns, similarities, patch: int) -> Figure:
    """One patch's similarities to all others, beside the part of its row, of its column, and their sum.

    Parameters
    ----------
    rows, columns : (g, g) arrays
        Inner products of the vectors of rows, and of columns, each centered.
    similarities : (g^2, g^2) array
        Of the centered encodings.
    patch : int
        Whose similarities they are, from 0.
    """
    g = len(rows)
    down, across = divmod(patch, g)
    of_row, of_column = np.broadcast_arrays(rows[down][:, None], columns[across][None])  # (g, g) each
    maps = {
        "the row": of_row,
        "+ the column": of_column,
        "= their sum": of_row + of_column,
        "the encodings": np.reshape(similarities[patch], (g, g)),
    }
    limit = np.abs(np.delete(similarities[patch], patch)).max()
    fig, axes = new_figure(1, len(maps), width="wide", height=2.2)
    for ax, (title, values) in zip(axes, maps.items()):
        ax.imshow(values, cmap=SCORES, vmin=-limit, vmax=limit, interpolation="nearest")
        mark_patch(ax, patch, g)
        ax.set(xticks=[], yticks=[], title=title)
    return fig


def plot_puzzle(picture: np.ndarray, places: Mapping[str, np.ndarray]) -> Figure:
    """A picture cut into patches, and where each patch was put.

    Parameters
    ----------
    picture : (g p, g p, 3) integers
        With patches of p pixels a side.
    places : dict
        Titles, and for each the (g^2, 2) row and column of every patch.
    """
    fig, axes = new_figure(1, len(places), width="wide", height=2.7)
    for ax, (title, at) in zip(axes, places.items()):
        g = round(len(at) ** 0.5)
        pieces = picture.reshape(g, len(picture) // g, g, -1, 3).swapaxes(1, 2)  # (g, g, p, p, 3)
        laid = np.empty_like(pieces)
        laid[at[:, 0], at[:, 1]] = pieces.reshape(-1, *pieces.shape[2:])
        ax.imshow(laid.swapaxes(1, 2).reshape(picture.shape), interpolation="nearest")
        ax.set(xticks=[], yticks=[], title=title)
    return fig


def draw_parts(ax: Axes, shares, title: str) -> None:
    """(L, 4) shares of the logits as stacked bars, a bar for each layer; layers count from 1."""
    layers = np.arange(1, len(shares) + 1)
    bottom = np.zeros(len(shares))
    hatches = ("", "//", "..", "\\\\")
    for name, color, hatch, part in zip(PART_LABELS, CATEGORIES, hatches, np.transpose(shares)):
        part = np.clip(part, 0, None)  # parts may take away a percent
        ax.bar(layers, part, bottom=bottom, color=color, hatch=hatch, label=name, width=0.8, linewidth=0)
        bottom += part
    ax.set(xlabel="layer", ylim=(0, 1.06), xticks=layers[1::2], title=title)


def draw_shares(ax: Axes, share: Mapping) -> None:
    """(L, H) shares of the attention that the mean map explains, with intervals, by layer."""
    value, low, high = (np.array(share[key]) for key in ("value", "low", "high"))
    layers = np.arange(1, len(value) + 1)
    for head, (name, style) in enumerate(styles_of([f"head {h + 1}" for h in range(value.shape[1])]).items()):
        reach = np.stack([value[:, head] - low[:, head], high[:, head] - value[:, head]])
        at = layers + 0.15 * (head - 1)
        ax.errorbar(at, value[:, head], reach, label=name, fmt=style["marker"], color=style["color"])
    ax.set(xlabel="layer", ylabel="share of the attention", ylim=(0, 1.02), xticks=layers[1::2])
    ax.legend(loc="upper center")


def draw_heads(ax: Axes, share, recall, chance: float) -> None:
    """(L, H) recall of mean maps against the share of attention that they explain; thirds of the layers."""
    thirds = np.array_split(np.arange(len(share)), 3)
    names = [f"layers {third[0] + 1} to {third[-1] + 1}" for third in thirds]
    for third, (name, style) in zip(thirds, styles_of(names).items()):
        x = np.array(share)[third].ravel()
        y = np.array(recall)[third].ravel()
        ax.plot(x, y, label=name, color=style["color"], marker=style["marker"], linestyle="")
    ax.axhline(chance, linewidth=1, linestyle=":", color=CATEGORIES[-1])
    ax.set(xlabel="share of the attention that the mean map explains", ylabel="neighbors found")
    ax.set(xlim=(0, 1.02), ylim=(-0.03, 1.03))
    ax.legend()


def draw_accuracy(
    ax: Axes, curves: Mapping[str, tuple[Sequence, Sequence]], own: float, xlabel: str, **style
) -> None:
    """Accuracies with intervals against a count; ``own`` is the unchanged model's.

    Parameters
    ----------
    curves : dict
        Names with (counts, estimates).
    **style
        Of all of them, and of the line of the unchanged model, in place of one look for each.
    """
    for (name, line), (x, estimates) in zip(styles_of(list(curves)).items(), curves.values()):
        value = np.array([100 * e.value for e in estimates])
        reach = np.array([[100 * (e.value - e.low), 100 * (e.high - e.value)] for e in estimates]).T
        ax.errorbar(x, value, reach, label=name, **(line | style))
    ax.axhline(100 * own, linewidth=1, linestyle=":", color=style.get("color", CATEGORIES[-1]))
    ax.set(xlabel=xlabel, ylabel="right classes (%)", ylim=(0, 100))
    ax.legend()


def draw_sinks(ax: Axes, curves: Mapping[str, Mapping], first: int = 1) -> None:
    """(L,) shares of patch-to-patch attention that go to four patches, from a layer on, with intervals."""
    for name, style in styles_of(list(curves)).items():
        value, low, high = (np.array(curves[name][key]) for key in ("value", "low", "high"))
        layers = np.arange(first, first + len(value))
        ax.errorbar(layers, value, [value - low, high - value], label=name, **style)
    ax.set(xlabel="layer", ylabel="share to the four patches", ylim=(0, 1))
    ax.legend()


def plot_grams(grams: Mapping[str, np.ndarray]) -> Figure:
    """Inner products of the vectors of rows, or of columns, each scaled to a largest entry of 1."""
    fig, axes = new_figure(1, len(grams), width="wide", height=2.4, squeeze=False)
    for ax, (title, G) in zip(axes.flat, grams.items()):
        edges = (0.5, len(G) + 0.5, len(G) + 0.5, 0.5)
        ax.imshow(G / np.abs(G).max(), cmap=SCORES, vmin=-1, vmax=1, extent=edges, interpolation="nearest")
        ticks = [1, len(G) // 2, len(G)]
        ax.set(title=title, xticks=ticks, yticks=ticks)
    return fig
