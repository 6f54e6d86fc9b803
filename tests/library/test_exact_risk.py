"""The exact population risk against enumeration, finite differences and its own symmetries."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_enumeration import enumerated, family_scores, outcomes
from scipy.special import expit

from patch_association.data import random_feature
from patch_association.exact import risk as risk_module
from patch_association.exact.risk import PopulationRisk
from patch_association.exact.set_sums import SupportTooLarge, law_of_set_sums, set_types, support_bound
from patch_association.structure import Partition

POINTS = [  # (alpha, beta, gamma, rho): the start, both signs of everything, large scores, equal scores
    (0.1, 1.0, 0.0, 0.0),
    (0.21, 1.0, 0.7, -0.3),
    (-0.15, 2.0, -0.4, 0.6),
    (0.05, 4.0, 3.9, -2.0),
    (0.3, 0.0, 0.0, 0.0),
]
score = st.floats(-4, 4)
size = st.sampled_from([(2, 1), (4, 2), (6, 2), (6, 3), (4, 4), (8, 2), (12, 4), (16, 4)])


SMALL = [(6, 2, 0.3), (8, 2, 0.5), (9, 3, 0.2), (4, 4, 0.4), (4, 1, 0.6), (6, 2, 1.0), (6, 3, 0.0)]


@pytest.mark.parametrize("D, C, q", SMALL)
@pytest.mark.parametrize("degree", [3, 5])
def test_equals_enumeration_with_autograd_over_every_parameter(D, C, q, degree):
    partition = Partition.random(D, C, seed=1)
    law = outcomes(partition, q)
    assert abs(law[2].sum().item() - 1) < 1e-12
    w = random_feature(3, seed=2)
    same = torch.from_numpy(partition.same_set)
    inside, outside = same & ~torch.eye(D, dtype=torch.bool), ~same
    risk = PopulationRisk(D, C, q, degree=degree, linear=0.02)
    assert risk.lost_mass == 0 and abs(risk.probability.sum() - 1) < 1e-12
    for alpha, beta, gamma, rho in POINTS:
        A = family_scores(partition, beta, gamma, rho)
        loss, dA, dv, yF, p = enumerated(partition, law, degree, 0.02, A, alpha * w, w)
        assert risk.loss(alpha, beta, gamma, rho) == pytest.approx(loss, rel=1e-12, abs=0)
        # The size of the terms that cancel in a gradient: what 1e-9 is relative to where it vanishes.
        gradient = risk.gradient(alpha, beta, gamma, rho)
        expected = [(dv @ w).item(), dA[inside].sum().item(), dA[outside].sum().item()]
        for ours, theirs, floor in zip(gradient, expected, (1e-12, 1e-13, 1e-13)):
            assert ours == pytest.approx(theirs, rel=1e-9, abs=floor)
        # Lemma 4.1: one value per family; Lemma 4.2: nothing off w*.
        for family in (inside, outside):
            if family.any():
                entries = dA[family]
                assert (entries.max() - entries.min()).item() <= 1e-13 * max(1.0, entries.abs().max().item())
        assert (dv - (dv @ w) * w).abs().max().item() <= 1e-12 * max(1.0, dv.abs().max().item())
        # The law of y F itself, and the error with exact ties.
        ours_F, ours_p = risk.predictions(alpha, beta, gamma, rho)
        for x in (-1.0, -1e-6, 1e-6, 0.05, 1.0):
            assert ours_p[ours_F <= x].sum() == pytest.approx(p[yF <= x].sum().item(), abs=1e-12)
        tie = yF.abs() < 1e-12
        error = p[(yF < 0) & ~tie].sum() + p[tie].sum() / 2
        assert risk.error(alpha, beta, gamma, rho) == pytest.approx(error.item(), abs=1e-12)


@settings(max_examples=60)
@given(size, st.floats(0, 1), st.sampled_from([3, 5, 7]), st.floats(-0.4, 0.4), score, score, score)
def test_gradient_is_the_derivative_of_the_loss(size, q, degree, alpha, beta, gamma, rho):
    D, C = size
    risk = PopulationRisk(D, C, q, degree=degree, linear=0.1)
    alpha = alpha * 4 / D  # keeps D alpha moderate, where a finite difference is worth something
    point = np.array([alpha, gamma, rho])
    gradient = risk.gradient(alpha, beta, gamma, rho)
    assert gradient.shape == (3,) and np.isfinite(gradient).all()

    def loss(x):
        return risk.loss(x[0], beta, x[1], x[2])

    for k, h in enumerate((1e-4 / D, 1e-4, 1e-4)):
        e = np.eye(3)[k] * h
        # Fourth order in h.
        near, far = loss(point + e) - loss(point - e), loss(point + 2 * e) - loss(point - 2 * e)
        slope = (8 * near - far) / (12 * h)
        scale = max(1.0, abs(risk.loss(alpha, beta, gamma, rho)))
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=3e-11 * scale / h)


def test_blocks_are_only_a_way_of_summing():
    risk = PopulationRisk(24, 4, 0.2)
    # several blocks, the last one short
    assert risk.probability.size > 5 * risk_module._BLOCK / len(risk.names)
    for alpha, beta, gamma, rho in POINTS:
        F, p = risk.predictions(alpha, beta, gamma, rho)
        loss, gradient = risk.loss_and_gradient(alpha, beta, gamma, rho)
        weights, slopes = risk.weights_and_slopes(alpha, beta, gamma, rho)
        assert F == pytest.approx(weights @ risk.support, rel=1e-12, abs=1e-12)
        assert loss == pytest.approx(p @ np.logaddexp(0, -F), rel=1e-13) == risk.loss(alpha, beta, gamma, rho)
        whole = -slopes @ (risk.support @ (p * expit(-F)))
        assert gradient == pytest.approx(whole, rel=1e-11, abs=1e-13)
        assert (risk.gradient(alpha, beta, gamma, rho) == gradient).all()


def test_ties_are_found_exactly():
    # With all scores equal F sees M alone: the error is that of the majority vote.
    risk = PopulationRisk(16, 4, q=0.3)
    M, p = risk.support[risk.names.index("P1")], risk.probability
    vote = p[M < 0].sum() + p[M == 0].sum() / 2
    for scores in [(0.0, 0.0, 0.0), (0.1, 0.1, 0.1), (1.7, -0.4, -0.4)]:
        # gamma = rho keeps every term a multiple of M.
        assert risk.error(0.1, *scores) == pytest.approx(vote, abs=1e-15)
    # Otherwise only the atoms whose every term vanishes are ties.
    mirrored = p[(risk.support == 0).all(axis=0)].sum()
    F, _ = risk.predictions(0.1, 1.3, 0.9, -0.2)
    assert risk.error(0.1, 1.3, 0.9, -0.2) == pytest.approx(p[F < 0].sum() + mirrored / 2, abs=1e-15)
    assert mirrored > 1e-5
    # Whole-number weights (attention 1 : 3 : 1, no linear part) tie by arithmetic, not by symmetry:
    # in float64 such an F is a rounding error away from zero.
    risk = PopulationRisk(6, 2, q=0.5, linear=0.0)
    s, y, p = outcomes(partition := Partition.random(6, 2), 0.5)
    W = torch.round(torch.exp(family_scores(partition, 0.0, math.log(3), 0.0)))
    yF = y * (s @ W).pow(3).sum(dim=1)  # whole numbers: exact
    point = (0.1, 0.0, math.log(3), 0.0)
    F, _ = risk.predictions(*point)
    assert ((F != 0) & (abs(F) < 1e-12)).any()
    assert risk.error(*point) == pytest.approx((p[yF < 0].sum() + p[yF == 0].sum() / 2).item(), abs=1e-12)


@pytest.mark.parametrize("D, C, q, degree", [(24, 4, 0.2, 3), (24, 4, 0.2, 5), (36, 4, 0.2, 3)])
def test_pruning_loses_what_it_says(D, C, q, degree):
    whole = PopulationRisk(D, C, q, degree=degree)
    assert whole.lost_mass == 0
    for prune in (1e-6, 1e-9, 1e-12):
        pruned = PopulationRisk(D, C, q, degree=degree, prune=prune)
        assert 0 < pruned.lost_mass <= prune
        assert pruned.probability.size < whole.probability.size
        assert 1 - pruned.probability.sum() == pytest.approx(pruned.lost_mass, abs=1e-13)
        for point in [(0.1, 1.0, 0.0, 0.0), (0.08, 1.0, 2.0, -0.3)]:
            assert abs(pruned.loss(*point) - whole.loss(*point)) <= pruned.lost_loss(*point) + 1e-13
            assert abs(pruned.error(*point) - whole.error(*point)) <= pruned.lost_mass + 1e-13


def test_default_pruning_keeps_nine_digits():
    # (40, 4) is the smallest size at q = 0.2 that the default prunes; held to a law pruned far less.
    ours, finer = PopulationRisk(40, 4, 0.2), PopulationRisk(40, 4, 0.2, prune=1e-18)
    assert 0 < ours.lost_mass <= 1e-13 and ours.probability.size < finer.probability.size
    for point in [(0.1, 1.0, 0.0, 0.0), (0.02, 1.0, 0.0, 0.0), (0.08, 1.0, 1.5, -0.3), (0.05, 4, 2.9, -0.2)]:
        loss, gradient = ours.loss_and_gradient(*point)
        finer_loss, finer_gradient = finer.loss_and_gradient(*point)
        assert loss == pytest.approx(finer_loss, rel=1e-9)
        assert gradient == pytest.approx(finer_gradient, rel=1e-9)


def test_law_of_set_sums():
    n, r, p = set_types(4, 0.3)
    assert p.sum() == pytest.approx(1, rel=1e-14) and len(p) == 15
    assert (p * r).sum() == pytest.approx(4 * 0.3) and (p * n * n).sum() == pytest.approx(4 * 0.3)
    law = law_of_set_sums(16, 4, 0.3, 3, prune=0.0, max_atoms=10**6)
    assert law.size == 663 <= support_bound(16, 4, 0.3) == 680
    # First and second moments of independent patches: M = 4 + 12 fair draws, R = 4 + Binomial(12, q).
    sums = law.power_sums
    assert law.probability @ sums["P1"] == pytest.approx(4)
    assert law.probability @ sums["Q0"] == pytest.approx(4 + 3.6)
    assert law.probability @ (sums["P1"] - 4) ** 2 == pytest.approx(3.6)
    # A power that needs several words a key gives the same law of the small powers.
    wide = law_of_set_sums(16, 4, 0.3, 9, prune=0.0, max_atoms=10**6)
    for name in sums:
        squares = wide.probability @ wide.power_sums[name] ** 2
        assert squares == pytest.approx(law.probability @ sums[name] ** 2)


def test_how_many_atoms_and_how_much_may_be_left_out():
    assert support_bound(8, 2, 0.3) == math.comb(3 + 5, 5)  # three random sets of six types
    assert support_bound(8, 2, 1.0) == math.comb(3 + 2, 2)  # no zeros: 2, 0 and -2
    size = PopulationRisk(8, 2, 0.3).probability.size
    assert PopulationRisk(8, 2, 0.3, max_atoms=size).probability.size == size
    for law, said in (
        (dict(max_atoms=size - 1), f"needs more than the {size - 1:,} atoms allowed"),
        (dict(max_atoms=1000, num_patches=24, set_size=4), r"1,000 atoms allowed.*of at most 11,?6\d\d"),
        (dict(num_patches=60, set_size=30, degree=13), "64-bit"),
        (dict(prune=1.01e-3), "prune must be at most 1e-3"),
    ):
        with pytest.raises(SupportTooLarge if "atoms" in said else ValueError, match=said):
            PopulationRisk(**dict(num_patches=8, set_size=2, q=0.3, prune=0.0) | law)
    pruned, z = PopulationRisk(16, 2, 0.05, prune=1e-3), 16 * 0.2
    bound = pruned.lost_mass * (math.log(2) + 16 * (z**3 + pruned.linear * z))
    assert pruned.lost_loss(-0.2, 1.0, 0.0, 0.0) == pytest.approx(bound)
    whole = PopulationRisk(16, 2, 0.05)
    assert 0 <= whole.loss(0.2, 1.0, 0.5, -0.3) - pruned.loss(0.2, 1.0, 0.5, -0.3) <= bound
    assert whole.lost_mass == 0 and whole.nbytes == 7 * 8 * whole.probability.size


def test_far_points_are_refused_or_finite():
    risk = PopulationRisk(6, 2, 0.3)
    with pytest.raises(ValueError, match="alpha must leave"):
        risk.loss(1e150, 1.0, 0.0, 0.0)
    assert all(np.isfinite(risk.gradient(0.1, beta, -beta, 0.0)).all() for beta in (900.0, -900.0))
