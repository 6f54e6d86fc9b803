"""The figures on how many inputs association needs, and how long it lasts."""

from __future__ import annotations

from typing import Any

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from patch_lab.kit.figures import draw_band, draw_matrix
from patch_lab.kit.figures.style import COLORS, INK, draw_estimate, label_ends, label_ticks, styles_of, tints


def draw_counts(ax: Axes, counts) -> None:
    """A frame of counts out of ten, each written in its cell; the largest row label on top."""
    style: dict[str, Any] = dict(annot=True, fmt="g", cmap="Blues", vmin=0, vmax=10, cbar=False, linewidths=1)
    sns.heatmap(counts.iloc[::-1].astype(float), ax=ax, **style)


def draw_margins(ax: Axes, steps, cells: dict) -> None:
    """The worst margin of A over the steps, one line for each N: ``cells`` maps N to (seeds, records)."""
    for (n, values), color in zip(cells.items(), tints("same set", len(cells))):
        ax.plot(steps, np.mean(values, axis=0), color=color, label=f"{n:,}", linewidth=1.6)
    ax.axhline(0, color=COLORS["noise"], linestyle=":", linewidth=1.3)
    ax.set(xlabel="step", ylabel="worst margin")
    ax.legend(title="$N$", loc="center left", bbox_to_anchor=(1.0, 0.5))


def draw_losing(ax: Axes, steps, margin, errors) -> None:
    """One run that loses association: its worst margin (records,) and ten times its test error (records,)."""
    ax.plot(steps, margin, color=COLORS["same set"], label="margin")
    ax.plot(steps, 10 * errors, color=COLORS["label"], linestyle="--", label=r"10 $\times$ error")
    ax.axhline(0, color=COLORS["noise"], linestyle=":", linewidth=1.3)
    ax.set(xlabel="step", ylim=(-0.7, 0.6))
    label_ends(ax)


def draw_dying(ax: Axes, times, gamma, rho, diagonal: float) -> None:
    """Both scores of a run over time, and the diagonal at which they come to rest."""
    ax.plot(times, gamma, color=COLORS["same set"], label=r"$\gamma$")
    ax.plot(times, rho, color=COLORS["other sets"], label=r"$\rho$")
    ax.axhline(diagonal, color=INK, linestyle=":", linewidth=1.2)
    ax.set(xscale="log", xlabel="time, with scores at the rate $D^2$", ylabel="score")
    ax.legend()


def draw_blind(axes, runs, partition, least: float, chance: float) -> None:
    """Runs in which a model learns the sets and patches do not attend to them.

    Scores of the first run, then test error and recall of all over the steps, with the least possible error
    and the recall of chance.
    """
    steps = runs[0]["steps"]
    draw_matrix(axes[0], runs[0]["scores"], partition=partition, limit=2.6, colorbar=False)
    draw_band(axes[1], steps, runs.column("test_error"), "label")
    axes[1].axhline(least, color=INK, linestyle="--", linewidth=1.2)
    draw_band(axes[2], steps, runs.column("recall"), "same set")
    axes[2].axhline(chance, color=COLORS["noise"], linestyle=":", linewidth=1.4)
    axes[0].set_title("Stripes, no blocks")
    axes[1].set(yscale="log", xlabel="step", title="The error falls")
    axes[2].set(ylim=(0, 1), xlabel="step", title="Recall stays at chance")


def draw_reach(axes, shares: dict) -> None:
    """A panel a size: the share of seeds with exact association against N, with its interval.

    ``shares`` maps a title to {N: Estimate}.
    """
    for ax, (title, estimates) in zip(axes, shares.items()):
        sizes = list(estimates)
        ax.plot(
            sizes, [estimate.value for estimate in estimates.values()], color=COLORS["same set"], linewidth=1
        )
        for n, estimate in estimates.items():
            draw_estimate(ax, n, estimate, color=COLORS["same set"])
        ax.set(xscale="log", xlabel="inputs $N$", title=title, ylim=(-0.05, 1.05))
        label_ticks(ax.xaxis, sizes[::2])
    axes[0].set_ylabel("share of seeds")


def draw_predicted_lifetimes(axes, steps, runs: dict, predicted: dict, pairs, limits) -> None:
    """Left: the share of runs that associate over the steps, measured (marks) and predicted (lines).

    ``runs`` and ``predicted`` map a label to (x, y). Right: measured against predicted lifetimes, ``pairs``
    a list of (predicted, measured, lasts), hollow where association lasts to the end of the record.
    """
    for label, style in styles_of(runs).items():
        marks = {**style, "linestyle": "none", "markersize": 4}
        axes[0].plot(*runs[label], label=label, **marks)
        axes[0].plot(*predicted[label], color=style["color"], linestyle=style["linestyle"])
    axes[0].set(xlabel="step", ylabel="share of runs with association", ylim=(-0.03, 1.03), xlim=(0, steps))
    axes[0].legend(loc="upper right")
    for x, y, lasts in pairs:
        face = "none" if lasts else COLORS["same set"]
        axes[1].scatter(x, y, s=30, edgecolor=COLORS["same set"], facecolor=face, zorder=3)
    axes[1].plot(limits, limits, color=INK, linewidth=0.9)
    axes[1].set(xscale="log", yscale="log", xlabel="predicted lifetime", ylabel="measured lifetime")
    axes[1].set(xlim=limits, ylim=limits)
    for axis in (axes[1].xaxis, axes[1].yaxis):
        label_ticks(axis, (60, 120, 240, 480, 960, 3000))
