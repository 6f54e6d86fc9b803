"""What moves on the page of what can be moved: a small drawing for the essay and for each explorable.

A drawing is a dict of frames in a square of side 100, y downwards: ``points`` (frames, n, 2) with ``links``
(pairs of points) and ``colors``, ``cells`` (frames, rows x columns) of values in [0, 1], and ``lines`` of a
color and points that appear from left to right. All of it is computed by the engines of the chapters.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from patch_association.exact.risk import PopulationRisk
from patch_association.images.locality import similarity
from patch_association.shallow import PatternData, attention_map, initial_weights, train
from patch_association.structure import Partition
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.events import stable_rate
from patch_lab.dynamics.slow_scores import flow_line
from patch_lab.dynamics.small_diagonal import small_diagonal_drift
from patch_lab.dynamics.valley import best_alpha
from patch_lab.figures import essay
from patch_lab.images.puzzle import cosines

_SAME, _OTHER = "same", "other"


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
    frames, says = [], []
    for q in chances:
        gains = np.array([small_diagonal_drift(D, C, q, alpha, linear=nu) for alpha in alphas])  # (30, 2)
        best = best_alpha(PopulationRisk(D, C, q, linear=nu), 0.0)
        gains /= alphas[:, None] ** 3
        x = np.log10(alphas)
        curves = [np.stack([x, gain], axis=1).round(3).tolist() for gain in gains.T]
        frames.append([*curves, [[round(np.log10(best), 3), end] for end in (2.0, -1.2)]])
        inside, outside = small_diagonal_drift(D, C, q, best, linear=nu)
        says.append(f"q = {q:.2f}: at the best α {'companions' if inside > outside else 'strangers'} win")
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


def _fit(points) -> np.ndarray:
    """Points (..., n, 2) in the square, with a margin."""
    points = np.asarray(points, dtype=float)
    low, high = points.min(axis=(-3, -2), keepdims=True), points.max(axis=(-3, -2), keepdims=True)
    return 6 + 88 * (points - low) / (high - low)


def _heap() -> dict:
    """Where the strings of ViT-Tiny lead a heap of pieces: in the plane, and on the sheet."""
    found = essay.heap()["vit"]
    shuffled = np.random.default_rng(1).permutation(196)
    start = np.stack(np.divmod(shuffled, 14), axis=1)
    # each by itself: the plane has a scale of its own
    frames = [_fit([one])[0] for one in (start, found["plane"], found["places"])]
    return {"points": np.round(frames, 1).tolist(), "links": found["links"], "radius": 1.6}


def _counting() -> dict:
    """The errors of the plain sum and of whoever listens to the sets, as patches become many."""
    found = essay.counting()
    ours, sums = np.array(found["listening"]), np.array(found["curves"]["4"])
    across = sums[:, 0].max()
    return {
        "lines": [
            [_SAME, _in_square(ours[:, 0] / across, ours[:, 1] / 0.5)],
            [_OTHER, _in_square(sums[:, 0] / across, sums[:, 1] / 0.5)],
        ]
    }


def _in_square(x, y) -> list:
    return np.round(np.stack([6 + 88 * np.asarray(x), 94 - 88 * np.asarray(y)], axis=1), 1).tolist()


def _sets() -> dict:
    """Nine sets without any shape, one after the other."""
    labels = Partition.random(36, 4, seed=1).labels
    return {"cells": [(labels == k).astype(float).tolist() for k in range(9)], "columns": 6}


def _descent() -> dict:
    """The scores of companions and of strangers, from the paper's start."""
    risk = PopulationRisk(16, 4, 0.3)
    rate = stable_rate(risk, 1.0)
    run = descend_population(risk, Constant(rate, 256 * rate), steps=80, alpha=0.05, progress=False)
    scores = np.stack([run.gamma, run.rho])  # (2, 81)
    height = (scores - scores.min()) / np.ptp(scores)
    across = np.linspace(0, 1, scores.shape[1])
    return {"lines": [[color, _in_square(across, y)] for color, y in zip((_SAME, _OTHER), height)]}


def _valleys() -> dict:
    """Six starts in the plane of the two scores, and where the reduced flow takes them."""
    risk = PopulationRisk(12, 4, 0.6)
    starts = [(-2.5, -1.0), (-2.0, 1.5), (-0.5, 2.0), (0.0, 0.0), (1.0, 2.0), (1.5, 0.5)]
    times = np.concatenate([[0.0], np.geomspace(3, 3000, 24)])
    paths = [flow_line(risk, 1.0, times, gamma=gamma, rho=rho) for gamma, rho in starts]
    plane = np.stack([np.stack([line.gamma, -line.rho], axis=1) for line in paths], axis=1)  # (25, 6, 2)
    ends = [_SAME if line.gamma[-1] > line.rho[-1] else _OTHER for line in paths]
    return {"points": _fit(np.clip(plane, -4, 4)).round(1).tolist(), "colors": ends, "radius": 4}


def _shuffle() -> dict:
    """The pieces of a picture, in disorder and each at its place."""
    order = np.random.default_rng(2).permutation(49)
    places = np.stack(np.divmod(np.arange(49), 7), axis=1)[:, ::-1]
    shades = [_SAME if (row + column) % 2 else _OTHER for column, row in places]
    return {"points": _fit([places[order], places]).round(1).tolist(), "colors": shades, "radius": 5}


def _look() -> dict:
    """What one token pays the others while the network of the second theory learns."""
    design = PatternData(20, 0.4, 0.1)
    start, tokens = initial_weights(design, [0], num_neurons=50), design.balanced(8, seed=0)
    maps = []
    for steps in (0, 40, 80, 120, 160, 240):
        weights = train(tokens, start, steps=steps, rate=0.2).weights
        maps.append(attention_map(weights, tokens.X, tokens.share)[0, 0, :, 0])  # of one query
    frames = np.stack(maps)  # (6, 20)
    return {"cells": (frames / frames.max()).round(3).tolist(), "columns": 5}


def _epochs() -> dict:
    """How alike the encoding of one place is to all others, after every second epoch."""
    encodings = essay.networks()["vanilla"]["encodings"][::2]
    frames = [np.clip(cosines(similarity(P))[27], 0, 1).round(2).tolist() for P in encodings]
    return {"cells": frames, "columns": 8}
