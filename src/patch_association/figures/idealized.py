"""Figures of the chapters on the three scalars and on the idealized process."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from patch_association.figures.style import COLORS, SHADES

_SCORES = (("gamma", "same set", r"$\gamma$"), ("rho", "other sets", r"$\rho$"))


def draw_entries(ax: Axes, steps, entries, same_set, run) -> None:
    """Every off-diagonal entry of A against the step, and gamma and rho of ``run`` as markers.

    ``entries`` has shape (len(steps), D, D) and ``same_set`` (D, D).
    """
    entries, same = np.asarray(entries), np.asarray(same_set)
    off = ~np.eye(same.shape[0], dtype=bool)
    for (name, key, letter), where in zip(_SCORES, (same & off, ~same)):
        ax.plot(steps, entries[:, where], color=COLORS[key], linewidth=1.4)
        ax.plot(
            run.steps,
            getattr(run, name),
            SHADES[key]["marker"],
            color=COLORS[key],
            markersize=6,
            markerfacecolor="white",
            label=f"{letter}, {where.sum()} entries",
        )
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xlabel="step of gradient descent", ylabel="score $A_{ij}$")
    ax.legend(loc="upper left")


def draw_atoms(ax: Axes, sizes, counts: dict) -> None:
    """How many points an expectation runs over, against D, on a logarithmic axis.

    ``counts`` maps a label to (color key, one count a size, None where there is none).
    """
    for label, (key, values) in counts.items():
        pairs = [(D, value) for D, value in zip(sizes, values) if value is not None]
        ax.plot(*zip(*pairs), color=COLORS[key], label=label, **SHADES[key])
    ax.set(yscale="log", xlabel="number of patches $D$", ylabel="points to sum over")
    ax.legend(loc="upper left")


def draw_drift(ax: Axes, alphas, drifts, alpha_star: float, title: str) -> None:
    """First drift of companions and strangers against alpha, each divided by alpha^3; alpha* marked."""
    alphas, drifts = np.asarray(alphas), np.asarray(drifts)  # (n,), (n, 2)
    for k, (_, key, letter) in enumerate(_SCORES):
        ax.plot(
            alphas,
            drifts[:, k] / alphas**3,
            color=COLORS[key],
            linestyle=SHADES[key]["linestyle"],
            label=letter,
        )
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.axvline(alpha_star, color=COLORS["feature"], linestyle="-.", linewidth=1.2)
    ax.set(xscale="log", xlabel=r"$\alpha$", title=title)


def draw_constants(ax: Axes, x, constants, slopes, *, xlabel: str, title: str = "") -> None:
    """c_gamma (circles) and c_gamma / E[w] (crosses) against x; hollow where negative."""
    x, constants = np.asarray(x, dtype=float), np.asarray(constants)
    per_slope = constants / np.asarray(slopes)
    for values, key, label in (
        (constants, "same set", r"$c_\gamma$"),
        (per_slope, "noise", r"$c_\gamma / \mathbb{E}[w]$"),
    ):
        color, marker = COLORS[key], SHADES[key]["marker"]
        ax.plot(x, np.abs(values), color=color, linestyle=SHADES[key]["linestyle"], label=label)
        ax.plot(x[values > 0], values[values > 0], linestyle="none", marker=marker, color=color)
        ax.plot(
            x[values < 0],
            -values[values < 0],
            linestyle="none",
            marker="o",
            markerfacecolor="white",
            color=color,
            markersize=6,
        )
    ax.set(yscale="log", xlabel=xlabel, title=title)


def draw_events(axes, run, found: dict, title: str) -> None:
    """Three panels of a run against 1 + t: alpha; the scores, max |rho| dotted; the risk. Events marked."""
    t = 1 + run.steps
    axes[0].plot(t, run.alpha, color=COLORS["feature"], linestyle="-.")
    for name, key, letter in _SCORES:
        axes[1].plot(
            t, getattr(run, name), color=COLORS[key], label=letter, linestyle=SHADES[key]["linestyle"]
        )
    axes[1].axhline(np.abs(run.rho).max(), color=COLORS["other sets"], linestyle=":", linewidth=1.2)
    axes[2].plot(t, run.loss, color=COLORS["label"])
    axes[2].set(yscale="log")
    axes[0].margins(y=0.22)  # room for the names of the events
    axes[0].set(title=title)
    for ax in axes:
        ax.set(xscale="log", xlim=(1, t[-1]))
        for name in ("T0", "T1"):
            if found[name] is not None:
                ax.axvline(1 + found[name], color="#222222", linewidth=0.9, linestyle=(0, (2, 2)))


def label_events(ax: Axes, found: dict) -> None:
    """Name T0 and T1 at the top of a panel of :func:`draw_events`."""
    for name, text in (("T0", r"$\mathcal{T}_0$"), ("T1", r"$\mathcal{T}_1$")):
        if found[name] is not None:
            ax.annotate(
                text,
                (1 + found[name], 1),
                xycoords=("data", "axes fraction"),
                xytext=(3, -3),
                textcoords="offset points",
                ha="left",
                va="top",
            )


def draw_end_of_alpha(ax: Axes, predicted, found, diagonals) -> None:
    """alpha at the end over the best alpha at the start, against G at the start over G at the end.

    One marker a run, by its diagonal; the line is alpha G = constant.
    """
    predicted, found, diagonals = map(np.asarray, (predicted, found, diagonals))
    for diagonal, marker in zip(np.unique(diagonals), ("x", "s", "^", "o", "D")):
        some = diagonals == diagonal
        ax.plot(
            predicted[some],
            found[some],
            marker,
            color=COLORS["feature"],
            markersize=5.5,
            markerfacecolor="none",
            label=rf"$\sigma_A = {diagonal:g}$",
        )
    ax.plot([0.2, 1], [0.2, 1], color="#222222", linewidth=0.9)
    ax.axhline(1, color="#222222", linewidth=0.9, linestyle=":")
    ax.set(xlabel="$G$, start over end", ylabel=r"$\alpha$, end over start")
    ax.legend(loc="upper left")
