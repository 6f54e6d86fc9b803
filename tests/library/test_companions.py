"""Attacks on the statements of the chapter on companions, by enumeration and search."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from enumeration import consecutive_sets, inputs, positive_inputs

from patch_association.data import random_feature
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.first_move import lower_edge, upper_edge
from patch_lab.dynamics.optimality import cubic_form
from patch_lab.dynamics.outcomes import (
    by_kind,
    descend_by_enumeration,
    first_steps,
    least_risk,
    mean_first_steps,
    outcomes,
)
from patch_lab.dynamics.small_diagonal import small_diagonal_drift
from patch_lab.dynamics.valley import best_alpha


def first_move(D, C, q, p):
    """The sign of E[w M^(p-2) (1-s_a)(1-s_b)] at the zero of E[w M^p], by convolutions and bisection."""
    n = D - C

    def law(k):  # of the sum of k random patches, from -k to k
        mass = np.ones(1)
        for _ in range(k):
            mass = np.convolve(mass, [q / 2, 1 - q, q / 2])
        return mass

    M = np.arange(C - n, C + n + 1.0)
    plain = law(n)
    turned = np.convolve(law(n - 2), np.convolve([q, 1 - q], [q, 1 - q]))  # 1 - s is 2 or 1
    turned = np.pad(turned, (0, plain.size - turned.size))  # no mass where either s is 1
    low, high = -60.0, 9.0

    def weight(x):
        return 0.5 * (1 - np.tanh(0.5 * np.clip(math.exp(x) * M**p, -1e4, 1e4)))

    def tail(x):  # exp(-u M^p) where 1 - tanh has lost its digits
        z = np.clip(math.exp(x) * M**p, -700, 700)
        return np.where(z > 30, np.exp(-z), weight(x))

    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if plain @ (tail(middle) * M**p) > 0 else (low, middle)
    return float(turned @ (tail(low) * M ** (p - 2)))


@pytest.mark.parametrize(("C", "p"), [(2, 3), (3, 3), (4, 5)])
def test_the_window_closes_where_it_says(C, p):
    # Both edges, from within and from outside, by a margin of a quarter at this size.
    D, edge = 60 * C, upper_edge(C, p)
    low = lower_edge(C, p) / (D - C) ** 2
    assert first_move(D, C, 1.3 * low, p) > 0 > first_move(D, C, 0.75 * low, p)
    assert first_move(D, C, 0.75 * edge, p) > 0
    if 1.1 * edge < 1:
        assert first_move(D, C, 1.1 * edge, p) < 0


@pytest.mark.parametrize(("D", "C", "q"), [(6, 2, 0.3), (6, 2, 0.1)])
def test_no_attention_beats_the_blocks(D, C, q):
    # Adversary: Adam on every entry of A, the diagonal too, and the strength, from random starts.
    assert cubic_form(D, C, q).largest(60)[0] < 1e-9
    s, chance = map(torch.from_numpy, positive_inputs(D, C, q))
    risk = PopulationRisk(D, C, q, linear=0.0)
    best = risk.loss(best_alpha(risk, 0.0, 0.0, -40.0), 0.0, 0.0, -40.0)
    torch.manual_seed(0)
    scores = torch.randn(24, D, D, dtype=torch.float64) * 2
    strength = torch.full((24, 1, 1), 0.2, dtype=torch.float64)
    for x in (scores, strength):
        x.requires_grad_()
    step = torch.optim.Adam([scores, strength], lr=0.05)
    for _ in range(400):
        z = D * strength * (s @ torch.softmax(scores, 2).mT)  # (24, n, D)
        losses = torch.nn.functional.softplus(-(z**3).sum(2)) @ chance
        step.zero_grad()
        losses.sum().backward()
        step.step()
    assert losses.min() > best - 1e-9
    assert losses.min() < best + 0.03  # and it comes near


# --- The slow flow and the end of runs: by enumeration and differences, without the library


D, C, Q, BETA = 6, 2, 0.4, 1.0
S, CHANCE = positive_inputs(D, C, Q, anywhere=False)


def test_every_outcome_is_listed_once_with_its_chance():
    partition = Partition(np.arange(6) // 2)
    s, y, chance = outcomes(partition, 0.3)
    ours = {}
    for signs, label, one in zip(s, y, chance):
        key = (*signs, label)
        ours[key] = ours.get(key, 0) + one
    theirs = {}
    for probability, label, _, signs in inputs(consecutive_sets(6, 2), Fraction(3, 10)):
        key = (*map(float, signs), float(label))
        theirs[key] = theirs.get(key, 0) + float(probability)
    assert ours.keys() == theirs.keys() and all(abs(ours[key] - theirs[key]) < 1e-15 for key in ours)
    with pytest.raises(ValueError, match="q"):
        outcomes(partition, 1.5)


def test_the_least_risk_of_rows_that_hear_one_patch():
    # The first of three patches is the signal, or random: its vote is right, wrong and missing with these
    # chances, and all rows give the same vote.
    q = 0.6
    right = 1 / 3 + q / 3
    wrong = q / 3
    entropy = -right * math.log(right / (right + wrong)) - wrong * math.log(wrong / (right + wrong))
    found = least_risk([[1, 0, 0]] * 3, Partition([0, 1, 2]), q)
    assert found == pytest.approx(entropy + (1 - right - wrong) * math.log(2), abs=1e-9)
    assert least_risk([[0, 0, 1]] * 3, Partition([0, 1, 2]), q) == pytest.approx(found, abs=1e-9)


def test_the_step_worked_by_hand():
    four = Partition([0, 0, 1, 1])
    assert by_kind(mean_first_steps(four, 0.5), four) == (1 / 8, -3 / 8)
    assert by_kind(mean_first_steps(four, 1.0), four) == (-1 / 4, -1 / 4)  # the sets do not show
    six = Partition([0, 0, 1, 1, 2, 2])
    assert by_kind(first_steps((1, 1, -1, 0, 0, 0)), six) == pytest.approx((11 / 36, -7 / 36))
    assert by_kind(first_steps((1, 1, -1, -1, -1, 0)), six) == pytest.approx((-23 / 36, 13 / 36))


@pytest.mark.parametrize(("D", "C", "q"), [(4, 2, 0.5), (6, 2, 0.8), (6, 3, 0.4), (9, 3, 0.2)])
def test_the_step_by_hand_is_the_limit_of_a_small_diagonal(D, C, q):
    partition = Partition.random(D, C, seed=1)
    limit = np.divide(small_diagonal_drift(D, C, q, 1e-4, linear=0.0), 3e-12)
    assert by_kind(mean_first_steps(partition, q), partition) == pytest.approx(limit, rel=1e-6, abs=1e-9)


def test_the_step_of_one_image_is_that_of_automatic_differentiation():
    s = torch.tensor([1.0, 1.0, -1.0, -1.0, -1.0, 0.0], dtype=torch.float64)
    eps, alpha = 1e-5, 1e-3
    A = (math.log1p(eps) * torch.eye(6, dtype=torch.float64)).requires_grad_()
    z = 6 * alpha * torch.softmax(A, dim=1) @ s
    torch.log1p(torch.exp(-(z**3).sum())).backward()
    # single entries have a term besides that cancels over each kind of pair
    six = Partition([0, 0, 1, 1, 2, 2])
    assert by_kind(-A.grad.numpy() / (3 * eps * alpha**3), six) == pytest.approx(
        by_kind(first_steps(s), six), abs=1e-3
    )


def test_descent_on_every_score_is_descent_on_three_scalars():
    partition, w = Partition.random(6, 2, seed=3), random_feature(4, seed=1)
    A, v = descend_by_enumeration(
        partition, 0.4, w, diagonal=1.5, alpha=0.1, rate=0.02, steps=20, degree=5, linear=0.05
    )
    ours = descend_population(
        PopulationRisk(6, 2, 0.4, 5, 0.05), Constant(0.02), steps=20, diagonal=1.5, alpha=0.1, progress=False
    )
    inside = partition.same_set & ~np.eye(6, dtype=bool)
    assert np.allclose(A[:, inside], ours.gamma[:, None], atol=1e-12)
    assert np.allclose(A[:, ~partition.same_set], ours.rho[:, None], atol=1e-12)
    assert np.allclose(v, ours.alpha[:, None] * w.numpy(), atol=1e-12)
    assert np.ptp(ours.gamma) > 1e-3 and (A[:, np.eye(6, dtype=bool)] == 1.5).all()
