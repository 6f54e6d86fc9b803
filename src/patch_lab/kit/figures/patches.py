"""Drawings of patches, sets and score matrices."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator

from patch_association.structure import Partition
from patch_lab.kit.figures.style import COLORS, INK, PAPER, SCORES, set_palette


def draw_sets(ax: Axes, partition: Partition, height: int, width: int, *, numbers: bool = True) -> None:
    """A ``height`` x ``width`` grid of patches, each in its set's color with the set's number (Figure 1b).

    The number repeats what the color says, for readers who cannot tell the colors apart.
    """
    palette = set_palette(partition.num_sets)
    for patch, label in enumerate(partition.labels):
        row, column = divmod(patch, width)
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=palette[label], edgecolor=PAPER, linewidth=2))
        if numbers:
            ax.text(column + 0.5, row + 0.5, str(label + 1), ha="center", va="center", color=INK)
    _frame(ax, height, width)


def draw_patches(
    ax: Axes,
    coefficients,
    partition: Partition,
    height: int,
    width: int,
    signal: int | None = None,
    palette=None,
    numbered: bool = False,
) -> None:
    """One input as a grid: each patch shows its coefficient <w*, X_j> as -1, 0 or +1 (Figure 3).

    The patches of the signal set are framed in the signal's color; sets have tinted grounds, and with
    ``numbered`` their numbers, from 1 on, in a disk at their middle.
    """
    palette = [to_rgb(c) for c in palette or set_palette(partition.num_sets)]
    s = np.asarray(coefficients).reshape(-1)
    for patch, label in enumerate(partition.labels):
        row, column = divmod(patch, width)
        ground = tuple(0.45 * c + 0.55 for c in palette[label])
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=ground, edgecolor=PAPER, linewidth=1.5))
        value = round(float(s[patch]))
        ax.text(
            column + 0.5,
            row + 0.5,
            {1: "+1", -1: "−1", 0: "0"}[value],
            ha="center",
            va="center",
            color=COLORS["noise"] if value == 0 else INK,
            fontweight="normal" if value == 0 else "bold",
        )
    for patch in np.flatnonzero(partition.labels == signal) if signal is not None else ():
        row, column = divmod(int(patch), width)
        ax.add_patch(
            Rectangle(
                (column + 0.04, row + 0.04), 0.92, 0.92, fill=False, edgecolor=COLORS["signal"], linewidth=2.4
            )
        )
    for label in range(partition.num_sets) if numbered else ():
        rows, columns = np.divmod(np.flatnonzero(partition.labels == label), width)
        disk = {"boxstyle": "circle,pad=0.2", "facecolor": PAPER, "edgecolor": "none"}
        middle = (columns.mean() + 0.5, rows.mean() + 0.5)
        ax.text(*middle, str(label + 1), ha="center", va="center", bbox=disk)
    _frame(ax, height, width)


def draw_matrix(
    ax: Axes,
    scores,
    *,
    partition: Partition | None = None,
    limit: float | None = None,
    title: str | None = None,
    colorbar: bool = True,
):
    """A (D, D) matrix of scores on the diverging colors, symmetric about zero; returns the image.

    Patches count from 1. With a ``partition`` they are sorted by set, and lines part the sets: companions
    are blocks then, however scattered they lie in the image.
    """
    A = scores.detach().cpu().numpy() if hasattr(scores, "detach") else np.asarray(scores)
    limit = float(np.abs(A).max()) or 1.0 if limit is None else limit
    D = len(A)
    by_set = ""
    if partition is not None:
        order = np.argsort(partition.labels, kind="stable")
        A = A[np.ix_(order, order)]
        by_set = ", by set"
    edges = (0.5, D + 0.5, D + 0.5, 0.5)
    image = ax.imshow(A, cmap=SCORES, vmin=-limit, vmax=limit, interpolation="nearest", extent=edges)
    ax.set(xlabel=f"patch $j${by_set}", ylabel=f"patch $i${by_set}")
    ax.tick_params(length=2)
    if partition is not None:
        for edge in np.arange(1, partition.num_sets) * partition.set_size + 0.5:
            ax.axvline(edge, color=PAPER, linewidth=1)
            ax.axhline(edge, color=PAPER, linewidth=1)
        ax.set(xticks=[], yticks=[])
    else:
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(FixedLocator(sorted({1, *range(D // 4, D + 1, max(1, D // 4))})))
    if title:
        ax.set_title(title)
    if colorbar:
        ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
    return image


def mark_patch(ax: Axes, patch: int, grid: int) -> None:
    """A star on patch ``patch`` (counted from 0) of a square picture of patches; seen on any ground."""
    ax.plot(patch % grid, patch // grid, marker="*", color=PAPER, markersize=10, markeredgecolor=INK)


def _frame(ax: Axes, height: int, width: int) -> None:
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    ax.axis("off")
