"""The figures of the part on the dynamics."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from patch_association.structure import Partition
from patch_lab.dynamics.optimality import cubic_form
from patch_lab.kit.figures.patches import draw_matrix, draw_sets
from patch_lab.kit.figures.style import (
    COLORS,
    INK,
    PAPER,
    SCORES,
    draw_band,
    label_ends,
    label_ticks,
    style_of,
    styles_of,
    tints,
)

#: The ground of what is not trained, and how much flatter a panel of :func:`draw_loudness` shows a slope.
_FROZEN = "#C9CDD6"
_ASPECT = 6.4

_SCALARS = (("gamma", "same set", r"$\gamma$"), ("rho", "other sets", r"$\rho$"))


def _line(quantity: str) -> dict:
    """A quantity's color and dash, for curves of many points."""
    return {key: value for key, value in style_of(quantity).items() if key != "marker"}


def _marks(quantity: str, **options) -> dict:
    """A quantity's color and marker, without a line."""
    return {**style_of(quantity), "linestyle": "none", **options}


# ---- three scalars, the idealized process ---------------------------------------------------------


def draw_entries(ax: Axes, steps, entries, same_set, run) -> None:
    """Every off-diagonal entry of A against the step, and gamma and rho of ``run`` as markers.

    ``entries`` has shape (len(steps), D, D) and ``same_set`` (D, D).
    """
    entries = np.asarray(entries)
    same = np.asarray(same_set)
    off = ~np.eye(same.shape[0], dtype=bool)
    for (name, key, letter), where in zip(_SCALARS, (same & off, ~same)):
        ax.plot(steps, entries[:, where], color=COLORS[key], linewidth=1.4)
        marks = _marks(key, markersize=6, markerfacecolor=PAPER)
        ax.plot(run.steps, getattr(run, name), label=f"{letter}, {where.sum()} entries", **marks)
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xlabel="step of gradient descent", ylabel="score $A_{ij}$")
    label_ends(ax)


def draw_atoms(ax: Axes, sizes, counts: dict) -> None:
    """How many points an expectation runs over, against D, on a logarithmic axis.

    ``counts`` maps a label to one count a size, None where there is none.
    """
    for (label, values), style in zip(counts.items(), styles_of(counts).values()):
        pairs = [(D, value) for D, value in zip(sizes, values) if value is not None]
        ax.plot(*zip(*pairs), label=label, **style)
    ax.set(yscale="log", xlabel="number of patches $D$", ylabel="points to sum over")
    label_ends(ax)


def draw_drift(ax: Axes, alphas, drifts, alpha_star: float, title: str) -> None:
    """First drift of companions and strangers against alpha, each divided by alpha^3; alpha* marked."""
    alphas = np.asarray(alphas)  # (n,)
    drifts = np.asarray(drifts)  # (n, 2)
    for k, (_, key, letter) in enumerate(_SCALARS):
        ax.plot(alphas, drifts[:, k] / alphas**3, label=letter, **_line(key))
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.axvline(alpha_star, linewidth=1.2, **_line("feature"))
    ax.set(xscale="log", xlabel=r"$\alpha$", title=title)


def draw_first_moves(ax: Axes, qs, values, margins) -> None:
    """Who wins the first step over (q, ``values``): companions blue, strangers orange, the border black.

    ``margins`` is (len(values), len(qs)), positive where companions win.
    """
    shades = {"cmap": SCORES, "vmin": -0.6, "vmax": 0.6, "shading": "nearest", "rasterized": True}
    ax.pcolormesh(qs, values, margins, **shades)
    ax.contour(qs, values, margins, levels=[0], colors=INK, linewidths=1.6)
    ax.set(xscale="log", yscale="log", xlabel="$q$", xlim=(qs[0], 1))


def draw_turned_rows(ax: Axes, num_patches: int, set_size: int, q: float, shares) -> dict[str, float]:
    """What a row of block attention earns as ``shares`` of it turn to something else, one curve a goal.

    Returns the largest gain of each goal; see theorem "Block attention is optimal" of the book.
    """
    D, C = num_patches, set_size
    block = np.repeat([1 / C, 0], [C, D - C])
    itself = np.eye(D)[0]
    another_set = np.roll(block, C)
    one_of_each = np.where(np.arange(D) % C == 0, C / D, 0)
    everyone = np.full(D, 1 / D)
    goals = (
        ("to itself", "same set", itself),
        ("to another set", "other sets", another_set),
        ("to one patch of every set", "feature", one_of_each),
        ("to all patches", "noise", everyone),
    )
    form = cubic_form(D, C, q)
    largest = {}
    for name, quantity, goal in goals:
        rows = np.outer(1 - shares, block) + np.outer(shares, goal)  # (len(shares), D)
        gains = form(rows)
        ax.plot(shares, gains, label=name, color=COLORS[quantity])
        largest[name] = float(gains.max())
    outcome = "one row gains" if max(largest.values()) > 1e-9 else "no row gains"
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set(xlabel="share of the row that has turned ...", title=f"$D = {D}$, $q = {q:g}$: {outcome}")
    return largest


def draw_constants(ax: Axes, x, constants, slopes, *, xlabel: str, title: str = "") -> None:
    """c_gamma (circles) and c_gamma / E[w] (crosses) against x; hollow where negative."""
    x = np.asarray(x, dtype=float)
    constants = np.asarray(constants)
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


def draw_events(axes, runs: dict, times: dict) -> None:
    """Three panels of runs against 1 + t: alpha, with T0; the scores, with T1; the risk.

    Parameters
    ----------
    axes : three Axes
        From top to bottom.
    runs : dict
        A diagonal -> its run, dashed for the first and solid for the second.
    times : dict
        The diagonals -> {"T0": step or None, "T1": step or None}, which are recorded steps.
    """
    for (diagonal, run), dash in zip(runs.items(), ("--", "-")):
        t = 1 + run.steps
        lines = (
            (axes[0], run.alpha, "feature", "T0", r"$\mathcal{T}_0$"),
            (axes[1], run.gamma, "same set", "T1", r"$\mathcal{T}_1$"),
            (axes[1], run.rho, "other sets", None, ""),
            (axes[2], run.loss, "label", None, ""),
        )
        for ax, values, key, event, letter in lines:
            ax.plot(t, values, color=COLORS[key], linestyle=dash, label=rf"$\beta = {diagonal:g}$")
            if event is not None and times[diagonal][event] is not None:
                at = int(np.searchsorted(run.steps, times[diagonal][event]))
                ring: dict = {"marker": "o", "markersize": 7, "markerfacecolor": PAPER, "zorder": 3}
                ax.plot(t[at], values[at], color=COLORS[key], **ring)
                offset, side = {"T0": ((4, -11), "left"), "T1": ((-5, 9), "right")}[event]
                place: dict = {"textcoords": "offset points", "ha": side, "va": "center"}
                ax.annotate(letter, (t[at], values[at]), offset, color=COLORS[key], **place)
    axes[2].set(yscale="log")
    for ax in axes:
        ax.set(xscale="log", xlim=(1, None))


def name_events(axes, runs: dict) -> None:
    """Name the curves of :func:`draw_events`: each diagonal at alpha and at the risk; gamma and rho."""
    (dashed, first), (solid, second) = ((rf"$\beta = {diagonal:g}$", run) for diagonal, run in runs.items())
    top = int(np.argmax(first.alpha))
    high = int(np.argmax(first.gamma > 0.8 * first.gamma[-1]))
    late = int(np.argmax(first.rho < 0.5 * first.rho[-1]))
    down = int(np.argmax(first.loss < 2 * first.loss[-1]))
    last = len(second.steps) - 1
    names = (
        (axes[0], dashed, first, first.alpha, top, (0, -12), "center", "feature"),
        (axes[0], solid, second, second.alpha, last, (0, -10), "right", "feature"),
        (axes[1], r"$\gamma$", first, first.gamma, high, (-8, 2), "right", "same set"),
        (axes[1], r"$\rho$", first, first.rho, late, (-6, -6), "right", "other sets"),
        (axes[2], dashed, first, first.loss, down, (-8, -4), "right", "label"),
        (axes[2], solid, second, second.loss, last, (-2, 34), "right", "label"),
    )
    for ax, words, run, values, at, offset, side, key in names:
        place: dict = {"textcoords": "offset points", "ha": side, "va": "center", "color": COLORS[key]}
        ax.annotate(words, (1 + run.steps[at], values[at]), offset, **place)


def draw_portrait(ax: Axes, gammas, rhos, flow, path, title: str, mark=None) -> None:
    """The reduced flow over (gamma, rho) in gray, and a path through it in black.

    ``flow`` is (gamma_dot, rho_dot), each (len(rhos), len(gammas)); ``path`` a pair of arrays, the scores
    of a run; ``mark`` a point (gamma, rho) on it.
    """
    by_gamma, by_rho = (np.ma.masked_invalid(np.asarray(part)) for part in flow)
    lines = {"color": COLORS["noise"], "linewidth": 0.7, "density": 0.7, "arrowsize": 0.8}
    ax.streamplot(np.asarray(gammas), np.asarray(rhos), by_gamma, by_rho, **lines)
    ax.plot(*path, color=INK, linewidth=2.4)
    if mark is not None:
        ax.plot(*mark, marker="o", color=INK, markerfacecolor=PAPER, markersize=7)
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.axvline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xlim=(gammas[0], gammas[-1]), ylim=(rhos[0], rhos[-1]), xlabel=r"$\gamma$", title=title)


# ---- the first step, worked by hand ---------------------------------------------------------------


def draw_first_steps(ax: Axes, steps, partition: Partition) -> None:
    """The first change of every score as a table of fractions, blue above zero, orange below.

    The diagonal is gray. ``steps`` is (D, D); what stands on the diagonal is not read, because it is frozen.
    """
    steps = np.asarray(steps, dtype=float)
    D = partition.num_patches
    for i, j in np.ndindex(D, D):
        frozen = i == j
        ground = _FROZEN if frozen else COLORS["same set" if steps[i, j] > 0 else "other sets"]
        ax.add_patch(Rectangle((j + 0.5, i + 0.5), 1, 1, facecolor=ground, edgecolor=PAPER, linewidth=2))
        words = "frozen" if frozen else _signed_fraction(float(steps[i, j]))
        ax.text(j + 1, i + 1, words, ha="center", va="center", color=INK if frozen else PAPER)
    ax.set(xlim=(0.5, D + 0.5), ylim=(D + 0.5, 0.5), aspect="equal")
    ax.set(xlabel="patch $j$", ylabel="row of patch $i$", xticks=range(1, D + 1), yticks=range(1, D + 1))
    ax.tick_params(length=0)
    for edge in ax.spines.values():
        edge.set_visible(False)


def _signed_fraction(value: float) -> str:
    """+1/8, −3/8, 0: a float that is a fraction of small denominator."""
    part = Fraction(value).limit_denominator(1000)
    if part == 0:
        return "0"
    sign = "−" if part < 0 else "+"
    return f"{sign}{abs(part)}"


def draw_score_paths(ax: Axes, run) -> None:
    """gamma and rho of a run against 1 + t, each named at its end."""
    for name, key, _ in _SCALARS:
        word = {"same set": "companions", "other sets": "strangers"}[key]
        ax.plot(1 + run.steps, getattr(run, name), label=word, **_line(key))
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xscale="log", xlim=(1, 1 + run.steps[-1]), xlabel="1 + step of gradient descent", ylabel="score")
    label_ends(ax)


def draw_loudness(ax: Axes, vote: float, diagonal: float, title: str) -> None:
    """The cubic, and its slope where a patch hears ``vote`` plus ``diagonal`` times its own sign.

    One dot with a piece of tangent for each of the three signs.
    """
    reach = 2.0
    x = np.linspace(-reach, reach, 201)
    ax.plot(x, x**3, color=COLORS["noise"], linewidth=1.2)
    way = np.sign(vote)
    signs = ((-1, "label", "shows −1"), (0, "noise", "shows\nnothing"), (1, "signal", "shows +1"))
    for sign, key, words in signs:
        heard = vote + diagonal * sign
        slope = 3 * heard**2
        ends = heard + np.array([-0.3, 0.3]) / np.hypot(1, slope / _ASPECT)  # equally long on the page
        ax.plot(ends, heard**3 + slope * (ends - heard), color=COLORS[key], linewidth=3.5)
        ax.plot(heard, heard**3, marker="o", markersize=7, color=COLORS[key])
        offset = {1: (-10 * way, 2 * way), 0: (-17 * way, 12 * way), -1: (4 * way, -14 * way)}[
            int(sign * way)
        ]
        side = "left" if offset[0] > 0 else "right"
        place: dict = {"textcoords": "offset points", "va": "center", "ha": side, "color": COLORS[key]}
        ax.annotate(words, (heard, heard**3), offset, **place)
    ax.axvline(0, color=COLORS["noise"], linewidth=0.6)
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.set(xlim=(-reach, reach), ylim=(-(reach**3) * 0.8, reach**3 * 0.8), yticks=[], title=title)
    ax.set(xlabel="what patch $i$ hears", xticks=[0])


def draw_image_steps(axes, signs, partition: Partition, steps, title: str) -> None:
    """One image above, its patches in a row and the first set framed; below, the mean step of each kind.

    ``signs`` is (D,) of -1, 0 and 1, the signal set first; ``steps`` the pair (companions, strangers).
    """
    top, bottom = axes
    for patch, (sign, label) in enumerate(zip(signs, partition.labels)):
        ground = {1: COLORS["signal"], -1: COLORS["label"], 0: PAPER}[int(sign)]
        left = patch + 0.35 * label
        top.add_patch(Rectangle((left, 0), 1, 1, facecolor=ground, edgecolor=INK, linewidth=0.9))
        if sign:
            top.text(left + 0.5, 0.5, "+1" if sign > 0 else "−1", ha="center", va="center", color=PAPER)
    C, D = partition.set_size, partition.num_patches
    frame: dict = {"fill": False, "edgecolor": COLORS["signal"], "linewidth": 2.4}
    top.add_patch(Rectangle((-0.12, -0.12), C + 0.24, 1.24, **frame))
    top.set(xlim=(-0.3, D + 0.35 * partition.num_sets), ylim=(-0.25, 1.25), aspect="equal", title=title)
    top.axis("off")
    names = (("companions", "same set"), ("strangers", "other sets"))
    for place, ((_, key), value) in enumerate(zip(names, steps)):
        bottom.barh(place, value, height=0.62, color=COLORS[key])
        side = 1 if value >= 0 else -1
        bottom.annotate(
            f"{'−' if value < 0 else '+'}{abs(value):.2f}", (value, place), (5 * side, 0), va="center",
            textcoords="offset points", ha="left" if side > 0 else "right", color=COLORS[key],
        )  # fmt: skip
    bottom.axvline(0, color=INK, linewidth=0.9)
    bottom.set(xlim=(-1, 1), ylim=(1.6, -0.6), xticks=[0], yticks=(0, 1), xlabel="first change of the score")
    bottom.set_yticklabels([name for name, _ in names])
    bottom.tick_params(length=0)
    bottom.spines["left"].set_visible(False)


def draw_feedback(ax: Axes, steps, growth, slope, pace) -> None:
    """What drives and what brakes the step of a companion's score, each (n,) and relative to the first step.

    ``growth`` is Gamma G^(p-1), ``slope`` the mean slope of the loss, ``pace`` the step itself.
    """
    steps = np.asarray(steps)
    curves = [np.asarray(values) / np.asarray(values)[0] for values in (growth, slope, pace)]
    top = float(np.ceil(2 * (curves[2].max() + 0.7)) / 2)
    for values, key, width in zip(curves, ("signal", "label", "same set"), (1.8, 1.8, 3)):
        ax.plot(steps, values, color=COLORS[key], linewidth=width)
    ax.axhline(1, color=COLORS["noise"], linewidth=0.6)
    over = int(np.argmax(curves[0] > 0.88 * top)) or len(steps) - 1
    summit = int(curves[2].argmax())
    middle = int(np.argmax(curves[1] < 0.6)) or len(steps) - 1
    falling = summit + int(np.argmax(curves[2][summit:] < 0.9 * curves[2][summit]))
    names = (
        (over, 0, "signal", r"feedback $\Gamma G^{p-1}$", (-8, 0), "right"),
        (middle, 1, "label", r"brake $w$", (-8, -8), "right"),
        (falling, 2, "same set", "step of a\ncompanion's score", (8, 8), "left"),
    )
    for at, which, key, words, offset, side in names:
        ax.annotate(words, (steps[at], curves[which][at]), offset, textcoords="offset points", ha=side,
                    va="center", color=COLORS[key])  # fmt: skip
    ax.set(xscale="log", xlim=(steps[0], steps[-1]), ylim=(0, top), xlabel="step of gradient descent")
    ax.set_ylabel(f"relative to step {steps[0]:,}")


def draw_pull(ax: Axes, curves: dict) -> None:
    """The pull of wrong votes over that of all others against the step: (steps, ratio) under each name."""
    for (name, (steps, ratio)), key in zip(curves.items(), ("same set", "signal", "other sets")):
        x = 1 + np.asarray(steps)
        shown = np.abs(ratio) <= 1.7
        ax.plot(x[shown], ratio[shown], color=COLORS[key], linewidth=2.4)
        middle = int(np.abs(np.log(x / 100)).argmin())
        side = 1 if ratio[middle] > 0 else -1
        ax.annotate(name, (x[middle], ratio[middle]), (0, 5 * side), textcoords="offset points", ha="center",
                    va="bottom" if side > 0 else "top", color=COLORS[key])  # fmt: skip
    ax.axhline(0, color=COLORS["noise"], linewidth=0.6)
    ax.axhline(-1, color=COLORS["noise"], linewidth=1, linestyle=":")
    ax.text(1, -1.06, "below, the lead shrinks", ha="left", va="top")
    ax.set(xscale="log", ylim=(-1.7, 1.5), xlabel="1 + step of gradient descent")
    ax.set_ylabel("pull of wrong votes,\nrelative to all others")


def draw_trap(ax: Axes, runs: dict, faces: tuple[float, float]) -> None:
    """Runs in the two ratios of the trap, and its two faces.

    Parameters
    ----------
    ax : Axes
    runs : dict
        Number of patches -> (b, gamma - beta), two arrays.
    faces : (float, float)
        The b, and the gamma - beta, that runs do not pass outwards.
    """
    border, floor = faces
    for (size, (b, height)), color in zip(runs.items(), tints("same set", len(runs))):
        ax.plot(b, height, color=color, label=f"$D = {size}$")
        ax.plot(b[0], height[0], "o", color=color, markersize=4)
    ax.set(xscale="log", xlabel="$b$", ylabel=r"$\gamma - \beta$")
    ax.invert_xaxis()
    end = ax.get_xlim()[1]
    ax.plot([border, border], [floor, ax.get_ylim()[1]], color=INK, linewidth=1.4)
    ax.plot([border, end], [floor, floor], color=INK, linewidth=1.4)
    ax.set_xlim(right=end)


def draw_overshoot(ax: Axes, runs: dict, diagonal: float) -> None:
    """gamma over time for several sizes, each with its largest value written at that height, before it rises.

    Parameters
    ----------
    ax : Axes
    runs : dict
        Number of patches -> (times, gamma, peak): two arrays, and the largest value between them too.
    diagonal : float
        beta, to which gamma comes back.
    """
    for (size, (times, gamma, peak)), color in zip(runs.items(), tints("same set", len(runs))):
        first = int(np.argmax(np.asarray(gamma) > peak / 4))
        top = int(np.argmax(gamma))
        ax.plot(times, gamma, color=color)
        ax.hlines(peak, times[first], times[top], color=color, linewidth=0.6)
        ax.annotate(
            f"{peak:.2f} at $D = {size}$", (times[first], peak), (-4, 0), textcoords="offset points",
            ha="right", va="center", color=INK,
        )  # fmt: skip
    ax.axhline(diagonal, color=INK, linestyle=":", linewidth=1.2)
    ax.set(xscale="log", xlabel="time, with scores at the rate $D^2$", ylabel=r"$\gamma$")
    ax.set_xlim(left=ax.get_xlim()[0] / 30)  # room for the names
    ax.margins(y=0.12)


def draw_border(ax: Axes, features, borders: dict, meetings: dict, marks) -> None:
    """Above a curve gamma passes every bound in the limit of many patches; below it, it comes to rest.

    In the shaded part below a thin curve it rests below the diagonal, and the score of strangers catches up.

    Parameters
    ----------
    ax : Axes
    features : (n,) array
        Mean numbers of random features.
    borders : dict
        Name -> (n,) array of diagonals, in the order of the legend.
    meetings : dict
        The same names -> (n,) array of the diagonals at which gamma rests as high as the diagonal.
    marks : sequence of (features, diagonal, bool)
        Runs; True where companions end ahead.
    """
    for (name, diagonals), style in zip(borders.items(), styles_of(borders).values()):
        ax.plot(features, diagonals, color=style["color"], linestyle=style["linestyle"], label=name)
        ax.plot(features, meetings[name], color=style["color"], linestyle=style["linestyle"], linewidth=0.8)
        ax.fill_between(features, 0, meetings[name], color=style["color"], alpha=0.25, linewidth=0)
    for x, y, ahead in marks:
        ax.plot(x, y, "o" if ahead else "X", color=INK, markersize=6, markerfacecolor=PAPER if ahead else INK)
    ax.set(xscale="log", xlabel=r"random features per input, $\bar n$", ylabel=r"diagonal $\beta$")
    ax.set_ylim(bottom=0)
    ax.legend()


def draw_sketch(ax: Axes) -> None:
    """The plan of the paper's proof on an axis of time: one lemma along all of it, three events in turn."""
    ax.set(xlim=(0, 3), ylim=(-1.15, 1.15))
    ax.axis("off")
    ax.add_patch(Rectangle((0.02, 0.4), 2.86, 0.6, facecolor=COLORS["same set"]))
    lemma = "Lemma 4.3 at every step:\n" r"$\gamma$ gains more than $|\rho|$  →  item 1, association"
    ax.text(1.45, 0.7, lemma, ha="center", va="center", color=PAPER)
    ax.annotate("", (3, 0), (0, 0), arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.6})
    ax.text(3, 0.2, "steps", ha="right", va="center")
    events = (
        ("Event I", r"$\alpha$ grows," + "\na linear model", "feature"),
        ("Event II", r"$\gamma$ grows," + "\n" + r"past every $|\rho|$", "same set"),
        ("Event III", r"$\alpha$ grows, risk → 0:" + "\nitem 2, accuracy", "feature"),
    )
    for place, (name, words, key) in enumerate(events):
        frame: dict = {"fill": False, "edgecolor": COLORS[key], "linewidth": 2}
        ax.add_patch(Rectangle((0.02 + 0.97 * place, -1.1), 0.92, 0.9, **frame))
        middle: dict = {"ha": "center", "va": "center", "color": COLORS[key]}
        ax.text(0.48 + 0.97 * place, -0.36, name, weight="bold", **middle)
        ax.text(0.48 + 0.97 * place, -0.77, words, **middle)
    for place, letter in ((0.965, r"$\mathcal{T}_0$"), (1.935, r"$\mathcal{T}_1$")):
        ax.plot([place, place], [-1.1, 0.12], color=INK, linewidth=1.2, linestyle=":")
        ax.text(place + 0.02, 0.2, letter, ha="center", va="center")


# ---- the realistic process, and beside the idealized one --------------------------------------------


def draw_figure_four(axes, partition: Partition, scores, steps, errors, cosines) -> None:
    """One row of Figure 4: the sets in a square image, the learned A sorted by them, test error, cos(v, w*).

    Sorted, because the scores of scattered sets look like noise in the order of the image. Of three axes
    none is left for the cosine.
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
    if len(axes) < 4:
        return
    draw_band(axes[3], steps, cosines, "feature")
    axes[3].set(ylim=(-0.6, 1.05), xlabel="step", title=r"$\cos(\mathbf{v}, \mathbf{w}^\star)$")


def draw_frames(axes, frames: dict, partition: Partition) -> None:
    """A at several steps, patches sorted by set, one panel each, on one scale."""
    for ax, (step, scores) in zip(axes, frames.items()):
        title = f"step {step}"
        image = draw_matrix(ax, scores, partition=partition, limit=1.5, title=title, colorbar=False)
        ax.set(xlabel="", ylabel="")
    axes[0].figure.colorbar(image, ax=list(axes), fraction=0.012, pad=0.01, label="score $A_{ij}$")


def draw_arrivals(ax: Axes, sizes: dict, level: float) -> None:
    """When runs first associate exactly, and when their error is first below ``level``: a row a size.

    A bar reaches from the first run to the last, with a dot at the median; gray is as long as the runs.

    Parameters
    ----------
    ax : Axes
    sizes : dict
        Name of a row -> (steps (records,), margins (runs, records), test errors (runs, records)). Every run
        arrives at both.
    level : float
    """
    for row, (steps, margins, errors) in enumerate(sizes.values()):
        ax.plot([0, steps[-1]], [row, row], color=_FROZEN, linewidth=1.2, zorder=1)
        arrivals = (
            (np.asarray(margins) > 0, "same set", "association is exact", "left"),
            (np.asarray(errors) < level, "label", f"error below {100 * level:g}%", "center"),
        )
        for reached, key, name, side in arrivals:
            first = np.asarray(steps)[reached.argmax(axis=1)]  # (runs,)
            middle = np.median(first)
            ax.plot([first.min(), first.max()], [row, row], color=COLORS[key], linewidth=7, alpha=0.4)
            ax.plot(middle, row, "o", color=COLORS[key], markersize=9)
            if row == 0:
                place: dict = {"textcoords": "offset points", "ha": side, "va": "bottom"}
                ax.annotate(name, (middle, row), (-5 if side == "left" else 0, 8), color=COLORS[key], **place)
    ax.set_yticks(range(len(sizes)), list(sizes))
    ax.set(xlabel="step of gradient descent", ylim=(len(sizes) - 0.6, -0.7), xlim=(0, None))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def draw_overshooting(ax: Axes, paths: dict) -> None:
    """What the model reads of v, step by step, at a few rates; the goal is 1.

    Parameters
    ----------
    paths : dict
        Rates, of which the inverse is a whole number -> (steps + 1,) values, the largest rate first.
    """
    for (rate, path), words, key in zip(
        paths.items(), ("grows", "to and fro", "settles"), ("label", "noise", "feature")
    ):
        ax.plot(np.arange(len(path)), path, label=f"1/{round(1 / rate)}: {words}", **style_of(key))
    last = max(map(len, paths.values())) - 1
    ax.hlines(1, 0, last, color=INK, linewidth=0.8)  # it ends where the names of the curves begin
    ax.set(xlabel="step", ylabel=r"$u = D\alpha$", xticks=range(last + 1))
    ax.set_title("Large rates overshoot")
    label_ends(ax)


def draw_creeping(ax: Axes, value, score) -> None:
    """What is read of v, ``value``, and a ``score`` at the same rate: (steps + 1,) each; the goal is 1."""
    steps = np.arange(len(value))
    for path, key, name in ((value, "feature", r"$u = D\alpha$"), (score, "same set", "score $a$")):
        ax.plot(steps, path, label=name, **style_of(key))
    ax.annotate(
        r"$u = D\alpha$", (steps[-1] / 2, 1), (0, 9), textcoords="offset points", color=COLORS["feature"]
    )
    ax.annotate(
        "score $a$", (steps[-1] / 2, score[len(score) // 2]), (4, -14), textcoords="offset points",
        color=COLORS["same set"],
    )  # fmt: skip
    ax.axhline(1, color=INK, linewidth=0.8)
    ax.set(xlabel="step", ylim=(0, 1.3), title="A small rate leaves the score behind")


def draw_paths(ax: Axes, steps, ideal, runs, quantity: str, title: str) -> None:
    """Thin lines: the runs (seeds, records). Black dashes: the ideal (records,)."""
    for run in runs:
        ax.plot(steps, run, color=COLORS[quantity], linewidth=0.9, alpha=0.75)
    ax.plot(steps, ideal, color=INK, linestyle="--", linewidth=1.6)
    ax.set(xlabel="step", title=title)


def draw_power_law(ax: Axes, x, values, law, quantity: str, label: str) -> None:
    """Every seed a mark, and the fitted line; ``values`` is (len(x), seeds), ``law`` a PowerLaw."""
    x = np.asarray(x, dtype=np.float64)
    values = np.asarray(values, dtype=np.float64)
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


def draw_valleys(ax: Axes, margins, drifts: dict, crossings: dict) -> None:
    """The drift of the margin along a valley's floor, one curve for each q, and where the valleys part.

    Parameters
    ----------
    ax : Axes
    margins : (n,) array
        gamma - rho; runs start at zero.
    drifts : dict
        q -> (n,) array.
    crossings : dict
        q -> the margin at which the drift turns positive, or nan. A curve is blue where companions win from
        the start, else crimson.
    """
    reach = 0.42
    shown = np.abs(margins) <= reach
    for (q, drift), dash in zip(drifts.items(), ("-", "--", ":")):
        color = COLORS["same set" if crossings[q] < 0 else "label"]
        ax.plot(margins[shown], 1e3 * drift[shown], color=color, linestyle=dash, label=f"$q = {q:.3g}$")
        ax.plot(crossings[q], 0, "o", color=color, markersize=7)
    ax.axhline(0, color=INK, linewidth=0.9)
    ax.axvline(0, color=COLORS["noise"], linestyle=":", linewidth=1.4)
    ax.set(xlabel=r"margin $\gamma - \rho$", ylabel=r"drift $\times 10^3$", xlim=(-reach, reach))
    ax.annotate("start", (0, 1), (-4, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                ha="right", va="top", color=COLORS["noise"])  # fmt: skip
    ax.text(0.05, 0.75, "companions gain", transform=ax.transAxes)
    ax.text(0.97, 0.1, "strangers gain", ha="right", transform=ax.transAxes)
    label_ends(ax)


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
    settings = styles_of([r"one rate, $\kappa = 1$", r"$\kappa = D^2$"])
    for values, (label, style) in zip((single, common), settings.items()):
        ax.plot(num_patches, values, label=label, **style)
    ax.set(xscale="log", yscale="log", xlabel="patches $D$", ylabel="steps")
    label_ticks(ax.xaxis, num_patches)


def label_drift(fig: Figure, image, axes) -> None:
    """The color bar of :func:`draw_drift_map`, in powers of ten of either sign."""
    bar = fig.colorbar(image, ax=axes, label=r"drift of $\gamma - \rho$", ticks=[-1e-3, -1e-4, 0, 1e-4, 1e-3])
    bar.ax.set_yticklabels(["\N{MINUS SIGN}10⁻³", "\N{MINUS SIGN}10⁻⁴", "0", "10⁻⁴", "10⁻³"])
