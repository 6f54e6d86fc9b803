"""Training model (T): what must not change when patches, features, labels or chunks are renamed."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import small_law

from patch_association.data import SpatialData
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.training import (
    Constant,
    HeldOut,
    Samples,
    Start,
    descend,
    descend_population,
    loss_and_gradients,
    realistic_start,
)
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.clipped import Clipped
from patch_lab.transfer.many_values import errors_under

SEEDS = st.integers(0, 10**6)
STEPS = st.sampled_from([Constant(0.02, 0.5), Clipped(0.02, 0.5, clip=0.03)])


def a_run(law, X, y, start, step):
    return descend(Samples(law, X, y), start, step, steps=8, record=4)


def a_setting(seed):
    law = small_law()
    samples = Samples.draw(law, 40, [seed])
    return law, samples.X, samples.y, realistic_start(law, [seed], init_std=0.2)


@given(SEEDS, STEPS)
@settings(max_examples=15)
def test_renaming_patches_renames_the_scores_and_nothing_else(seed, step):
    law, X, y, start = a_setting(seed)
    order = np.random.default_rng(seed).permutation(6)
    renamed = SpatialData(Partition(law.partition.labels[order]), law.dim, law.q, feature=law.feature)
    plain = a_run(law, X, y, start, step)
    moved = a_run(renamed, X[:, :, order], y, Start(start.scores[:, order][:, :, order], start.value), step)
    assert torch.allclose(moved.final.scores, plain.final.scores[:, order][:, :, order], atol=1e-10)
    assert torch.allclose(moved.final.value, plain.final.value, atol=1e-10)
    for name in ("loss", "recall", "margin", "alpha", "inside_mean", "outside_std"):
        assert getattr(moved, name) == pytest.approx(getattr(plain, name), abs=1e-9)


@given(SEEDS, STEPS)
@settings(max_examples=15)
def test_turning_the_patches_turns_the_value_vector(seed, step):
    law, X, y, start = a_setting(seed)
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((law.dim, law.dim)))
    Q = torch.from_numpy(Q)
    turned = SpatialData(law.partition, law.dim, law.q, feature=Q @ law.feature)
    plain = a_run(law, X, y, start, step)
    other = a_run(turned, X @ Q.T, y, Start(start.scores, start.value @ Q.T), step)
    assert torch.allclose(other.final.scores, plain.final.scores, atol=1e-10)
    assert torch.allclose(other.final.value, plain.final.value @ Q.T, atol=1e-10)
    assert other.alpha == pytest.approx(plain.alpha, abs=1e-9)


@given(SEEDS, SEEDS)
@settings(max_examples=20)
def test_a_sample_may_be_negated_with_its_label(seed, signs):
    """F is odd, so (X, y) and (-X, -y) have one loss and one gradient."""
    _, X, y, start = a_setting(seed)
    sign = torch.from_numpy(np.random.default_rng(signs).choice([-1.0, 1.0], y.shape))
    plain = loss_and_gradients(X, y, start.scores, start.value)
    other = loss_and_gradients(sign[:, :, None, None] * X, sign * y, start.scores, start.value)
    for ours, theirs in zip(plain, other, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-12)


@given(SEEDS, st.floats(-3, 3))
@settings(max_examples=20)
def test_a_constant_added_to_a_row_of_scores_moves_nothing(seed, shift):
    """The softmax forgets it: loss and gradient stay."""
    _, X, y, start = a_setting(seed)
    rows = shift * torch.from_numpy(np.random.default_rng(seed).standard_normal((1, 6, 1)))
    plain = loss_and_gradients(X, y, start.scores, start.value)
    other = loss_and_gradients(X, y, start.scores + rows, start.value)
    for ours, theirs in zip(plain, other, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-10)


@given(SEEDS, st.integers(1, 39))
@settings(max_examples=20)
def test_the_gradient_of_a_set_is_the_mean_over_its_parts(seed, cut):
    _, X, y, start = a_setting(seed)
    whole = loss_and_gradients(X, y, start.scores, start.value)
    first = loss_and_gradients(X[:, :cut], y[:, :cut], start.scores, start.value)
    second = loss_and_gradients(X[:, cut:], y[:, cut:], start.scores, start.value)
    for all_of_it, one, two in zip(whole, first, second, strict=True):
        assert torch.allclose(all_of_it, (cut * one + (40 - cut) * two) / 40, atol=1e-12)


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
