"""The operation counts, against PyTorch's own counter."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from patch_association.attention import positional_attention, self_attention
from patch_association.data import SpatialData
from patch_association.structure import Partition
from patch_association.training import Samples, loss_and_gradients, realistic_start
from patch_lab.setting.costs import (
    descent_cost,
    positional_attention_flops,
    self_attention_flops,
    simplified_flops,
)


def counted(function) -> int:
    with FlopCounterMode(display=False) as counter:
        function()
    return counter.get_total_flops()


@pytest.mark.parametrize("n, D, d", [(1, 3, 2), (5, 7, 4), (4, 6, 6)])
def test_formulas_equal_the_counter(n, D, d):
    X, P, v = torch.ones(n, D, d), torch.ones(D, d), torch.ones(d, 1)
    W = [torch.eye(d)] * 3
    S = torch.full((D, D), 1 / D)
    assert counted(lambda: self_attention(X, P, *W)) == self_attention_flops(n, D, d)
    assert counted(lambda: positional_attention(X, P, *W)) == positional_attention_flops(n, D, d)
    # (T) with v as a column: the counter leaves out products of a matrix and a plain vector.
    assert counted(lambda: (X @ v).squeeze(-1) @ S.T) == simplified_flops(n, D, d)


def test_a_pass_of_descent_costs_its_formula():
    law = SpatialData(Partition.blocks(4, 4, 2, 2), 6, 0.3)
    samples, start = Samples.draw(law, 50, [0, 1]), realistic_start(law, [0, 1])
    seen = counted(lambda: loss_and_gradients(samples.X, samples.y, start.scores, start.value))
    cost = descent_cost(50, 16, 6, steps=0, seeds=2, element_size=8)
    assert cost["memory"] == samples.X.numel() * samples.X.element_size()
    assert cost["traffic"] == 2 * cost["memory"] and cost["flops"] == 2 * 50 * (4 * 16 * 6 + 6 * 16**2)
    # X v and X^T h run as products of a matrix and a plain vector, which the counter leaves out.
    assert cost["flops"] - 2 * 50 * 4 * 16 * 6 == seen
    assert descent_cost(50, 16, 6, steps=9, seeds=2)["flops"] == 10 * cost["flops"]
