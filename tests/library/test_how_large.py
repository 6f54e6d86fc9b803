"""How many patches are enough: each bound against enumeration, and the conditions at a named size."""

import math

import numpy as np
import pytest
from enumeration import positive_inputs
from numpy.polynomial import Polynomial
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import poisson

from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.how_large import Enough, Sums
from patch_lab.dynamics.large_lead import LoudSets
from patch_lab.dynamics.valley import score_drift


def heard(D, C, p, E, lam):
    """Every input with y = +1: the sums over patches, M, J, R, and whether a random set has two features."""
    q = 0.4
    s, chance = positive_inputs(D, C, q)
    own = s.reshape(len(s), -1, C)  # (inputs, sets, C)
    n = np.repeat(own.sum(axis=2), C, axis=1)  # (inputs, D)
    M = s.sum(axis=1, keepdims=True)
    zeta = (M - n) + E * (n - s) + lam * E * s
    sums = {
        "output": (zeta**p).sum(axis=1),
        "inside": (zeta ** (p - 1) * (n - s)).sum(axis=1) / (C - 1),
        "own": (zeta ** (p - 1) * s).sum(axis=1),
        "strangers": (zeta ** (p - 1) * (M - n)).sum(axis=1),
    }
    signal = np.all(own == 1, axis=2).argmax(axis=1)
    random = np.abs(own).sum(axis=2)  # features a set, (inputs, sets)
    random[np.arange(len(s)), signal] = 0
    return sums, M[:, 0], random.sum(axis=1), M[:, 0] - C, random.max(axis=1) > 1, chance, q * (D - C)


@pytest.mark.parametrize(("D", "C", "p"), [(8, 2, 3), (9, 3, 3), (8, 2, 5)])
@pytest.mark.parametrize("E", [1.0, 2.5, 60.0])
@pytest.mark.parametrize("lam", [0.0, 0.7, 4.0])
def test_polynomials_bound_the_sums_of_every_input(D, C, p, E, lam):
    sums, M, J, R, two, _, mean = heard(D, C, p, E, lam)
    bound = Sums(C, p, mean, lam)
    a, J = C - 1 + lam, J.astype(float)
    A, X = C * a ** (p - 1), C * a**p + (C - 1 + lam**p) * R
    near = ~two
    out = np.abs(sums["output"] - D * M**p - E**p * X)
    assert (out[near] <= E ** (p - 1) * bound.output(J[near]) * (1 + 1e-12)).all()
    assert (out <= E**p * bound.output_pairs(J)).all()
    assert (np.abs(sums["output"] - D * M**p) <= E**p * bound.vote_left(J)).all()
    assert (np.abs(X) <= bound.sets(J) * (1 + 1e-12)).all()
    off = np.abs(sums["inside"] - E ** (p - 1) * (A + R))
    assert (off[near] <= E ** (p - 2) * bound.inside(J[near]) + 1e-9 * E ** (p - 1)).all()
    assert (np.abs(sums["inside"]) <= E ** (p - 1) * bound.inside_all(J)).all()
    assert (np.abs(sums["inside"])[near] <= E ** (p - 1) * bound.inside_single(J[near]) * (1 + 1e-12)).all()
    assert (np.abs(sums["own"]) <= E ** (p - 1) * bound.own(J)).all()
    if near.any():
        ones = J * M - R  # where each random set has one feature at most
        told = A * R + (lam ** (p - 1) + C - 1) * ones
        left = np.abs(sums["strangers"] - D * M**p - E ** (p - 1) * told)
        votes = (C * (1 + J)) * (C + J) ** p
        room = votes + E ** (p - 2) * bound.strangers_left(J)
        assert (left[near] <= room[near] + 1e-9 * E ** (p - 1)).all()
        assert (left <= votes + E ** (p - 1) * bound.strangers_pairs(J)).all()
        assert (np.abs(told) <= bound.strangers(J) * (1 + 1e-12)).all()


def test_two_features_in_a_set_and_the_law_cost_a_multiple_of_one_over_the_size():
    for D, C in ((8, 2), (9, 3)):
        _, _, J, R, two, chance, mean = heard(D, C, 3, 1.0, 1.0)
        bound = Sums(C, 3, mean, 1.0)
        for growth in (Polynomial([1.0]), Polynomial([1.0, 1.0]) ** 3):
            assert chance @ (two * growth(J)) <= bound.pairs(growth, D)
            assert chance @ growth(J) <= bound.mean(growth) * (1 + 1e-12)
            plus, minus = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
            law = np.outer(*[poisson.pmf(np.arange(60), mean / 2)] * 2)
            for rule in (np.sign, lambda r: (-1.0) ** r, lambda r: expit(-3 * r - 6)):
                limit = (law * rule(plus - minus) * growth(plus + minus)).sum()
                assert abs(chance @ (rule(R) * growth(J)) - limit) <= bound.law(growth, D)


@pytest.mark.parametrize(("E", "lam"), [(1.0, 1.5), (4.5, 0.0), (40.0, 0.3)])
@pytest.mark.parametrize("v", [0.02, 1.0])
def test_exact_sums_lie_within_the_bounds(E, lam, v):
    C, p, mean = 2, 3, 1.5
    for D in (24, 96):
        risk = PopulationRisk(D, C, mean / (D - C), p, 0.0, prune=1e-13)
        gamma, beta = math.log(E), math.log(max(lam * E, 1e-12))
        Xi, scale = 1 / (D - C + (C - 1) * E + lam * E), D + E**p
        alpha = (v / scale) ** (1 / p) / (D * Xi)
        inside, outside = score_drift(risk, alpha, beta, gamma, 0.0)
        pull = -alpha * risk.gradient(alpha, beta, gamma, 0.0)[0] / (p * v)
        G = D * inside * scale * (C - 1) / (p * v * E) + (C - 1) * Xi * scale * pull
        H = D * outside * scale * (D - C) / (p * v) + (D - C) * Xi * scale * pull
        told, bound = LoudSets(C, mean).signs(1 / (1 + D * E**-p), lam, v), Sums(C, p, mean, lam)
        assert abs(pull - told["pull"]) < bound.pull(D)
        assert abs(G / ((C - 1) * E ** (p - 1)) - told["inside"]) < bound.inside_off(D, E, v)
        votes, sets = bound.strangers_off(D, E, v)
        assert abs(H - D * told["vote"] - E ** (p - 1) * told["sets"]) < D * votes + E ** (p - 1) * sets


@pytest.mark.parametrize("diagonal", [0.05, 1.0])
def test_the_numbers_of_one_setting(diagonal):
    limit = LoudSets(2, 3.6)
    enough = Enough(limit, diagonal)
    x = np.geomspace(1e-7, 1e7, 700)
    share = limit.speed_polynomial(diagonal)(x) / (1 + x) ** 2
    assert enough.slack <= share.min() <= 1.001 * enough.slack
    for theta in (0.01, 0.5, 1.0):
        for strength in (1e-6, 1e-3, 1.0, 1e3):
            assert limit.signs(theta, enough.far, strength)["inside"] >= 1
        for lam in (0.0, 1.0, enough.far):
            assert limit.best(theta, lam) < 4 / (math.e * enough.rare)
    assert 0 < enough.reach < diagonal


def test_conditions_before_and_on_the_faces_of_the_trap_by_the_poisson_law():
    """Every mean is added up over the numbers of features of either sign; bounds at finite D are `Sums`'."""
    C, p, features, diagonal, D, b1 = 2, 3, 3.6, 1.0, 50.0, 3.0
    enough = Enough(LoudSets(C, features), diagonal)
    plus, minus = np.meshgrid(np.arange(50), np.arange(50), indexing="ij")
    chance = poisson.pmf(plus, features / 2) * poisson.pmf(minus, features / 2)
    M, J = C + plus - minus, plus + minus

    def mean(values):
        return float((chance * values).sum())

    def pull(u):
        return mean(M**p * expit(-u * M**p))

    def slope(u):  # of -pull in log u
        return u * mean(M ** (2 * p) * expit(u * M**p) * expit(-u * M**p))

    u = brentq(pull, 1e-6, 1.0, xtol=1e-15)
    least_slope = u / (4 * math.e) * mean(np.exp(-math.e * u * abs(M) ** p) * M ** (2 * p))
    assert all(slope(u * math.exp(step)) >= least_slope for step in np.linspace(-1, 1, 41))
    rare = chance[M == C - C**p - 1].sum()
    far, reach, slack = enough.far, enough.reach, enough.slack
    wide, near = Sums(C, p, features, far), Polynomial([C, 1.0])
    inside = wide.inside_off(D, (D / b1) ** (1 / p), 4 / (math.e * rare))
    turned = (1.1 * wide.mean(wide.sets) / b1 + wide.pull(D) * (1 + 1 / b1)) / least_slope
    early = math.e * u * (1 + 1 / b1)  # the largest strength where b is b_1 or more
    moved = early / (4 * (1 + b1)) * wide.mean(near * wide.sets) + u * turned / 2 * mean(abs(M) ** (p + 1))
    barrier = mean(M * expit(-u * M**p))
    own = wide.mean(wide.own)
    single = C * (abs(M) + C - 1 + 2 * math.exp(diagonal)) ** (p - 1) + J * (abs(M) + 1) ** (p - 1)
    most = math.exp(diagonal + reach)
    entry = Sums(C, p, features, most).early_off(D, b1, early) + u * turned / 2 * mean(abs(M) ** p * single)
    drift = (C - 1) / (D - C) * (1 + most * own * 2 / ((C - 1) * slack)) * (math.log(D) / p + 1)
    expected = {
        "two sets": (2 * C, D),
        "strength": (wide.pull(D), rare / 4),
        "far face": (inside, 1.0),
        "vote's strength": (turned, 1.0),
        "near face": (moved, barrier / 2),
        "near face, many patches": (inside, barrier / 4),
        "near face, strangers": (far * own / (D - C), barrier / 4),
        "entry": (entry, slack / 4),
        "entry, strangers": (drift, reach),
    }
    conditions = {name: (left, right) for name, left, right in enough.conditions(D, b1, 1e-3)}
    for name, sides in expected.items():
        assert conditions[name] == pytest.approx(sides, rel=1e-9, abs=0), name


def test_every_condition_gets_easier_with_the_size():
    enough = Enough(LoudSets(2, 3.6), 1.0)
    rows = [list(enough.conditions(10.0**power, 1e15, 1e-9)) for power in (60, 98, 140)]
    for small, named, large in zip(*rows):
        assert small[0] == named[0] == large[0]
        assert small[1] >= named[1] >= large[1] and small[2] <= named[2] <= large[2]
    assert not enough.holds(1e60, 1e15, 1e-9) and not enough.holds(1e98, 1e14, 1e-9)
    assert all(left < right for _, left, right in rows[1])


def test_how_many_are_enough():
    assert Enough(LoudSets(2, 3.6), 1.0).patches == (98, 15, -9)
    with pytest.raises(ValueError, match="D must have at most 280 digits"):
        _ = Enough(LoudSets(3, 3.6), 1.0).patches
    with pytest.raises(ValueError, match="diagonal must lie above the border, got 0.02"):
        Enough(LoudSets(2, 0.3), 0.02)
