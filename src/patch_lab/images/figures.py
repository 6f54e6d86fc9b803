"""The figures of the part on images: shuffled pictures, rows of P P^T, accuracies and curves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from patch_lab.kit.figures.patches import mark_patch
from patch_lab.kit.figures.style import (
    CATEGORIES,
    COLORS,
    INK,
    PAPER,
    SCORES,
    label_ticks,
    new_figure,
    seaborn_styles,
    set_palette,
    styles_of,
)

#: The models that are compared, in the order of their colors.
MODELS = {
    "vanilla": "ViT, vanilla attention",
    "positional": "ViT, positional attention",
    "small_cnn": "small CNN",
}


def plot_pictures(pictures, titles) -> Figure:
    """uint8 pictures (c, H, W) side by side."""
    fig, axes = new_figure(1, len(pictures), width="wide", height=7.8 / len(pictures) + 0.35)
    for ax, picture, title in zip(axes, pictures, titles):
        ax.imshow(np.asarray(picture).transpose(1, 2, 0), interpolation="nearest")  # (c, H, W) -> (H, W, c)
        ax.set_title(title)
        ax.axis("off")
    return fig


def _reach(values) -> tuple[float, float]:
    """The least and the largest run."""
    return min(values), max(values)


#: A network of the study, beside its ViTs.
LARGER = "residual CNN"


def plot_shuffle_accuracy(ax: Axes, results) -> None:
    """Test accuracy against the tile side: means over seeds, bars from the least to the largest run.

    Parameters
    ----------
    results : list of dict
        Of the sweep ``cifar10_permuted``; the largest tile is the picture that is not shuffled.
    """
    runs = Counter((run["model"], run["tile"]) for run in results)
    frame = pd.DataFrame(
        {"model": MODELS[run["model"]], "tile": run["tile"], "accuracy": 100 * run["test_accuracy"]}
        for run in results
        if runs[run["model"], run["tile"]] > 1
    )
    style = dict(
        hue="model", style="model", legend=False, errorbar=_reach, err_style="bars", err_kws={"capsize": 3}
    )
    sns.lineplot(frame, x="tile", y="accuracy", ax=ax, **style, **seaborn_styles(MODELS.values()))
    tiles = sorted(set(frame["tile"]))
    names = {
        "small CNN": ("small_cnn", tiles[-1], (-10, 9), "right"),
        "positional ViT": ("positional", 4, (10, 19), "right"),
        "vanilla ViT": ("vanilla", tiles[-1], (-8, -12), "right"),
    }
    for name, (model, tile, offset, side) in names.items():
        accuracies = [
            run["test_accuracy"] for run in results if run["model"] == model and run["tile"] == tile
        ]
        point = (tile, 100 * float(np.mean(accuracies)))
        _name_curve(ax, name, point, offset, side, dict(zip(MODELS, CATEGORIES))[model])
    _label_shuffle(ax, tiles)


def plot_study_shuffles(ax: Axes, runs, longer=()) -> None:
    """Test accuracy against the tile side: means over seeds, bars from the least to the largest run.

    Parameters
    ----------
    runs : list of dict
        Of the sweep ``cifar10_study``, and of ``cifar10_study_cnn`` as "residual_cnn".
    longer : list of dict
        Longer runs on pictures that are not shuffled: the mean of each model is a thin line, as far as
        tiles are whole patches of 4 pixels.
    """
    names = {**MODELS, "residual_cnn": LARGER}
    styles = dict(zip(names, styles_of(names.values()).values()))
    levels = []  # of the longer runs
    for model in ("residual_cnn", "positional", "vanilla"):
        of_model = pd.DataFrame([run for run in runs if run["model"] == model])
        # in rising order
        by_tile = 100 * of_model.groupby("tile")["test_accuracy"].agg(["mean", "min", "max"])
        errors = by_tile["mean"] - by_tile["min"], by_tile["max"] - by_tile["mean"]
        style = styles[model]
        ax.errorbar(by_tile.index, by_tile["mean"], yerr=errors, capsize=3, label=names[model], **style)
        offset, short = {
            "residual_cnn": ((-20, 3), LARGER),
            "positional": ((-4, 11), "positional ViT"),
            "vanilla": ((-4, -12), "vanilla ViT"),
        }[model]
        end = (max(by_tile.index), np.asarray(by_tile["mean"])[-1])
        _name_curve(ax, short, end, offset, "right", style["color"])
        if accuracies := [run["test_accuracy"] for run in longer if run["model"] == model]:
            color = styles[model]["color"]
            ends = [4, max(run["tile"] for run in runs)]
            levels.append(100 * float(np.mean(accuracies)))
            ax.plot(ends, [levels[-1]] * 2, color=color, linestyle=":", linewidth=1)
    if levels:
        ax.text(
            max(run["tile"] for run in runs), min(levels) - 0.5, "ViTs trained longer", ha="right", va="top"
        )
    _label_shuffle(ax, sorted({run["tile"] for run in runs}))


def _name_curve(ax: Axes, name: str, point, offset, side: str, color: str) -> None:
    """A curve's name beside one of its points, ``offset`` in points of the page."""
    ax.annotate(name, point, offset, textcoords="offset points", ha=side, va="center", color=color)


def _label_shuffle(ax: Axes, tiles) -> None:
    ax.set_xscale("log", base=2)
    label_ticks(ax.xaxis, tiles)
    ax.set(xlabel="side of the shuffled tiles $s$ (pixels)", ylabel="test accuracy (%)")


def plot_rows(upper, lower, chosen) -> Figure:
    """Rows of two (N, N) similarities as pictures: one column for each chosen patch (Figure 5c).

    Parameters
    ----------
    chosen : list of (int, int)
        For each column the patch whose row is shown above, and the one below. It is marked.
    """
    fig, axes = new_figure(2, len(chosen), width="wide", height=4.2)
    grid = round(len(upper) ** 0.5)
    for row, (A, name) in enumerate(zip((upper, lower), ("as learned", "shuffle undone"))):
        limit = np.abs(A[~np.eye(len(A), dtype=bool)]).max()
        for ax, pair in zip(axes[row], chosen):
            ax.imshow(np.reshape(A[pair[row]], (grid, grid)), cmap=SCORES, vmin=-limit, vmax=limit)
            mark_patch(ax, pair[row], grid)
            ax.set(xticks=[], yticks=[])
        axes[row, 0].set_ylabel(name)
    return fig


def plot_losses(ax: Axes, losses: dict) -> None:
    """Training losses by model, each a mean over ten batches."""
    style = seaborn_styles(MODELS.values())
    for kind, curve in losses.items():
        smooth = np.convolve(curve, np.full(10, 1 / 10), mode="valid")
        color = style["palette"][MODELS[kind]]
        ax.plot(range(10, len(curve) + 1), smooth, color=color, label=MODELS[kind])
    ax.legend()
    ax.set(xlabel="step", ylabel="training loss (nats)", ylim=(0, None))


#: Accuracy of a guess among the ten classes of CIFAR-10.
GUESS = 0.1


def draw_study_accuracy(ax: Axes, runs) -> None:
    """Validation accuracy by epoch, from a guess at epoch 0: each run thin, the mean of each kind thick.

    Parameters
    ----------
    runs : list of dict
        Of the sweep ``cifar10_study``, of one length, on pictures not shuffled.
    """
    for kind, line in _study_lines().items():
        curves = 100 * _by_epoch(runs, kind, "val_accuracy", GUESS)  # (runs, 1 + epochs)
        ax.plot(curves.T, linewidth=0.6, alpha=0.6, **line)
        mean = curves.mean(axis=0)
        ax.plot(mean, linewidth=1.8, label=MODELS[kind], **line)
        at = min(8, len(mean) - 1)
        offset, side = ((-14, 27), "left") if kind == "positional" else ((12, -12), "left")
        _name_curve(ax, f"{kind} attention", (at, mean[at]), offset, side, line["color"])
    ax.set(xlabel="epoch", ylabel="validation accuracy (%)", ylim=(0, None))


def draw_study_shares(ax: Axes, runs, kind: str, chance: float, epochs: int, level: float) -> None:
    """Recall of neighbors and validation accuracy as shares of their way from chance to their last value.

    Parameters
    ----------
    runs : list of dict
        As for :func:`draw_study_accuracy`. Means over those of one kind are drawn.
    kind : str
        Of attention.
    chance : float
        Recall without structure.
    epochs : int
        How many are drawn.
    level : float
        The share at which a dot marks the first time that a curve is there.
    """
    color = _study_lines()[kind]["color"]
    measures = {"neighbors": ("recall", chance, 2.4), "classes": ("val_accuracy", GUESS, 0.9)}
    for name, (measure, start, width) in measures.items():
        curve = _by_epoch(runs, kind, measure, start).mean(axis=0)  # (1 + epochs,)
        reached = 100 * (curve - start) / (curve[-1] - start)
        ax.plot(reached[: epochs + 1], linewidth=width, label=name, color=color)
        after = int(np.argmax(reached >= 100 * level))  # the first epoch there; linear in between
        part = (reached[after] - 100 * level) / (reached[after] - reached[after - 1])
        ax.plot(after - part, 100 * level, "o", color=color, zorder=3)
    ax.text(2.6, 104, "neighbors", ha="left", va="bottom")
    ax.text(3.4, 52, "classes", ha="left", va="top")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="epoch", ylabel="share of the final gain (%)", ylim=(0, 125))


def draw_pair(axes, pair: dict) -> None:
    """Two networks at the paper's size: accuracy on held-out pictures, and who is ahead by how much.

    Parameters
    ----------
    axes : two Axes
    pair : dict
        A pair of the sweep ``section-six``: for either kind ``train_loss`` by epoch and ``val_accuracy`` at
        every look, the looks at equal distances and the last one after the last epoch.
    """
    curves = {}
    for kind, line in _study_lines().items():
        curves[kind] = 100 * np.array(pair[kind]["val_accuracy"])
        every = len(pair[kind]["train_loss"]) // len(curves[kind])
        epochs = every * np.arange(1, len(curves[kind]) + 1)
        axes[0].plot(epochs, curves[kind], label=MODELS[kind], **line)
        offset = (0, 9) if kind == "vanilla" else (0, -16)
        _name_curve(axes[0], kind, (0.8 * epochs[-1], curves[kind][-1]), offset, "center", line["color"])
    axes[0].set(xlabel="epoch", ylabel="held-out accuracy (%)", ylim=(0, None))
    axes[1].axhline(0, color=COLORS["noise"], linewidth=1)
    axes[1].plot(
        epochs, curves["positional"] - curves["vanilla"], color=INK, label="positional minus vanilla"
    )
    axes[1].set(xlabel="epoch", ylabel="positional minus vanilla (points)")


def draw_twins(axes, patches, encodings) -> None:
    """A network of two patches and its twin, which is given both lists in the other order: their tokens.

    Parameters
    ----------
    axes : two Axes
        The network and its twin.
    patches, encodings : (2,) whole numbers
        What is added up, patch by patch. Each patch keeps its color.
    """
    tokens = [patch + encoding for patch, encoding in zip(patches, encodings)]
    rows = {"patches": patches, "+ encodings": encodings, "= tokens": tokens}
    palette = set_palette(2)
    for ax, order, title in zip(axes, ((0, 1), (1, 0)), ("The original", "Its twin")):
        for down, (name, values) in enumerate(rows.items()):
            ax.text(-0.25, down + 0.5, name, ha="right", va="center")
            for across, which in enumerate(order):
                look = {"facecolor": palette[which], "edgecolor": PAPER, "linewidth": 2}
                ax.add_patch(Rectangle((across, down), 1, 1, **look))
                ax.text(across + 0.5, down + 0.5, str(values[which]), ha="center", va="center", color=INK)
        ax.set(xlim=(-1.7, 2.2), ylim=(3.05, -0.05), aspect="equal", title=title)
        ax.axis("off")


def _study_lines() -> dict[str, dict]:
    """How the two kinds of attention are drawn."""
    palette = seaborn_styles(MODELS.values())["palette"]
    dashes = {"vanilla": "-", "positional": "--"}
    return {kind: {"color": palette[MODELS[kind]], "linestyle": dash} for kind, dash in dashes.items()}


def _by_epoch(runs, kind: str, measure: str, start: float) -> np.ndarray:
    """(runs, 1 + epochs): a measure of each run of a kind, ``start`` at epoch 0."""
    return np.array(
        [[start, *(at[measure] for at in run["metrics"])] for run in runs if run["model"] == kind]
    )


def plot_exchanged(runs, names) -> Figure:
    """Right classes with other attention maps in some layers: a panel for each kind of ViT.

    Points are means over runs, bars reach from the least to the largest.

    Parameters
    ----------
    runs : Record
        Of the sweep ``cifar10_study_swapped``.
    names : list of str
        Those of its maps that are drawn.
    """
    kinds = [kind for kind in MODELS if any(run["model"] == kind for run in runs)]
    fig, axes = new_figure(1, len(kinds), width="wide", height=4.0, sharey=True, squeeze=False)
    changed = [_layers(group) for group in runs.config["groups"]]
    for ax, kind in zip(axes[0], kinds):
        of_kind = runs.where(model=kind)
        for k, (name, style) in enumerate(styles_of(names).items()):
            right = 100 * np.array([run["right"][name] for run in of_kind])  # (runs, groups)
            middle = right.mean(axis=0)
            reach = middle - right.min(axis=0), right.max(axis=0) - middle
            x = np.arange(len(changed)) + 0.8 * ((k + 0.5) / len(names) - 0.5)
            ax.errorbar(x, middle, reach, label=name, **(style | {"linestyle": ""}))
        unchanged = 100 * np.mean([run["unchanged"] for run in of_kind])
        ax.axhline(unchanged, linewidth=1, linestyle=":", color=CATEGORIES[-1])
        ax.set(title=MODELS[kind], xlabel="layers with other maps")
        ax.set_xticks(range(len(changed)), changed)
    axes[0, 0].set_ylabel("right classes (%)")
    axes[0, 0].legend(loc="lower left")
    return fig


def _layers(group) -> str:
    """Layers that are numbered from 0 as a reader counts them: "3", "1–2", "all" of more."""
    if len(group) > 2:
        return "all"
    return "\N{EN DASH}".join(str(layer + 1) for layer in group)


def montage(rows, every: int = 1) -> np.ndarray:
    """(N, N) -> one picture: row i as a small picture, in the place of patch i (Figure 1a).

    With ``every`` = 4 only the patches of every fourth row and column get a picture, the last among them.
    """
    grid = round(len(rows) ** 0.5)
    four = np.asarray(rows).reshape(grid, grid, grid, grid)  # (row i, column i, row j, column j)
    first = (grid - 1) % every
    chosen = four[first::every, first::every]
    side = len(chosen) * grid
    return chosen.transpose(0, 2, 1, 3).reshape(side, side)


def draw_montage(ax: Axes, rows, title: str, every: int = 1) -> None:
    """A montage of boolean rows: dark where the similarity exceeds the threshold.

    With ``every`` above 1 a ring in each small picture is around the patch whose picture it is.
    """
    grid = round(len(rows) ** 0.5)
    ax.imshow(montage(rows, every), cmap="Greys", vmin=0, vmax=1.3, interpolation="nearest")
    thin = {"color": COLORS["noise"], "linewidth": 0.4, "alpha": 0.7, "clip_on": False}
    for edge in range(-(-grid // every) + 1):
        ax.axhline(edge * grid - 0.5, **thin)
        ax.axvline(edge * grid - 0.5, **thin)
    own = np.arange((grid - 1) % every, grid, every)  # the rows, or columns, of the patches that are shown
    if every > 1:
        at = np.arange(len(own)) * grid + own
        across, down = np.meshgrid(at, at)
        ring: dict = {"markerfacecolor": "none", "markersize": 19, "markeredgewidth": 1.4, "clip_on": False}
        ax.plot(across.ravel(), down.ravel(), "o", color=COLORS["other sets"], **ring)
    ax.spines[:].set_visible(False)  # they would cover half of the cells at the edges
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, pad=12 if every > 1 else None)  # clear of the rings


def plot_montages(pictures: dict, columns: int = 2, every: int = 1) -> Figure:
    """Montages in rows: ``pictures`` maps titles to (N, N) booleans of :func:`thresholded`.

    ``every`` is that of :func:`montage`: fewer and larger small pictures.
    """
    rows = -(-len(pictures) // columns)
    height = 6.6 / columns
    fig, axes = new_figure(rows, columns, width="column", height=height * rows, squeeze=False)
    for ax in axes.flat[len(pictures) :]:
        ax.remove()
    for ax, (title, passing) in zip(axes.flat, pictures.items()):
        draw_montage(ax, passing, title, every)
    return fig


def plot_head_maps(maps: dict, patch: int) -> Figure:
    """Where ``patch`` looks: one row for each model, one column for each head, all on one scale from 0.

    Parameters
    ----------
    maps : dict
        The models' names with their (H, N, N) attention; H is the same for all.
    """
    heads = len(next(iter(maps.values())))
    shape = {"width": "wide", "height": 1.9 * len(maps), "squeeze": False}
    fig, axes = new_figure(len(maps), heads, **shape)
    looked_at = {name: np.asarray(attention[:, patch]) for name, attention in maps.items()}  # (H, N)
    most = max(float(rows.max()) for rows in looked_at.values())
    for panels, (name, rows) in zip(axes, looked_at.items()):
        grid = round(rows.shape[-1] ** 0.5)
        for ax, row in zip(panels, rows):
            image = ax.imshow(
                row.reshape(grid, grid), cmap="Blues", vmin=0, vmax=most, interpolation="nearest"
            )
            mark_patch(ax, patch, grid)
            ax.set(xticks=[], yticks=[])
        panels[0].set_ylabel(MODELS.get(name, name))
    fig.colorbar(image, ax=axes, fraction=0.02, pad=0.02, label="attention")
    return fig


def plot_looking(pictures, maps: dict, patch: int) -> Figure:
    """Where ``patch`` looks on each picture: the pictures above, a row of maps for each model below.

    Parameters
    ----------
    pictures : (n, c, H, W) uint8
    maps : dict
        The models' names with (n, N, N) attention, a picture each; all maps are on one scale from 0.
    """
    looked_at = {name: np.asarray(attention)[:, patch] for name, attention in maps.items()}  # (n, N)
    grid = round(next(iter(looked_at.values())).shape[-1] ** 0.5)
    most = max(float(rows.max()) for rows in looked_at.values())
    shape = {"width": "column", "height": 1.45 * (len(maps) + 1), "squeeze": False}
    fig, axes = new_figure(len(maps) + 1, len(pictures), **shape)
    for ax, picture in zip(axes[0], pictures):
        # (c, H, W) -> (H, W, c), drawn in the coordinates of the grid, so that the mark fits
        edges = (-0.5, grid - 0.5, grid - 0.5, -0.5)
        ax.imshow(np.asarray(picture).transpose(1, 2, 0), extent=edges, interpolation="nearest")
    for panels, (name, rows) in zip(axes[1:], looked_at.items()):
        for ax, row in zip(panels, rows):
            ax.imshow(row.reshape(grid, grid), cmap="Blues", vmin=0, vmax=most, interpolation="nearest")
        panels[0].set_ylabel(name)
    for ax in axes.flat:
        mark_patch(ax, patch, grid)
        ax.set(xticks=[], yticks=[])
    return fig
