"""The figures of the part ``beyond``: one bench of attentions, and what networks and functions know."""

from __future__ import annotations

import numpy as np

from patch_association.intervals import mean
from patch_lab.kit.estimates import mean_share
from patch_lab.kit.figures.style import COLORS, INK, draw_estimate, tints

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
