"""The figures of the part on transfer."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from patch_association.structure import Partition
from patch_lab.kit.figures.patches import draw_matrix, draw_patches
from patch_lab.kit.figures.style import COLORS, INK, draw_means, label_ends, label_ticks, styles_of

#: One look for each learner through the whole part. Those that know nothing of the sets are gray.
LEARNERS = {
    **styles_of(
        [
            "learned attention",
            "from scratch",
            "likelihood of sets",
            "ideal blocks",
            "co-activation",
            "overlaps",
        ]
    ),
    "uniform attention": {"color": COLORS["noise"], "marker": "x", "linestyle": ":"},
    "wrong sets": {"color": COLORS["noise"], "marker": "+", "linestyle": "--"},
    "logistic regression": {"color": COLORS["noise"], "marker": "P", "linestyle": "-"},
}
# Open and large: it often lies on the one above.
LEARNERS["ideal blocks"] |= {"markersize": 7, "markerfacecolor": "none"}
LEARNERS["learned attention"] |= {"zorder": 3}

_ERROR = "mean test error"

#: Where a curve of :func:`plot_sample_curves` has its name: at which point, how far off, and on which side.
_NAMED_AT = {
    "learned attention": (1, (10, 5), "left"),
    "ideal blocks": (-1, (0, -14), "right"),
    "uniform attention": (-1, (0, -13), "right"),
    "wrong sets": (-1, (0, 9), "right"),
    "from scratch": (0, (0, 11), "center"),
    "likelihood of sets": (-1, (0, -14), "center"),
    "logistic regression": (-1, (0, -13), "center"),
}


def _target(ax: Axes, error: float) -> None:
    ax.axhline(error, color=INK, linewidth=0.8)


def draw_pretraining(axes, run, partition) -> None:
    """What pre-training left and how it came about, on two axes.

    Parameters
    ----------
    axes : two Axes
        Left the scores of the first seed, patches sorted by set and the diagonal left out; right the
        training loss and the recall of companions over the steps.
    run : the recorded run of gradient descent
    partition : Partition
    """
    scores = run.final.scores[0].numpy().copy()
    np.fill_diagonal(scores, 0)
    draw_matrix(axes[0], scores, partition=partition, title="learned scores")
    axes[1].plot(run.steps, run.loss[:, 0], color=COLORS["label"], linestyle="--", label="training loss")
    axes[1].plot(run.steps, run.recall[:, 0], color=COLORS["same set"], label="companions found")
    axes[1].set(xlabel="step of gradient descent", ylabel="loss, share", ylim=(0, 1.05))
    label_ends(axes[1])


def plot_sample_curves(ax: Axes, curves: dict, target: float = 0.05) -> None:
    """Mean test error against the number of samples, a line a learner, with two standard errors over seeds.

    Parameters
    ----------
    curves : dict
        Name in :data:`LEARNERS` -> (sizes (K,), errors (seeds, K)).
    """
    _target(ax, target)
    for name, (sizes, errors) in curves.items():
        draw_means(ax, sizes, errors, label=name, **LEARNERS[name])
        at, offset, side = _NAMED_AT[name]
        place: dict = {"textcoords": "offset points", "ha": side, "va": "center"}
        point = (sizes[at], np.mean(errors, axis=0)[at])
        ax.annotate(name, point, offset, color=LEARNERS[name]["color"], **place)
    ax.set(xscale="log", xlabel=r"downstream samples $\tilde N$", ylabel=_ERROR, ylim=(-0.035, None))


def plot_complexities(ax: Axes, patches, bound, learners: dict) -> None:
    """N*(D) on logarithmic axes with bootstrap intervals; below the lower bound the ground is gray.

    Parameters
    ----------
    patches, bound : sequences
        D and the least number of samples that any uninformed learner needs.
    learners : dict
        Name in :data:`LEARNERS` -> {D: Estimate}. Points that never cross are left out.
    """
    ax.fill_between(patches, 0.7, bound, color=COLORS["noise"], alpha=0.18, linewidth=0)
    for name, complexities in learners.items():
        crossed = {D: N for D, N in complexities.items() if np.isfinite(N.value)}
        x = np.array(list(crossed))
        y = np.array([N.value for N in crossed.values()])
        # An interval without an upper end is drawn to its point only.
        high = np.array([N.high if np.isfinite(N.high) else N.value for N in crossed.values()])
        low = np.array([N.low for N in crossed.values()])
        ax.errorbar(x, y, np.abs([y - low, high - y]), capsize=2, label=name, **LEARNERS[name])
    ax.set(
        xscale="log", yscale="log", xlabel="number of patches $D$", ylabel="samples to reach the target error"
    )
    label_ticks(ax.xaxis, patches)
    label_ends(ax)
    # The bound is named where there is room, and not at its end beside the learners.
    ax.plot(patches, bound, color=INK, label="needed without the sets")
    ax.text(patches[-1], bound[-1] / 2, "too few\nwithout the sets", ha="right", va="top")


def draw_samples(axes, coefficients, labels, signal, partition: Partition, width: int) -> None:
    """Training samples, one a panel: what each patch shows, the signal set framed, and two sums below.

    The sums are what a vector along the feature sees: of all patches under uniform attention; of the cubes
    of the sets' sums where attention knows the sets. Each is red where its sign is not the label's.

    Parameters
    ----------
    coefficients : (n, D) of -1, 0 and 1
    labels : (n,) of -1 and 1
    signal : (n,) integers (the signal set of each sample)
    partition : Partition
    width : int (patches in a row of the image)
    """
    shown: set[int] = set()
    for number, (ax, s, label, signal_set) in enumerate(zip(axes, coefficients, labels, signal), start=1):
        height = partition.num_patches // width
        draw_patches(ax, s, partition, height, width, signal=int(signal_set), numbered=True)
        again = " again" if int(signal_set) in shown else ""
        shown.add(int(signal_set))
        ax.set_title(f"Sample {number} shows set {signal_set + 1}{again}")
        sums = np.bincount(partition.labels, weights=s)  # (L,)
        ax.set_ylim(height + 2.6, 0)
        ax.text(0, height + 0.3, f"label {_signed(label)}", va="top", weight="bold")
        seen = (("all patches", s.sum()), ("sets, cubed", (sums**3).sum()))
        for row, (name, total) in enumerate(seen, start=1):
            color = COLORS["signal" if total * label > 0 else "label"]
            verdict = "right" if total * label > 0 else "wrong"
            ax.text(
                0, height + 0.3 + 0.75 * row, f"{name}: {_signed(total)}, {verdict}", va="top", color=color
            )


def _signed(value: float) -> str:
    """A whole number with its sign."""
    return f"{round(value):+d}".replace("-", "\N{MINUS SIGN}")


def plot_limits(ax: Axes, per_set, errors: dict, target: float) -> None:
    """Errors in the limit of many patches against samples per set: two that are reached, then bounds.

    Parameters
    ----------
    per_set : (n,) array
    errors : dict
        Name -> (n,) errors.
    target : float
    """
    _target(ax, target)
    for place, (name, style) in enumerate(styles_of(errors).items()):
        line = {"color": style["color"], "marker": style["marker"], "linestyle": "-" if place < 2 else "--"}
        ax.plot(per_set, errors[name], label=name, **line)
    # The names of curves that end near zero stand above the axis.
    ax.set(xlabel=r"samples per set $\theta$", ylabel="error for many patches", ylim=(-0.012, None))
    label_ends(ax)


def draw_pulls(ax: Axes, cosines: dict, title: str) -> None:
    """Directions of v as arrows of one length: the feature to the right, all noise up.

    Parameters
    ----------
    cosines : dict
        (name, quantity of :data:`COLORS`) -> cosine with the feature.
    """
    for place, ((name, key), cosine) in enumerate(cosines.items()):
        tip = (cosine, (1 - cosine**2) ** 0.5)
        arrow = {"arrowstyle": "-|>", "color": COLORS[key], "linewidth": 2.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tip, (0, 0), arrowprops=arrow)
        side = "left" if cosine > 0 else "right"
        offset = (5 if cosine > 0 else -5, -2 if place == 2 else 9)  # points: the third below the others
        ax.annotate(name, tip, offset, textcoords="offset points", ha=side, va="center", color=COLORS[key])
    ax.axvline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xlim=(-1.75, 1.75), ylim=(0, 1.2), aspect="equal", title=title, xticks=[], yticks=[])
    ax.set_xlabel(r"along the feature $\rightarrow$")


def plot_dilution(ax: Axes, patches, errors: dict, limit: float, named=None) -> None:
    """The error of a perfect value vector against D, a line for each gamma, and the limit at fixed gamma.

    Parameters
    ----------
    patches : (n,) integers
    errors : dict
        Name -> (n,) errors.
    limit : float
        What a plain sum has.
    named : dict, optional
        Name -> (at which point it stands, its offset from there in points, which of its sides is there). By
        default names stand at the ends.
    """
    _target(ax, limit)
    ax.text(patches[0], limit, "plain sum", ha="left", va="bottom")
    styles = styles_of(errors)
    for name, style in styles.items():
        ax.plot(patches, errors[name], label=name, **style)
    ax.set(xscale="log", xlabel="number of patches $D$", ylabel="error", ylim=(-0.005, 0.15))
    if named is None:
        label_ends(ax)
    for name, (at, offset, side) in (named or {}).items():
        place: dict = {"textcoords": "offset points", "ha": side, "va": "center"}
        ax.annotate(name, (patches[at], errors[name][at]), offset, color=styles[name]["color"], **place)


def plot_mismatch(ax: Axes, fractions, measured: dict, forecast: dict, target: float = 0.05) -> None:
    """Error against the fraction of patches moved: measured with two standard errors, the forecast as lines.

    Parameters
    ----------
    fractions : (F,) array
    measured : dict
        D -> (F, seeds) errors.
    forecast : dict
        D -> (fractions, errors) of the line, on a grid of its own.
    """
    _target(ax, target)
    for D, style in styles_of(measured).items():
        line = {"color": style["color"], "linestyle": style["linestyle"]}
        marks = {**style, "linestyle": "none", "markerfacecolor": "none"}
        ax.plot(*forecast[D], label=f"$D = {D}$", **line)
        draw_means(ax, fractions, np.transpose(measured[D]), **marks)
    ax.set(xlabel="fraction of patches re-assigned", ylabel=_ERROR, ylim=(0, None))
    label_ends(ax)


def plot_heads(ax: Axes, tables: dict, target: float = 0.05) -> None:
    """Mean error against samples for K features, two standard errors: dashed one head, solid K heads.

    Parameters
    ----------
    tables : dict
        (K, H) -> (sizes (n,), errors (seeds, n)).
    """
    _target(ax, target)
    styles = styles_of(sorted({K for K, _ in tables}))
    for (K, H), (sizes, errors) in tables.items():
        style = {**styles[K], "linestyle": "-" if H == K else "--"}
        name = "1 head" if H == 1 else f"{H} heads"
        draw_means(ax, sizes, errors, label=f"$K = {K}$, {name}", **style)
    ax.set(xscale="log", xlabel="samples", ylabel=_ERROR)
    label_ticks(ax.xaxis, sizes)
    ax.margins(y=0.1)  # names at the ends of curves on zero stand above the axis
    label_ends(ax)
