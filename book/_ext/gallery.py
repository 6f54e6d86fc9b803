"""What moves on the page of what can be moved: a small drawing for the essay and for each explorable.

A drawing stands in a square of side 100, y downwards. Its ``marks`` are pairs of an SVG tag and attributes
(a ``text`` holds its words); its ``moves`` are triples of a mark's number, an attribute and that attribute's
value in each frame: a number, or a list of numbers, which are ends of segments for ``d``. ``still`` is the
frame that stands where nothing moves, by default the last. All of it comes from the engines of the chapters.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import essay
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import root_scalar

from patch_association.exact.integer_sums import trinomial
from patch_association.exact.risk import PopulationRisk
from patch_association.images.locality import similarity
from patch_association.shallow import PatternData, Sgd, attention_map, initial_weights, population, train
from patch_association.structure import Partition
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.events import stable_rate
from patch_lab.dynamics.slow_scores import flow_line
from patch_lab.dynamics.small_diagonal import small_diagonal_drift
from patch_lab.dynamics.valley import best_alpha
from patch_lab.images.puzzle import cosines

_SAME = "same"
_OTHER = "other"


@cache
def drawings() -> dict[str, dict]:
    """The drawing of each page, by the name of its explorable; the essay's is called ``next_to``."""
    return {
        "next_to": _heap(),
        "counting": _counting(),
        "paint": _sets(),
        "descent": _descent(),
        "valleys": _valleys(),
        "shuffle": _shuffle(),
        "look": _look(),
        "epochs": _epochs(),
    }


@cache
def moving() -> dict[str, dict]:
    """Figures of chapters that move with one number, by name.

    ``curves`` (frames, curves, n, 2) in ``range`` (x from, x to, y from, y to), with ``colors``, ``names``
    where they begin, ``ticks`` and ``labels`` of both axes, what a frame ``says``, what ``moves`` it.
    """
    return {"first_move": _first_move()}


def _first_move() -> dict:
    """How fast companions and strangers gain at the first move, against alpha: a frame for each q."""
    D, C, nu = 16, 4, 1e-4
    alphas = np.geomspace(0.01, 0.8, 30)
    chances = np.linspace(0.05, 0.95, 19)

    def lead(q: float) -> float:
        """By how much companions gain more than strangers at the best alpha."""
        inside, outside = small_diagonal_drift(
            D, C, q, best_alpha(PopulationRisk(D, C, q, linear=nu), 0.0), linear=nu
        )
        return inside - outside

    ahead = [lead(q) > 0 for q in chances]
    turns = [pair for pair, change in zip(pairwise(chances), np.diff(ahead)) if change]
    low, high = (root_scalar(lead, bracket=pair, xtol=1e-6).root for pair in turns)
    between = f"for every q from {low:.3f} to {high:.3f}"
    frames = []
    says = []
    for q in chances:
        gains = np.array([small_diagonal_drift(D, C, q, alpha, linear=nu) for alpha in alphas])  # (30, 2)
        best = best_alpha(PopulationRisk(D, C, q, linear=nu), 0.0)
        gains /= alphas[:, None] ** 3
        x = np.log10(alphas)
        curves = [np.stack([x, gain], axis=1).round(3).tolist() for gain in gains.T]
        frames.append([*curves, [[round(np.log10(best), 3), end] for end in (2.0, -1.2)]])
        who = (
            f"companions win, as they do {between}"
            if lead(q) > 0
            else f"strangers win; companions do {between}"
        )
        says.append(f"At q = {q:.2f} and the best α, {who}.")
    return {
        "curves": frames, "colors": [_SAME, _OTHER, "feature"],
        "names": ["γ, companions", "ρ, strangers", "best α"],
        "range": [-2.0, -0.1, -1.2, 2.2], "says": says,
        "ticks": [[[-2, "0.01"], [-1.3, "0.05"], [-1, "0.1"], [-0.7, "0.2"], [-0.3, "0.5"]],
                  [[-1, "−1"], [0, "0"], [1, "1"], [2, "2"]]],
        "labels": ["α", "velocity / (ε α³)"], "moves": "q",
        "alt": "Velocities of companions and of strangers against alpha. As q grows, the line of the best "
        "alpha moves to the left and the curves cross ever further before it.",
    }  # fmt: skip


def _round(values) -> list:
    return np.round(values, 1).tolist()


def _fit(points) -> np.ndarray:
    """Points (n, 2) in the square, with a margin."""
    points = np.asarray(points, dtype=float)
    low = points.min(axis=0)
    high = points.max(axis=0)
    return 6 + 88 * (points - low) / (high - low)


def _word(x: float, y: float, text: str, style: str = "ink", anchor: str = "middle") -> list:
    return ["text", {"x": x, "y": y, "text-anchor": anchor, "class": f"pa-{style}", "text": text}]


def _strings(places, links) -> list:
    """The ends of the segments between linked places (n, 2): a flat list of numbers."""
    return _round(np.asarray(places)[np.asarray(links)].ravel())


def _placed(first: int, frames, names=("x", "y"), shift: float = 0.0) -> list:
    """The moves of marks ``first``, ``first + 1``, ... whose places are frames (F, n, 2)."""
    across = np.round(np.asarray(frames) - shift, 1).transpose(1, 2, 0)  # (n, 2, F)
    return [[first + k, name, at.tolist()] for k, both in enumerate(across) for name, at in zip(names, both)]


def _run(marks: list, moves: list, x, y, style: str, radius: float) -> None:
    """A dot that runs along a line and draws it: two marks more, and their moves."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    line = {"class": f"pa-{style}", "points": points, "pathLength": 1, "stroke-dasharray": 1}
    marks += [["polyline", line], ["circle", {"class": f"pa-{style}", "r": radius}]]
    moves += [[len(marks) - 1, "cx", _round(x)], [len(marks) - 1, "cy", _round(y)]]
    moves += [[len(marks) - 2, "stroke-dashoffset", np.linspace(1, 0, x.size).round(2).tolist()]]


def _heap() -> dict:
    """Where the strings of ViT-Tiny lead a heap of pieces: in the plane, and on the sheet."""
    puzzle = essay.heap()["vit"]
    shuffled = np.random.default_rng(1).permutation(196)
    start = np.stack(np.divmod(shuffled, 14), axis=1)
    # each by itself: the plane has a scale of its own; x goes along the columns
    frames = np.stack([_fit(places)[:, ::-1] for places in (start, puzzle["plane"], puzzle["places"])])
    strings = ["path", {"class": "pa-same", "stroke-width": 1.3}]
    dots = [["circle", {"class": "pa-ink", "r": 1.5}] for _ in range(196)]
    moves = [[0, "d", [_strings(places, puzzle["links"]) for places in frames]]]
    return {"marks": [strings, *dots], "moves": moves + _placed(1, frames, ("cx", "cy"))}


def _counting() -> dict:
    """The law of a plain sum as patches are added: the part that is wrong grows."""
    C = essay.COUNTING["C"]
    q = essay.COUNTING["q"]
    sizes = (24, 36, 52, 72, 100, 144)
    sums = np.arange(-16, 23)
    top = 0.165
    floor = 88.0
    laws = [trinomial(D - C, q).shift(C) for D in sizes]
    high = np.array([[law.at(int(n)) for n in sums] for law in laws]) / top * 74  # (frames, sums)
    x = 4 + 92 * np.arange(sums.size) / sums.size
    first = "M" + "L".join(f"{a + 1:.1f} {floor - b:.1f}" for a, b in zip(x, high[0]))
    marks = [
        ["path", {"class": "pa-axis", "d": f"M4 {floor}H96"}],
        ["path", {"class": "pa-ghost", "d": first}],
        _word(4, 10, "wrong", "label", "start"),
        _word(96, 10, "right", "noise", "end"),
        _word(float(x[sums == 0][0]) + 1, 98, "0"),
    ]
    moves = []
    for n, at, tall in zip(sums, x, high.T):
        if tall.max() > 0.05:
            moves += [[len(marks), "y", _round(floor - tall)], [len(marks), "height", _round(tall)]]
            if n < 0:
                style = "pa-label"
            elif n == 0:
                style = "pa-label pa-half"
            else:
                style = "pa-noise pa-half"
            marks.append(["rect", {"class": style, "x": round(float(at), 1), "width": 2}])
    return {"marks": marks, "moves": moves}


def _sets() -> dict:
    """Nine sets of four in neat blocks, then without any shape; strings join companions."""
    blocks = Partition.blocks(6, 6, 2, 2).labels
    scattered = Partition.random(36, 4, seed=1).labels
    place = np.stack(np.divmod(np.arange(36), 6), axis=1)[:, ::-1]

    def order(labels):
        return np.argsort(labels, kind="stable")  # the patches, set by set

    frames = 50 + 15.3 * (np.stack([place[order(blocks)], place[order(scattered)]]) - 2.5)
    tiles = [["rect", {"class": f"pa-set-{'ABCDEFGHI'[k // 4]}", "width": 14, "height": 14, "rx": 2.5}]
             for k in range(36)]  # fmt: skip
    links = [(a, b) for a in range(36) for b in range(a) if a // 4 == b // 4]
    strings = ["path", {"class": "pa-strings"}]
    moves = [*_placed(0, frames, shift=7.0), [36, "d", [_strings(frame, links) for frame in frames]]]
    return {"marks": [*tiles, strings], "moves": moves}


def _descent() -> dict:
    """The scores of companions and of strangers from the paper's start, and the matrix that they fill."""
    risk = PopulationRisk(16, 4, 0.3)
    rate = stable_rate(risk, 1.0)
    run = descend_population(risk, Constant(rate, 256 * rate), steps=80, alpha=0.05, progress=False)
    scores = np.stack([run.gamma, run.rho])[:, ::4]  # (2, 21)
    unit = 62 / np.ptp(scores)
    height = 14 + unit * (scores.max() - scores)
    x = np.linspace(8, 92, scores.shape[1])
    zero = round(float(14 + unit * scores.max()), 1)
    strong = np.round(0.9 * np.abs(scores) / np.abs(scores).max(), 2).tolist()
    marks = [["path", {"class": "pa-axis", "d": f"M8 6V94M8 {zero}H94"}]]
    marks += [["rect", {"class": "pa-other", "x": 16, "y": 8, "width": 32, "height": 32}]]
    marks += [
        ["rect", {"class": "pa-same", "x": 16 + 8 * k, "y": 8 + 8 * k, "width": 8, "height": 8}]
        for k in range(4)
    ]
    moves = [[1, "fill-opacity", strong[1]], *([2 + k, "fill-opacity", strong[0]] for k in range(4))]
    for style, y in zip((_SAME, _OTHER), height):
        _run(marks, moves, x, y, style, 3)
    words = [_word(92, float(height[0, -1]) - 5, "companions", _SAME, "end")]
    words += [_word(92, float(height[1, -1]) + 10, "strangers", _OTHER, "end")]
    return {"marks": marks + words, "moves": moves}


def _valleys() -> dict:
    """The ground of least risk in the plane of the two scores, and how six balls roll on it."""
    risk = PopulationRisk(12, 4, 0.6)
    reach = 3.0
    scores = np.linspace(-reach, reach, 25)
    least = np.array(
        [[np.log(risk.loss(best_alpha(risk, 1.0, g, r), 1.0, g, r)) for g in scores] for r in scores]
    )
    fig, ax = plt.subplots()
    levels = least.min() + np.ptp(least) * np.linspace(0, 0.95, 10)[1:]

    def inside(points):
        return 50 + np.array([50, -50]) / reach * points

    marks = []
    for level in levels[::-1]:  # each on those above it: the lower the darker
        paths = ax.contourf(scores, scores, least, [least.min() - 1, level]).get_paths()
        rings = [inside(ring) for path in paths for ring in path.to_polygons()]
        d = "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in ring) + "Z" for ring in rings)
        marks.append(["path", {"class": "pa-ground", "style": "fill: url(#pa-ground)", "d": d}])
    plt.close(fig)
    marks.append(["path", {"class": "pa-ghost", "d": "M0 100L100 0"}])
    times = np.concatenate([[0.0], np.geomspace(3, 3000, 40)])
    moves = []
    for gamma, rho in [(-2.6, -2.0), (-2.4, 0.3), (-0.6, 2.2), (0.0, 0.0), (1.6, 2.4), (0.2, -1.4)]:
        line = flow_line(risk, 1.0, times, gamma=gamma, rho=rho)
        at = inside(np.stack([line.gamma, line.rho], axis=1))
        leaves = np.flatnonzero(np.abs(at - 50).max(axis=1) > 45)
        at = at[: leaves[0] if leaves.size else None]
        run = np.append(0, np.cumsum(np.hypot(*np.diff(at, axis=0).T)))
        even = np.linspace(0, run[-1], 16)
        x, y = (np.interp(even, run, side) for side in at.T)  # at an even pace
        _run(marks, moves, x, y, "signal", 3.2)
    return {"marks": marks, "moves": moves}


def _shuffle() -> dict:
    """The pieces of the photograph: in disorder, half put together, and each at its place."""
    places = np.stack(np.divmod(np.arange(196), 14), axis=1)[:, ::-1]  # x, y
    random = np.random.default_rng(2)
    half = np.append(np.arange(98), 98 + random.permutation(98))
    frames = 1 + 7 * np.stack([places[random.permutation(196)], places[half], places, places])
    pieces = [["svg", {"width": 6.8, "height": 6.8, "viewBox": f"{x} {y} 1 1"}] for x, y in places.tolist()]
    return {"marks": pieces, "moves": _placed(0, frames), "still": 1}


def _look() -> dict:
    """Whom an average token looks at while the network of the second theory learns."""
    design = PatternData(20, 0.4, 0.1, noise=0.0)
    law = population(design)
    start = initial_weights(design, [1], num_neurons=100)
    maps = []
    for steps in (0, 50, 150, 400, 1000):
        weights = train(law, start, steps=steps, rate=2.0, how=Sgd(loss="logistic")).weights
        share = law.share[0]
        paid = attention_map(weights, law.X, law.share)[0, 0]  # (to a pattern, by a pattern)
        maps.append(((paid @ share) / (20 * share)).numpy())  # to one token of a pattern
    counts = np.round(20 * law.share[0].numpy()).astype(int)
    kinds = ("signal", "other", "noise", "noise", "noise")
    token = [k for k, n in enumerate(counts) for _ in range(n)]
    rest = [k for k in token if k > 1]
    frames = np.stack(maps)
    marks = []
    moves = []
    for k, kind_of_token in enumerate([*rest[:5], *token[: counts[:2].sum()], *rest[5:]]):
        x = 5.2 + 4.72 * k
        moves.append([len(marks), "stroke-width", np.round(28 * frames[:, kind_of_token], 2).tolist()])
        ray = f"M50 14Q{(50 + x) / 2:.1f} 60 {x:.1f} 84"
        marks.append(["path", {"class": f"pa-{kinds[kind_of_token]} pa-ray", "d": ray}])
        box = {"x": round(x - 1.9, 1), "y": 85, "width": 3.8, "height": 9}
        marks.append(["rect", {"class": f"pa-{kinds[kind_of_token]}", **box}])
    marks.append(["circle", {"class": "pa-ink", "cx": 50, "cy": 12, "r": 7}])
    return {"marks": marks, "moves": moves}


def _epochs() -> dict:
    """How alike the encoding of one place is to all others, before training and after three epochs."""
    epochs = essay.networks()["vanilla"]["encodings"]
    place = 27
    shown = (0, 1, 4, len(epochs) - 1)
    marks = []
    moves = []
    for k, epoch in enumerate(shown):
        left = 4 + 49 * (k % 2)
        top = 3 + 49 * (k // 2)
        marks.append(_word(left, top + 6, f"epoch {epoch}", "ink", "start"))
        row = cosines(similarity(epochs[epoch]))[place].clip(0, 1)
        for j, value in enumerate(row):
            style = "label" if j == place else _SAME
            box = {"x": left + 4.8 * (j % 8), "y": top + 8.4 + 4.8 * (j // 8), "width": 4.5, "height": 4.5}
            # one board after the other
            rises = [0.0] * (k + 1) + [round(float(value), 2)] * (len(shown) - k)
            moves.append([len(marks), "fill-opacity", rises])
            marks.append(["rect", {"class": f"pa-{style}", **{key: round(v, 1) for key, v in box.items()}}])
    return {"marks": marks, "moves": moves}
