"""The figures of the part on the setting."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from scipy.stats import norm

from patch_lab.kit.figures.style import COLORS, INK, PAPER, set_palette


def draw_model(ax: Axes, shown, attention, sets, row: int = 0) -> None:
    """Model (T) on one input, in numbers: what patches show, the attention, what rows hear, the output.

    Parameters
    ----------
    shown : array_like, shape (D,)
        ``<v, X_j>``.
    attention : array_like, shape (D, D)
        S, rows sum to one. The diagonal is framed: it is not trained.
    sets : Partition
        Which patches belong together: companions in blue, strangers in orange.
    row : int, default 0
        The row that is followed, counted from 0.
    """
    u = np.asarray(shown, dtype=np.float64)
    S = np.asarray(attention, dtype=np.float64)
    D = len(u)
    z = D * S @ u  # (D, D) @ (D,) -> (D,)
    table = 2.1
    heard = table + D + 1.7
    cubed = heard + 2.15
    total = cubed + 2.05
    for j in range(D):
        _cell(ax, 0, j, _signed(u[j], 0), (*to_rgb(set_palette(sets.num_sets)[sets.labels[j]]), 0.6))
        for i in range(D):
            own = "same set" if sets.labels[i] == sets.labels[j] else "other sets"
            tint = 0.15 + 0.85 * min(1.0, S[i, j] / S.max())
            _cell(ax, table + j, i, f"{S[i, j]:.2f}".lstrip("0"), (*to_rgb(COLORS[own]), 0.55 * tint))
        ax.text(heard, j + 0.5, _signed(z[j], 1), ha="center", va="center", color=INK)
        ax.text(cubed, j + 0.5, _signed(z[j] ** 3, 1), ha="center", va="center", color=INK)
        ax.add_patch(
            Rectangle((table + j, j), 1, 1, fill=False, edgecolor=COLORS["noise"], linewidth=1.6, zorder=3)
        )
    ax.add_patch(
        Rectangle(
            (table - 0.06, row - 0.03), D + 0.12, 1.06, fill=False, edgecolor=INK, linewidth=2.2, zorder=4
        )
    )
    arrow = {"arrowstyle": "-|>", "color": COLORS["noise"], "shrinkA": 0, "shrinkB": 0}
    middle = row + 0.5
    for start, end in ((1.1, table - 0.15), (table + D + 0.15, heard - 0.6), (heard + 0.6, cubed - 0.7)):
        ax.annotate("", (end, middle), (start, middle), arrowprops=arrow)
    ax.annotate("", (total - 0.6, D / 2), (cubed + 0.7, D / 2), arrowprops=arrow)
    ax.text(total, D / 2, _signed((z**3).sum(), 0), ha="center", va="center", fontweight="bold", color=INK)
    for x, words in (
        (0.5, "patches\nshow\n" r"$\langle \mathbf{v}, \mathbf{X}_j \rangle$"),
        (table + D / 2, r"attention $S_{ij}$," "\nthe same for all images"),
        (heard, "rows hear\n" r"$D\,\sum_j S_{ij}\langle \mathbf{v}, \mathbf{X}_j \rangle$"),
        (cubed, "cubed\n" r"$\sigma$"),
        (total, "added\n" r"$F(\mathbf{X})$"),
    ):
        ax.text(x, -0.35, words, ha="center", va="bottom", color=INK)
    ax.set(xlim=(-0.4, total + 0.75), ylim=(D + 0.15, -2.3), aspect="equal")
    ax.axis("off")


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else "0"


def _cell(ax: Axes, x: float, y: float, words: str, ground) -> None:
    ax.add_patch(Rectangle((x, y), 1, 1, facecolor=ground, edgecolor=PAPER, linewidth=1.5))
    ax.text(x + 0.5, y + 0.5, words, ha="center", va="center", color=INK)


def draw_normal_error(ax: Axes, clutter) -> None:
    """The limit Phi(-1 / sqrt(chi)) of the symmetric sum's error, and the level 1/8."""
    chi = np.asarray(clutter, dtype=np.float64)
    ax.plot(chi, norm.cdf(-1 / np.sqrt(chi)), color=COLORS["label"], label="equal weights, limit")
    ax.axhline(1 / 8, color=COLORS["noise"], linestyle=":", linewidth=1.4)
    ax.text(chi[-1], 1 / 8, "1/8 ", color=COLORS["noise"], ha="right", va="bottom")
