"""Figures of the chapters on linear models and on transformers without structure."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from scipy.stats import norm

from patch_association.figures.style import COLORS, SCORES


def draw_phase_diagram(ax: Axes, num_patches, qs, errors, set_size: int, limit: float) -> None:
    """Error of the symmetric sum over (q, D) with its 1/8 contour and the limit q (D - C) = limit C^2.

    ``errors`` has shape (len(num_patches), len(qs)). White is 1/8; the label's side is warm.
    """
    D, q = np.asarray(num_patches, dtype=np.float64), np.asarray(qs, dtype=np.float64)
    image = ax.pcolormesh(
        q,
        D,
        errors,
        cmap=SCORES.reversed(),
        shading="nearest",
        rasterized=True,
        norm=TwoSlopeNorm(vcenter=1 / 8, vmin=0, vmax=0.45),
    )
    ax.contour(q, D, errors, levels=[1 / 8], colors=COLORS["label"], linewidths=2)
    inside = limit * set_size**2 / np.maximum(q, 1e-9) + set_size
    ax.plot(q, inside, color="#222222", linestyle=":", linewidth=1.8)
    ax.set(
        yscale="log",
        xlim=(q[0], q[-1]),
        ylim=(D[0], D[-1]),
        xlabel="$q$",
        ylabel="patches $D$",
        title=f"$C = {set_size}$",
    )
    bar = ax.figure.colorbar(image, ax=ax, ticks=[0, 1 / 16, 1 / 8, 1 / 4, 3 / 8])
    bar.ax.set_yticklabels(["0", "1/16", "1/8", "1/4", "3/8"])
    bar.set_label(r"error $\mathbb{P}[y\,g \leq 0]$")


def draw_normal_error(ax: Axes, kappa) -> None:
    """The limit Phi(-1 / sqrt(kappa)) of the symmetric sum's error, and the level 1/8."""
    kappa = np.asarray(kappa, dtype=np.float64)
    ax.plot(kappa, norm.cdf(-1 / np.sqrt(kappa)), color=COLORS["label"], label="equal weights, limit")
    ax.axhline(1 / 8, color=COLORS["noise"], linestyle=":", linewidth=1.4)
    ax.text(kappa[-1], 1 / 8, "1/8 ", color=COLORS["noise"], ha="right", va="bottom")
