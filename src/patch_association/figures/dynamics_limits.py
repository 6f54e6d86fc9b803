"""Figures of the chapter on limits: maps of where gradient descent does not find the sets."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm

from patch_association.figures.patches import draw_matrix
from patch_association.figures.style import COLORS, SCORES, SHADES
from patch_association.structure import Partition


def draw_drift_map(ax: Axes, qs, num_patches, drift, runs, title: str):
    """The drift of gamma - rho over (q, D), and full runs on top; returns the image.

    ``drift`` is (len(num_patches), len(qs)). ``runs`` is a list of (q, D, final gamma - rho): a circle
    where the run ends associated, a cross where it ends the other way round.
    """
    image = ax.pcolormesh(
        qs,
        num_patches,
        drift,
        cmap=SCORES,
        shading="nearest",
        rasterized=True,
        norm=SymLogNorm(1e-5, vmin=-3e-3, vmax=3e-3),
    )
    ax.contour(qs, num_patches, drift, levels=[0], colors="#111111", linewidths=1.6)
    for good, marker, face in ((True, "o", "white"), (False, "X", COLORS["label"])):
        some = [(q, D) for q, D, gap in runs if (gap > 0) == good]
        if some:
            ax.scatter(
                *zip(*some), marker=marker, s=34, facecolor=face, edgecolor="#111111", linewidth=0.8, zorder=3
            )
    ax.set(xlabel="$q$", ylabel="patches $D$", title=title, yticks=num_patches)
    return image


def draw_lifetimes(axes, steps, cells: dict) -> None:
    """Recall (left) and the worst margin of A (right) over the steps, one line for each N: mean of seeds.

    ``cells`` maps N to {"recall": (seeds, records), "margin": (seeds, records)}.
    """
    shades = np.linspace(0.25, 1.0, len(cells))
    for (n, values), strength in zip(cells.items(), shades):
        color = tuple(1 - strength * (1 - np.array(_rgb(COLORS["same set"]))))
        for ax, name in zip(axes, ("recall", "margin")):
            ax.plot(steps, np.mean(values[name], axis=0), color=color, label=f"{n:,}", linewidth=1.6)
    axes[1].axhline(0, color=COLORS["noise"], linestyle=":", linewidth=1.3)
    axes[0].set(xlabel="step", title="companions among the top $C-1$", ylim=(0, 1.03))
    axes[1].set(xlabel="step", title="worst margin")
    axes[0].legend(title="$N$", ncols=2, loc="lower right")


def draw_rate_map(ax: Axes, multiples, ratios, outcomes, bound: float) -> None:
    """What becomes of a run at each (rate, kappa): ``outcomes`` is (len(ratios), len(multiples)) of text.

    "o" associated, "x" the other way round, "d" diverged. ``bound`` is marked by a dotted line.
    """
    looks = {
        "o": ("o", COLORS["same set"], "associates"),
        "x": ("X", COLORS["other sets"], "the other way round"),
        "d": ("s", COLORS["label"], "diverges"),
    }
    for outcome, (marker, color, label) in looks.items():
        rows, columns = np.nonzero(np.asarray(outcomes) == outcome)
        if len(rows):
            ax.scatter(
                np.asarray(multiples)[columns],
                np.asarray(ratios)[rows],
                marker=marker,
                color=color,
                s=60,
                label=label,
            )
    ax.axvline(bound, color="#111111", linestyle=":", linewidth=1.4)
    ax.set(yscale="log", ylabel=r"$\kappa$")
    ax.set_xlabel(
        r"rate of $\mathbf{v}$, in units of $2 / (\partial^2 \mathcal{L} / \partial \alpha^2)$ at the start"
    )
    ax.set_xticks(multiples, [f"{m:g}" for m in multiples])
    ax.set_yticks(ratios, [f"{r:g}" for r in ratios])
    ax.minorticks_off()


def draw_steps_needed(ax: Axes, num_patches, single, common) -> None:
    """Steps until the margin is one, at the largest stable rate, against D, for both readings of the step."""
    for values, quantity, label in (
        (single, "label", r"one rate, $\kappa = 1$"),
        (common, "same set", r"$\kappa = D^2$"),
    ):
        ax.plot(num_patches, values, color=COLORS[quantity], label=label, **SHADES[quantity])
    ax.set(xscale="log", yscale="log", xlabel="patches $D$", ylabel="steps")
    ax.set_xticks(num_patches, [str(D) for D in num_patches])
    ax.minorticks_off()


def draw_sorted_scores(ax: Axes, scores, partition: Partition, limit: float) -> None:
    """A matrix of scores with the patches sorted by set, and lines between the sets."""
    order = np.argsort(partition.labels, kind="stable")
    draw_matrix(ax, np.asarray(scores)[np.ix_(order, order)], limit=limit)
    for edge in np.arange(1, partition.num_sets) * partition.set_size - 0.5:
        ax.axvline(edge, color="white", linewidth=1.5)
        ax.axhline(edge, color="white", linewidth=1.5)
    ax.set(xlabel="patch $j$, by set", ylabel="patch $i$, by set")


def _rgb(code: str) -> tuple[float, ...]:
    return tuple(int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
