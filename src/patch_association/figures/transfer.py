"""The figures of the part on transfer."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from patch_association.figures.patches import draw_matrix
from patch_association.figures.style import COLORS, SHADES

#: One look for each learner through the whole part: color, marker, line.
LEARNERS = {
    "learned attention": dict(color=COLORS["same set"], marker="o", linestyle="-", zorder=3),
    # Open and large: it often lies on the one above.
    "ideal blocks": dict(
        color=COLORS["signal"], marker="D", markersize=9, markerfacecolor="none", linestyle="--"
    ),
    "likelihood of sets": dict(color=COLORS["feature"], marker="^", linestyle="-."),
    "co-activation": dict(color=COLORS["feature"], marker="v", linestyle=":"),
    "from scratch": dict(color=COLORS["other sets"], marker="s", linestyle="-"),
    "uniform attention": dict(color=COLORS["noise"], marker="x", linestyle=":"),
    "wrong sets": dict(color=COLORS["noise"], marker="+", linestyle="--"),
    "logistic regression": dict(color=COLORS["label"], marker="P", linestyle=(0, (5, 1))),
}


def draw_pretraining(axes, run, partition) -> None:
    """What pre-training left and how it came about, on two axes.

    Parameters
    ----------
    axes : two Axes
        Left the scores of the first seed, patches sorted by set and the diagonal left out; right the
        training loss and the recall of companions over the steps.
    run : the recorded run of :func:`patch_association.training.empirical.descend`
    partition : Partition
    """
    order = np.argsort(partition.labels, kind="stable")
    scores = run.final.scores[0].numpy()[np.ix_(order, order)].copy()
    np.fill_diagonal(scores, 0)
    draw_matrix(axes[0], scores, limit=float(np.abs(scores).max()), title="learned scores")
    axes[1].plot(run.steps, run.loss[:, 0], color=COLORS["label"], linestyle="--", label="training loss")
    axes[1].plot(run.steps, run.recall[:, 0], color=COLORS["same set"], label="recall of companions")
    axes[1].set(xlabel="step of gradient descent", ylabel="loss, share", ylim=(0, 1.05))
    axes[1].legend(loc="center right")


def plot_sample_curves(ax: Axes, curves: dict, target: float = 0.05) -> None:
    """Mean test error against the number of samples, a line a learner, with two standard errors over seeds.

    Parameters
    ----------
    curves : dict
        Name in :data:`LEARNERS` -> (sizes (K,), errors (seeds, K)).
    """
    ax.axhline(target, color="#222222", linewidth=0.8)
    for name, (sizes, errors) in curves.items():
        errors = np.asarray(errors)
        spread = 2 * errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        ax.errorbar(
            sizes, errors.mean(axis=0), spread, capsize=2, elinewidth=0.8, label=name, **LEARNERS[name]
        )
    ax.set(xscale="log", xlabel=r"downstream samples $\tilde N$", ylabel="mean test error", ylim=(0, 0.42))
    ax.legend(ncol=2, loc="upper right", handlelength=3.2)


def plot_complexities(ax: Axes, patches, bound, learners: dict) -> None:
    """N*(D) on logarithmic axes with bootstrap intervals; the lower bound shaded from below.

    Parameters
    ----------
    patches, bound : sequences
        D and the least number of samples that any uninformed learner needs.
    learners : dict
        Name in :data:`LEARNERS` -> {D: SampleComplexity}. Points that never cross are left out.
    """
    ax.fill_between(patches, 0.7, bound, color=COLORS["noise"], alpha=0.18, linewidth=0)
    ax.plot(patches, bound, color="#222222", label="lower bound without the sets")
    for name, found in learners.items():
        crossed = {D: N for D, N in found.items() if np.isfinite(N.value)}
        x, y = np.array(list(crossed)), np.array([N.value for N in crossed.values()])
        # An interval without an upper end is drawn to its point only.
        high = np.array([N.high if np.isfinite(N.high) else N.value for N in crossed.values()])
        low = np.array([N.low for N in crossed.values()])
        reach = np.abs([y - low, high - y])
        ax.errorbar(x, y, reach, capsize=2, elinewidth=0.8, label=name, **LEARNERS[name])
    ax.set(
        xscale="log", yscale="log", xlabel="number of patches $D$", ylabel="samples to reach the target error"
    )
    ax.set_xticks(patches, [str(D) for D in patches])
    ax.minorticks_off()
    ax.legend(ncol=2, loc="upper left")


def plot_dilution(ax: Axes, patches, errors: dict, limit: float) -> None:
    """The error of a perfect value vector against D, a line a rule for gamma, and the limit at fixed gamma."""
    ax.axhline(limit, color="#222222", linewidth=0.8)
    looks = zip(("other sets", "label", "feature", "same set"), ("s", "v", "^", "o"), (":", "--", "-.", "-"))
    for (name, series), (color, marker, line) in zip(errors.items(), looks):
        ax.plot(patches, series, color=COLORS[color], marker=marker, linestyle=line, label=name)
    ax.set(xscale="log", xlabel="number of patches $D$", ylim=(-0.005, 0.15))


def plot_mismatch(ax: Axes, fractions, measured: dict, forecast: dict, target: float = 0.05) -> None:
    """Error against the fraction of patches moved: measured with two standard errors, and the forecast as lines.

    Parameters
    ----------
    fractions : (F,) array
    measured : dict
        D -> (F, seeds) errors.
    forecast : dict
        D -> (fractions, errors) of the line, on a grid of its own.
    """
    ax.axhline(target, color="#222222", linewidth=0.8)
    for (D, errors), color, marker, line in zip(
        measured.items(), ("same set", "other sets"), "os", ("-", "--")
    ):
        errors = np.asarray(errors)  # (fractions, seeds)
        spread = 2 * errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
        ax.plot(*forecast[D], color=COLORS[color], linestyle=line, label=f"forecast, $D = {D}$")
        ax.errorbar(
            fractions,
            errors.mean(axis=1),
            spread,
            color=COLORS[color],
            marker=marker,
            capsize=2,
            markerfacecolor="none",
            linestyle="none",
            label=f"measured, $D = {D}$",
        )
    ax.set(xlabel="fraction of patches re-assigned", ylabel="mean test error", ylim=(0, None))
    ax.legend(loc="upper left")


def plot_heads(ax: Axes, tables: dict, target: float = 0.05) -> None:
    """Mean error against samples for K features: dashed with one head, solid with K heads; two standard errors.

    Parameters
    ----------
    tables : dict
        (K, H) -> (sizes (n,), errors (seeds, n)).
    """
    ax.axhline(target, color="#222222", linewidth=0.8)
    colors = dict(zip(sorted({K for K, _ in tables}), ("noise", "same set", "feature", "signal")))
    for (K, H), (sizes, errors) in tables.items():
        spread = 2 * errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        ax.errorbar(
            sizes,
            errors.mean(axis=0),
            spread,
            color=COLORS[colors[K]],
            capsize=2,
            marker=SHADES[colors[K]]["marker"],
            linestyle="-" if H == K else "--",
            label=f"$K = {K}$, {H} head" + "s" * (H > 1),
        )
    ax.set(xscale="log", xlabel="samples", ylabel="mean test error", ylim=(0, None))
    ax.set_xticks(sizes, [str(N) for N in sizes])
    ax.minorticks_off()
    ax.legend(ncol=2)
