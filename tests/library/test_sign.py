"""The first move: against enumeration of every input, at sizes where that is possible."""

import itertools
import math

import numpy as np
import pytest

from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.first_move import FirstMove, lower_edge, upper_edge, window
from patch_lab.dynamics.small_diagonal import small_diagonal_drift
from patch_lab.dynamics.valley import best_alpha


def enumerated(D, C, q, p, u):
    """(E[w M^p], E[w M^(p-2) (1-s_a)(1-s_b)]) over every draw of the D - C random patches."""
    f = delta = 0.0
    for signs in itertools.product((-1, 0, 1), repeat=D - C):
        chance = math.prod(1 - q if s == 0 else q / 2 for s in signs)
        M = C + sum(signs)
        w = 1 / (1 + math.exp(min(700, u * M**p)))
        f += chance * w * M**p
        delta += chance * w * M ** (p - 2) * (1 - signs[0]) * (1 - signs[1])
    return f, delta


@pytest.mark.parametrize(
    ("D", "C", "q", "p"), [(6, 2, 0.3, 3), (9, 3, 0.7, 3), (8, 2, 0.05, 5), (10, 2, 1.0, 3)]
)
def test_against_every_input(D, C, q, p):
    move = FirstMove(D, C, q, p)
    scale = enumerated(D, C, q, p, 0.0)[0]
    assert abs(enumerated(D, C, q, p, move.strength)[0]) < 1e-10 * scale
    for u in (0.0, 0.01, move.strength, 3.0):
        assert move.delta(u) == pytest.approx(enumerated(D, C, q, p, u)[1], rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("D", "C", "q"), [(12, 4, 0.3), (16, 4, 0.8), (15, 3, 0.5)])
def test_it_is_the_drift_of_the_exact_risk(D, C, q):
    move = FirstMove(D, C, q)
    assert move.alpha == pytest.approx(best_alpha(PopulationRisk(D, C, q, linear=0.0), 0.0), rel=1e-9)
    for alpha in (0.02, move.alpha):
        inside, outside = small_diagonal_drift(D, C, q, alpha, linear=0.0)
        expected = 6 * alpha**3 * move.delta(D * alpha**3) * C / D
        assert inside - outside == pytest.approx(expected, rel=1e-8)


def test_one_sign_decides():
    for D, C, q, p in [(12, 4, 0.1, 3), (16, 4, 0.8, 3), (16, 4, 0.3, 5), (12, 2, 0.6, 3)]:
        move = FirstMove(D, C, q, p)
        deltas = [move.delta(u) for u in np.geomspace(1e-4, 30, 60)]
        assert (np.diff(deltas) < 0).all()
        assert (move.turn > move.alpha) == (move.margin > 0)
        if math.isfinite(move.turn):
            assert abs(move.delta(D * move.turn**p)) < 1e-9 * abs(move.delta(0.0))


def test_the_edges():
    assert upper_edge(4) == pytest.approx(0.8) and upper_edge(2, 5) == pytest.approx(4 / 9)
    assert lower_edge(4) == pytest.approx(8.0)
    low, high = window(16, 4)
    assert FirstMove(16, 4, low * 0.99).margin < 0 < FirstMove(16, 4, low * 1.01).margin
    assert FirstMove(16, 4, high * 0.99).margin > 0 > FirstMove(16, 4, high * 1.01).margin
    # Both edges come to their limits: the lower one like 1 / n, the upper one slowly.
    lows, highs = zip(*(window(4 * L, 4, points=60) for L in (16, 32, 64)))
    off = [low * (4 * L - 4) ** 2 / lower_edge(4) - 1 for low, L in zip(lows, (16, 32, 64))]
    assert off[0] > off[1] > off[2] > 0 and off[2] < 0.01
    assert highs[0] < highs[1] < highs[2] < upper_edge(4)
    assert window(6, 2) == pytest.approx((math.nan, math.nan), nan_ok=True)
