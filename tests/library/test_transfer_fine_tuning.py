"""Fixed attention, fine-tuning and the test error: against dense algebra, autograd and enumeration."""

import math

import numpy as np
import pytest
import torch
from enumeration import positive_inputs
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_association.data import SpatialData, random_feature
from patch_association.exact.linear import linear_error
from patch_association.model import SimplifiedViT, polynomial_activation
from patch_association.streams import Stream, generator
from patch_association.structure import Partition
from patch_association.training import Constant, HeldOut
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.block_error import exact_error
from patch_lab.transfer.fine_tuning import draw_reads, fine_tune
from patch_lab.transfer.many_values import errors_under, feature_and_rest
from patch_lab.transfer.pulls import pulls

SHUFFLED = Partition([2, 0, 1, 1, 0, 2, 0, 2, 1, 0, 1, 2])  # D = 12, C = 4, not in order
GAUSSIAN = torch.from_numpy(np.random.default_rng(0).standard_normal((3, 12, 5)))


def block_scores(partition, beta, gamma, rho):
    A = np.where(partition.same_set, gamma, rho).astype(float)
    np.fill_diagonal(A, beta)
    return A


@pytest.mark.parametrize(
    "scores, level",
    [
        ((4.0, 3.7, -0.3), "patch"),
        ((2.0, 2.0, 0.1), "set"),
        ((1.0, 1.0, 1.0), "all"),
        ((0.5, 1.0, 1.0), "patch"),
    ],
)
def test_block_attention_is_the_dense_softmax(scores, level):
    block = BlockAttention(SHUFFLED, *scores)
    dense = DenseAttention(block_scores(SHUFFLED, *scores))
    assert block.level == level
    assert torch.allclose(block.matrix(), dense.matrix(), atol=1e-15)
    # one row per patch, set by set
    by_patch = block.read(GAUSSIAN).repeat_interleave(block.multiplicity, dim=1)
    assert torch.allclose(by_patch, dense.read(GAUSSIAN)[:, SHUFFLED.sets.reshape(-1)], atol=1e-12)
    assert block.in_set_mass == pytest.approx(float(block.matrix()[0, SHUFFLED.labels == 2].sum()), abs=1e-14)


def test_fine_tuning_is_model_T_under_gradient_descent():
    """One explicit step of autograd through SimplifiedViT moves v as fine_tune does."""
    data = SpatialData(SHUFFLED, 5, 0.4, feature=random_feature(5, 3))
    X, y = data.sample(7, seed=1)
    A = block_scores(SHUFFLED, 2.0, 1.5, -0.3)
    attention = BlockAttention(SHUFFLED, 2.0, 1.5, -0.3)
    reads = (y[:, None, None] * attention.read(X))[None]
    gentle = dict(step=Constant(1e-2 / 12**2), init_std=1.0)
    start = fine_tune(reads, attention, [7], [5], steps=0, **gentle).value[0, 0]
    step = fine_tune(reads, attention, [7], [5], steps=1, **gentle).value[0, 0]
    model = SimplifiedViT(12, 5, degree=3, linear=0.1)
    with torch.no_grad():
        model.scores.copy_(torch.from_numpy(A))
        model.value.copy_(start)
    loss = torch.nn.functional.softplus(-y * model(X)).mean()
    (gradient,) = torch.autograd.grad(loss, model.value)
    moved = (start - step) / (1e-2 / 12**2)
    assert torch.allclose(moved, gradient, atol=1e-10, rtol=1e-10)
    zero = fine_tune(reads, attention, [7], [5], steps=0, **gentle)
    assert float(zero.loss[0, 0]) == pytest.approx(loss.item(), abs=1e-12)


def test_a_batch_gives_what_each_seed_and_size_gives_alone():
    data = SpatialData(SHUFFLED, 6, 0.3)
    attention = BlockAttention(SHUFFLED, 3.0, 3.0)
    seeds, sizes = [4, 9, 2], [1, 3, 5]
    reads = draw_reads(data, attention, 5, seeds)
    batch = fine_tune(reads, attention, sizes, seeds, steps=40)
    for i, seed in enumerate(seeds):
        for k, N in enumerate(sizes):
            mine = draw_reads(data, attention, N, [seed]) if N == 5 else reads[i : i + 1, :N]
            alone = fine_tune(mine, attention, [N], [seed], steps=40)
            assert torch.allclose(alone.value[0, 0], batch.value[i, k], rtol=1e-9, atol=1e-12)


def test_drawn_reads_have_the_law_of_reading_samples():
    """First and second moments at set level; 4000 draws. Each |z| < 6: false alarm below 1e-6 in all."""
    data = SpatialData(SHUFFLED, 4, 0.3, feature=random_feature(4, 2))
    attention = BlockAttention(SHUFFLED, 1.5, 1.5)
    quick = draw_reads(data, attention, 4000, [1])[0]
    X, y = data.sample(4000, seed=2)
    slow = y[:, None, None] * attention.read(X)
    for function in (lambda r: r[:, 0], lambda r: r[:, 0] * r[:, 0], lambda r: r[:, 0] * r[:, 1]):
        a, b = function(quick), function(slow)
        z = (a.mean(0) - b.mean(0)) / ((a.var(0) + b.var(0)) / 4000).sqrt()
        assert float(z.abs().max()) < 6


def enumerated_error(attention, q, alpha):
    """P[y F < 0] + P[F = 0] / 2 at noise 0 by going through every coefficient vector, y = +1."""
    partition = attention.partition
    s, mass = positive_inputs(partition.num_patches, partition.set_size, q)
    by_patch = np.empty_like(s)
    by_patch[:, partition.sets.reshape(-1)] = s
    z = torch.from_numpy(partition.num_patches * alpha * by_patch @ attention.matrix().numpy().T)
    F = polynomial_activation(z, 3, 0.1).sum(dim=1).numpy()
    return mass @ np.where(abs(F) < 1e-12, 0.5, F < 0)


def test_sampled_errors_meet_enumeration():
    """D = 6 in 2 sets of 3, 27 x 2 cases; 200,000 draws. |z| < 5.5: false alarm about 4e-8 each."""
    partition = Partition([0, 1, 0, 1, 1, 0])
    data = SpatialData(partition, 3, 0.8)
    for scores in ((1.0, 1.0, 0.0), (0.8, 0.2, 0.5)):
        attention = BlockAttention(partition, *scores)
        expected = enumerated_error(attention, 0.8, 0.2)
        for model in (attention, DenseAttention(block_scores(partition, *scores))):
            error = errors_under(HeldOut(data, 200_000, 3), model, 0.2, 0.0, linear=0.1)
            assert abs(error - expected) < 5.5 * math.sqrt(expected * (1 - expected) / 200_000)


def test_sampled_errors_equal_direct_evaluation_of_the_model():
    """The polynomial in (alpha, tau) against drawing u = alpha s + tau g and running the activation."""
    data = SpatialData(SHUFFLED, 4, 0.3)
    attention = BlockAttention(SHUFFLED, 1.5, 1.0, 0.2)
    error = errors_under(HeldOut(data, 3000, 7), attention, 0.3, 0.1, linear=0.1)
    s, y, _ = data.sample_coefficients(3000, 7)
    g = generator(7, Stream.FIXED_TEST_NOISE).standard_normal((3000, 12))
    u = 0.3 * torch.from_numpy(s * y[:, None])[:, SHUFFLED.sets.reshape(-1)] + 0.1 * torch.from_numpy(g)
    F = polynomial_activation(attention.mix(u[..., None])[..., 0], 3, 0.1).sum(dim=1)
    assert float(error) == pytest.approx(float((F < 0).double().mean()), abs=1e-12)


def test_exact_error_of_uniform_attention_without_noise_is_the_linear_error():
    partition = Partition(np.repeat(np.arange(16), 4))
    attention = BlockAttention.uniform(partition)
    assert exact_error(attention, 0.25, 0.3, 0.0) == linear_error(64, 4, 0.25, ties="half")


def test_exact_error_of_hard_attention_tends_to_enumeration():
    """At tau = 0.02 alpha with no exact ties nearby the noise cannot change a sign."""
    # set sums 3 and -3..3: F = 0 only at -3, which noise splits evenly
    partition = Partition([0, 0, 0, 1, 1, 1])
    attention = BlockAttention.hard(partition)
    assert exact_error(attention, 0.8, 0.2, 0.004) == pytest.approx(
        enumerated_error(attention, 0.8, 0.2), abs=1e-9
    )


@pytest.mark.parametrize("hard, ratio", [(True, 0.05), (True, 0.4), (False, 0.3)])
def test_exact_error_meets_sampling(hard, ratio):
    """300,000 draws, |z| < 5.5 (false alarm 4e-8)."""
    partition = Partition(np.repeat(np.arange(9), 4))
    data = SpatialData(partition, 4, 16 / 36)
    attention = BlockAttention.hard(partition) if hard else BlockAttention.uniform(partition)
    alpha = 1.2 / 36
    exact = exact_error(attention, data.q, alpha, ratio * alpha)
    sampled = float(errors_under(HeldOut(data, 300_000, 11), attention, alpha, ratio * alpha, linear=0.1))
    assert abs(exact - sampled) < 5.5 * math.sqrt(exact * (1 - exact) / 300_000)


@given(alpha=st.floats(0.01, 1.0), ratio=st.floats(0.05, 3.0))
@settings(max_examples=25)
def test_a_wrong_sign_errs_as_often_as_the_right_one_is_right(alpha, ratio):
    attention = BlockAttention.hard(SHUFFLED)
    right, wrong = (
        exact_error(attention, 0.4, alpha, ratio * alpha),
        exact_error(attention, 0.4, -alpha, ratio * alpha),
    )
    assert right + wrong == pytest.approx(1.0, abs=1e-12) and 0 <= right <= 0.5 + 1e-9
    assert exact_error(attention, 0.4, 0.0, ratio) == 0.5


@given(st.integers(2, 9), st.integers(0, 10**6), st.floats(0.1, 3))
def test_the_two_numbers_are_the_parts_of_the_value_vector(dim, seed, noise_std):
    data = SpatialData(
        Partition([0, 0, 1, 1]), dim, 0.3, noise_std=noise_std, feature=random_feature(dim, seed)
    )
    value = torch.from_numpy(np.random.default_rng(seed).standard_normal((3, 2, dim)))
    alpha, tau = feature_and_rest(value, data)
    assert alpha.shape == tau.shape == (3, 2)
    # Pythagoras, and: without its part along w* only the noise is left.
    assert np.allclose(alpha**2 + (tau / noise_std) ** 2, (value**2).sum(dim=-1).numpy())
    off = value - torch.from_numpy(alpha)[..., None] * data.feature
    assert np.allclose(feature_and_rest(off, data)[0], 0, atol=1e-12) and np.allclose(
        feature_and_rest(off, data)[1], tau
    )
    with pytest.raises(ValueError, match=f"law's {dim} dimensions"):
        feature_and_rest(value[..., :-1], data)


def test_two_pulls_are_those_of_vectors_with_orthogonal_noise():
    for shown, expected in (((1, 1, -1, 0, 0, 0), (1, 31)), ((1, 1, -1, -1, -1, 0), (-1, -41))):
        patches = np.column_stack([shown, np.eye(6)])  # along w*, then one noise direction a patch
        sets = patches.reshape(3, 2, 7).sum(axis=1)  # (L, d)
        first = sets.sum(axis=0)
        cube = ((sets @ first) ** 2) @ sets
        found = pulls(sets[:, 0], 2)
        for vector, pull, feature in zip((first, cube), found, expected):
            assert pull.feature == vector[0] == feature
            assert pull.noise == (vector[1:] ** 2).sum()
            assert pull.cosine == pytest.approx(vector[0] / np.linalg.norm(vector))
