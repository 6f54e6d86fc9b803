"""The figures of the part on the dynamics."""

from __future__ import annotations

from math import isqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, SymLogNorm, to_rgba

from patch_association.structure import Partition
from patch_lab.figures.patches import draw_matrix, draw_sets
from patch_lab.figures.style import (
    COLORS,
    INK,
    PAPER,
    SCORES,
    draw_band,
    label_ends,
    label_ticks,
    look,
    looks,
)

_SCALARS = (("gamma", "same set", r"$\gamma$"), ("rho", "other sets", r"$\rho$"))


def _line(quantity: str) -> dict:
    """A quantity's color and dash, for curves of many points."""
    return {key: value for key, value in look(quantity).items() if key != "marker"}


def _marks(quantity: str, **options) -> dict:
    """A quantity's color and marker, without a line."""
    return {**look(quantity), "linestyle": "none", **options}


# ---- three scalars, the idealized process ---------------------------------------------------------


def draw_entries(ax: Axes, steps, entries, same_set, run) -> None:
    """Every off-diagonal entry of A against the step, and gamma and rho of ``run`` as markers.

    ``entries`` has shape (len(steps), D, D) and ``same_set`` (D, D).
    """
    entries, same = np.asarray(entries), np.asarray(same_set)
    off = ~np.eye(same.shape[0], dtype=bool)
    for (name, key, letter), where in zip(_SCALARS, (same & off, ~same)):
        ax.plot(steps, entries[:, where], color=COLORS[key], linewidth=1.4)
        marks = _marks(key, markersize=6, markerfacecolor=PAPER)
        ax.plot(run.steps, getattr(run, name), label=f"{letter}, {where.sum()} entries", **marks)
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xlabel="step of gradient descent", ylabel="score $A_{ij}$")
    ax.legend(loc="upper left")


def draw_atoms(ax: Axes, sizes, counts: dict) -> None:
    """How many points an expectation runs over, against D, on a logarithmic axis.

    ``counts`` maps a label to one count a size, None where there is none.
    """
    for (label, values), style in zip(counts.items(), looks(counts).values()):
        pairs = [(D, value) for D, value in zip(sizes, values) if value is not None]
        ax.plot(*zip(*pairs), label=label, **style)
    ax.set(yscale="log", xlabel="number of patches $D$", ylabel="points to sum over")
    label_ends(ax)


def draw_drift(ax: Axes, alphas, drifts, alpha_star: float, title: str) -> None:
    """First drift of companions and strangers against alpha, each divided by alpha^3; alpha* marked."""
    alphas, drifts = np.asarray(alphas), np.asarray(drifts)  # (n,), (n, 2)
    for k, (_, key, letter) in enumerate(_SCALARS):
        ax.plot(alphas, drifts[:, k] / alphas**3, label=letter, **_line(key))
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.axvline(alpha_star, linewidth=1.2, **_line("feature"))
    ax.set(xscale="log", xlabel=r"$\alpha$", title=title)


def draw_constants(ax: Axes, x, constants, slopes, *, xlabel: str, title: str = "") -> None:
    """c_gamma (circles) and c_gamma / E[w] (crosses) against x; hollow where negative."""
    x, constants = np.asarray(x, dtype=float), np.asarray(constants)
    kinds = (
        (constants, "same set", r"$c_\gamma$"),
        (constants / np.asarray(slopes), "noise", r"$c_\gamma / \mathbb{E}[w]$"),
    )
    for values, key, label in kinds:
        ax.plot(x, np.abs(values), label=label, **_line(key))
        ax.plot(x[values > 0], values[values > 0], **_marks(key))
        hollow = _marks(key, marker="o", markerfacecolor=PAPER, markersize=6)
        ax.plot(x[values < 0], -values[values < 0], **hollow)
    ax.set(yscale="log", xlabel=xlabel, title=title)


def draw_events(axes, run, found: dict, title: str) -> None:
    """Three panels of a run against 1 + t: alpha; the scores, max |rho| dotted; the risk. Events marked."""
    t = 1 + run.steps
    axes[0].plot(t, run.alpha, **_line("feature"))
    for name, key, letter in _SCALARS:
        axes[1].plot(t, getattr(run, name), label=letter, **_line(key))
    axes[1].axhline(np.abs(run.rho).max(), color=COLORS["other sets"], linestyle=":", linewidth=1.2)
    axes[2].plot(t, run.loss, color=COLORS["label"])
    axes[2].set(yscale="log")
    axes[0].margins(y=0.22)  # room for the names of the events
    axes[0].set(title=title)
    for ax in axes:
        ax.set(xscale="log", xlim=(1, t[-1]))
        for name in ("T0", "T1"):
            if found[name] is not None:
                ax.axvline(1 + found[name], color=INK, linewidth=0.9, linestyle=(0, (2, 2)))


def label_events(ax: Axes, found: dict) -> None:
    """Name T0 and T1 at the top of a panel of :func:`draw_events`."""
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "left", "va": "top"}
    for name, text in (("T0", r"$\mathcal{T}_0$"), ("T1", r"$\mathcal{T}_1$")):
        if found[name] is not None:
            ax.annotate(text, (1 + found[name], 1), xytext=(3, -3), **place)


def draw_portrait(ax: Axes, gammas, rhos, flow, path, title: str, mark=None) -> None:
    """The reduced flow over (gamma, rho) in gray on alpha* in violet, and a path through it in black.

    ``flow`` is (gamma_dot, rho_dot, alpha*), each (len(rhos), len(gammas)); ``path`` a pair of arrays, the
    scores of a run; ``mark`` a point (gamma, rho) on it.
    """
    by_gamma, by_rho, alpha = (np.ma.masked_invalid(np.asarray(part)) for part in flow)
    lines = {"color": COLORS["noise"], "linewidth": 0.7, "density": 0.7, "arrowsize": 0.8}
    ax.streamplot(np.asarray(gammas), np.asarray(rhos), by_gamma, by_rho, **lines)
    veils = ListedColormap([to_rgba(COLORS["feature"], opacity) for opacity in np.linspace(0, 0.6, 9)])
    ground = ax.contourf(gammas, rhos, alpha, levels=9, cmap=veils, zorder=0)  # one ink: it follows the page
    ax.figure.colorbar(ground, ax=ax, label=r"best $\alpha$", format="%.3g")
    ax.plot(*path, color=INK, linewidth=2.4)
    if mark is not None:
        ax.plot(*mark, marker="o", color=INK, markerfacecolor=PAPER, markersize=7)
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.axvline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xlim=(gammas[0], gammas[-1]), ylim=(rhos[0], rhos[-1]), xlabel=r"$\gamma$", title=title)


# ---- the realistic process, and beside the idealized one --------------------------------------------


def draw_figure_four(axes, partition: Partition, scores, steps, errors, cosines) -> None:
    """One row of Figure 4: the sets in a square image, the learned A sorted by them, test error, cos(v, w*).

    Sorted, because the scores of scattered sets look like noise in the order of the image.
    """
    side = isqrt(partition.num_patches)
    draw_sets(axes[0], partition, side, partition.num_patches // side, numbers=partition.num_patches <= 36)
    axes[0].set_title("sets")
    draw_matrix(
        axes[1], scores, partition=partition, limit=1.5, title=r"learned $\mathbf{A}$", colorbar=False
    )
    axes[1].set(xlabel="patches, by set", ylabel="")
    draw_band(axes[2], steps, errors, "label")
    axes[2].axhline(0.01, color=COLORS["noise"], linestyle=":", linewidth=1.3)
    axes[2].set(yscale="log", ylim=(2e-3, 1), xlabel="step", title="test error")
    draw_band(axes[3], steps, cosines, "feature")
    axes[3].set(ylim=(-0.6, 1.05), xlabel="step", title=r"$\cos(\mathbf{v}, \mathbf{w}^\star)$")


def draw_frames(axes, frames: dict, partition: Partition) -> None:
    """A at several steps, patches sorted by set, one panel each, on one scale."""
    for ax, (step, scores) in zip(axes, frames.items()):
        title = f"step {step}"
        image = draw_matrix(ax, scores, partition=partition, limit=1.5, title=title, colorbar=False)
        ax.set(xlabel="", ylabel="")
    axes[0].figure.colorbar(image, ax=list(axes), fraction=0.012, pad=0.01, label="score $A_{ij}$")


def draw_paths(ax: Axes, steps, ideal, runs, quantity: str, title: str) -> None:
    """Thin lines: the runs (seeds, records). Black dashes: the ideal (records,)."""
    for run in runs:
        ax.plot(steps, run, color=COLORS[quantity], linewidth=0.9, alpha=0.75)
    ax.plot(steps, ideal, color=INK, linestyle="--", linewidth=1.6)
    ax.set(xlabel="step", title=title)


def draw_power_law(ax: Axes, x, values, law, quantity: str, label: str) -> None:
    """Every seed a mark, and the fitted line; ``values`` is (len(x), seeds), ``law`` a PowerLaw."""
    x, values = np.asarray(x, dtype=np.float64), np.asarray(values, dtype=np.float64)
    places = np.repeat(x, values.shape[1])
    ax.plot(places, values.reshape(-1), **_marks(quantity, markersize=3.2, alpha=0.55))
    ax.plot(x, law.at(x), label=label, **_line(quantity))
    ax.set(xscale="log", yscale="log")


# ---- limits ------------------------------------------------------------------------------------------


def draw_drift_map(ax: Axes, qs, num_patches, drift, runs, title: str):
    """The drift of gamma - rho over (q, D), and full runs on top; returns the image.

    ``drift`` is (len(num_patches), len(qs)). ``runs`` is a list of (q, D, final gamma - rho): a circle
    where the run ends associated, a cross where it ends the other way round.
    """
    colors = {"cmap": SCORES, "norm": SymLogNorm(1e-5, vmin=-3e-3, vmax=3e-3)}
    image = ax.pcolormesh(qs, num_patches, drift, shading="nearest", rasterized=True, **colors)
    ax.contour(qs, num_patches, drift, levels=[0], colors=INK, linewidths=1.6)
    for good, marker, face in ((True, "o", PAPER), (False, "X", COLORS["label"])):
        some = [(q, D) for q, D, gap in runs if (gap > 0) == good]
        if some:
            edge = {"facecolor": face, "edgecolor": INK, "linewidth": 0.8}
            ax.scatter(*zip(*some), marker=marker, s=34, zorder=3, **edge)
    ax.set(xlabel="$q$", ylabel="patches $D$", title=title, yticks=num_patches)
    return image


def draw_rate_map(ax: Axes, multiples, ratios, outcomes, bound: float) -> None:
    """What becomes of a run at each (rate, kappa): ``outcomes`` is (len(ratios), len(multiples)) of text.

    "o" associated, "x" the other way round, "d" diverged. ``bound`` is marked by a dotted line.
    """
    meanings = {
        "o": ("same set", "o", "associates"),
        "x": ("other sets", "X", "the other way round"),
        "d": ("label", "s", "diverges"),
    }
    for outcome, (quantity, marker, label) in meanings.items():
        rows, columns = np.nonzero(np.asarray(outcomes) == outcome)
        if len(rows):
            x, y = np.asarray(multiples)[columns], np.asarray(ratios)[rows]
            ax.scatter(x, y, marker=marker, color=COLORS[quantity], s=60, label=label)
    ax.axvline(bound, color=INK, linestyle=":", linewidth=1.4)
    ax.set(yscale="log", ylabel=r"$\kappa$")
    unit = r"in units of $2 / (\partial^2 \mathcal{L} / \partial \alpha^2)$ at the start"
    ax.set_xlabel(rf"rate of $\mathbf{{v}}$, {unit}")
    label_ticks(ax.xaxis, multiples)
    label_ticks(ax.yaxis, ratios)


def draw_steps_needed(ax: Axes, num_patches, single, common) -> None:
    """Steps until the margin is one, at the largest stable rate, against D, for both readings of the step."""
    settings = looks([r"one rate, $\kappa = 1$", r"$\kappa = D^2$"])
    for values, (label, style) in zip((single, common), settings.items()):
        ax.plot(num_patches, values, label=label, **style)
    ax.set(xscale="log", yscale="log", xlabel="patches $D$", ylabel="steps")
    label_ticks(ax.xaxis, num_patches)
