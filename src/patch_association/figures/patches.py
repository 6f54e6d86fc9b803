"""Drawings of patches, sets and score matrices."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from patch_association.figures.style import COLORS, SCORES, set_palette
from patch_association.structure import Partition


def draw_sets(ax: Axes, partition: Partition, height: int, width: int, *, numbers: bool = True) -> None:
    """A ``height`` x ``width`` grid of patches, each in its set's color with the set's number (Figure 1b).

    The number repeats what the color says, for readers who cannot tell the colors apart.
    """
    palette = set_palette(partition.num_sets)
    for patch, label in enumerate(partition.labels):
        row, column = divmod(patch, width)
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=palette[label], edgecolor="white", linewidth=2))
        if numbers:
            ax.text(column + 0.5, row + 0.5, str(label + 1), ha="center", va="center", color="#222222")
    _frame(ax, height, width)


def draw_patches(
    ax: Axes,
    coefficients,
    partition: Partition,
    height: int,
    width: int,
    signal: int | None = None,
    palette=None,
) -> None:
    """One input as a grid: each patch shows its coefficient <w*, X_j> as -1, 0 or +1 (Figure 3).

    The patches of the signal set are framed in the signal's color; sets have tinted grounds.
    """
    palette = [to_rgb(c) for c in palette or set_palette(partition.num_sets)]
    s = np.asarray(coefficients).reshape(-1)
    for patch, label in enumerate(partition.labels):
        row, column = divmod(patch, width)
        ground = tuple(0.45 * c + 0.55 for c in palette[label])
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=ground, edgecolor="white", linewidth=1.5))
        value = int(round(float(s[patch])))
        ax.text(
            column + 0.5,
            row + 0.5,
            {1: "+1", -1: "−1", 0: "0"}[value],
            ha="center",
            va="center",
            color=COLORS["noise"] if value == 0 else "#111111",
            fontweight="normal" if value == 0 else "bold",
        )
    for patch in np.flatnonzero(partition.labels == signal) if signal is not None else ():
        row, column = divmod(int(patch), width)
        ax.add_patch(
            Rectangle(
                (column + 0.04, row + 0.04), 0.92, 0.92, fill=False, edgecolor=COLORS["signal"], linewidth=2.4
            )
        )
    _frame(ax, height, width)


def draw_matrix(
    ax: Axes, scores, *, limit: float | None = None, title: str | None = None, colorbar: bool = True
):
    """A (D, D) matrix of scores on the diverging colors, symmetric about zero; returns the image."""
    A = scores.detach().cpu().numpy() if hasattr(scores, "detach") else np.asarray(scores)
    limit = float(np.abs(A).max()) or 1.0 if limit is None else limit
    image = ax.imshow(A, cmap=SCORES, vmin=-limit, vmax=limit, interpolation="nearest")
    ax.set(xlabel="patch $j$", ylabel="patch $i$")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    ax.tick_params(length=2)
    if title:
        ax.set_title(title)
    if colorbar:
        ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
    return image


def _frame(ax: Axes, height: int, width: int) -> None:
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    ax.axis("off")
