"""Figures of the chapter on the realistic process: Figure 4 of Jelassi et al. over many seeds."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from patch_association.figures.patches import draw_matrix
from patch_association.figures.style import COLORS, SHADES
from patch_association.structure import Partition


def draw_same_set(ax: Axes, partition: Partition, title: str | None = None) -> None:
    """The pairs (i, j) of one set, in gray: what the learned scores are held against."""
    ax.imshow(partition.same_set, cmap="Greys", vmin=0, vmax=1.6, interpolation="nearest")
    ax.set(xlabel="patch $j$", ylabel="patch $i$", title=title)
    ax.tick_params(length=2)


def plot_seeds(ax: Axes, steps, values, quantity: str, label: str | None = None) -> None:
    """The mean over seeds with the band from the least to the largest; ``values`` is (seeds, records)."""
    values = np.asarray(values, dtype=np.float64)
    shade = dict(SHADES[quantity])
    ax.fill_between(
        steps, values.min(axis=0), values.max(axis=0), color=COLORS[quantity], alpha=0.22, linewidth=0
    )
    ax.plot(steps, values.mean(axis=0), color=COLORS[quantity], label=label, **shade)


def draw_figure_four(axes, partition: Partition, scores, steps, errors, cosines) -> None:
    """One row of Figure 4: the sets, the learned A, the test error and cos(v, w*) over the steps."""
    draw_same_set(axes[0], partition, "same set")
    draw_matrix(axes[1], scores, limit=1.5, title="learned $\\mathbf{A}$", colorbar=False)
    plot_seeds(axes[2], steps, errors, "label")
    axes[2].axhline(0.01, color=COLORS["noise"], linestyle=":", linewidth=1.3)
    axes[2].set(yscale="log", ylim=(2e-3, 1), xlabel="step", title="test error")
    plot_seeds(axes[3], steps, cosines, "feature")
    axes[3].set(ylim=(-0.6, 1.05), xlabel="step", title=r"$\cos(\mathbf{v}, \mathbf{w}^\star)$")


def draw_frames(axes, frames: dict, limit: float = 1.5) -> None:
    """A at several steps, one panel each, on one scale."""
    for ax, (step, scores) in zip(axes, frames.items()):
        image = draw_matrix(ax, scores, limit=limit, title=f"step {step}", colorbar=False)
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
    axes[0].figure.colorbar(image, ax=list(axes), fraction=0.012, pad=0.01, label="score $A_{ij}$")
