"""The figures of the second theory: inputs as rows of tokens, attention mass, success diagrams."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import Rectangle

from patch_lab.kit.figures.style import COLORS, INK, PAPER, label_ends, label_ticks, styles_of, tints

#: What a token is in an input: the tokens that decide the label, those against it, all others.
ROLES = {"relevant": "signal", "confusion": "other sets", "other": "noise"}


def draw_tokens(ax, tokens) -> None:
    """Inputs as rows of squares, numbered by pattern: label-relevant green, confusion orange, others gray.

    Parameters
    ----------
    ax : Axes
    tokens : Tokens
        Few inputs of few tokens. Patterns count from 1.
    """
    grays = tints("noise", 12)[:3]
    for row, (pattern, relevant, confusion) in enumerate(
        zip(tokens.pattern, tokens.relevant, tokens.confusion)
    ):
        for place, j in enumerate(pattern.tolist()):
            if relevant[place]:
                shade = COLORS[ROLES["relevant"]]
            elif confusion[place]:
                shade = COLORS[ROLES["confusion"]]
            else:
                shade = grays[j % 3]
            ax.add_patch(Rectangle((place, -row - 0.8), 0.94, 0.8, color=shade, linewidth=0))
            ink = PAPER if relevant[place] or confusion[place] else INK
            ax.text(place + 0.47, -row - 0.4, str(j + 1), ha="center", va="center", color=ink)
        ax.text(-0.4, -row - 0.4, f"$y = {int(tokens.y[row]):+d}$", ha="right", va="center")
    ax.set_xlim(-2.6, tokens.num_tokens)
    ax.set_ylim(-len(tokens), 0.1)
    ax.set_axis_off()


def draw_success(ax, columns, sizes, rate):
    """A success diagram as the paper's Figure 1(a): black where every trial fails, white where none does.

    Parameters
    ----------
    ax : Axes
    columns : sequence of float
        What stands on the horizontal axis, one value a column of ``rate``.
    sizes : sequence of int
        Numbers of samples, one a row.
    rate : (len(sizes), len(columns)) array
        Share of successful trials.
    """
    rate = np.asarray(rate)
    mesh = ax.pcolormesh(
        np.arange(len(columns) + 1), np.arange(len(sizes) + 1), rate, cmap="gray", vmin=0, vmax=1,
        rasterized=True,
    )  # fmt: skip
    ax.set_xticks(np.arange(len(columns)) + 0.5, [f"{x:.3g}" for x in columns], rotation=60)
    ax.set_yticks(np.arange(len(sizes)) + 0.5, [str(n) for n in sizes])
    return mesh


def draw_scenes(axes, scenes, keep, patch_size: int) -> None:
    """Pictures in front of backgrounds, one an axis; a veil over the patches that are removed.

    Parameters
    ----------
    axes : sequence of Axes
        As many as scenes are drawn, from the first.
    scenes : Scenes
    keep : (n, K) integers
        The patches of each scene that remain, counted row by row.
    patch_size : int
        In pixels.
    """
    for ax, image, kept in zip(axes, scenes.images, keep):
        side = image.shape[-1]
        ax.imshow(image.permute(1, 2, 0).numpy(), extent=(0, side, side, 0))  # (3, H, W) -> (H, W, 3)
        per_row = side // patch_size
        for patch in set(range(per_row**2)) - set(kept.tolist()):
            corner = patch % per_row * patch_size, patch // per_row * patch_size
            ax.add_patch(Rectangle(corner, patch_size, patch_size, color=PAPER, alpha=0.7, linewidth=0))
        ax.set_axis_off()


def draw_kept(axes, sizes, accuracy, relevant, enough) -> None:
    """Accuracy for each number of patches that remain; and how many images they need to match all patches.

    Points are means over runs, bars reach from the least to the largest. Dashed: alpha_*^-2.

    Parameters
    ----------
    axes : two Axes
    sizes : (K,) numbers of training images
    accuracy : dict of (runs, K) arrays
        By the number of patches that remain; the largest number is all of them.
    relevant : dict of float
        alpha_*, the share of relevant patches, by the same numbers.
    enough : dict of (runs,) arrays
        Images that do as much as the most images with all patches.
    """
    counts = sorted(accuracy)
    everything = counts[-1]
    styles = dict(zip(reversed(counts), styles_of([str(count) for count in counts]).values()))
    for count, style in styles.items():
        label = rf"{count}, $\alpha_* = {relevant[count]:.2f}$"
        _draw_runs(axes[0], sizes, accuracy[count], label=label, **style)
        if count < everything:
            needed = np.reshape(enough[count], (-1, 1))
            _draw_runs(axes[1], [relevant[count]], needed, color=style["color"], fmt=style["marker"])
    axes[1].plot(relevant[everything], sizes[-1], color=styles[everything]["color"], marker="o")
    line = np.linspace(relevant[everything], 1, 50)
    squares = sizes[-1] * (relevant[everything] / line) ** 2
    axes[1].plot(line, squares, color=INK, linestyle="--", linewidth=0.9)
    axes[0].set(xscale="log", xlabel="training images", ylabel="test accuracy", ylim=(0.15, None))
    axes[1].set(yscale="log", xlabel=r"$\alpha_*$", ylabel="images needed", ylim=(500, 3000))
    label_ticks(axes[0].xaxis, sizes)
    label_ticks(axes[1].yaxis, sizes)
    label_ends(axes[0])


def _draw_runs(ax, x, values, **options):
    """Means of ``values`` (runs, len(x)) with the least and the largest; options of ``Axes.errorbar``."""
    middle = values.mean(axis=0)
    ax.errorbar(x, middle, [middle - values.min(axis=0), values.max(axis=0) - middle], capsize=2, **options)
