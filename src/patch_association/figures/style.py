"""The palette and the style: a quantity keeps its color through the whole book."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.colors import LinearSegmentedColormap

#: One color a quantity; the same codes color the quantities in equations. Each reaches a contrast
#: of 4.5 on white, and neighbors differ in lightness or come with their own marker and dash.
COLORS = {
    "same set": "#1B6CA8",
    "other sets": "#B4530A",
    "feature": "#6A3D9A",
    "signal": "#117A48",
    "noise": "#5F6670",
    "label": "#A8174B",
}

#: A marker and a dash for each quantity, so that figures can be read in gray.
SHADES = {
    "same set": dict(marker="o", linestyle="-"),
    "other sets": dict(marker="s", linestyle="--"),
    "feature": dict(marker="^", linestyle="-."),
    "signal": dict(marker="D", linestyle="-"),
    "noise": dict(marker="x", linestyle=":"),
    "label": dict(marker="v", linestyle=(0, (5, 1))),
}

#: Scores and similarities: other sets' color below zero, same set's above, light at zero.
SCORES = LinearSegmentedColormap.from_list(
    "scores", ["#7A3300", COLORS["other sets"], "#F4F1EC", COLORS["same set"], "#0B3357"]
)


def use_style() -> None:
    """Set the book's look for this session; a chapter calls it once, after its imports."""
    sns.set_theme(
        context="notebook",
        style="ticks",
        rc={
            "figure.figsize": (6.4, 3.6),
            "figure.dpi": 110,
            "savefig.dpi": 160,
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "axes.facecolor": "white",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "axes.labelsize": 10.5,
            "xtick.labelsize": 9.5,
            "ytick.labelsize": 9.5,
            "legend.fontsize": 9.5,
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "lines.markersize": 4.5,
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "axes.prop_cycle": mpl.cycler(color=list(COLORS.values())),
        },
    )


def new_figure(rows: int = 1, columns: int = 1, *, width: float = 6.4, height: float = 3.6, **options):
    """``plt.subplots`` at the book's sizes: ``width`` and ``height`` in inches for the whole figure."""
    return plt.subplots(rows, columns, figsize=(width, height), **options)


def draw_estimate(ax, where: float, estimate, *, horizontal: bool = False, **look):
    """A measured number as a point with its interval: at x = ``where``, or at that height if ``horizontal``.

    Parameters
    ----------
    estimate : :class:`~patch_association.intervals.Estimate`
    **look
        Passed to ``Axes.errorbar``: ``fmt``, ``color``, ``capsize``.
    """
    reach = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
    if horizontal:
        return ax.errorbar(estimate.value, where, xerr=reach, **look)
    return ax.errorbar(where, estimate.value, yerr=reach, **look)


def set_palette(num_sets: int) -> list[tuple[float, float, float]]:
    """One color for each set of a partition: hues around the circle, lighter and darker in turn."""
    lighter, darker = (sns.husl_palette(num_sets, s=0.55, l=lightness) for lightness in (0.78, 0.67))
    return [(darker if number % 2 else lighter)[number] for number in range(num_sets)]
