"""Figures of the chapter on coupling: the realistic process beside the idealized one."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from patch_association.figures.style import COLORS, SHADES


def draw_paths(ax: Axes, steps, ideal, runs, quantity: str, title: str) -> None:
    """Thin lines: the runs (seeds, records). Black dashes: the ideal (records,)."""
    for run in runs:
        ax.plot(steps, run, color=COLORS[quantity], linewidth=0.9, alpha=0.75)
    ax.plot(steps, ideal, color="#111111", linestyle="--", linewidth=1.6)
    ax.set(xlabel="step", title=title)


def draw_power_law(ax: Axes, x, values, law, quantity: str, label: str) -> None:
    """Every seed a mark, and the fitted line; ``values`` is (len(x), seeds), ``law`` a PowerLaw."""
    x, values = np.asarray(x, dtype=np.float64), np.asarray(values, dtype=np.float64)
    shade = SHADES[quantity]
    ax.plot(
        np.repeat(x, values.shape[1]),
        values.reshape(-1),
        linestyle="",
        marker=shade["marker"],
        markersize=3.2,
        color=COLORS[quantity],
        alpha=0.55,
    )
    ax.plot(x, law.at(x), color=COLORS[quantity], linestyle=shade["linestyle"], label=label)
    ax.set(xscale="log", yscale="log")
