"""The noise of single scores: against plain enumeration, autograd, the population risk, and real runs."""

import numpy as np
import pytest
import torch
from enumeration import positive_inputs

from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition, association
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.lifetime import ScoreNoise, order_of_scores
from patch_lab.kit import records

HERE = (0.2, 0.5, -0.3)  # alpha, gamma, rho


def loss(scores, alpha, s, p=3, nu=0.01):
    """log(1 + exp(-F)) of one input with y = +1, written apart from the library."""
    D = len(s)
    z = D * alpha * torch.softmax(scores, dim=1) @ s
    return torch.log1p(torch.exp(-(z**p + nu * z).sum()))


@pytest.fixture(scope="module")
def enumerated():
    """Mean and second moment of the gradient of one input, and Hessian of the mean: (4, 2), by autograd."""
    D, C, q, (alpha, gamma, rho) = 4, 2, 0.4, HERE
    off = ~np.eye(D, dtype=bool)
    A = torch.full((D, D), rho, dtype=torch.float64)
    A[:2, :2] = A[2:, 2:] = gamma
    A.fill_diagonal_(1.0)
    at = torch.cat([A[off], torch.tensor([alpha], dtype=torch.float64)])

    def of(x, s):
        scores = torch.eye(D, dtype=torch.float64)
        return loss(scores.index_put(torch.nonzero(torch.from_numpy(off), as_tuple=True), x[:-1]), x[-1], s)

    mean, second, hessian = 0.0, 0.0, 0.0
    for s, chance in zip(*map(torch.from_numpy, positive_inputs(D, C, q))):
        g = torch.autograd.functional.jacobian(lambda x, s=s: of(x, s), at)
        mean, second = mean + chance * g, second + chance * torch.outer(g, g)
        hessian = hessian + chance * torch.autograd.functional.hessian(lambda x, s=s: of(x, s), at)
    return mean.numpy(), second.numpy(), hessian.numpy()


def test_gradient_and_hessian_are_those_of_plain_enumeration(enumerated):
    mean, second, hessian = enumerated
    noise = ScoreNoise(4, 2, 0.4)
    gradient, ours = noise.moments(*HERE)
    np.testing.assert_allclose(ours, hessian, atol=1e-12)
    P = len(noise.inside)
    average = noise.probability @ gradient
    np.testing.assert_allclose(noise._spread(average[:P]), mean[:P], atol=1e-14)
    weighted = np.sqrt(noise.probability)[:, None] * gradient[:, :P]
    np.testing.assert_allclose(noise._symmetrized(weighted.T @ weighted), second[:P, :P], atol=1e-14)


def test_hessian_is_that_of_the_population_risk():
    noise, risk, e = ScoreNoise(12, 4, 0.3), PopulationRisk(12, 4, 0.3), 1e-5
    alpha, gamma, rho = HERE
    _, hessian = noise.moments(*HERE)
    ends = [risk.gradient(alpha, 1.0, gamma + x, rho) for x in (e, -e)]
    by_gamma = (ends[0] - ends[1]) / (2 * e)
    moved = hessian @ np.append(noise.inside, 0.0)
    ours = [moved[-1], moved[:-1][noise.inside].sum(), moved[:-1][~noise.inside].sum()]
    np.testing.assert_allclose(ours, by_gamma, rtol=1e-6)


def test_noise_is_that_of_the_recorded_runs():
    """Eight seeds at N = 64,000: the root mean square gap of 240 scores, nothing fitted.

    Measured over 7 steps from 20 to 120 the largest difference is 3%, with a spread over seeds of about 4%.
    """
    runs = records.load("coupling").where(part="samples", n=64_000).column("entry_rms")  # (8, 25)
    path = descend_population(PopulationRisk(16, 4, 0.4), Constant(0.02), steps=120, record=1, progress=False)
    found = ScoreNoise(16, 4, 0.4).deviations(path, at=range(0, 121, 20))
    predicted = np.array([at.rms() for at in found[1:]])
    measured = np.sqrt(64_000 * (runs**2).mean(axis=0))[4::4]
    np.testing.assert_allclose(measured, predicted, rtol=0.15)
    assert found[0].rms() == 0 and found[0].amplified() == 1


def test_drawn_scores_have_the_predicted_spread_and_lead_to_association():
    noise = ScoreNoise(9, 3, 0.3)
    path = descend_population(PopulationRisk(9, 3, 0.3), Constant(0.02), steps=60, record=1, progress=False)
    (at,) = noise.deviations(path)
    drawn = noise.draw_scores(at, n=500, draws=400, seed=1)
    strays = (drawn - np.where(noise.partition.same_set, at.gamma, at.rho))[:, noise.pairs[0], noise.pairs[1]]
    # 400 draws of 72 scores that are alike in two kinds: a relative error of a few percent, 10 sigma apart.
    assert np.sqrt(500 * (strays**2).mean()) == pytest.approx(at.rms(), rel=0.2)
    assert abs(strays.mean()) < 6 * at.rms() / np.sqrt(500 * 400)
    assert association(noise.draw_scores(at, 10**5, draws=3), noise.partition).exact.all()
    assert (noise.draw_scores(at, 50, draws=2) == noise.draw_scores(at, 50, draws=2)).all()


def test_lead_spread_and_failures_are_counted_on_a_table_of_four_patches():
    A = [
        [5, 1, 0, 0],
        [3, 5, 0, 4],  # a stranger above the companion
        [0, 0, 5, 2],
        [0, 0, 2, 5],
    ]
    lead, spread, failing = order_of_scores(A, Partition(np.array([0, 0, 1, 1])))
    assert (lead, spread, failing) == pytest.approx((2 - 4 / 8, np.std([1, 3, 2, 2]), 1))
