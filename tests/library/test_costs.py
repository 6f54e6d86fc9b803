"""The operation counts, against PyTorch's own counter."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from patch_association.attention import positional_attention, self_attention
from patch_lab.setting.costs import (
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
