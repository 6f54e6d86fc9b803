"""The palettes and the style: a quantity keeps its color through the whole book, and so does a category.

Figures are SVG at the width of the page's column, lettered in the page's own typeface, all in one size.
Their colors are those below, so that the book can recolor them on a dark page (:data:`DARK`).
"""

from __future__ import annotations

from importlib import resources
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from cycler import cycler
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.container import ErrorbarContainer
from scipy.optimize import isotonic_regression

from patch_association.checks import one_of, positive_int

#: One color a quantity; the same codes color the quantities in equations. Each reaches a contrast of 4.5 on
#: white and on the page's tinted boxes; any two can be told apart by deuteranopes and protanopes.
COLORS = {
    "same set": "#0550B1",
    "other sets": "#B15318",
    "feature": "#9010F2",
    "signal": "#1F7A65",
    "noise": "#3F4454",
    "label": "#8C001A",
}

_MARKS = {
    "same set": {"marker": "o", "linestyle": "-"},
    "other sets": {"marker": "s", "linestyle": "--"},
    "feature": {"marker": "^", "linestyle": "-."},
    "signal": {"marker": "D", "linestyle": "-"},
    "noise": {"marker": "x", "linestyle": ":"},
    "label": {"marker": "v", "linestyle": (0, (5, 1))},
}

#: Learners, settings, sizes: whatever is compared and is no quantity of :data:`COLORS`. In order of use: the
#: two that are hardest to tell apart, the second and the fifth, meet only where there are five.
CATEGORIES = ("#059DDC", "#DB7657", "#1E27D9", "#891075", "#825F17", "#09440D", "#0F131A")

_CATEGORY_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_CATEGORY_DASHES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))

_SEABORN_DASHES = ("", (4, 1.6), (6, 1.6, 1, 1.6), (5, 1), (3, 1, 1, 1, 1, 1), (1, 1), (8, 2))

#: What is drawn in black, and the ground: text, axes, reference lines; the page.
INK, PAPER = "#1F2328", "#FFFFFF"

#: The counterpart of each color on a dark page. A color that is not here gets one by its lightness.
DARK = {
    **dict(zip(COLORS.values(), ("#7BCAFF", "#FFA620", "#B380ED", "#47AC75", "#E4E5E7", "#F9A0BB"))),
    **dict(zip(CATEGORIES, ("#4BD2FD", "#FAA19E", "#9A69FB", "#E93AA0", "#FFD629", "#76A824", "#F1F3F3"))),
    INK: "#DCE1E6",
    PAPER: "#121212",
}

#: Scores and similarities: other sets' color below zero, same set's above, light around zero, where most
#: entries are. Drawn as rasters; on a dark page what is light becomes dark, and hues stay.
SCORES = LinearSegmentedColormap.from_list(
    "scores",
    [
        (0.0, "#6B2E06"),
        (0.2, COLORS["other sets"]),
        (0.4, "#EADACB"),
        (0.5, "#F7F6F3"),
        (0.6, "#CFDDEC"),
        (0.8, COLORS["same set"]),
        (1.0, "#062A5E"),
    ],
)

#: Widths in inches at 96 pixels: one panel, whose letters a phone shows in eleven pixels; the column of text;
#: the column with the margin that code and wide figures use; and half a column.
WIDTHS = {"single": 4.65, "column": 6.2, "wide": 7.8, "half": 3.1}

#: The one size of lettering, in points (14 pixels), and the resolution of what is drawn as a raster.
LETTERING = 10.5
DPI = 300


def tints(quantity: str, count: int) -> list[str]:
    """``count`` colors from a light tint of a quantity's color to the color: for ordered settings."""
    return sns.light_palette(COLORS[quantity], count + 2).as_hex()[2:]


def style_of(quantity: str) -> dict:
    """The color, marker and dash of a quantity, for ``ax.plot(x, y, **style_of("same set"))``."""
    one_of("quantity", quantity, *_MARKS)
    return {"color": COLORS[quantity], **_MARKS[quantity]}


def styles_of(names) -> dict[str, dict]:
    """A color, a marker and a dash for each category, in the order of ``names``.

    Examples
    --------
    >>> for name, style in styles_of(["ours", "theirs"]).items():
    ...     print(name, sorted(style))
    ours ['color', 'linestyle', 'marker']
    theirs ['color', 'linestyle', 'marker']
    """
    names = list(names)
    if len(names) > len(CATEGORIES):
        raise ValueError(
            f"at most {len(CATEGORIES)} categories can be told apart, got {len(names)}: draw panels instead"
        )
    styles = zip(CATEGORIES, _CATEGORY_MARKS, _CATEGORY_DASHES)
    return {name: {"color": c, "marker": m, "linestyle": d} for name, (c, m, d) in zip(names, styles)}


def seaborn_styles(names) -> dict:
    """The same for seaborn's line plots: ``sns.lineplot(..., hue=x, style=x, **seaborn_styles(names))``."""
    styles = styles_of(names)
    return {
        "palette": {name: style["color"] for name, style in styles.items()},
        "markers": {name: style["marker"] for name, style in styles.items()},
        "dashes": dict(zip(styles, _SEABORN_DASHES)),
        "hue_order": list(styles),
        "style_order": list(styles),
    }


def use_style() -> None:
    """Set the book's look for this session; a chapter calls it once, after its imports.

    In a notebook, figures are stored as SVG from then on, the same bytes at every run.
    """
    for file in resources.files("patch_lab.kit.figures").joinpath("fonts").iterdir():
        if file.name.endswith(".ttf"):
            with resources.as_file(file) as path:
                font_manager.fontManager.addfont(path)
    sizes = ("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
    sizes += ("font.size", "legend.title_fontsize", "figure.titlesize", "figure.labelsize")
    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    sns.set_theme(
        context="notebook",
        style="ticks",
        rc={
            **dict.fromkeys(sizes, LETTERING),
            **dict.fromkeys(inked, INK),
            "figure.figsize": (WIDTHS["single"], 3.5),
            "figure.dpi": 96,
            "savefig.dpi": DPI,
            "figure.constrained_layout.use": True,
            "figure.facecolor": PAPER,
            "axes.facecolor": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.9,
            "axes.titlelocation": "left",
            "axes.titleweight": "bold",
            "axes.labelweight": "normal",
            "font.weight": "normal",
            "xtick.major.width": 0.9,
            "ytick.major.width": 0.9,
            "xtick.major.size": 4,
            "ytick.major.size": 4,
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "lines.markersize": 4.5,
            "font.family": ["Book Sans", "DejaVu Sans"],
            "mathtext.fontset": "cm",  # what the equations beside it are set in
            "axes.formatter.use_mathtext": True,
            "axes.prop_cycle": cycler(color=list(CATEGORIES)),
            "svg.fonttype": "path",  # any viewer shows the same letters
            "svg.hashsalt": "patch-association",  # names inside the file do not change from run to run
        },
    )
    _store_as_svg()


def _store_as_svg() -> None:
    """Let a notebook keep figures as SVG of exactly the size asked for; elsewhere nothing happens."""
    try:
        from IPython.core.getipython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", bbox_inches=None, dpi=DPI, metadata={"Date": None, "Creator": None})


def new_figure(rows: int = 1, columns: int = 1, *, width: str | None = None, height: float = 3.5, **options):
    """``plt.subplots`` at the page's widths.

    Parameters
    ----------
    width : "single", "column", "wide" or "half", optional
        As wide as a phone shows one panel, as wide as the text, as wide as code (for several panels), or half
        the text. By default "single" where panels stand below one another, and else "column".
    height : float
        Of the whole figure, in inches; a screen is about 8.
    **options
        Passed to ``plt.subplots``.
    """
    if width is None:
        width = "single" if columns == 1 else "column"
    one_of("width", width, *WIDTHS)
    return plt.subplots(rows, columns, figsize=(WIDTHS[width], height), **options)


def draw_estimate(ax, where: float, estimate, *, horizontal: bool = False, **options):
    """A measured number as a point with its interval: at x = ``where``, or at that height if ``horizontal``.

    Parameters
    ----------
    estimate : :class:`~patch_association.intervals.Estimate`
    **options
        Passed to ``Axes.errorbar``: ``fmt``, ``color``, ``capsize``.
    """
    reach = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
    if horizontal:
        return ax.errorbar(estimate.value, where, xerr=reach, **options)
    return ax.errorbar(where, estimate.value, yerr=reach, **options)


def draw_means(ax, x, values, **options):
    """Means over seeds with two standard errors: ``values`` (seeds, len(x)); options of ``Axes.errorbar``."""
    values = np.asarray(values, dtype=np.float64)
    spread = 2 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return ax.errorbar(x, values.mean(axis=0), spread, **{"capsize": 2, "elinewidth": 0.9, **options})


def draw_band(ax, x, values, quantity: str, label: str | None = None) -> None:
    """The mean over seeds with the band from the least to the largest; ``values`` is (seeds, len(x))."""
    values = np.asarray(values, dtype=np.float64)
    least = values.min(axis=0)
    largest = values.max(axis=0)
    ax.fill_between(x, least, largest, color=COLORS[quantity], alpha=0.22, linewidth=0)
    ax.plot(x, values.mean(axis=0), label=label, markevery=max(1, len(x) // 10), **style_of(quantity))


def label_ends(ax, gap: float = 6) -> None:
    """Write each labeled curve's name beside its last point, in its color: in place of a legend.

    Call it when limits, scales and titles are set. Names that would touch are moved apart, in their order.
    ``gap``, in points, is what a name keeps from its point.
    """
    ax.figure.draw_without_rendering()  # panels get their places; names need the height in points
    per_point = ax.figure.dpi / 72
    ends = []
    for handle, name in zip(*ax.get_legend_handles_labels()):
        line = handle[0] if isinstance(handle, ErrorbarContainer) else handle
        x, y = (np.asarray(line.get_data()[k], dtype=float) for k in (0, 1))  # (n,), (n,)
        seen = np.isfinite(x) & np.isfinite(y) & (x <= ax.get_xlim()[1])
        last = np.argmax(np.where(seen, x, -np.inf))
        height = ax.transData.transform((x[last], y[last]))[1] / per_point
        ends.append((height, (x[last], y[last]), name, line.get_color()))
    ends.sort(key=lambda end: end[0])
    heights = np.array([end[0] for end in ends])  # (curves,)
    # The nearest heights with the gap between them: an isotonic regression of heights less multiples of it.
    steps = 1.15 * LETTERING * np.arange(len(ends))
    for place, (height, end, name, color) in zip(isotonic_regression(heights - steps).x + steps, ends):
        ax.annotate(
            name, end, (gap, place - height), textcoords="offset points", va="center", color=color,
            annotation_clip=False,
        )  # fmt: skip


def label_ticks(axis, values) -> None:
    """Ticks at exactly these values, plainly written: for logarithmic axes over a few sizes."""
    axis.set_ticks(values, [f"{value:,g}" for value in values])
    axis.set_ticks([], minor=True)


def set_palette(num_sets: int) -> list[tuple[float, float, float]]:
    """One color for each set of a partition: hues around the circle, lighter and darker in turn."""
    num_sets = positive_int("num_sets", num_sets)
    shades = [sns.husl_palette(num_sets, s=0.55, l=lightness) for lightness in (0.78, 0.67)]
    return [shade[number] for number, shade in zip(range(num_sets), cycle(shades))]
