"""Bounds, discovery, training from scratch, mismatch and sample complexity."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_association.data import SpatialData, random_feature
from patch_association.exact.linear import linear_error
from patch_association.model import SimplifiedViT
from patch_association.structure import Partition, association
from patch_association.transfer.bounds import (
    genie_error, known_sets_error, lower_bound, set_mean_cosine, unseen_sets, wrong_sign,
)
from patch_association.transfer.complexity import crossing, growth_fits, sample_complexity, slope_interval
from patch_association.transfer.discovery import (
    FoundSets, coactivation, coactivation_rows, first_moment, likelihood_sets, refined_feature,
)
from patch_association.transfer.errors import SampledErrors
from patch_association.transfer.fine_tuning import Descent, draw_reads, fine_tune
from patch_association.transfer.linear_learner import fit_logistic, linear_test_error, tuned_logistic
from patch_association.transfer.mismatch import (
    Heads, SeveralFeatures, draw_several, overlap, reassign, several_errors,
)
from patch_association.transfer.mixing import BlockAttention
from patch_association.transfer.scratch import draw_inputs, loss_and_gradients, train_from_scratch


# --- bounds ---------------------------------------------------------------------------------------


def all_partitions(patches, C):
    """Every split of the patches into sets of C."""
    if not patches:
        yield []
        return
    first, rest = patches[0], patches[1:]
    for others in itertools.combinations(rest, C - 1):
        left = [i for i in rest if i not in others]
        for tail in all_partitions(left, C):
            yield [frozenset((first, *others))] + tail


def brute_genie(D, C, q, N, told):
    """Bayes risk by summing over partitions, the signal sets of the samples, and every test input.

    The training coefficients outside the signal set carry no information on the partition, so the
    learner's knowledge is the collection of seen sets (and, if told, whether the test's was seen).
    """
    partitions = [frozenset(p) for p in all_partitions(list(range(D)), C)]
    joint = {}
    for partition in partitions:
        sets = sorted(map(sorted, partition))
        for draws in itertools.product(range(len(sets)), repeat=N):
            seen = frozenset(tuple(sets[i]) for i in draws)
            for y in (-1, 1):
                for signal in range(len(sets)):
                    hint = (tuple(sets[signal]) in seen) if told else None
                    weight = 0.5 / len(partitions) / len(sets) ** (N + 1)
                    free = [i for i in range(D) if i not in sets[signal]]
                    for values in itertools.product((-1, 0, 1), repeat=len(free)):
                        s = np.full(D, y)
                        s[free] = values
                        mass = weight * np.prod([q / 2 if v else 1 - q for v in values])
                        pair = joint.setdefault((seen, hint, tuple(s)), [0.0, 0.0])
                        pair[y > 0] += mass
    return sum(min(pair) for pair in joint.values())


@pytest.mark.parametrize("N", [0, 1, 2])
@pytest.mark.parametrize("q", [0.3, 0.9])
def test_genie_error_is_the_bayes_risk_by_enumeration(N, q):
    assert genie_error(6, 2, q, N) == pytest.approx(brute_genie(6, 2, q, N, told=False), abs=1e-12)


def test_told_bound_is_below_and_close_to_enumeration():
    """Told whether the set was seen, the rest can still be ambiguous: the formula bounds the Bayes risk from below."""
    for N in (0, 1, 2):
        weak, brute = genie_error(6, 2, 0.5, N, told=True), brute_genie(6, 2, 0.5, N, told=True)
        assert weak <= brute + 1e-12 and brute <= genie_error(6, 2, 0.5, N) + 1e-12


def test_genie_without_samples_is_the_linear_error_and_falls_with_samples():
    assert genie_error(64, 4, 0.25, 0) == pytest.approx(linear_error(64, 4, 0.25, ties="half"), abs=1e-14)
    curve = [genie_error(64, 4, 0.25, N) for N in range(0, 60, 6)]
    assert (np.diff(curve) < 0).all()
    assert genie_error(36, 4, 0.4, 2000) == pytest.approx(known_sets_error(36, 4, 0.4), rel=1e-9)


@given(L=st.integers(1, 12), N=st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_unseen_sets_has_the_known_mean(L, N):
    law = unseen_sets(L, N)
    assert law.sum() == pytest.approx(1.0) and (law >= 0).all()
    assert law @ np.arange(L + 1) == pytest.approx(L * (1 - 1 / L) ** N)


@given(L=st.integers(2, 30), C=st.integers(2, 5), kappa=st.floats(0.2, 2), N=st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_the_bound_stays_above_its_closed_form(L, C, kappa, N):
    """The corollary: with u = (1 - 1/L)^N, the error is at least u^2 / 4 times e0 of ceil(u L / 2) hidden sets."""
    D, q = C * L, min(1.0, kappa * C / L)
    u = (1 - 1 / L) ** N
    closed = u**2 / 4 * linear_error(C * math.ceil(u * L / 2), C, q, ties="half")
    assert genie_error(D, C, q, N, told=True) >= closed - 1e-14


@given(L=st.integers(4, 12), error=st.floats(0.03, 0.12))
@settings(max_examples=15, deadline=None)
def test_lower_bound_is_where_the_curve_crosses(L, error):
    D, q = 4 * L, 4 / L
    try:
        N = lower_bound(D, 4, q, error)
    except ValueError:
        assert known_sets_error(D, 4, q) >= error
        return
    assert genie_error(D, 4, q, N) <= error and (N == 0 or genie_error(D, 4, q, N - 1) > error)
    assert lower_bound(D, 4, q, error, told=True) <= N


def test_no_learner_here_beats_the_genie():
    """Greedy likelihood at N = 4 L / 2; averaged over 12 partitions of 600 tests, 4 standard errors of slack."""
    D, N = 64, 32
    errors = []
    for seed in range(12):
        data = SpatialData(Partition.random(D, 4, seed), 32, 16 / D)
        s, y, _ = data.sample_coefficients(N, seed)
        found = likelihood_sets(s * y[:, None] > 0, 4)
        s, y, _ = data.sample_coefficients(600, seed + 100)
        margin = y * found.score(s > 0, s < 0)
        errors.append((margin < 0).mean() + 0.5 * (margin == 0).mean())
    floor = genie_error(D, 4, 16 / D, N)
    assert np.mean(errors) > floor and np.mean(errors) < linear_error(D, 4, 16 / D, ties="half")


def test_wrong_sign_and_cosine_against_fine_tuning_start():
    """Two enumerable cases of the sign, and the cosine of the set mean drawn 2000 times (z < 6)."""
    assert wrong_sign(4, 2, 1.0, 1) == 0.5 * 0.25  # 2 + two signs: ties only, at -2
    assert wrong_sign(6, 2, 1.0, 1) == 3 / 16  # 2 + four signs: -4 (1/16) is lost, -2 (4/16) is a tie
    draws = np.random.default_rng(0).standard_normal((2000, 63)) * math.sqrt(1 / 64 / (4 * 2))
    cosines = 1 / np.sqrt(1 + (draws**2).sum(axis=1))
    assert abs(cosines.mean() - set_mean_cosine(4, 2, 64)) < 6 * cosines.std() / math.sqrt(2000) + 1e-3


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


def test_likelihood_search_does_not_depend_on_the_order_of_patches():
    data = SpatialData(Partition.random(16, 4, 2), 8, 0.3)
    s, y, _ = data.sample_coefficients(60, 1)
    active = s * y[:, None] > 0
    swap = np.random.default_rng(0).permutation(16)
    plain, swapped = likelihood_sets(active, 4), likelihood_sets(active[:, swap], 4)
    assert {frozenset(t) for t in plain.sets} == {frozenset(int(swap[i]) for i in t) for t in swapped.sets}


# --- from scratch, logistic regression --------------------------------------------------------------


def test_scratch_gradient_is_autograd():
    data = SpatialData(Partition.random(8, 2, 0), 5, 0.4)
    X, y = draw_inputs(data, 6, [3, 4])
    generator = torch.Generator().manual_seed(0)
    A = torch.randn(2, 8, 8, dtype=torch.float64, generator=generator)
    v = 0.1 * torch.randn(2, 5, dtype=torch.float64, generator=generator)
    loss, by_scores, by_value = loss_and_gradients(y[:, :, None, None] * X, A, v, 3, 0.1)
    for i in range(2):
        model = SimplifiedViT(8, 5, degree=3, linear=0.1)
        with torch.no_grad():
            model.scores.copy_(A[i])
            model.value.copy_(v[i])
        expected = torch.nn.functional.softplus(-y[i] * model(X[i])).mean()
        expected.backward()
        assert float(loss[i]) == pytest.approx(expected.item(), abs=1e-12)
        assert torch.allclose(by_scores[i], model.scores.grad, atol=1e-10, rtol=1e-10)
        assert torch.allclose(by_value[i], model.value.grad, atol=1e-10, rtol=1e-10)


def test_scratch_learns_association_with_many_samples_and_a_batch_equals_its_seeds():
    partition = Partition(np.repeat(np.arange(4), 4))
    data = SpatialData(partition, 12, 0.4)
    X, y = draw_inputs(data, 400, [0, 1])
    descent = Descent(steps=150)
    both = train_from_scratch(X, y, [0, 1], descent, diagonal=2.0, ratio=30.0)
    alone = train_from_scratch(X[1:], y[1:], [1], descent, diagonal=2.0, ratio=30.0)
    assert torch.allclose(both.scores[1], alone.scores[0], atol=1e-9)
    assert association(both.scores[0], partition).recall > 0.8 > 0.3 > association(np.eye(16), partition).recall
    assert torch.equal(both.scores.diagonal(dim1=1, dim2=2), torch.full((2, 16), 2.0, dtype=torch.float64))


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
    assert abs(linear_test_error(W, data, draws=40_000, seed=2) - sampled) < 5.5 * math.sqrt(2 * 0.25 / 40_000)
    feature = np.tile(data.feature.numpy(), (8, 1))
    expected = linear_error(8, 2, 0.3, ties="half")
    assert abs(linear_test_error(feature, data, draws=40_000) - expected) < 5.5 * math.sqrt(expected / 40_000)
    _, penalty = tuned_logistic(X, y, X, y, penalties=(1e-3, 1e3))
    assert penalty == 1e-3


# --- mismatch ---------------------------------------------------------------------------------------


@given(fraction=st.floats(0.05, 1.0), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_reassigned_patches_all_move_and_sizes_stay(fraction, seed):
    before = Partition.random(40, 4, seed)
    after = reassign(before, fraction, seed)
    assert after.set_size == 4
    assert (before.labels != after.labels).sum() == round(fraction * 40)


def test_reassign_extremes():
    partition = Partition.random(40, 4, 0)
    assert reassign(partition, 0.0) == partition and overlap(partition, partition) == 1.0
    assert overlap(partition, reassign(partition, 1.0, 3)) < 0.4
    for case in ((partition, 1 / 40), (Partition([0, 0, 0, 0]), 1.0), (Partition([0, 0, 1, 1]), 0.75)):
        with pytest.raises(ValueError, match="change sets"):
            reassign(*case)


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
    expected = float(SampledErrors(attention, single, draws=40_000)(0.05, tau))
    assert abs(error - expected) < 6 * math.sqrt(2 * expected * (1 - expected) / 40_000)


def test_two_heads_read_two_partitions():
    one, two = Partition(np.repeat(np.arange(9), 4)), Partition(np.tile(np.arange(9), 4))
    data = SeveralFeatures([one, two], 16, 8 / 36)
    sizes, seeds = [32], [0, 1, 2]
    errors = []
    for heads in (Heads([BlockAttention.hard(one)]), Heads([BlockAttention.hard(p) for p in (one, two)])):
        reads = draw_several(data, heads, 32, seeds)
        tuned = fine_tune(reads, heads, sizes, seeds, Descent(steps=150))
        errors.append(several_errors(tuned.value, heads, data, draws=2000).mean())
    assert errors[1] < 0.03 < 0.06 < errors[0]


# --- sample complexity ------------------------------------------------------------------------------


def test_crossing_interpolates_in_log_n():
    assert crossing([1, 4], [0.15, 0.05], 0.1) == pytest.approx(2.0)
    assert crossing([3, 9], [0.01, 0.0], 0.05) == 3.0
    assert math.isinf(crossing([1, 2], [0.3, 0.2], 0.05))


def test_complexity_uses_the_mean_so_that_one_wrong_seed_counts():
    errors = np.full((20, 2), 0.001)
    errors[0, 0] = errors[1, 0] = 0.95
    result = sample_complexity([2, 8], errors)
    assert np.median(errors[:, 0]) < 0.05 and result.smallest == 8 and 2 < result.value < 8
    assert result.low <= result.value <= result.high and result.seeds == 20
    never = sample_complexity([1, 2], np.full((5, 2), 0.4))
    assert math.isinf(never.value) and never.censored == 1.0 and math.isinf(never.smallest)


@given(exponent=st.floats(-1, 2), scale=st.floats(0.5, 50))
@settings(max_examples=20, deadline=None)
def test_fits_recover_their_own_laws(exponent, scale):
    D = np.array([36, 64, 100, 196, 400])
    power = {f.law: f for f in growth_fits(D, scale * D**exponent)}["power"]
    assert power.parameters["exponent"] == pytest.approx(exponent, abs=1e-9) and power.rss < 1e-18
    polylog = {f.law: f for f in growth_fits(D, scale * np.log(D) ** 2)}["polylog 2"]
    assert polylog.rss < 1e-18 and polylog.parameters["a"] == 0.0


def test_slope_interval_covers_a_planted_slope():
    generator, D = np.random.default_rng(0), [50, 100, 200, 400]
    sizes = [np.array([d // 2, d, 2 * d]) for d in D]
    errors = [np.clip(np.array([0.1, 0.05, 0.0]) + 0.005 * generator.standard_normal((30, 3)), 0, 1) for _ in D]
    slope, low, high, censored = slope_interval(D, sizes, errors, target=0.06)
    assert low < 1.0 < high and abs(slope - 1) < 0.1 and censored == 0


# --- bad input --------------------------------------------------------------------------------------

BAD_SIZES = st.sampled_from([(5, 2), (0, 1), (4, -1), (4.0, 2), (True, 1), ("4", 2)])


@given(sizes=BAD_SIZES)
@settings(max_examples=12, deadline=None)
def test_bounds_refuse_bad_sizes(sizes):
    for call in (lambda: genie_error(*sizes, 0.2, 3), lambda: lower_bound(*sizes, 0.2, 0.05),
                 lambda: known_sets_error(*sizes, 0.2), lambda: wrong_sign(*sizes, 0.2, 1)):
        with pytest.raises(ValueError, match="num_patches|set_size"):
            call()


@given(q=st.one_of(st.floats(max_value=-1e-9), st.floats(min_value=1.001), st.just(float("nan")), st.text()))
@settings(max_examples=25, deadline=None)
def test_bounds_refuse_bad_probabilities(q):
    for call in (lambda: genie_error(8, 2, q, 3), lambda: lower_bound(8, 2, 0.2, q), lambda: wrong_sign(8, 2, q, 1),
                 lambda: reassign(Partition([0, 0, 1, 1]), q), lambda: SeveralFeatures([Partition([0, 0, 1, 1])], 4, q),
                 lambda: sample_complexity([1, 2], np.full((3, 2), 0.1), target=q)):
        with pytest.raises(ValueError, match="got"):
            call()


BAD_INPUTS = st.sampled_from([
    (np.zeros((2, 3)), np.ones(2)), (np.zeros((2, 3, 4)), np.ones(3)), (np.zeros((0, 3, 4)), np.ones(0)),
    (np.zeros((2, 3, 4)), np.zeros(2)), (np.zeros((2, 3, 4)), np.array([1.0, np.nan])),
])


@given(case=BAD_INPUTS)
@settings(max_examples=10, deadline=None)
def test_discovery_refuses_bad_data(case):
    X, y = case
    for call in (lambda: first_moment(X, y), lambda: refined_feature(X, y, 1), lambda: coactivation(X, y, np.ones(4))):
        with pytest.raises(ValueError, match="X must|y must"):
            call()


def test_other_bad_input_is_refused():
    partition, X = Partition([0, 0, 1, 1]), torch.zeros(1, 2, 4, 3, dtype=torch.float64)
    cases = [
        (lambda: lower_bound(36, 4, 0.9, 0.01), "all sets known"),
        (lambda: likelihood_sets(np.zeros((0, 4)), 2), "active"),
        (lambda: likelihood_sets(np.ones((3, 4)), 3), "divide"),
        (lambda: coactivation_rows(np.ones((3, 4)), 2), "square"),
        (lambda: refined_feature(np.zeros((2, 3, 4)), np.ones(2), 5), "at most"),
        (lambda: train_from_scratch(X, torch.zeros(2, 2), [0]), "X must"),
        (lambda: train_from_scratch(X, torch.zeros(1, 2), [0], ratio=-1.0), "ratio"),
        (lambda: fit_logistic(np.zeros((2, 3)), np.ones(2), 1.0), "X must"),
        (lambda: fit_logistic(np.zeros((2, 3, 4)), np.ones(2), 0.0), "penalty"),
        (lambda: linear_test_error(np.zeros((3, 3)), SpatialData(partition, 3, 0.1)), "W must"),
        (lambda: SeveralFeatures([], 4, 0.1), "partitions"),
        (lambda: SeveralFeatures([partition, Partition([0, 1, 2, 3])], 4, 0.1), "partitions"),
        (lambda: SeveralFeatures([partition] * 3, 3, 0.1), "dim"),
        (lambda: Heads([]), "attentions"),
        (lambda: several_errors(torch.zeros(3), Heads([BlockAttention.hard(partition)]),
                                SeveralFeatures([partition], 4, 0.1)), "value"),
        (lambda: overlap(partition, Partition([0, 1])), "partitions"),
        (lambda: sample_complexity([2, 1], np.zeros((3, 2))), "increasing"),
        (lambda: sample_complexity([1, 2], np.zeros((1, 2))), "two seeds"),
        (lambda: sample_complexity([1, 2], np.full((3, 2), np.nan)), "errors"),
        (lambda: growth_fits([1, 2], [1, 2]), "three"),
        (lambda: growth_fits([2, 3, 4], [1, 2, math.inf]), "finite"),
        (lambda: slope_interval([2], [[1]], [np.zeros((2, 1))]), "two or more"),
        (lambda: unseen_sets(0, 1), "num_sets"),
        (lambda: set_mean_cosine(0, 1, 4), "set_size"),
        (lambda: draw_inputs(SpatialData(partition, 3, 0.1), 0, [1]), "n must"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
