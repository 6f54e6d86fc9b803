"""Rows of one set against each other, against the risk summed over everything that can happen."""

import numpy as np
import pytest
import torch
from enumeration import positive_inputs
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar

from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT
from patch_association.exact.risk import PopulationRisk
from patch_association.model import polynomial_activation
from patch_association.structure import Partition
from patch_association.training import Constant, descend_population
from patch_lab.beyond import blank_rows, count_specialists, hard_ends, over_heads, set_masses, sets_read
from patch_lab.dynamics.lifetime import ScoreNoise
from patch_lab.dynamics.rows import choosing_rate, growth_rates, row_shapes, row_spread

SETS = Partition(np.repeat(np.arange(3), 3))
Q = 0.4


def hessian_times(direction, alpha, gamma, rho, diagonal):
    """The Hessian of the population risk by the scores times a direction (D, D), by autograd."""
    D = SETS.num_patches
    X, mass = map(torch.from_numpy, positive_inputs(9, 3, Q))
    A = torch.from_numpy(np.where(SETS.same_set, float(gamma), float(rho))).fill_diagonal_(diagonal)

    def risk(A):
        z = D * alpha * (X @ torch.softmax(A, dim=1).T)  # (n, D)
        F = polynomial_activation(z, DEFAULT.degree, DEFAULT.linear).sum(dim=1)
        return (mass * torch.nn.functional.softplus(-F)).sum()

    found = torch.autograd.functional.hvp(risk, A, torch.from_numpy(direction))[1].numpy()
    return np.where(np.eye(D, dtype=bool), 0, found)


def test_the_hessian_keeps_differences_of_rows_among_themselves():
    noise, at = ScoreNoise(9, 3, Q), (0.2, 0.5, -0.1)
    shapes, H = row_shapes(noise), noise.moments(*at)[1][:-1, :-1]
    assert shapes.shape == (6, 72, 4)
    V, W = shapes[0], shapes[-1]
    K = V.T @ H @ V
    np.testing.assert_allclose(W.T @ H @ W, K, atol=1e-14)
    for vector, coefficients in zip(V.T, K):
        direction = np.zeros((9, 9))
        direction[noise.pairs] = vector
        np.testing.assert_allclose(
            hessian_times(direction, *at, 1.0)[noise.pairs], V @ coefficients, atol=1e-13
        )


def test_growth_rates_are_those_of_the_two_parts_of_the_whole_hessian():
    noise, at = ScoreNoise(9, 3, Q), (0.3, 0.6, -0.2)
    H = np.zeros((72, 72))
    for k, (i, j) in enumerate(zip(*noise.pairs)):
        direction = np.zeros((9, 9))
        direction[i, j] = 1.0
        H[k] = hessian_times(direction, *at, 1.0)[noise.pairs]
    span = np.concatenate(list(row_shapes(noise)), axis=1)  # (72, 24)
    for rates, basis in zip(growth_rates(noise, *at, others=5), (span, null_space(span.T))):
        expected = -np.linalg.eigvalsh(basis.T @ H @ basis)
        np.testing.assert_allclose(rates, expected[: np.size(rates)], atol=1e-12)


def test_hard_ends_are_those_of_a_sum_over_all_coefficients():
    s, chance = positive_inputs(6, 2, Q, anywhere=False)
    sets = s.reshape(-1, 3, 2).sum(axis=2)
    for end in hard_ends(6, 2, Q):
        read = np.repeat(sets / 2, end.readers, axis=1)  # (n, 3 readers)
        heard = np.concatenate([read, np.repeat(s.mean(axis=1, keepdims=True), end.blank, axis=1)], axis=1)

        def F(alpha, heard=heard):
            z = 6 * alpha * heard
            return (z**3 + DEFAULT.linear * z).sum(axis=1)

        best = minimize_scalar(
            lambda alpha, F=F: chance @ np.logaddexp(0, -F(alpha)), bounds=(0, 1), options={"xatol": 1e-9}
        )
        assert end.loss == pytest.approx(best.fun, abs=1e-12)
        margin = F(best.x).round(9)
        assert end.error == pytest.approx(chance @ ((margin < 0) + (margin == 0) / 2), abs=1e-12)
    assert [(end.readers, end.blank) for end in hard_ends(6, 2, Q)] == [(1, 3), (2, 0)]


@pytest.mark.parametrize("alpha", [0.1, 0.4, 0.9])
def test_at_a_diagonal_of_zero_a_preference_is_an_eigenvector(alpha):
    # Two rows of set 0 that prefer sets 1 and 2 in opposite ways: rows and columns add up to zero.
    c = np.zeros((9, 3))
    c[0], c[2] = (0, 1, -1), (0, -1, 1)
    direction = np.where(SETS.same_set, 0.0, c[:, SETS.labels])
    rate = choosing_rate(9, 3, Q, alpha)
    np.testing.assert_allclose(hessian_times(direction, alpha, 0, 0, 0.0), -rate * direction, atol=1e-13)
    assert (rate > 0) == (alpha < 0.5)


def test_the_spread_of_rows_is_that_of_drawn_noise():
    """From a noisy start, without batches: what the linear map makes of 4,000 drawn starts."""
    noise = ScoreNoise(9, 3, Q)
    path = descend_population(
        PopulationRisk(9, 3, Q), Constant(0.005, score_rate=0.4), steps=30, record=1, progress=False
    )
    told = row_spread(noise, path, points=31)
    moved = noise.deviations(path, at=[30])[0].start  # (P, P)
    starts = np.random.default_rng(0).standard_normal((4000, len(moved))) * 0.01
    A = np.zeros((4000, 9, 9))
    A[:, noise.pairs[0], noise.pairs[1]] = starts @ moved.T
    off = SETS.same_set & ~np.eye(9, dtype=bool)
    margins = A.mean(axis=2, where=off) - A.mean(axis=2, where=~SETS.same_set)  # (4000, D)
    variance = margins.reshape(4000, 3, 3).var(axis=2, ddof=1).mean()
    # 4,000 x 6 squares have a relative standard deviation of one percent; ten of them are allowed, as K is
    # interpolated.
    assert told.by_start[30] * 0.01**2 == pytest.approx(variance, rel=0.1)
    assert told.gain[30] > 1 and told.by_start[0] == pytest.approx(1 / 2 + 1 / 6)


def test_the_noise_of_a_batch_is_that_of_drawn_batches():
    """One step from the exact start: the gradients of 3,000 batches of twenty drawn inputs."""
    noise, (alpha, batch, draws) = ScoreNoise(9, 3, Q), (0.1, 20, 3000)
    how = dict(steps=1, record=1, progress=False, alpha=alpha)
    path = descend_population(PopulationRisk(9, 3, Q), Constant(0.005, score_rate=0.5), **how)
    data = SpatialData(SETS, 9, Q)
    X, y = data.sample(draws * batch, seed=1)
    coefficients = (X @ torch.as_tensor(data.feature)).round().reshape(draws, batch, 9)
    scores = torch.eye(9, dtype=torch.float64).expand(draws, 9, 9).clone().requires_grad_()
    z = 9 * alpha * coefficients @ torch.softmax(scores, dim=-1).mT  # (draws, batch, D)
    F = polynomial_activation(z, DEFAULT.degree, DEFAULT.linear).sum(dim=-1)
    torch.nn.functional.softplus(-y.reshape(draws, batch) * F).mean(dim=1).sum().backward()
    A = -0.5 * scores.grad.numpy()
    off = SETS.same_set & ~np.eye(9, dtype=bool)
    margins = A.mean(axis=2, where=off) - A.mean(axis=2, where=~SETS.same_set)
    variance = margins.reshape(draws, 3, 3).var(axis=2, ddof=1).mean()
    # 3,000 x 6 squares: a relative standard deviation of some one percent, seven of them are allowed.
    assert row_spread(noise, path, points=2).spread(batch)[1] ** 2 == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: row_shapes(ScoreNoise(6, 2, Q)), "four shapes from two sets of three on, got 3 sets of 2"),
        (lambda: choosing_rate(8, 4, Q, 0.1), "two foreign sets from three sets on, got 2"),
        (lambda: sets_read(np.ones((2, 2)) / 2, least=0.5), "least must lie above 0.5"),
    ],
)
def test_what_has_no_meaning_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rows_are_counted_by_what_they_pay_each_set():
    S = np.full((9, 9), 1 / 9)
    S[4] = np.where(SETS.labels == 1, 0.3, 0.1 / 6)
    S[8] = np.where(SETS.labels == 0, 0.2, 0.4 / 6)
    masses = set_masses(S[None], SETS)
    assert masses.shape == (1, 9, 3) and np.allclose(masses.sum(axis=-1), 1)
    assert sets_read(masses, 0.55)[0].tolist() == [-1, -1, -1, -1, 1, -1, -1, -1, 0]
    assert blank_rows(masses)[0].tolist() == [True] * 4 + [False] + [True] * 3 + [False]
    assert count_specialists(np.stack([masses, masses]), SETS, 0.55) == (4, 2)  # row 8 reads a foreign set


def test_a_network_has_what_one_of_its_heads_has():
    exact = [[[False, True], [False, False]], [[False, False], [False, False]]]  # (R, layers, heads)
    assert over_heads(exact).tolist() == [True, False] and over_heads([0.2, 0.1]).tolist() == [0.2, 0.1]
