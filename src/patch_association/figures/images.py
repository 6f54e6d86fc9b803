"""The figures of the part on images: shuffled pictures, rows of P P^T, accuracies and curves."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from patch_association.figures.style import COLORS, SCORES, SHADES, new_figure
from patch_association.intervals import mean

#: Models borrow the colors and marks of quantities; every legend names them.
MODELS = {
    "vanilla": ("ViT, vanilla attention", "same set"),
    "positional": ("ViT, positional attention", "feature"),
    "small_cnn": ("small CNN", "other sets"),
}


def plot_pictures(pictures, titles) -> Figure:
    """uint8 pictures (c, H, W) side by side."""
    fig, axes = new_figure(1, len(pictures), width="wide", height=7.2 / len(pictures) + 0.35)
    for ax, picture, title in zip(axes, pictures, titles):
        ax.imshow(np.asarray(picture).transpose(1, 2, 0), interpolation="nearest")  # (c, H, W) -> (H, W, c)
        ax.set_title(title)
        ax.axis("off")
    return fig


def plot_shuffle_accuracy(ax: Axes, results) -> None:
    """Test accuracy against the tile side: means over seeds with 95% intervals.

    Parameters
    ----------
    results : list of dict
        Of the sweep ``cifar10_permuted``; the largest tile is the picture that is not shuffled, and
        its accuracy is drawn through as a dashed line.
    """
    tiles = sorted({row["tile"] for row in results})
    for model, (name, color) in MODELS.items():
        found = {}
        for tile in tiles:
            values = [r["test_accuracy"] for r in results if (r["model"], r["tile"]) == (model, tile)]
            if len(values) > 1:
                found[tile] = mean(values)
        value = np.array([100 * e.value for e in found.values()])
        reach = np.array([[100 * (e.value - e.low), 100 * (e.high - e.value)] for e in found.values()]).T
        look = dict(color=COLORS[color], marker=SHADES[color]["marker"], capsize=3)
        ax.errorbar(list(found), value, reach, label=name, **look)
        ax.axhline(value[-1], color=COLORS[color], linestyle="--", linewidth=1)
    ax.set_xscale("log", base=2)
    ax.set_xticks(tiles, [str(tile) for tile in tiles])
    ax.minorticks_off()
    ax.set(xlabel="side of the shuffled tiles $s$ (pixels)", ylabel="test accuracy (%)")
    ax.legend(loc="lower right")


def plot_rows(upper, lower, chosen, names=("as learned", "shuffle undone")) -> Figure:
    """Rows of two (N, N) similarities as pictures: one column for each chosen patch (Figure 5c).

    Parameters
    ----------
    chosen : list of (int, int)
        For each column the patch whose row is shown above, and the one below. It is marked.
    """
    fig, axes = new_figure(2, len(chosen), width="wide", height=3.9)
    grid = round(len(upper) ** 0.5)
    for row, (A, name) in enumerate(zip((upper, lower), names)):
        off = A[~np.eye(len(A), dtype=bool)]
        limit = np.abs(off).max()
        for ax, pair in zip(axes[row], chosen):
            patch = pair[row]
            ax.imshow(np.reshape(A[patch], (grid, grid)), cmap=SCORES, vmin=-limit, vmax=limit)
            ax.plot(patch % grid, patch // grid, marker="*", color="white", markersize=9)
            ax.set(xticks=[], yticks=[])
        axes[row, 0].set_ylabel(name)
    return fig


def plot_losses(ax: Axes, losses: dict, window: int = 10) -> None:
    """Training losses by model, each a mean over ``window`` batches."""
    for model, curve in losses.items():
        name, color = MODELS[model]
        smooth = np.convolve(curve, np.full(window, 1 / window), mode="valid")
        ax.plot(np.arange(window, len(curve) + 1), smooth, color=COLORS[color],
                linestyle=SHADES[color]["linestyle"], label=name)  # fmt: skip
    ax.set(xlabel="step", ylabel="training loss (nats)", ylim=(0, None))
    ax.legend()


def plot_recorded_losses(ax: Axes, results, models=("vanilla", "positional")) -> None:
    """Recorded training and validation losses by epoch, means over seeds, of pictures not shuffled."""
    for model in models:
        name, color = MODELS[model]
        rows = [r["metrics"] for r in results if r["model"] == model and r["tile"] == 32]
        epochs = [m["epoch"] for m in rows[0]]
        for key, line in (("train_loss", "-"), ("val_loss", ":")):
            value = np.mean([[m[key] for m in run] for run in rows], axis=0)
            label = f"{name}, {'training' if key == 'train_loss' else 'validation'}"
            look = dict(color=COLORS[color], linestyle=line, marker=SHADES[color]["marker"])
            ax.plot(epochs, value, label=label, **look)
    ax.set(xlabel="epoch", ylabel="loss (nats)", xticks=epochs)
    ax.legend()


def montage(rows) -> np.ndarray:
    """(N, N) -> one picture of side N: row i as a small picture, in the place of patch i (Figure 1a)."""
    grid = round(len(rows) ** 0.5)
    four = np.asarray(rows).reshape(grid, grid, grid, grid)  # (row i, column i, row j, column j)
    return four.transpose(0, 2, 1, 3).reshape(grid * grid, grid * grid)


def draw_montage(ax: Axes, rows, title: str) -> None:
    """A montage of boolean rows: dark where the similarity exceeds the threshold."""
    grid = round(len(rows) ** 0.5)
    ax.imshow(montage(rows), cmap="Greys", vmin=0, vmax=1.3, interpolation="nearest")
    thin = dict(color=COLORS["noise"], linewidth=0.4, alpha=0.7, clip_on=False)
    for edge in range(grid + 1):
        ax.axhline(edge * grid - 0.5, **thin)
        ax.axvline(edge * grid - 0.5, **thin)
    ax.spines[:].set_visible(False)  # they would cover half of the cells at the edges
    ax.set(xticks=[], yticks=[], title=title)


def draw_head_maps(axes, attention, patch: int) -> None:
    """Row ``patch`` of every head's (H, N, N) attention as a picture, each on its own scale from 0."""
    grid = round(attention.shape[-1] ** 0.5)
    for head, ax in enumerate(axes):
        row = np.asarray(attention[head, patch]).reshape(grid, grid)
        ax.imshow(row, cmap="Blues", vmin=0, vmax=row.max(), interpolation="nearest")
        ax.plot(patch % grid, patch // grid, marker="*", color=COLORS["other sets"], markersize=8)
        ax.set(xticks=[], yticks=[])


def plot_montages(pictures: dict) -> Figure:
    """Montages, two in a row: ``pictures`` maps titles to (N, N) booleans of :func:`thresholded`."""
    rows = -(-len(pictures) // 2)
    fig, axes = new_figure(rows, 2, width="wide", height=3.7 * rows, squeeze=False)
    for ax in axes.flat[len(pictures) :]:
        ax.remove()
    for ax, (title, passing) in zip(axes.flat, pictures.items()):
        draw_montage(ax, passing, title)
    return fig


def plot_head_maps(maps: dict, patch: int) -> Figure:
    """Where ``patch`` looks: one row for each model, one column for each head.

    Parameters
    ----------
    maps : dict
        The models' names with their (H, N, N) attention; H is the same for all.
    """
    heads = len(next(iter(maps.values())))
    fig, axes = new_figure(len(maps), heads, width="wide", height=1.9 * len(maps), squeeze=False)
    for row, (name, attention) in zip(axes, maps.items()):
        draw_head_maps(row, attention, patch)
        row[0].set_ylabel(name)
    return fig
