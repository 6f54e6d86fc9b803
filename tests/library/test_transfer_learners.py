"""Discovery, training from scratch, mismatch and sample complexity."""

import math

import numpy as np
import pytest
import torch
from enumeration import all_partitions
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_association.data import SpatialData, random_feature
from patch_association.exact.linear import linear_error
from patch_association.structure import Partition, association
from patch_association.training import HeldOut
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.complexity import growth_fits, sample_complexity
from patch_lab.transfer.discovery import (
    FoundSets,
    coactivation,
    coactivation_rows,
    first_moment,
    likelihood_sets,
    refined_feature,
)
from patch_lab.transfer.learners import errors_without_the_sets
from patch_lab.transfer.logistic import fit_logistic, linear_test_error, tuned_logistic
from patch_lab.transfer.many_values import errors_under
from patch_lab.transfer.mismatch import (
    Heads,
    SeveralFeatures,
    draw_several,
    reassign,
    several_errors,
    shared_attention,
)

# --- discovery ------------------------------------------------------------------------------------


def test_discovery_finds_the_sets_with_enough_samples():
    partition = Partition.random(36, 4, 1)
    data = SpatialData(partition, 24, 16 / 36, feature=random_feature(24, 1))
    X, y = data.sample(300, seed=0)
    X, y = X.numpy(), y.numpy()
    w, threshold = refined_feature(X, y, 4)
    rough = first_moment(X, y)
    assert w @ data.feature.numpy() > max(0.995, rough @ data.feature.numpy())
    assert 0.4 < threshold < 0.6
    found = likelihood_sets(y[:, None] * (X @ w) > threshold, 4)
    # The last set need not be named: it is what is left.
    assert len(found.sets) >= 8 and set(found.sets) <= set(map(tuple, partition.sets.tolist()))
    scores = coactivation_rows(coactivation(X, y, w), 4)
    assert association(scores, partition).recall > 0.9


def test_score_of_found_sets_is_the_bayes_rule():
    """Two found sets, two open ones: T+ by averaging over all splits of the open patches."""
    found = FoundSets(((0, 5), (2, 3)), 8, 2)
    active = np.random.default_rng(0).random((40, 8)) < 0.6
    open_patches = [1, 4, 6, 7]
    splits = list(all_partitions(open_patches, 2))
    for row, value in zip(active, found.score(active, np.zeros_like(active))):
        K = int(row[[0, 5]].all()) + int(row[[2, 3]].all())
        mean = np.mean([sum(row[list(s)].all() for s in split) for split in splits])
        assert value == pytest.approx(K + mean)


# --- from scratch, logistic regression --------------------------------------------------------------


def test_logistic_regression_is_stationary_and_its_error_is_right():
    data = SpatialData(Partition.random(8, 2, 0), 4, 0.3, feature=random_feature(4, 1))
    X, y = data.sample(60, 0)
    X, y = X.numpy(), y.numpy()
    W = fit_logistic(X, y, 0.05)
    margin = y * np.einsum("njd,jd->n", X, W)
    slope = -y / (1 + np.exp(margin)) / 60
    assert np.abs(np.einsum("n,njd->jd", slope, X) + 0.05 * W).max() < 1e-6
    fresh, sign = data.sample(40_000, 1)
    sampled = float((sign.numpy() * np.einsum("njd,jd->n", fresh.numpy(), W) < 0).mean())
    assert abs(linear_test_error(W, data, draws=40_000, seed=2) - sampled) < 5.5 * math.sqrt(
        2 * 0.25 / 40_000
    )
    feature = np.tile(data.feature.numpy(), (8, 1))
    expected = linear_error(8, 2, 0.3, ties="half")
    assert abs(linear_test_error(feature, data, draws=40_000) - expected) < 5.5 * math.sqrt(expected / 40_000)
    _, penalty = tuned_logistic(X, y, X, y, penalties=(1e-3, 1e3))
    assert penalty == 1e-3


# --- mismatch ---------------------------------------------------------------------------------------


@given(fraction=st.floats(0.05, 1.0), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_reassigned_patches_all_move_and_sizes_stay(fraction, seed):
    before = Partition.random(40, 4, seed)
    after = reassign(before, fraction, seed)
    assert after.set_size == 4
    assert (before.labels != after.labels).sum() == round(fraction * 40)


def test_one_feature_and_one_head_is_assumption_1():
    """Same law of set sums (z < 6), and the heads' block layout leaves one head unchanged."""
    partition = Partition(np.repeat(np.arange(4), 3))
    several, single = SeveralFeatures([partition], 6, 0.4), SpatialData(partition, 6, 0.4)
    s, _ = several.sample_coefficients(4000, 0)
    t, y, _ = single.sample_coefficients(4000, 0)
    a = np.sort((s[:, 0] @ partition.indicator.T), axis=1)
    b = np.sort((t * y[:, None]) @ partition.indicator.T, axis=1)
    z = (a.mean(0) - b.mean(0)) / np.sqrt((a.var(0) + b.var(0)) / 4000 + 1e-12)
    assert np.abs(z).max() < 6
    attention = BlockAttention(partition, 3.0, 3.0)
    heads = Heads([attention])
    assert torch.equal(draw_several(several, heads, 5, [2])[0], attention.read(several.sample_folded(5, 2)))
    value = torch.tensor([0.05, 0.02, 0.01, 0.0, 0.0, -0.03], dtype=torch.float64)
    error = several_errors(value, heads, several, draws=40_000)
    tau = several.noise_std * float(value[1:].norm())
    expected = float(errors_under(HeldOut(single, 40_000), attention, 0.05, tau, linear=0.1))
    assert abs(error - expected) < 6 * math.sqrt(2 * expected * (1 - expected) / 40_000)


def test_shared_attention_of_one_partition_is_block_attention_and_of_two_their_union():
    one, two = Partition(np.repeat(np.arange(9), 4)), Partition(np.tile(np.arange(9), 4))
    block = BlockAttention(one, 3.0, 3.0)
    assert torch.allclose(shared_attention([one], 3.0).matrix(), block.matrix(), atol=1e-15)
    S = shared_attention([one, two], 3.0).matrix()
    union = torch.from_numpy(one.same_set | two.same_set)  # a patch has 3 companions in each, none in both
    assert torch.allclose(
        S[union], torch.tensor(math.exp(3) / (7 * math.exp(3) + 29), dtype=S.dtype), atol=1e-15
    )
    assert S[~union].max() < S[union].min()
    # A dense head errs as the block head that it equals: same coefficients, noise of its own.
    data = SeveralFeatures([one, two], 16, 8 / 36)
    value = torch.zeros(16, dtype=torch.float64)
    value[:3] = torch.tensor([0.05, 0.03, 0.02])
    dense, blocks = (
        several_errors(value, Heads([a]), data, draws=20_000)
        for a in (DenseAttention(block.matrix().log()), block)
    )
    assert abs(dense - blocks) < 6 * math.sqrt(2 * blocks * (1 - blocks) / 20_000)


# --- sample complexity ------------------------------------------------------------------------------


@given(exponent=st.floats(-1, 2), scale=st.floats(0.5, 50))
@settings(max_examples=20)
def test_fits_recover_their_own_laws(exponent, scale):
    D = np.array([36, 64, 100, 196, 400])
    power = {f.law: f for f in growth_fits(D, scale * D**exponent)}["power"]
    assert power.parameters["exponent"] == pytest.approx(exponent, abs=1e-9) and power.rss < 1e-18
    polylog = {f.law: f for f in growth_fits(D, scale * np.log(D) ** 2)}["polylog 2"]
    assert polylog.rss < 1e-18 and polylog.parameters["a"] == 0.0


@pytest.mark.parametrize(
    ("sizes", "errors", "said"),
    [
        ([4, 8], [[0.5, 1.5], [0.4, 0.1]], r"errors must lie in \[0, 1\], got 0.1 to 1.5"),
        ([4, 8], [[0.5, -0.5], [0.4, 0.1]], r"errors must lie in \[0, 1\], got -0.5 to 0.5"),
        ([4, 8], [[0.5, 0.1]], r"at least two seeds, got shape \(1, 2\)"),
        ([4, 8], [[0.5], [0.1]], r"errors must be \(seeds, 2\)"),
        ([8, 4], [[0.5, 0.1], [0.4, 0.1]], "sizes must be increasing positive integers"),
    ],
)
def test_errors_that_are_no_table_of_shares_are_refused(sizes, errors, said):
    with pytest.raises(ValueError, match=said):
        sample_complexity(sizes, errors)


def test_learners_without_the_sets_share_out_their_seeds():
    found = errors_without_the_sets(SpatialData(Partition(np.arange(12) // 4), 16, 0.3), 24)
    assert {name: errors.shape for name, (_, errors) in found.items()} == {
        "likelihood of sets": (3, 4), "from scratch": (1, 3), "logistic regression": (1, 2),
    }  # fmt: skip
    assert found["likelihood of sets"][0] == [6, 9, 12, 18]
    with pytest.raises(ValueError, match="seeds"):
        errors_without_the_sets(SpatialData(Partition(np.arange(12) // 4), 16, 0.3), 23)
