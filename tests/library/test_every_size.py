"""What holds at every size, against sums over everything that can happen at tiny sizes."""

from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest
import torch
from enumeration import positive_inputs
from scipy.special import expit
from scipy.stats import poisson

from patch_association.defaults import DEFAULT
from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.every_size import (
    RowRates,
    Sparse,
    count_minimal,
    derivative_bounds,
    dominates,
    horizon,
)
from patch_lab.dynamics.lifetime import ScoreNoise
from patch_lab.dynamics.valley import score_drift


def loss_at(s, chance, nu):
    """The population risk as a function of all scores and alpha."""
    X, mass = torch.from_numpy(s), torch.from_numpy(chance)

    def loss(A, alpha):
        z = A.shape[0] * alpha * (X @ torch.softmax(A, dim=1).T)
        return (mass * torch.nn.functional.softplus(-(z**3 + nu * z).sum(dim=1))).sum()

    return loss


def rates_of(s, chance, C, alpha, nu):
    """(mu, lambda, mu', lambda') by plain means; companions 0 and 1, sets 0 and 1, over all relabelings."""
    D, M = s.shape[1], s.sum(axis=1)
    n = s.reshape(len(s), -1, C).sum(axis=2)
    pairs = [(i, j) for i, j in combinations(range(D), 2) if i // C == j // C]
    within = np.mean([(s[:, i] - s[:, j]) ** 2 / 2 for i, j in pairs], axis=0)
    between = np.mean([(n[:, a] - n[:, b]) ** 2 for a, b in combinations(range(D // C), 2)], axis=0) / (2 * C)
    x = alpha * M
    w, right = expit(-D * (x**3 + nu * x)), expit(D * (x**3 + nu * x))
    curved, steep = w * 6 * x, w * right * (3 * x**2 + nu) ** 2
    return [alpha**2 * chance @ (weight * apart) for weight in (curved, steep) for apart in (within, between)]


@pytest.mark.parametrize(("C", "L", "q"), [(2, 3, 0.4), (2, 4, 0.9), (3, 3, 0.2), (2, 3, 1.0)])
def test_rates_of_rows_are_sums_over_all_inputs(C, L, q):
    D, rates = C * L, RowRates(C * L, C, q)
    s, chance = positive_inputs(D, C, q)
    for alpha in (0.01, 0.3, 0.8):
        mu, lam = rates_of(s, chance, C, alpha, 0.0)[:2]
        u = D * alpha**3
        assert 6 * alpha**3 * rates.within(u) == pytest.approx(mu, rel=1e-10, abs=1e-16)
        assert 6 * alpha**3 * rates.between(u) == pytest.approx(lam, rel=1e-10, abs=1e-16)
    zeros = [rates.zero(one) for one in (rates.within, rates.between, rates.first.delta)]
    assert zeros[1] == sorted(zeros)[1]
    assert np.isinf(zeros[0]) == ((C, L, q) == (2, 3, 1.0))


@pytest.mark.parametrize("C", [2, 4])
@pytest.mark.parametrize("degree", [3, 5])
def test_rows_at_the_best_alpha(C, degree):
    """Few features: only single patches compete, at three sets; many: all; between: Poisson."""
    for L in (3, 4, 6):
        n, tiny = C * (L - 1), RowRates(C * L, C, 1e-3, degree)
        u, narrow = tiny.first.strength, tiny.first._laws[0].at(-1)
        within = -(1 - 1 / L) * (2 * n - 4 * C) / (n * (n - 1))
        between = within - C / L * (4 / n + (4 * C - 2) / (n * (n - 1)))
        assert tiny.within(u) / narrow == pytest.approx(within, abs=0.01)
        assert tiny.between(u) / narrow == pytest.approx(between, abs=0.06)
        assert (tiny.within(u) > 0) == (L == 3) and tiny.between(u) < 0
    for q in (0.2, 0.7, 1.0):
        many = RowRates(100 * C, C, q, degree)
        assert min(many.within(many.first.strength), many.between(many.first.strength)) > 0
    for lam in (0.3, 4.0):
        limit, D = Sparse(C, lam, degree), 2000 * C
        near = RowRates(D, C, lam / (D - C), degree)
        u = near.first.strength
        assert u == pytest.approx(limit.strength, rel=2e-3)
        assert D * near.within(u) == pytest.approx(limit.within, rel=0.02)
        assert D * near.between(u) == pytest.approx(limit.between, rel=0.02)


def test_velocities_of_scores_tend_to_the_limit_like_one_over_D():
    C, lam, beta = 2, 1.5, 0.7
    limit = Sparse(C, lam)
    for u, gamma in ((limit.strength, 0.0), (0.4, 0.5), (0.3, -0.4)):
        told = limit.velocity(u, gamma, beta)
        off, outside = [], []
        for D in (40, 80):
            risk = PopulationRisk(D, C, lam / (D - C), linear=0.0, prune=1e-12)
            inside, other = score_drift(risk, (u / D) ** (1 / 3), beta, gamma)
            off.append(D**2 * inside - told)
            outside.append(D**2 * other)
        assert abs(2 * off[1] - off[0]) < 0.2 * abs(off[0])  # the order 1 / D cancels
        assert abs(off[1]) < 0.7 * abs(off[0]) and abs(outside[1]) < 0.7 * abs(outside[0])


@pytest.mark.parametrize(("C", "lam", "degree"), [(4, 0.3, 3), (2, 0.9, 3), (3, 2.0, 5), (2, 4.0, 7)])
def test_the_lead_grows_without_end_where_its_condition_holds(C, lam, degree):
    """The bound of the proof, with Poisson sums that are added up by hand."""
    limit = Sparse(C, lam, degree)
    assert limit.gain >= 0
    rest = np.arange(-60, 61)
    chance = np.convolve(*(poisson.pmf(np.arange(61), lam / 2)[::sign] for sign in (1, -1)))[:121]
    for u in (limit.strength, limit.strength / 3):
        w = expit(-u * (C + rest.astype(float)) ** degree)
        for beta in (0.1, 1.5):
            for gamma in (0.0, 0.2, 1.0, 4.0):
                x, eps = np.expm1(gamma), np.expm1(beta)
                least = C * eps ** (degree - 1) * chance @ w + x ** (degree - 1) * chance @ (w * (C + rest))
                assert limit.velocity(u, gamma, beta) >= degree * u * np.exp(gamma) * least > 0
    rare = Sparse(C, 0.05)
    assert rare.gain < 0 < rare.velocity(rare.strength, 0.0, 1e-5)
    assert min(rare.velocity(rare.strength, g, 1e-5) for g in np.geomspace(1e-4, 1, 30)) < 0


def test_a_kind_is_left_out_as_often_as_it_is_alone():
    """E P[no seen kind is below a fresh one] = E[U] / (N + 1), every sample of every order, in fractions."""
    kinds = [(1, 2, 0), (1, 2, 1), (1, 3, 1), (-1, 2, 0)]
    chances = [Fraction(k, 10) for k in (1, 2, 3, 4)]
    for below in (dominates, lambda a, b: a == b):
        for N in (1, 2, 3):
            fresh = alone = Fraction(0)
            for drawn in product(range(4), repeat=N + 1):
                chance, seen = prod((chances[k] for k in drawn), start=Fraction(1)), [kinds[k] for k in drawn]
                fresh += chance * (not any(below(kind, seen[-1]) for kind in seen[:-1]))
                alone += chance * count_minimal(seen, below)
            assert fresh == alone / (N + 1)


@pytest.mark.parametrize("tokens", [2, 3, 4, 5])
def test_the_widest_set_of_incomparable_kinds(tokens):
    kinds = [(y, a, b) for y in (1, -1) for a in range(tokens + 1) for b in range(tokens + 1 - a) if a > b]
    for y in (1, -1):
        own = [kind for kind in kinds if kind[0] == y]
        widest = max(
            (
                len(some)
                for r in range(1, 5)
                for some in combinations(own, r)
                if count_minimal(some, dominates) == r
            ),
            default=0,
        )
        assert widest == (tokens + 1) // 2


def test_derivatives_of_one_input_stay_below_their_bounds():
    D, top, rate, score_rate = 4, 0.4, 0.02, 0.3
    K2, K3 = derivative_bounds(D, top, rate, score_rate)
    rng, largest = np.random.default_rng(1), [0.0, 0.0]
    for _ in range(300):
        s, A = (
            torch.from_numpy(rng.integers(-1, 2, D).astype(float)),
            torch.from_numpy(rng.normal(size=(D, D))),
        )
        B, a = rng.normal(size=(D, D)) * (rng.random((D, D)) < 0.3), rng.normal()
        np.fill_diagonal(B, 0)
        size = np.sqrt((B**2).sum() + a**2)
        B, a = torch.from_numpy(B / size * score_rate**0.5), a / size * rate**0.5

        def along(t, s=s, A=A, B=B, a=a):
            z = D * (0.99 * top + t * a) * (torch.softmax(A + t * B, dim=1) @ s)
            return torch.nn.functional.softplus(-(z**3 + DEFAULT.linear * z).sum())

        t = torch.zeros((), dtype=torch.float64, requires_grad=True)
        value = along(t)
        found = []
        for _ in range(3):
            (value,) = torch.autograd.grad(value, t, create_graph=True)
            found.append(abs(float(value.detach())))
        largest = np.maximum(largest, found[1:])
    assert largest[0] < K2 and largest[1] < K3


def test_the_third_derivative_of_the_activation_counts():
    """At alpha = 0 and all signs +1 a step of alpha leaves nothing else."""
    D = 4
    K3 = derivative_bounds(D, 1e-6, 1.0, 1e-12)[1]
    t = torch.zeros((), dtype=torch.float64, requires_grad=True)
    value = torch.nn.functional.softplus(-D * ((D * t) ** 3 + DEFAULT.linear * D * t))
    for _ in range(3):
        (value,) = torch.autograd.grad(value, t, create_graph=True)
    assert 0.2 * K3 < abs(float(value.detach())) < K3


def test_a_start_within_the_horizon_stays_near_the_three_scalars():
    """From a start that is off in the direction that is stretched most, by descent on every score."""
    noise, steps = ScoreNoise(6, 2, 0.4), 40
    path = descend_population(
        PopulationRisk(6, 2, 0.4), Constant(0.02), steps=steps, record=1, progress=False
    )
    told = horizon(noise, path, gap=0.05)
    _, stretched, directions = np.linalg.svd(noise.deviations(path)[0].start)
    assert 1.5 < stretched[0] <= told.stretch
    loss = loss_at(*positive_inputs(6, 2, 0.4), DEFAULT.linear)
    off, unit = 1 - torch.eye(6, dtype=torch.float64), path.step.score_rate**0.5
    kick = np.zeros((6, 6))
    kick[noise.pairs] = told.start * directions[0]
    A = torch.eye(6, dtype=torch.float64) + unit * torch.from_numpy(kick)
    alpha = torch.tensor(path.alpha[0], dtype=torch.float64)
    for _ in range(steps):
        A, alpha = A.requires_grad_(), alpha.requires_grad_()
        by_score, by_alpha = torch.autograd.grad(loss(A, alpha), (A, alpha))
        A = (A - path.step.score_rate * off * by_score).detach()
        alpha = (alpha - path.step.rate * by_alpha).detach()
    symmetric = np.where(noise.partition.same_set, path.gamma[-1], path.rho[-1])
    np.fill_diagonal(symmetric, 1.0)
    strayed = np.linalg.norm(A.numpy() - symmetric) / unit
    assert 1.5 * told.start < strayed <= 2 * told.stretch * told.start
    assert strayed == pytest.approx(stretched[0] * told.start, rel=1e-3)
