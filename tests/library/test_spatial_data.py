"""Assumption 1: the sampler's law, and f*."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from enumeration import labeling
from hypothesis import given
from hypothesis import strategies as st
from sampler_checks import counts_fit, defects_of_noise, joint_law_fits
from strategies import partitions

from patch_association.data import SpatialData, random_feature
from patch_association.streams import Stream, generator
from patch_association.structure import Partition
from patch_association.training import Samples

SCATTERED = Partition([2, 0, 1, 1, 0, 2, 2, 1, 0, 0, 2, 1])  # D = 12, C = 4, L = 3


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [0, 2, 1, 1, 2, 0], [1, 0, 0, 1, 1, 0]])
def test_coefficients_are_exact_in_law(labels):
    """All 36, 486 and 108 outcomes, each expected at least 130 times."""
    draws = SpatialData(Partition(labels), dim=2, q=0.6).sample_coefficients(100_000, seed=2)
    assert joint_law_fits(*draws, labels, Fraction(6, 10))


def test_noise_is_exact_in_law():
    w = random_feature(5, seed=3)
    data = SpatialData(SCATTERED, dim=5, q=0.3, noise_std=0.7, feature=w)
    X, _ = data.sample(4000, seed=4)
    s, _, _ = data.sample_coefficients(4000, seed=4)
    assert defects_of_noise(X.numpy(), s, w.numpy(), 0.7) == set()


def test_inputs_in_single_precision_follow_the_law_to_their_last_bits():
    """Their noise is drawn in it; the coefficients and labels are those of double precision."""
    law = SpatialData(SCATTERED, 4, 0.3, noise_std=0.7, feature=random_feature(4, seed=2))
    drawn, double = (Samples.draw(law, 4000, [5], dtype=dtype) for dtype in (torch.float32, torch.float64))
    X, w = drawn.X[0].double(), law.feature
    s = (X @ w).round()
    assert (X @ w - s).abs().max() < 1e-5 and torch.equal((double.X[0] @ w).round(), s)
    assert torch.equal(double.y, drawn.y.double()) and drawn.X.dtype == drawn.y.dtype == torch.float32
    assert defects_of_noise(X.numpy(), s.numpy(), w.numpy(), 0.7) <= {"orthogonal to w*"}
    assert len((X - s[..., None] * w)[:, 0, 1].unique()) > 3900  # 500 at a time, and none twice


def test_labels_and_features_of_one_seed_share_no_stream():
    """Over seeds, the label of a draw and the partition and the feature of the same seed are independent.

    Were they drawn from one stream, the first label's bit would decide the feature's first normal.
    1000 seeds; a correlation of 0.2 has chance below 1e-9.
    """
    y, w, first = [], [], []
    for seed in range(1000):
        partition = Partition.random(4, 2, seed)
        feature = random_feature(2, seed)
        y.append(SpatialData(partition, 2, 0.5, feature=feature).sample_coefficients(1, seed)[1][0])
        w.append(float(feature[0]))
        first.append(float(partition.labels[0] == partition.labels[1]))
    assert abs(np.corrcoef(y, w)[0, 1]) < 0.2 and abs(np.corrcoef(y, first)[0, 1]) < 0.2


@given(partitions(), st.integers(1, 4), st.floats(0, 1), st.integers(0, 2**70))
def test_sample_and_its_coefficients_agree(partition, dim, q, seed):
    w = random_feature(dim, seed=1)
    data = SpatialData(partition, dim, q, feature=w)
    X, y = data.sample(5, seed)
    s, labels, signal = data.sample_coefficients(5, seed)
    assert X.shape == (5, partition.num_patches, dim) and (X.dtype, y.dtype) == (torch.float64, torch.float64)
    assert torch.allclose(X @ w, torch.from_numpy(s), atol=1e-12)
    assert (y.numpy() == labels).all()
    again, _ = data.sample(5, seed)
    assert torch.equal(again, X)
    assert signal.shape == (5,) and signal.max() < partition.num_sets


def test_seeds_differ_and_noise_is_optional():
    data = SpatialData(SCATTERED, 3, 0.4, noise_std=0)
    X, _ = data.sample(50, seed=0)
    assert torch.equal(X[..., 0], torch.from_numpy(data.sample_coefficients(50, seed=0)[0]))
    assert not X[..., 1:].any()
    assert not torch.equal(X, data.sample(50, seed=1)[0])
    assert SpatialData(SCATTERED, 4, 0.4).noise_std == 0.5


def test_random_features_are_uniform_on_the_circle():
    """Angles of 2000 seeds in 8 sectors: chi-square at 1e-9."""
    w = np.array([random_feature(2, seed).numpy() for seed in range(2000)])
    assert np.allclose((w**2).sum(axis=1), 1, atol=1e-12)
    assert counts_fit(
        np.bincount(((np.arctan2(w[:, 1], w[:, 0]) + np.pi) // (np.pi / 4)).astype(int) % 8), [1 / 8] * 8
    )


@given(
    partitions(),
    st.floats(0, 1),
    st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]),
)
def test_labeling_function_by_its_definition(partition, q, dtype):
    data = SpatialData(partition, 3, q, noise_std=0.3, feature=random_feature(3, 1))
    X, _ = data.sample(8, seed=2, dtype=dtype)
    s, _, _ = data.sample_coefficients(8, seed=2)
    expected = [labeling(row, partition.sets.tolist()) for row in s.astype(int).tolist()]
    computed = data.labeling_function(X).double().numpy()
    accuracy = 8 * partition.num_patches * torch.finfo(dtype).eps
    assert np.allclose(computed, expected, rtol=0, atol=accuracy)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
@pytest.mark.parametrize(
    ("set_size", "total", "counted"),
    [(10, 9, 0), (10, 10, 10), (20, 18, 0), (20, 19, 19), (40, 36, 0), (40, 37, 37), (40, -37, -37)],
)
def test_threshold_is_strict_at_nine_tenths(dtype, set_size, total, counted):
    X = torch.zeros(1, set_size, 1, dtype=dtype)
    X[0, : abs(total), 0] = 1 if total > 0 else -1
    assert float(SpatialData(Partition([0] * set_size), 1, 0.5).labeling_function(X)) == counted


def test_labeling_function_takes_integers_and_arrays():
    data = SpatialData(Partition([0, 0]), 1, 0.5)
    assert data.labeling_function(np.array([[[1], [1]], [[1], [0]]])).tolist() == [2, 0]


def test_rounding_lifts_no_sum_over_the_threshold():
    """Nine of ten patches carry the feature: the sum is 0.9 C, and with other features 9 + 1e-16."""
    partition, s = Partition([0] * 10), torch.tensor([1.0] * 9 + [0.0], dtype=torch.float64)
    sums = []
    for seed in range(50):
        data = SpatialData(partition, 5, 0.5, feature=random_feature(5, seed))
        X = (s[:, None] * data.feature)[None]  # (10, 1) * (5,) -> (1, 10, 5)
        assert float(data.labeling_function(X)) == 0
        sums.append(float((X @ data.feature).sum()))
        assert float(data.labeling_function(X * (1 + 1e-9 / 9))) == 0
        assert float(data.labeling_function(X * 9.01 / 9)) == pytest.approx(9.01)  # no rounding
    assert max(sums) > 9


# --- The random streams: numbers that never meet, and that nobody goes around


#: The numbers that recorded runs were drawn from.
RECORDED = dict(
    NOISE=1, GAUSSIAN_PATCHES=2, COEFFICIENTS=3, TEST_NOISE=4, PERTURBED_START=7, READ_NOISE=20,
    FINE_TUNING_START=21, FIXED_TEST_NOISE=22, SCRATCH_START=23, SEVERAL_COEFFICIENTS=24, SEVERAL_NOISE=25,
    SEVERAL_TEST_NOISE=26, SET_RULE_NOISE=27, SET_SUMS=28,
)  # fmt: skip


def test_recorded_runs_keep_their_numbers():
    assert {name: int(Stream[name]) for name in RECORDED} == RECORDED


def test_streams_of_one_seed_differ_from_one_another_and_from_the_plain_seed():
    draws = [generator(5, stream).standard_normal(4) for stream in Stream]
    draws += [np.random.default_rng(5).standard_normal(4), generator(6, Stream.NOISE).standard_normal(4)]
    for i, one in enumerate(draws):
        assert not any(np.isin(one, other).any() for other in draws[:i])
    assert (generator(5, Stream.NOISE).standard_normal(4) == draws[0]).all()
    assert 0 not in list(Stream)
