"""Training model (T): what must not change when patches, features, labels or chunks are renamed."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import small_law

from patch_association.exact.risk import PopulationRisk
from patch_association.training import (
    Constant,
    HeldOut,
    descend_population,
    realistic_start,
)
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.clipped import Clipped
from patch_lab.transfer.many_values import errors_under

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.floats(0.01, 1), st.floats(0, 1), st.floats(0.1, 10))
@settings(max_examples=20)
def test_the_error_without_a_linear_part_knows_directions_only(seed, alpha, tau, scale):
    test = HeldOut(small_law(), 500, seed)
    attention = BlockAttention(test.law.partition, 1.5, 1.0, 0.2)
    plain, longer = (errors_under(test, attention, c * alpha, c * tau, linear=0.0) for c in (1.0, scale))
    assert abs(plain - longer) <= 2 / 500  # F = 0 up to rounding may change sides


@given(SEEDS, st.floats(0.05, 0.5))
@settings(max_examples=20)
def test_both_ways_of_measuring_agree_without_noise(seed, alpha):
    """One attention for many values, or an attention for each: at tau = 0 both see the same coefficients."""
    law = small_law()
    test, A = HeldOut(law, 400, seed), realistic_start(law, [seed], init_std=0.5).scores
    one_by_one = test.errors(
        torch.softmax(A, dim=-1), torch.tensor([alpha]).double(), torch.zeros(1).double()
    )
    together = errors_under(test, DenseAttention(A[0]), alpha, 0.0)
    assert float(one_by_one[0]) == pytest.approx(float(together), abs=2 / 400)


def test_clipping_is_by_the_share_of_the_length():
    risk, step = PopulationRisk(6, 2, 0.3), Clipped(0.5, 2.0, clip=0.1)
    run = descend_population(risk, step, steps=3, alpha=0.2, gamma=0.3, rho=-0.1)
    path = np.stack([run.alpha, run.gamma, run.rho])
    for t in range(3):
        gradient = risk.gradient(path[0, t], 1.0, *path[1:, t])
        share = min(1.0, 0.1 * path[0, t] / (0.5 * abs(gradient[0])))
        moved = share * np.array([0.5, 2.0 / 6, 2.0 / 24]) * gradient
        assert path[:, t + 1] == pytest.approx(path[:, t] - moved, rel=1e-12)


@given(st.floats(1e-6, 1), st.floats(0, 10), st.floats(1e-6, 10), st.floats(1e-3, 2))
def test_a_clipped_step_never_moves_further_than_its_share(rate, norm, gradient, clip):
    share = float(Clipped(rate, clip=clip).share(norm, gradient))
    assert 0 <= share <= 1 and rate * share * gradient <= clip * norm * (1 + 1e-9)
    assert share == pytest.approx(min(1.0, clip * norm / (rate * gradient)))
    assert Constant(rate).share(norm, gradient) == 1
    assert Clipped(rate).rates(7) == Constant(rate).rates(7) == (rate, pytest.approx(49 * rate))
