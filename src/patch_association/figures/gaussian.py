"""The figures of the chapter on Gaussian patches."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from patch_association.figures.patches import draw_matrix
from patch_association.figures.style import COLORS, new_figure
from patch_association.structure import Partition

_SCORES, _GRAM = r"$\mathbf{A}$ or mean $\mathbf{S}$", r"$\mathbf{P}\mathbf{P}^\top$"


def plot_linear_share(ax: Axes, sets, errors, limit: float) -> None:
    """The error of the best linear predictor against the number of sets, and its limit."""
    ax.axhline(limit, color=COLORS["noise"], linestyle=":", label="limit of many sets")
    ax.plot(sets, errors, color=COLORS["label"], marker="v", label=r"error of sign$\,\sum_\ell h_\ell$")
    ax.set_xscale("log", base=2)
    ax.set_xticks(sets, [str(L) for L in sets])
    ax.set(xlabel="number of sets $L$", ylabel="probability of error", ylim=(-0.01, 0.25))
    ax.legend(loc="lower right")


def plot_first_step(ax: Axes, diagonals, forces) -> None:
    """The first move of attention, companions against strangers, as the diagonal of A grows."""
    values = np.array([force.value for force in forces])
    reach = np.array([[f.value - f.low, f.high - f.value] for f in forces]).T
    ax.axhline(0, color=COLORS["noise"], linewidth=1)
    for sign, name, marker in ((1, "same set", "o"), (-1, "other sets", "s"), (0, "noise", "x")):
        pick = np.sign(np.where(np.abs(values) < 1e-12, 0, values)) == sign
        word = {1: "toward the own set", -1: "away from it", 0: "neither: uniform attention"}[sign]
        ax.errorbar(
            np.asarray(diagonals)[pick],
            1e4 * values[pick],
            1e4 * reach[:, pick],
            color=COLORS[name],
            marker=marker,
            linestyle="none",
            capsize=2,
            label=word,
        )
    ax.set_xlabel(r"diagonal of the scores, $\beta$")
    ax.set_ylabel("companions − strangers\n" r"($10^{-4}$ per unit step)")
    ax.legend()


def plot_learners(rows: list[dict], titles: dict[str, str]) -> Figure:
    """Error, and what the scores and P P^T know, for each learner: one mark a seed.

    Parameters
    ----------
    rows : list of dict
        Results of the sweep ``gaussian`` at one teacher and size.
    titles : dict
        The learners to show, from top to bottom, with their names.
    """
    fig, (left, middle, right) = new_figure(
        1,
        3,
        width="wide",
        height=0.8 + 0.38 * len(titles),
        sharey=True,
        gridspec_kw={"width_ratios": [1.2, 1, 1]},
    )
    linear = rows[0]["linear_error"]
    left.axvline(linear, color=COLORS["noise"], linestyle=":")
    left.annotate(
        f"best linear {linear:.4f}",
        (linear, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        color=COLORS["noise"],
    )
    for ax, matrix in ((middle, _SCORES), (right, _GRAM)):
        ax.axvline(0.5, color=COLORS["noise"], linestyle=":")
        ax.set(xlim=(-0.06, 1.06), xticks=[0, 0.5, 1], xlabel=f"AUC of {matrix}")
    for place, learner in enumerate(titles):
        runs = [row for row in rows if row["learner"] == learner]
        jitter = place + np.linspace(-0.16, 0.16, len(runs))
        left.plot([run["error"] for run in runs], jitter, color=COLORS["label"], marker="v", linestyle="none")
        for ax, name in ((middle, "scores"), (right, "gram")):
            for run, y in zip(runs, jitter):
                if name in run["end"]:
                    _mark_knowledge(ax, run["start"][name], run["end"][name], y)
    left.set_yticks(range(len(titles)), titles.values())
    left.set(xlabel="test error", xlim=(0, None), xticks=[0, 0.05, 0.1])
    left.invert_yaxis()
    return fig


def _mark_knowledge(ax: Axes, start: dict, end: dict, y: float) -> None:
    """A gray tick where the seed started; at its end a full disk for exact association, else a ring."""
    ax.plot([start["auc"]], [y], color=COLORS["noise"], marker="|", linestyle="none", markersize=6)
    ax.plot(
        [end["auc"]],
        [y],
        color=COLORS["same set"],
        marker="o",
        linestyle="none",
        markersize=5,
        markerfacecolor=COLORS["same set"] if end["exact"] else "white",
    )


def plot_learned_matrices(runs: list[dict], partition: Partition, titles: list[str]) -> Figure:
    """The learned scores above, P P^T below, patches sorted by set and the diagonal left blank.

    Each row is centered and divided by its largest deviation: the color says where a patch looks,
    not how strongly.
    """
    fig, axes = new_figure(2, len(runs), width="wide", height=4.0, squeeze=False)
    for column, (run, title) in enumerate(zip(runs, titles)):
        for ax, name in zip(axes[:, column], ("scores", "gram")):
            if name in run["matrices"]:
                _draw_rows(ax, np.array(run["matrices"][name]), partition)
            else:
                ax.spines[:].set_visible(False)
                ax.text(0.5, 0.5, "no encodings", ha="center", va="center", color=COLORS["noise"])
            ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        axes[0, column].set_title(title)
    axes[0, 0].set_ylabel(_SCORES)
    axes[1, 0].set_ylabel(_GRAM)
    return fig


def _draw_rows(ax: Axes, M: np.ndarray, partition: Partition) -> None:
    order = np.argsort(partition.labels, kind="stable")
    M = M[np.ix_(order, order)]
    M[np.diag_indices_from(M)] = np.nan
    M -= np.nanmean(M, axis=1, keepdims=True)
    M /= np.nanmax(np.abs(M), axis=1, keepdims=True)
    draw_matrix(ax, np.nan_to_num(M), limit=1.0, colorbar=False)
    for edge in np.arange(partition.set_size, len(M), partition.set_size) - 0.5:
        ax.axhline(edge, color="white", linewidth=0.8)
        ax.axvline(edge, color="white", linewidth=0.8)


def plot_curves(axes, groups: dict[str, list[dict]], linear_error: float) -> None:
    """Learning curves, one panel a learner; the run with the most steps dashed."""
    for ax, (title, runs) in zip(axes, groups.items()):
        usual = min(run["steps"] for run in runs)
        ax.axhline(linear_error, color=COLORS["noise"], linestyle=":")
        for run in runs:
            step, error = np.array(run["curve"])[1:].T
            longer = run["steps"] > usual
            ax.plot(
                step / 1000,
                error,
                color=COLORS["label"],
                alpha=1.0 if longer else 0.45,
                linestyle="--" if longer else "-",
                linewidth=1.6 if longer else 1.2,
            )
        ax.set(xlabel="steps (thousands)", xlim=(0, None), ylim=(0, 0.16))
        ax.set_title(title)
    axes[0].set_ylabel("error on held-out inputs")
