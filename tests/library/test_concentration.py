"""What the chapters prove beside the paper: where concentration, hard attention and the two lemmas end."""

from __future__ import annotations

import math

import pytest
import torch
from risk_enumeration import enumerated, outcomes

from patch_association.structure import Partition
from patch_lab.setting import constructions


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
