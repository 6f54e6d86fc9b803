"""The figures of the part ``beyond``: one bench of attentions, and what networks and functions know."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from patch_association.intervals import mean
from patch_association.structure import Partition
from patch_lab.kit.estimates import mean_share
from patch_lab.kit.figures.patches import draw_matrix
from patch_lab.kit.figures.style import (
    COLORS,
    INK,
    PAPER,
    draw_estimate,
    label_ticks,
    new_figure,
    style_of,
    tints,
)

_SCORES = r"$\mathbf{A}$ or mean $\mathbf{S}$"
_GRAM = r"$\mathbf{P}\mathbf{P}^\top$"

#: What a patch is to another -> the quantity whose color it has, and how light.
_RELATIONS = {
    "itself": ("noise", 0),
    "same set": ("same set", 3),
    "relevant": ("same set", 3),
    "same group": ("feature", 1),
    "same key": ("signal", 2),
    "neither": ("other sets", 1),
    "other": ("other sets", 1),
}


def draw_errors(ax, errors, kinds, marks: dict[str, float], trials: int) -> None:
    """The error of each kind of network, seed by seed, with its mean and interval.

    Parameters
    ----------
    ax : Axes
    errors : sequence of (R,) arrays
        One a kind.
    kinds : sequence of str
    marks : dict
        Errors to mark by a vertical line, by name; each has a dash of its own.
    trials : int
        Test inputs, the same for all networks, which the intervals include.
    """
    for place, values in enumerate(errors):
        values = np.asarray(values)
        ax.plot(values, np.full(len(values), place), "|", color=COLORS["noise"], markersize=7)
        draw_estimate(
            ax, place, mean_share(trials, values), horizontal=True, fmt="o", markersize=4, color=INK
        )
    for (name, value), dash in zip(marks.items(), ("-", "--", ":")):
        ax.axvline(value, color=COLORS["label"], linewidth=1.0, linestyle=dash, label=name)
    ax.set_yticks(range(len(kinds)), kinds)
    ax.set_ylim(len(kinds) - 0.5, -0.5)
    ax.set_xlim(left=0)


def draw_shares(ax, shares, relations, kinds) -> None:
    """Where the attention of each kind goes: stacked bars of the mean share to each relation.

    Parameters
    ----------
    ax : Axes
    shares : sequence of (R, relations) arrays
        One a kind.
    relations : sequence of str
        What patches are to one another, in the order of the columns.
    kinds : sequence of str
    """
    for place, values in enumerate(shares):
        edge = 0.0
        for relation, share in zip(relations, np.mean(values, axis=0)):
            quantity, shade = _RELATIONS[relation]
            label = relation if place == 0 else None
            ax.barh(place, share, left=edge, height=0.7, color=tints(quantity, 4)[shade], label=label)
            edge += share
    ax.set_yticks(range(len(kinds)), kinds)
    ax.set_ylim(len(kinds) - 0.5, -0.5)
    ax.set_xlim(0, 1)


def draw_networks(axes, rows, marks: dict[str, float], trials: int) -> None:
    """Networks as rows: error; AUC of every head; what P P^T and the function itself recall of the sets.

    Parameters
    ----------
    axes : three Axes, side by side
    rows : sequence of dict
        Each with ``name``, ``error`` (R,), ``auc`` (R, layers, heads), ``probe_recall`` (R,) and, where there
        are encodings, ``gram_recall`` (R,).
    marks : dict
        Errors to mark, by name, and ``chance``, the recall of who knows nothing.
    trials : int
        Test inputs, the same for all networks.
    """
    names = [row["name"] for row in rows]
    errors = {name: value for name, value in marks.items() if name != "chance"}
    draw_errors(axes[0], [row["error"] for row in rows], names, errors, trials)
    for place, row in enumerate(rows):
        auc = np.asarray(row["auc"])  # (R, layers, heads)
        for layer in range(auc.shape[1]):
            color = COLORS["feature" if layer % 2 else "same set"]
            lift = 0.18 * (layer - (auc.shape[1] - 1) / 2)
            values = auc[:, layer].ravel()
            axes[1].plot(values, np.full(len(values), place + lift), "|", color=color, markersize=6)
        for key, marker, lift, color in (
            ("gram_recall", "s", -0.15, "other sets"),
            ("probe_recall", "o", 0.15, "signal"),
        ):
            if key in row:
                estimate = mean(row[key])
                axes[2].plot(row[key], np.full(len(row[key]), place + lift), "|", color=COLORS[color])
                axes[2].plot(
                    estimate.value, place + lift, marker, color=COLORS[color], markersize=4,
                    label={"gram_recall": "$P P^T$", "probe_recall": "function"}[key],
                )  # fmt: skip
    axes[1].axvline(0.5, color=INK, linewidth=0.8, linestyle=":")
    axes[2].axvline(marks["chance"], color=INK, linewidth=0.8, linestyle=":")
    for ax in axes[1:]:
        ax.set_xlim(-0.04, 1.04)


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
