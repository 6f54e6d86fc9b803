"""The first move: against enumeration of every input, at sizes where that is possible."""

import math

import numpy as np
import pytest
import torch
from enumeration import positive_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from torch.nn.functional import logsigmoid

from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_lab.dynamics.first_move import FirstMove, lower_edge, upper_edge, window
from patch_lab.dynamics.optimality import cubic_form
from patch_lab.dynamics.score_rates import score_rates
from patch_lab.dynamics.small_diagonal import first_lead, small_diagonal_drift
from patch_lab.dynamics.valley import best_alpha
from patch_lab.dynamics.wrong_votes import lead_by_votes, louder_than_wrong


def enumerated(D, C, q, p, u):
    """(E[w M^p], E[w M^(p-2) (1-s_a)(1-s_b)]) over every draw of the D - C random patches."""
    s, chance = positive_inputs(D, C, q, anywhere=False)
    M = s.sum(axis=1)
    w = chance * expit(-u * M**p)
    return w @ M**p, w @ (M ** (p - 2) * (1 - s[:, -1]) * (1 - s[:, -2]))


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


# --- The first move of the scores against the exact gradient at a tiny diagonal


@settings(max_examples=60)
@given(
    st.sampled_from([(2, 1), (4, 2), (6, 2), (6, 3), (4, 4), (12, 4), (16, 4), (24, 6)]),
    st.floats(0, 1),
    st.floats(-0.4, 0.4),
    st.sampled_from([3, 5]),
    st.floats(0, 1),
)
def test_it_is_the_limit_of_the_exact_gradient(size, q, alpha, degree, linear):
    (D, C), beta = size, 1e-4
    ours = small_diagonal_drift(D, C, q, alpha, degree, linear)
    risk = PopulationRisk(D, C, q, degree=degree, linear=linear)
    counts = np.array([D * (C - 1), D * (D - C)])
    # The mean of both sides of beta = 0 leaves an error of second order.
    sides = [-risk.gradient(alpha, b, 0.0, 0.0)[1:] / math.expm1(b) for b in (beta, -beta)]
    for mine, exact, count in zip(ours, np.mean(sides, axis=0) / np.maximum(1, counts), counts):
        if count == 0:
            assert math.isnan(mine)
        else:
            assert mine == pytest.approx(exact, rel=1e-5, abs=1e-8)


@settings(max_examples=60)
@given(
    st.sampled_from([(4, 2), (6, 2), (6, 3), (12, 4), (16, 4), (24, 6)]),
    st.floats(0, 1),
    st.floats(0.01, 0.4),
    st.floats(0, 5),
    st.sampled_from([3, 5]),
    st.floats(0, 1),
)
def test_the_first_lead_at_every_diagonal_is_that_of_the_exact_gradient(size, q, alpha, beta, degree, linear):
    D, C = size
    by_vote, by_features = first_lead(D, C, q, alpha, beta, degree, linear)
    slopes = PopulationRisk(D, C, q, degree=degree, linear=linear).gradient(alpha, beta, 0.0, 0.0)
    inside, outside = -slopes[1:] / [D * (C - 1), D * (D - C)]
    assert by_vote + by_features == pytest.approx(inside - outside, rel=1e-8, abs=1e-12)
    assert by_features >= 0


def test_signs():
    # While alpha is small, w is 1/2 on both sides of M = 0 and companions come together.
    for D, C, q in [(16, 4, 0.8), (24, 4, 0.2), (9, 3, 1.0), (6, 2, 0.5)]:
        inside, outside = small_diagonal_drift(D, C, q, 1e-4)
        # 6 alpha^3 E[M (1 - s_a)(1 - s_b)] / (2 L), and that mean is C - 2 q.
        assert inside - outside == pytest.approx(3e-12 * (C - 2 * q) / (D / C), rel=1e-4)
    # At its end, where only the misclassified inputs still pull, they can be pushed apart.
    inside, outside = small_diagonal_drift(16, 4, 0.8, 0.3)
    assert inside < 0


# --- The cubic form against enumeration of every input, and its search against what is known


@pytest.mark.parametrize(("D", "C", "q"), [(6, 2, 0.3), (8, 2, 0.6), (9, 3, 0.4)])
def test_against_every_input_of_optimality(D, C, q):
    form = cubic_form(D, C, q)
    rows = np.random.default_rng(0).dirichlet(np.ones(D), 6) ** 2
    rows /= rows.sum(1, keepdims=True)
    s, chance = positive_inputs(D, C, q)
    cubes = (s.reshape(len(s), -1, C).sum(axis=2) ** 3).sum(axis=1)
    w = chance * expit(-form.strength * cubes)
    assert abs(w @ cubes) < 1e-9
    assert form(rows) * w.sum() == pytest.approx(w @ (s @ rows.T) ** 3, rel=1e-8, abs=1e-12)


def test_blocks_are_stationary():
    form = cubic_form(16, 4, 0.3)
    block = np.repeat([0.25, 0, 0, 0], 4)
    assert abs(form(block)) < 1e-10
    risk = PopulationRisk(16, 4, 0.3, linear=0.0)
    alpha = best_alpha(risk, 0.0, 0.0, -60.0)
    assert (16 * alpha) ** 3 / 16 == pytest.approx(form.strength, rel=1e-6)


@pytest.mark.parametrize(("D", "C", "q"), [(6, 2, 0.4), (9, 3, 0.7), (12, 4, 0.5)])
@pytest.mark.parametrize(("beta", "gamma", "rho"), [(1.0, 0.3, -0.2), (4.0, 0.9, -0.1), (2.5, 2.0, -0.7)])
def test_what_a_wrong_vote_does_to_the_lead(D, C, q, beta, gamma, rho):
    """Against every image with the signal set first, by automatic differentiation, and the exact risk."""
    s, chance = positive_inputs(D, C, q, anywhere=False)
    wrong = torch.from_numpy(s.sum(axis=1) < 0)
    s = torch.from_numpy(s)
    same = torch.from_numpy(Partition.blocks(1, D, 1, C).same_set)
    A = torch.full((D, D), rho, dtype=torch.float64).masked_fill(same, gamma)
    A.fill_diagonal_(beta)
    A = A.expand(len(s), D, D).clone().requires_grad_()  # one table of scores for each image
    z = 0.3 * D * torch.einsum("nij,nj->ni", torch.softmax(A, dim=2), s)
    F = (z**3 + 0.01 * z).sum(dim=1)
    (rise,) = torch.autograd.grad((torch.from_numpy(chance) * logsigmoid(F)).sum(), A)
    companions = same & ~torch.eye(D, dtype=torch.bool)
    lead = rise[:, companions].mean(dim=1) - rise[:, ~same].mean(dim=1)
    risk = PopulationRisk(D, C, q, degree=3, linear=0.01)
    by_wrong, by_others = lead_by_votes(risk, 0.3, beta, gamma, rho)
    assert by_wrong == pytest.approx(float(lead[wrong].sum()), rel=1e-9)
    rates = score_rates(risk, 0.3, beta, gamma, rho)
    assert by_wrong + by_others == pytest.approx(rates.inside - rates.outside, rel=1e-9)


@pytest.mark.parametrize(("beta", "gamma", "rho"), [(4.0, 0.3, -0.2), (1.0, 0.9, -0.4), (1.0, 1.0, 0.1)])
def test_under_a_wrong_vote_the_lead_alone_decides_who_is_louder(beta, gamma, rho):
    """Against every image, by the softmax of a table of scores."""
    D, C = 9, 3
    s, _ = positive_inputs(D, C, 0.5, anywhere=False)
    same = Partition.blocks(1, D, 1, C).same_set
    A = np.where(same, gamma, rho)
    np.fill_diagonal(A, beta)
    S = np.exp(A) / np.exp(A).sum(axis=1, keepdims=True)
    louder = set()
    for image in s[s.sum(axis=1) < 0]:
        heard = np.abs(S @ image)
        for j in np.flatnonzero(image == -1):
            k = -image[same[j]].sum()
            ruled = np.expm1(gamma - rho) * (C - k) > -2 * image.sum()
            assert (heard[0] > heard[j]) == ruled
            louder.add(bool(ruled))
    assert louder >= {False}
    pairs, off = louder_than_wrong(D, C, beta, gamma, rho)
    assert pairs > 0
    assert off == 0
