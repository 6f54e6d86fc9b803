"""The first theory by hand: bounds and constructions from their formulas, and what is recorded when."""

import math

import numpy as np
import pytest
import torch
from small import small_law

from patch_association.data import SpatialData
from patch_association.exact.risk import PopulationRisk
from patch_association.exact.set_sums import SupportTooLarge, support_bound
from patch_association.model import SimplifiedViT
from patch_association.structure import Partition, as_scores, association
from patch_association.training import Constant, HeldOut, recorded_steps
from patch_association.training.population import descend_population
from patch_lab.beyond import row_separation
from patch_lab.beyond.gaussian_data import GaussianData
from patch_lab.setting.labels import labeling_bounds
from patch_lab.transfer.clipped import Clipped
from patch_lab.transfer.many_values import two_numbers

FOUR = Partition([0, 0, 1, 1])
SCATTERED = Partition([0, 1, 2, 0, 1, 2])


# --- partitions and scores


def test_a_stack_of_scores_only_where_a_stack_is_asked_for():
    stack = np.zeros((3, 4, 4))
    assert as_scores(stack, 4, stacked=True).shape == (3, 4, 4)
    for bad in (stack, np.zeros(4), np.zeros((4, 3))):
        with pytest.raises(ValueError, match=r"scores must have shape \(4, 4\)"):
            as_scores(bad, 4)
    assert as_scores(np.eye(4, dtype=bool), 4).dtype == np.float64
    with pytest.raises(ValueError, match="must be real numbers"):
        as_scores(np.eye(4) * 1j, 4)
    holes = np.zeros((4, 4))
    holes[0, 1], holes[2, 3] = np.nan, np.inf
    with pytest.raises(ValueError, match="got 2 NaN or infinite entries"):
        as_scores(holes, 4)


def test_margins_at_the_ends_of_float64():
    """Two scores near the ends of float64 lie infinitely far apart, without a warning."""
    far = np.where(FOUR.same_set, 1e308, -1e308)
    assert association(far, FOUR).margin == math.inf and association(-far, FOUR).margin == -math.inf
    assert row_separation(far, FOUR) == (1.0, 0.0) and row_separation(-far, FOUR) == (0.0, 1.0)


# --- what is drawn


def test_labels_and_signal_sets_are_fair_and_signs_come_with_their_chances():
    data, n = SpatialData(SCATTERED, 4, 0.4), 30_000
    s, y, signal = data.sample_coefficients(n, seed=2)
    spread = 6 / (2 * n**0.5)  # six standard errors of a fair coin: 2e-9
    assert abs((y > 0).mean() - 0.5) < spread and set(np.unique(y)) == {-1.0, 1.0}
    assert all(abs((signal == k).mean() - 1 / 3) < spread for k in range(3))
    outside = s[SCATTERED.labels[None, :] != signal[:, None]]
    assert abs((outside == 1).mean() - 0.2) < spread and abs((outside == -1).mean() - 0.2) < spread
    X, y = data.sample(4000, seed=2)
    noise = X - X @ data.feature.outer(data.feature)
    assert float(noise[..., 1:].std()) == pytest.approx(0.5, rel=6 / (2 * noise[..., 1:].numel()) ** 0.5)


def test_the_threshold_of_the_labels_lies_at_nine_tenths():
    """Sets of ten: nine patches are 0.9 C and say nothing; a little noise in the sum changes no label."""
    data = SpatialData(Partition(np.repeat([0, 1], 10)), 2, 0.5)
    X = torch.zeros(5, 20, 2, dtype=torch.float64)
    X[0, :10, 0], X[1, :9, 0], X[2, 10:, 0] = 1.0, 1.0, -1.0
    X[3, :9, 0] = 1.0 + 1e-9
    X[4, :9, 0] = 9.01 / 9  # above nine tenths by far more than rounding
    assert data.labeling_function(X).tolist() == [10.0, 0.0, -10.0, 0.0, pytest.approx(9.01)]
    assert data.labeling_function(X[:4].float()).tolist() == [10.0, 0.0, -10.0, 0.0]
    # Twenty patches in 8 bits: rounding by 1.8 could be, but 19 lies a whole patch above 18 and counts.
    large = SpatialData(Partition(np.repeat([0, 1], 20)), 2, 0.5)
    X = torch.zeros(1, 40, 2, dtype=torch.bfloat16)
    X[0, :19, 0] = 1.0
    assert large.labeling_function(X).tolist() == [19.0]


def test_filters_are_unit_vectors_and_features_must_be():
    shared, conv = (GaussianData(FOUR, 5, filters=kind).filters for kind in ("shared", "convolution"))
    assert torch.equal(shared[0], shared[1]) and not torch.equal(conv[0], conv[1])
    for W in (shared, conv):
        assert (W.norm(dim=1) - 1).abs().max() < 1e-12
    w = np.array([0.6, 0.8])
    assert SpatialData(FOUR, 2, 0.5, feature=w * (1 + 9e-7)).feature.norm() == pytest.approx(1, abs=1e-14)
    for factor in (1 + 2e-6, 1 - 2e-6):
        with pytest.raises(ValueError, match="feature must be a unit vector"):
            SpatialData(FOUR, 2, 0.5, feature=w * factor)


def test_the_start_of_the_model():
    """By default only v is drawn, with 0.01; a given std is that of the scores, too; scaled by sqrt(d)."""
    plain, drawn = SimplifiedViT(40, 400, seed=1), SimplifiedViT(40, 400, init_std=0.3, seed=1)
    off = ~torch.eye(40, dtype=torch.bool)
    assert not plain.scores[off].any() and not torch.signbit(plain.scores[off]).any()  # not minus zero
    assert (plain.scores.diagonal() == plain.diagonal).all()
    assert float(plain.value.detach().std()) == pytest.approx(0.01, rel=6 / 800**0.5)
    assert float(drawn.scores[off].detach().std()) == pytest.approx(0.3, rel=6 / 3120**0.5)
    assert float(drawn.value.detach().std()) == pytest.approx(0.3, rel=6 / 800**0.5)
    scaled = SimplifiedViT(4, 9, scaled=True, diagonal=3.0)
    assert scaled.attention()[0, 0].item() == pytest.approx(math.e / (math.e + 3))
    assert SimplifiedViT(4, 9, seed=2**64 - 1) is not None
    with pytest.raises(ValueError, match=r"seed must be below 2\^64"):
        SimplifiedViT(4, 9, seed=2**64)


# --- bounds and constructions


def test_the_bounds_on_the_labeling_error_by_hand():
    """C = 11 lets ten through, C = 10 asks for all; three sets, so M = 2."""
    for C, passed in ((10, 0.25**10), (11, 0.25**11 + 11 * 0.5 * 0.25**10)):
        r = 0.25**C
        low, high = labeling_bounds(3 * C, C, 0.5)
        assert low == pytest.approx(2 * r * (1 - 2 * passed), rel=1e-12)
        assert high == pytest.approx(2 * r + (C > 10) * (2 * passed) ** 2 / 2, rel=1e-12)
    assert labeling_bounds(200, 1, 1.0) == (0.0, 1.0)  # a sign a patch: the bounds say nothing


# --- the exact risk


def test_how_many_atoms_and_how_much_may_be_left_out():
    assert support_bound(8, 2, 0.3) == math.comb(3 + 5, 5)  # three random sets of six types
    assert support_bound(8, 2, 1.0) == math.comb(3 + 2, 2)  # no zeros: 2, 0 and -2
    size = PopulationRisk(8, 2, 0.3).probability.size
    assert PopulationRisk(8, 2, 0.3, max_atoms=size).probability.size == size
    with pytest.raises(SupportTooLarge, match=f"needs more than the {size - 1:,} atoms allowed"):
        PopulationRisk(8, 2, 0.3, max_atoms=size - 1)
    pruned = PopulationRisk(16, 2, 0.05, prune=1e-3)
    assert 0 < pruned.lost_mass <= 1e-3 and pruned.probability.sum() == pytest.approx(1 - pruned.lost_mass)
    with pytest.raises(ValueError, match="prune must be at most 1e-3"):
        PopulationRisk(16, 2, 0.05, prune=1.01e-3)
    z = 16 * 0.2
    bound = pruned.lost_mass * (math.log(2) + 16 * (z**3 + pruned.linear * z))
    assert pruned.lost_loss(-0.2, 1.0, 0.0, 0.0) == pytest.approx(bound)
    whole = PopulationRisk(16, 2, 0.05)
    assert 0 <= whole.loss(0.2, 1.0, 0.5, -0.3) - pruned.loss(0.2, 1.0, 0.5, -0.3) <= bound
    assert whole.lost_mass == 0 and whole.nbytes == 7 * 8 * whole.probability.size


# --- descents


def test_clipping_is_by_the_share_of_the_length():
    step = Clipped(0.5, 2.0, clip=0.1)
    assert float(step.share(1.0, 0.2)) == 1.0  # a move of 0.1: as far as allowed
    assert float(step.share(1.0, 0.4)) == pytest.approx(0.5) and float(step.share(0.0, 0.0)) == 1.0
    assert Constant(0.5).share(1.0, 1e9) == 1.0
    assert recorded_steps(0).tolist() == [0] and recorded_steps(7, 3).tolist() == [0, 3, 6, 7]
    risk = PopulationRisk(6, 2, 0.3)
    run = descend_population(risk, step, steps=3, alpha=0.2, gamma=0.3, rho=-0.1)
    for t in range(3):
        gradient = risk.gradient(run.alpha[t], 1.0, run.gamma[t], run.rho[t])
        share = min(1.0, 0.1 * run.alpha[t] / (0.5 * abs(gradient[0])))
        moved = share * np.array([0.5, 2.0 / 6, 2.0 / 24]) * gradient
        after = [run.alpha[t] - moved[0], run.gamma[t] - moved[1], run.rho[t] - moved[2]]
        assert [run.alpha[t + 1], run.gamma[t + 1], run.rho[t + 1]] == pytest.approx(after, rel=1e-12)
        assert run.entry_gradient[t] == pytest.approx(gradient / [1, 6, 24])


def test_the_two_numbers_of_a_value_vector_and_the_error_without_a_prefactor():
    law = small_law()
    v = (
        0.7 * law.feature
        + 0.2 * torch.linalg.qr(torch.stack([law.feature, torch.ones(5).double()], 1))[0][:, 1]
    )
    alpha, tau = two_numbers(v[None], law)
    assert (alpha[0], tau[0]) == pytest.approx((0.7, 0.2 * law.noise_std))
    with pytest.raises(ValueError, match="value must end in the law's 5 dimensions"):
        two_numbers(v[:4], law)
    held, S = (
        HeldOut(law, 200, 1),
        torch.softmax(torch.randn(1, 6, 6, generator=torch.Generator().manual_seed(1)).double(), -1),
    )
    z = (0.7 * held.s + 0.1 * held._noise) @ S[0].T
    for factor, given in ((6, None), (6, 6.0), (1, 1.0)):
        F = held.y * ((factor * z) ** 3 + 0.3 * factor * z).sum(1)
        found = held.errors(S, [0.7], [0.1], linear=0.3, prefactor=given)
        assert float(found) == pytest.approx(float((F < 0).double().mean()))
    assert not torch.equal(held._noise, HeldOut(law, 200, 2)._noise)


# --- learners and their training
