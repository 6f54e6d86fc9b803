"""What the chapters prove beside the paper: where concentration, hard attention and the two lemmas end."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from risk_enumeration import enumerated, outcomes

from patch_association.structure import Partition
from patch_lab.setting import constructions


def log_odds_of_the_own_set(A: np.ndarray, labels: np.ndarray) -> float:
    """The mean over rows of log(m / (1 - m)), m the softmax mass on the own set, written as sums."""
    rows = []
    for i, row in enumerate(A):
        own = sum(math.exp(a) for j, a in enumerate(row) if labels[j] == labels[i])
        rows.append(math.log(own / sum(math.exp(a) for j, a in enumerate(row) if labels[j] != labels[i])))
    return float(np.mean(rows))


def most_for_gram(L: int, beta: float) -> float:
    return L / (L - 1) * beta - math.log(L - 1)


@pytest.mark.parametrize(("L", "C", "beta"), [(2, 3, 0.5), (3, 2, 2.0), (5, 2, 6.0)])
def test_encodings_of_one_length_cannot_concentrate_more_than_a_simplex_of_sets(L, C, beta):
    draw, labels = np.random.default_rng([L, C]), np.repeat(np.arange(L), C)
    simplex = np.where(labels[:, None] == labels, beta, -beta / (L - 1))
    assert np.linalg.eigvalsh(simplex).min() > -1e-9
    assert log_odds_of_the_own_set(simplex, labels) == pytest.approx(most_for_gram(L, beta), abs=1e-9)
    for spread, dim in itertools.product((0.0, 0.1, 1.0), (1, 2, 4, 8)):
        for _ in range(20):
            P = draw.standard_normal((L, dim))[labels] + spread * draw.standard_normal((L * C, dim))
            P -= P.mean(axis=0)  # the bound is tightest around the origin
            P *= math.sqrt(beta) / np.linalg.norm(P, axis=1, keepdims=True)
            assert log_odds_of_the_own_set(P @ P.T, labels) <= most_for_gram(L, beta) + 1e-9


@pytest.mark.parametrize("gamma", [0.9, 1.1])
def test_no_gram_matrix_has_the_attention_of_companions_above_the_diagonal(gamma):
    labels = np.repeat(np.arange(3), 2)
    A = np.where(labels[:, None] == labels, gamma, -2.0)
    np.fill_diagonal(A, 1.0)
    shifted = [np.linalg.eigvalsh(A + c).min() for c in np.linspace(-5, 50, 111)]  # the same softmax
    assert (max(shifted) > 0) == (gamma < 1)


@pytest.mark.parametrize("q", [0.08, 0.1, 0.3])
def test_hard_attention_fails_above_its_clutter(q):
    D, C, p = 5000, 2, 3
    assert q * (D - C) * (1 - C * q) >= 4 * C ** (2 * p)
    floor = (1 - math.exp(-(C ** (2 * p)) / 2)) / 24
    assert floor < constructions.hard_attention_error(D, C, q, p, ties="error") <= 1


@pytest.mark.parametrize("chances", [(0.5, 0.3, 0.2), (0.6, 0.2, 0.2), (1.0, 0.0, 0.0)])
def test_unequal_signal_sets_leave_one_score_a_pair_of_sets(chances):
    partition = Partition([0, 0, 1, 1, 2, 2])
    s, y, p = outcomes(partition, 0.4)
    law = s, y, p * 3 * torch.tensor(chances, dtype=p.dtype).repeat_interleave(len(p) // 3)
    w = torch.tensor([0.6, 0.8, 0.0], dtype=torch.float64)
    A, v = torch.eye(6, dtype=torch.float64), 0.1 * w
    for _ in range(3):
        _, dA, dv, _, _ = enumerated(partition, law, 3, 0.01, A, v, w)
        A, v = A - 3.0 * dA, v - 0.02 * dv
    assert torch.linalg.norm(v - (v @ w) * w) < 1e-12  # Lemma 4.2 stands
    blocks = A.reshape(3, 2, 3, 2).transpose(1, 2)  # (sets, sets, 2, 2)
    kinds = torch.stack([torch.stack([blocks[a, b, 0, 1] for b in range(3)]) for a in range(3)])
    for a in range(3):
        for b in range(3):
            off = blocks[a, b][~torch.eye(2, dtype=torch.bool)] if a == b else blocks[a, b]
            assert (off - kinds[a, b]).abs().max() < 1e-12
    gamma, rho = kinds.diagonal(), kinds[1, 2]
    assert abs(gamma[0] - gamma[1]) > 1e-4  # Lemma 4.1 falls
    assert (abs(gamma[1] - gamma[2]) < 1e-12) == (chances[1] == chances[2])
    assert (abs(gamma[1] - rho) < 1e-12) == (chances[1] == 0)
