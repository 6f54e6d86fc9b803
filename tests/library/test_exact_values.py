"""The exact room by hand: expansions, edges of searches, and draws that need no many-sample bound."""

import math

import numpy as np
import pytest
import torch

from patch_association.exact.linear import search_weights
from patch_association.exact.linear_bounds import any_weights_bound, any_weights_boundary
from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_association.training.gradients import accumulate
from patch_lab.beyond import gaussian
from patch_lab.beyond.gaussian import linear_disagreement, proved_excess
from patch_lab.beyond.known_filter import blind_errors
from patch_lab.dynamics import first_move as sign
from patch_lab.dynamics.first_move import FirstMove, best_strengths, window
from patch_lab.dynamics.lifetime import ScoreNoise
from patch_lab.setting.noisy_scores import noisy_association
from patch_lab.setting.optimality import _shapes
from patch_lab.transfer.sample_bounds import genie_error, known_sets_error, lower_bound, set_mean_cosine
from patch_lab.transfer.sample_limits import _error, samples_per_set


def test_the_proved_excess_near_equal_weights_and_far_from_them():
    """Its second order at each number of sets, and the triangle inequality where it takes over."""
    a = 1e-3
    third = {  # of the expansion in the angle, divided by its cube
        3: -3 / (4 * math.pi * 0.5) - 1 / (8 * math.pi),
        4: -(3**-0.5) / (3 * math.pi) - 1 / (6 * math.pi),
    }
    second = {3: 3 / (4 * math.pi * math.sqrt(0.5)), 4: 1 / (3 * math.pi)}
    for L in (3, 4):
        assert proved_excess(a, L) == pytest.approx(second[L] * a**2 + third[L] * a**3, rel=1e-5)
        for angle in (0.7, 1.2, 1.57):
            assert proved_excess(angle, L) == pytest.approx(angle / math.pi - 2 * linear_disagreement(L))
        for bad in (0.0, math.pi / 2, -0.1):
            with pytest.raises(ValueError, match="angle must lie between"):
                proved_excess(bad, L)


def test_the_constants_of_many_sets():
    """Correlation of h and h^3: 3 / sqrt(15); the ratio is one fifth."""
    assert gaussian.LIMIT == pytest.approx(math.acos(3 / math.sqrt(15)) / math.pi)
    assert gaussian.RATIO_LIMIT == 1 / 5
    for L in (2, 3, 5):
        x = np.array([-1e9, -0.3, 0.0, 0.3, 1e9])
        share = gaussian.share_within(x, L)
        assert share[[0, 2, 4]] == pytest.approx([-1, 0, 1], abs=1e-6) and share[1] == -share[3]
    assert gaussian.share_within(1.0, 2) == pytest.approx(0.5)  # a Cauchy number, within one
    assert gaussian.share_within(1.0, 3) == pytest.approx(2**-0.5)  # t with two degrees of freedom
    for L, m in ((3, 0.2), (7, -0.4)):
        a = float(gaussian.threshold_given_skew(m, L))
        tau = -math.copysign(a, m) / math.sqrt(L)
        assert L * tau**3 + 3 * tau + m == pytest.approx(0, abs=1e-14) and a > 0


def test_scores_that_start_with_noise_and_end_where_training_takes_them():
    noise = ScoreNoise(6, 2, 0.3, diagonal=0.5)
    path = descend_population(
        PopulationRisk(6, 2, 0.3), Constant(0.05, 0.9), steps=3, diagonal=0.5, record=1, progress=False
    )
    start, end = noise.deviations(path, at=[0, 3])
    assert (start.step, end.step) == (0, 3) and (end.gamma, end.rho) == (path.gamma[3], path.rho[3])
    drawn = noise.draw_scores(start, n=7, start_std=0.2, draws=400, seed=2)
    off = drawn[:, ~np.eye(6, dtype=bool)]
    assert (drawn[:, range(6), range(6)] == 0.5).all()
    assert abs(off.mean()) < 6 * 0.2 / off.size**0.5
    assert off.std() == pytest.approx(0.2, rel=6 / (2 * off.size) ** 0.5)
    assert not noise.draw_scores(start, n=7, draws=2)[:, ~np.eye(6, dtype=bool)].any()
    # A step moves Z by -rate * (H Z + G - mean G) and the start by -rate * H, with the path's own rates.
    rates = np.append(np.full(30, 0.9), 0.05)
    Z, moved = np.zeros((len(noise.probability), 31)), np.eye(31)[:, :30]
    for t in range(3):
        gradient, hessian = noise.moments(path.alpha[t], path.gamma[t], path.rho[t])
        mean = noise.probability @ gradient
        kinds = [noise.inside, ~noise.inside]
        for kind in kinds:  # the mean of an input's permutations
            mean[:30][kind] = mean[:30][kind].mean()
        Z, moved = Z - (Z @ hessian + gradient - mean) * rates, moved - rates[:, None] * (hessian @ moved)
    assert end.influence == pytest.approx(Z[:, :30]) and end.start == pytest.approx(moved[:30])
    assert end.rms() == pytest.approx(math.sqrt(noise.probability @ (Z[:, :30] ** 2).mean(axis=1)))
    assert end.amplified() == pytest.approx(np.linalg.norm(moved[:30]) / math.sqrt(30))
    for bad in (-1, 4):
        with pytest.raises(ValueError, match="at must"):
            noise.deviations(path, at=[bad])


def test_inputs_fall_into_as_many_classes_as_there_are_multisets():
    assert len(ScoreNoise(6, 2, 0.3).probability) == math.comb(2 + 5, 2)  # two random sets of six types
    assert len(ScoreNoise(6, 2, 1.0).probability) == math.comb(2 + 2, 2)  # no zeros: three types
    assert len(ScoreNoise(6, 2, 0.0).probability) == 1
    with pytest.raises(ValueError, match="at D = 64, C = 4: at most 1,953 can be followed"):
        ScoreNoise(64, 4, 0.3)


def test_bounds_begin_and_end_where_they_say():
    D = any_weights_boundary(4, 0.3, error=0.1)
    assert any_weights_bound(D, 4, 0.3) >= 0.1 > any_weights_bound(D - 4, 4, 0.3)
    for q, error in ((0.0, 0.1), (0.3, 0.25)):
        with pytest.raises(ValueError, match="the bound reaches error only for"):
            any_weights_boundary(4, q, error)
    floor = known_sets_error(16, 4, 0.9)
    with pytest.raises(ValueError, match="error must be above"):
        lower_bound(16, 4, 0.9, floor)
    N = lower_bound(16, 4, 0.9, 1.001 * floor)
    assert genie_error(16, 4, 0.9, N) <= 1.001 * floor < genie_error(16, 4, 0.9, N - 1)
    assert lower_bound(16, 4, 0.9, 0.5) == 0
    assert samples_per_set(lambda t: 1 - t / 4, 0.25) == pytest.approx(3, abs=1e-4)
    assert samples_per_set(lambda t: 1 - t / 4, 0.25) >= 3 and samples_per_set(lambda t: 0.0, 0.1) <= 1e-4
    assert samples_per_set(lambda t: 1 - t / 4, 0.5, most=2.0) == 2.0
    with pytest.raises(ValueError, match=r"the error must reach 0\.25 by t = 2, got 0\.5 there"):
        samples_per_set(lambda t: 1 - t / 4, 0.25, most=2.0)


def test_little_noise_finds_all_and_one_companion_is_a_duel():
    found = noisy_association(12, 3, 0.02)
    assert (found.exact, found.recall, found.auc) == pytest.approx((1, 1, 1), abs=1e-12)
    # D = 2 C = 4, tau = 1: a row is exact when the lower of two own scores beats two strangers.
    drawn = np.random.default_rng(0).standard_normal((400_000, 4))
    counted = (drawn[:, :2].min(1) + 1 > drawn[:, 2:].max(1)).mean()
    row = noisy_association(4, 2, 1.0).exact ** 0.25
    assert row == pytest.approx(counted, abs=6 * math.sqrt(counted / 400_000))


def test_half_of_the_drawn_partitions_vote_on_the_others():
    found = blind_errors(3, 2, n=250, most=10)  # of 15; 250 inputs are one chunk and a quarter
    assert (found.partitions, found.exact, found.blind.n) == (5, False, 250)
    every = blind_errors(3, 2, n=250, most=15)
    assert (every.partitions, every.exact) == (15, True)
    assert found.saved.value == pytest.approx(found.linear.value - found.blind.value)
    # A vote of one, judged by another: larger than the vote of all, which no vote of its own would be.
    assert blind_errors(3, 2, n=4000, most=2).blind.low > blind_errors(3, 2, n=4000, most=15).blind.high


def test_the_first_move_at_few_sets_and_at_every_vote():
    for bad in ((8, 4), (6, 6), (3, 1)):
        with pytest.raises(ValueError, match="at least three sets of at least two patches"):
            FirstMove(*bad, 0.3)
    move = FirstMove(9, 3, 1.0)
    assert -1 < move.margin < 0 and 0 <= move.turn < move.alpha
    low, high = window(9, 3, points=40)
    margins = [FirstMove(9, 3, q).margin for q in (0.95 * low, low, (low + high) / 2, high, 1.05 * high)]
    assert -1 < margins[0] < 0 < margins[2] < 1 and margins[4] < 0
    assert [margins[1], margins[3]] == pytest.approx([0, 0], abs=1e-9)
    equal, block = best_strengths(9, 3, 0.5, degree=5)
    assert equal == FirstMove(9, 3, 0.5, 5).alpha
    risk = PopulationRisk(9, 3, 0.5, 5, linear=0.0)
    slopes = [risk.gradient(block * x, 0.0, 0.0, -40.0)[0] for x in (0.999, 1.001)]
    assert slopes[0] < 0 < slopes[1]


@pytest.mark.parametrize("C", [2, 3, 5])
def test_the_shapes_go_from_some_equal_entries_to_one_more(C):
    """Column by column: from all alike to one entry; then from 1/k at k entries to 1/(k + 1) at k + 1."""
    shapes = _shapes(C, points=11).reshape(C, C, 11)  # (C, families * 11) -> (C, families, 11)
    assert shapes.sum(axis=0) == pytest.approx(np.ones((C, 11)))
    assert shapes[:, 0, 0] == pytest.approx(1 / C) and shapes[:, 0, -1] == pytest.approx(np.eye(C)[0])
    for k in range(1, C):
        for end, entries in ((0, k), (-1, k + 1)):
            assert sorted(shapes[:, k, end]) == pytest.approx([0] * (C - entries) + [1 / entries] * entries)


def test_without_any_weight_both_signs_are_a_tie():
    """Patches of infinite odds count nothing: half of the inputs with an unseen signal set are wrong."""
    t = 1.5
    found = _error(2, 0.3, t, lambda once, random: np.full(once.shape, np.inf), 50, 0)
    assert found.value == pytest.approx(math.exp(-t) / 2, rel=1e-12) and found.low == found.high


@pytest.mark.parametrize(("noise", "variance"), [(0.5, 0.25), (3.0, 9.0), (None, 1 / 8)])
def test_the_cosine_of_a_mean_over_signal_sets(noise, variance):
    assert set_mean_cosine(2, 3, 8, noise) == pytest.approx((1 + variance * 7 / 6) ** -0.5, rel=1e-12)


def test_among_weights_of_equal_error_the_first_is_returned():
    """One set: whatever its weight, the sign is the same."""
    error, weights = search_weights(1, 2, 0.4, largest=3)
    assert weights.tolist() == [1] and error == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("hole", "one_window"), [(None, True), ("before the last", False), ("middle", False)]
)
def test_wins_with_a_hole_are_no_window(monkeypatch, hole, one_window):
    """Companions that win for q in [0.3, 0.8], but for a hole somewhere."""
    grid = np.linspace(0.2, 1.0, 20)
    inside = grid[(grid > 0.3) & (grid < 0.8)]
    lost = {None: -1.0, "before the last": inside[-2], "middle": inside[5]}[hole]

    class Move:
        def __init__(self, D, C, q, degree):
            self.margin = -0.1 if abs(q - lost) < 1e-9 else min(q - 0.3, 0.8 - q)

    monkeypatch.setattr(sign, "FirstMove", Move)
    if one_window:
        assert sign.window(8, 2, points=40) == pytest.approx((0.3, 0.8))
    else:
        with pytest.raises(ValueError, match="are no single window"):
            sign.window(8, 2, points=40)


def test_an_output_of_zero_is_half_an_error():
    X, y = torch.ones(1, 3, 4, 2, dtype=torch.float64), torch.tensor([[1.0, -1.0, 1.0]], dtype=torch.float64)
    S = torch.full((1, 4, 4), 0.25, dtype=torch.float64)
    for entry, wrong in ((0.0, 1.5), (1.0, 1.0), (-1.0, 2.0)):
        value = torch.full((1, 2), entry, dtype=torch.float64)
        assert accumulate(X, y, S, value, 3, 0.1, 1.0).wrong.tolist() == [wrong]
