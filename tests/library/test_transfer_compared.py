"""The learners as they are compared, and reading what was recorded of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_association.data import SpatialData, random_feature
from patch_association.exact.linear import linear_error
from patch_association.structure import Partition
from patch_association.training import HeldOut
from patch_lab.transfer import learners
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.block_error import exact_error
from patch_lab.transfer.discovery import coactivation, coactivation_rows, first_moment, refined_feature
from patch_lab.transfer.logistic import linear_test_error, tuned_logistic
from patch_lab.transfer.many_values import errors_under

SCATTERED = Partition([2, 0, 1, 1, 0, 2, 3, 3, 2, 0, 1, 3, 0, 2, 1, 3])
DATA = SpatialData(SCATTERED, 6, 0.3, feature=random_feature(6, 1))


def test_hard_attention_to_the_right_sets_is_measured_exactly_and_others_by_draws():
    hard = BlockAttention.hard(SCATTERED)
    found = learners.learn_with_fixed_attention(DATA, hard, [2, 5], [0, 1, 2], steps=60, draws=2000)
    noise = DATA.noise_std * np.abs(found.alpha) * np.sqrt(1 / found.cosine**2 - 1)
    for alpha, tau, error in zip(found.alpha.ravel(), noise.ravel(), found.errors.ravel()):
        assert error == pytest.approx(exact_error(hard, DATA.q, alpha, max(tau, 0.02 * abs(alpha))), abs=1e-9)
    moved = SpatialData(Partition(np.roll(SCATTERED.labels, 1)), 6, 0.3, feature=DATA.feature)
    other = learners.learn_with_fixed_attention(moved, hard, [2, 5], [0, 1, 2], steps=60, draws=2000)
    # counts of 2000 draws, ties by half
    assert np.allclose(other.errors * 4000, np.round(other.errors * 4000))


def test_block_and_dense_attention_of_the_same_scores_transfer_alike():
    """One law drawn in two ways: mean errors over 40 seeds differ by less than 6 standard errors."""
    scores = np.where(SCATTERED.same_set, 2.5, 0.0)
    ways = [
        learners.learn_with_fixed_attention(DATA, attention, [4], range(40), steps=150, draws=4000).errors[
            :, 0
        ]
        for attention in (BlockAttention(SCATTERED, 2.5, 2.5), DenseAttention(scores))
    ]
    spread = math.sqrt(sum(w.var(ddof=1) / len(w) for w in ways) + 2 * 0.25 / 4000)
    assert abs(ways[0].mean() - ways[1].mean()) < 6 * spread


@pytest.mark.parametrize("search", ["likelihood", "coactivation", "coactivation, refined"])
def test_searching_learners_find_the_sets_with_many_samples_and_not_with_few(search):
    """At N = 600 every companion is told apart. (The last of six sets need not be named.)"""
    data = SpatialData(Partition.random(24, 4, seed=2), 16, 0.15, feature=random_feature(16, 2))
    many, few = learners.learn_by_search(data, 600, 3, search), learners.learn_by_search(data, 3, 3, search)
    assert many.recall >= (0.8 if search == "likelihood" else 1) and many.error < 0.01
    assert few.recall < 0.5 and few.error > many.error


@pytest.mark.parametrize("search", ["coactivation", "coactivation, refined"])
def test_the_error_of_a_searching_learner_is_that_on_whole_images(search):
    """From one sample, so that the noise counts; 6 standard errors of 20,000 images and as many draws."""
    X, y = (t.numpy() for t in DATA.sample(1, 2))
    w = first_moment(X, y) if search == "coactivation" else refined_feature(X, y, 4)[0]
    S = DenseAttention(coactivation_rows(coactivation(X, y, w), 4)).matrix().numpy()
    X, y = (t.numpy() for t in DATA.sample(20_000, 99))
    z = 16 * (X @ w * 1.5 / 16) @ S.T  # (n, D, d) @ (d,) -> (n, D), then S over patches
    wrong = (y * (z**3 + 0.1 * z).sum(axis=1) < 0).mean()
    outcome = learners.learn_by_search(DATA, 1, 2, search, draws=20_000)
    assert abs(outcome.error - wrong) < 6 * math.sqrt(2 * 0.25 / 20_000)


def test_logistic_regression_beats_chance_and_not_the_linear_optimum():
    outcome = learners.learn_by_logistic_regression(DATA, 60, 6, validation=40, draws=4000)
    (X, y), (X_val, y_val) = DATA.sample(60, 6), DATA.sample(40, 10_006)
    W, penalty = tuned_logistic(X.numpy(), y.numpy(), X_val.numpy(), y_val.numpy())
    assert outcome.penalty == penalty and outcome.error == linear_test_error(W, DATA, 4000, 20_006)
    best = linear_error(16, 4, 0.3, ties="half")
    # No linear rule beats the sum with the true feature; 6 standard errors of 4000 draws, each in [0, 1].
    assert best - 6 * math.sqrt(0.25 / 4000) < outcome.error < 0.5


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(0, 10**6))
def test_the_plain_sum_is_measured_exactly(samples, seed):
    outcome = learners.learn_plain_sum(DATA, samples, seed)
    X, y = (t.numpy() for t in DATA.sample(samples, seed))
    w = (y[:, None] * X.sum(axis=1)).sum(axis=0)
    w /= np.linalg.norm(w)
    alpha = float(w @ DATA.feature.numpy())
    tau = DATA.noise_std * math.sqrt(max(0.0, 1 - alpha**2))
    drawn = errors_under(HeldOut(DATA, 4000, 5), BlockAttention.uniform(SCATTERED), alpha, tau, linear=0.0)
    # Hoeffding at 4000 draws: a deviation of 0.05 has chance 2 exp(-20) = 4e-9, and there are 15 examples.
    assert abs(outcome.error - float(drawn)) < 0.05
