"""Attention from sums of rows and columns, against plain enumeration that uses nothing of the library."""

import math
import random

import numpy as np
import pytest


def matrices(draw, groups):
    """A symmetric matrix over rows that favors groups: any, or a Gram matrix."""
    n = len(groups)
    if draw.random() < 0.5:
        M = [[draw.gauss(0, 1) for _ in range(n)] for _ in range(n)]
        M = [[M[i][j] + M[j][i] for j in range(n)] for i in range(n)]
    else:
        X = [[draw.gauss(0, 1) for _ in range(3)] for _ in range(n)]
        M = [[sum(a * b for a, b in zip(x, y)) for y in X] for x in X]
    favor = draw.uniform(0, 6)
    return [[M[i][j] + favor * (groups[i] == groups[j]) for j in range(n)] for i in range(n)]


def gap_and_spread(M, groups, i):
    inside = [M[i][j] for j in range(len(M)) if groups[j] == groups[i]]
    outside = [M[i][j] for j in range(len(M)) if groups[j] != groups[i]]
    return min(inside) - max(outside, default=-math.inf), max(inside) - min(inside)


def stated(A, rows, B, columns):
    """What the proposition on attention from sums asks for."""
    of_rows = [gap_and_spread(A, rows, r) for r in range(len(A))]
    of_columns = [gap_and_spread(B, columns, c) for c in range(len(B))]
    return all(g > t and h > s for g, s in of_rows for h, t in of_columns)


def associates(A, rows, B, columns):
    """Definition 2.2, patch by patch: every companion, the patch itself among them, above every stranger."""
    places = [(r, c) for r in range(len(A)) for c in range(len(B))]
    for r, c in places:
        score = {(x, y): A[r][x] + B[c][y] for x, y in places}
        own = {(x, y) for x, y in places if rows[x] == rows[r] and columns[y] == columns[c]}
        strangers = [score[p] for p in places if p not in own]
        if strangers and min(score[p] for p in own) <= max(strangers):
            return False
    return True


def test_gap_and_spread_decide_association():
    """1,500 random sums on grids of up to 6 x 9 patches, with 1 to 3 groups a direction."""
    draw, agreeing, found = random.Random(0), 0, 0
    for _ in range(1500):
        rows, columns = ([k for k in range(draw.randint(1, 3)) for _ in range(size)] for size in (2, 3))
        draw.shuffle(rows)
        A, B = matrices(draw, rows), matrices(draw, columns)
        says, does = stated(A, rows, B, columns), associates(A, rows, B, columns)
        agreeing, found = agreeing + (says == does), found + does
    assert agreeing == 1500 and 150 < found < 1200


@pytest.mark.parametrize("grid", [3, 4, 7])
def test_symmetric_scores_prefer_a_side_by_little(grid):
    """Part 2 of the proposition on shifts, and that its bound is attained."""
    rng = np.random.default_rng(grid)
    for _ in range(200):
        s = rng.standard_normal(grid - 1)  # the score of patches i and i + 1, either way
        margin = min(s[i - 1] - s[i] for i in range(1, grid - 1))
        assert margin <= np.ptp(s) / (grid - 2) + 1e-12
    s = -np.arange(grid - 1.0)
    assert min(s[i - 1] - s[i] for i in range(1, grid - 1)) == np.ptp(s) / (grid - 2)
