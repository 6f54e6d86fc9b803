"""The figures of the part on the setting."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.stats import norm

from patch_association.structure import Partition
from patch_lab.kit.figures.patches import draw_matrix
from patch_lab.kit.figures.style import COLORS, INK, PAPER, label_ticks, new_figure, set_palette, style_of

_SCORES = r"$\mathbf{A}$ or mean $\mathbf{S}$"
_GRAM = r"$\mathbf{P}\mathbf{P}^\top$"


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
    table = 2.6
    heard = 2.6 + D + 1.6
    cubed = 2.6 + D + 3.9
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
    for start, end in ((1.15, table - 0.2), (table + D + 0.15, heard - 0.6), (heard + 0.6, cubed - 0.75)):
        ax.annotate("", (end, middle), (start, middle), arrowprops=arrow)
    total = cubed + 2.3
    ax.annotate("", (total - 0.75, D / 2), (cubed + 0.75, D / 2), arrowprops=arrow)
    ax.text(total, D / 2, _signed((z**3).sum(), 0), ha="center", va="center", fontweight="bold", color=INK)
    for x, words in (
        (0.5, "patches show\n" r"$\langle \mathbf{v}, \mathbf{X}_j \rangle$"),
        (table + D / 2, "one table of attention\n" r"$S_{ij}$, the same for all images"),
        (heard, "rows hear\n" r"$D\,\sum_j S_{ij}\langle \mathbf{v}, \mathbf{X}_j \rangle$"),
        (cubed, "cubed\n" r"$\sigma$"),
        (total, "added\n" r"$F(\mathbf{X})$"),
    ):
        ax.text(x, -0.35, words, ha="center", va="bottom", color=INK)
    ax.set(xlim=(-0.6, total + 1), ylim=(D + 0.15, -1.6), aspect="equal")
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


def plot_linear_share(ax: Axes, sets, errors, limit: float) -> None:
    """The error of the best linear predictor against the number of sets, and its limit."""
    ax.axhline(limit, color=COLORS["noise"], linestyle=":", label="limit of many sets")
    ax.plot(sets, errors, label=r"error of sign$\,\sum_\ell h_\ell$", **style_of("label"))
    ax.set_xscale("log", base=2)
    label_ticks(ax.xaxis, sets)
    ax.set(xlabel="number of sets $L$", ylabel="probability of error", ylim=(-0.01, 0.25))
    ax.legend(loc="lower right")


def plot_first_step(ax: Axes, diagonals, forces) -> None:
    """The first move of attention, companions against strangers, as the diagonal of A grows."""
    values = np.array([force.value for force in forces])
    reach = np.array([[f.value - f.low, f.high - f.value] for f in forces]).T
    ax.axhline(0, color=COLORS["noise"], linewidth=1)
    signs = np.sign(np.where(np.abs(values) < 1e-12, 0, values))
    words = {1: "toward the own set", -1: "away from it", 0: "neither: uniform attention"}
    for (sign, word), name in zip(words.items(), ("same set", "other sets", "noise")):
        pick = signs == sign
        style = {**style_of(name), "linestyle": "none"}
        x = np.asarray(diagonals)[pick]
        ax.errorbar(x, 1e4 * values[pick], 1e4 * reach[:, pick], capsize=2, label=word, **style)
    ax.set_xlabel(r"diagonal of the scores, $\beta$")
    ax.set_ylabel("companions − strangers\n" r"($10^{-4}$ per unit step)")
    ax.legend()


def plot_learners(rows: list[dict], titles: dict[str, str]) -> Figure:
    """Error, and what the scores and P P^T know, for each learner: one mark a seed.

    A gray tick is where a seed's knowledge started; at its end a full disk for exact association, else a
    ring.

    Parameters
    ----------
    rows : list of dict
        Results of the sweep ``gaussian`` at one teacher and size.
    titles : dict
        The learners to show, from top to bottom, with their names.
    """
    shape = {"sharey": True, "gridspec_kw": {"width_ratios": [1.2, 1, 1]}}
    fig, (left, *known) = new_figure(1, 3, width="wide", height=0.8 + 0.38 * len(titles), **shape)
    left.axvline(rows[0]["linear_error"], color=COLORS["noise"], linestyle=":")
    left.set_title(f"dotted: best linear, {rows[0]['linear_error']:.4f}", weight="normal")
    for ax, matrix in zip(known, (_SCORES, _GRAM)):
        ax.axvline(0.5, color=COLORS["noise"], linestyle=":")
        ax.set(xlim=(-0.06, 1.06), xticks=[0, 0.5, 1], xlabel=f"AUC of {matrix}")
    disk = {"color": COLORS["same set"], "marker": "o", "markersize": 5}
    for place, learner in enumerate(titles):
        runs = [row for row in rows if row["learner"] == learner]
        heights = place + np.linspace(-0.16, 0.16, len(runs))
        left.plot([run["error"] for run in runs], heights, **{**style_of("label"), "linestyle": "none"})
        for ax, name in zip(known, ("scores", "gram")):
            for run, y in zip(runs, heights):
                if name in run["end"]:
                    ax.plot(run["start"][name]["auc"], y, color=COLORS["noise"], marker="|", markersize=6)
                    face = COLORS["same set"] if run["end"][name]["exact"] else PAPER
                    ax.plot(run["end"][name]["auc"], y, markerfacecolor=face, **disk)
    left.set_yticks(range(len(titles)), titles.values())
    left.set(xlabel="test error", xlim=(0, None), xticks=[0, 0.05, 0.1])
    left.invert_yaxis()
    return fig


def plot_learned_matrices(runs: list[dict], partition: Partition, titles: list[str]) -> Figure:
    """The learned scores above, P P^T below, patches sorted by set and the diagonal left blank.

    Each row is centered and divided by its largest deviation: the color says where a patch looks,
    not how strongly.
    """
    fig, axes = new_figure(2, len(runs), width="wide", height=4.2, squeeze=False)
    for column, (run, title) in enumerate(zip(runs, titles)):
        for ax, name in zip(axes[:, column], ("scores", "gram")):
            if name in run["matrices"]:
                rows = _centered_rows(run["matrices"][name])
                draw_matrix(ax, rows, partition=partition, limit=1.0, colorbar=False)
            else:
                ax.set_axis_off()
                ax.text(0.5, 0.5, "no encodings", ha="center", va="center", color=COLORS["noise"])
            ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        axes[0, column].set_title(title)
    for ax, words in zip(axes[:, 0], (_SCORES, _GRAM)):
        # a text, since an axis that is off hides its label
        place = {"rotation": 90, "ha": "right", "va": "center", "transform": ax.transAxes}
        ax.text(-0.05, 0.5, words, **place)
    return fig


def _centered_rows(matrix) -> np.ndarray:
    M = np.array(matrix, dtype=np.float64)
    M[np.diag_indices_from(M)] = np.nan
    M -= np.nanmean(M, axis=1, keepdims=True)
    return np.nan_to_num(M / np.nanmax(np.abs(M), axis=1, keepdims=True))
