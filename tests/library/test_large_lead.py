"""Companions lead at every large size: the lemmas and the limit, against arithmetic of their own."""

import math

import numpy as np
import pytest
from enumeration import positive_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import poisson, skellam

from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_lab.dynamics.every_size import Sparse
from patch_lab.dynamics.large_lead import LoudSets, follow_into_trap
from patch_lab.dynamics.valley import score_drift

shapes, means = st.sampled_from([(2, 3), (3, 3), (4, 3), (2, 5)]), st.floats(0.2, 12.0)


def poisson_table(mean: float):
    """(R, J, chance) over pairs of independent Poisson numbers, without Bessel functions."""
    top = int(mean / 2 + 12 * math.sqrt(mean / 2) + 110)
    plus, minus = np.meshgrid(np.arange(top), np.arange(top), indexing="ij")
    law = poisson.pmf(np.arange(top), mean / 2)
    return (plus - minus).ravel().astype(float), (plus + minus).ravel(), np.outer(law, law).ravel()


def best_by_bisection(psi, chance) -> np.ndarray:
    """The slopes w at the strength where E[w psi] = 0, found by halving."""
    low, high = 1e-30, 1e30
    for _ in range(300):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if chance @ (expit(-middle * psi) * psi) > 0 else (low, middle)
    return expit(-math.sqrt(low * high) * psi)


@settings(max_examples=30)
@given(shapes, means, st.floats(0, 1), st.floats(0, 4))
def test_the_limit_is_a_sum_over_two_poisson_numbers(shape, mean, theta, lam):
    C, p = shape
    R, J, chance = poisson_table(mean)
    M, A = C + R, C * (C - 1 + lam) ** (p - 1)
    psi = (1 - theta) * M**p + theta * (C * (C - 1 + lam) ** p + (C - 1 + lam**p) * R)
    mass = chance * best_by_bisection(psi, chance)
    found = LoudSets(C, mean, p).signs(theta, lam)
    told = {
        "inside": (A + R),
        "vote": M**p,
        "sets": A * R + (lam ** (p - 1) + C - 1) * (J * M - R),
        "plain": R,
    }
    for name, values in told.items():
        assert found[name] == pytest.approx(mass @ values, rel=1e-6, abs=1e-9 * float(mass @ np.abs(values)))


@settings(max_examples=80)
@given(shapes, means, st.floats(0.001, 1))
def test_the_best_strength_overrates_the_vote(shape, mean, theta):
    """The lemma by convexity at lam = 0 and 1; S_2 < 0 where sets decide alone; the face rises at every b."""
    C, p = shape
    limit = LoudSets(C, mean, p)
    for lam in (0.0, 1.0):
        assert limit.signs(theta, lam)["vote"] < 0
        assert limit.signs(1.0, lam)["sets"] < 0
    assert limit.signs(theta, 1.0)["plain"] < 0
    for k in (C + 0.5, C + 1.0, (C + C**p) / 2):
        lam = limit.face(k)
        assert C * (C - 1 + lam) ** p / (C - 1 + lam**p) == pytest.approx(k)
        assert lam > 1 and limit.signs(theta, lam)["inside"] > 0
    assert limit.window > max(1, C * (C - 1) ** (p - 1) - C + 1)


@pytest.mark.parametrize(
    ("C", "p", "mean"), [(2, 3, 0.3), (2, 3, 4.0), (3, 3, 0.2), (2, 5, 0.1), (3, 5, 2.0)]
)
def test_the_condition_is_the_velocity_of_the_limit(C, p, mean):
    limit, plain = LoudSets(C, mean, p), Sparse(C, mean, p)
    for beta in (0.01, 0.8):
        polynomial = limit.speed_polynomial(beta)
        assert len(polynomial.coef) == p
        for gamma in (0.0, 0.3, 2.0):
            told = plain.velocity(plain.strength, gamma, beta) / (p * plain.strength * math.exp(gamma))
            assert polynomial(math.expm1(gamma)) == pytest.approx(told, rel=1e-6, abs=1e-10)
        xs = np.concatenate([[0.0], np.geomspace(1e-5, 1e3, 4000)])
        assert limit.least_speed(beta) == pytest.approx(polynomial(xs).min(), rel=1e-3, abs=1e-9)
        assert limit.goes_on(beta) == (polynomial(xs) > 0).all()
    border = limit.border()
    assert limit.goes_on(border + 1e-4)
    assert (border > 0) == (mean < 1)
    assert border == 0 or not limit.goes_on(border - 1e-4)


@pytest.mark.parametrize(
    ("C", "p", "mean"), [(2, 3, 0.3), (2, 3, 0.6), (2, 5, 0.1), (3, 3, 0.1), (3, 3, 0.2)]
)
def test_gamma_rests_below_the_diagonal_exactly_below_the_meeting(C, p, mean):
    """The first x at which the velocity is no longer positive, on a fine grid and not from roots."""
    limit, plain = LoudSets(C, mean, p), Sparse(C, mean, p)
    met, border = limit.meeting(), limit.border()
    assert 0 <= met <= border
    assert (met == 0) == (mean == 0.6) and (met == border) == ((C, mean) == (3, 0.1))
    for beta in (0.3 * border, 0.98 * met, 1.02 * met, 0.98 * border):
        if 0 < beta < border:
            gammas = np.linspace(0.0, 1.0, 101)
            speeds = np.array([plain.velocity(plain.strength, gamma, beta) for gamma in gammas])
            rest = gammas[np.argmax(speeds <= 0)]
            assert limit.rest(beta) == pytest.approx(rest, abs=0.0101) and speeds[0] > 0
            assert (limit.rest(beta) < beta) == (beta < met)
    assert limit.rest(border * 1.02) == math.inf


@pytest.mark.parametrize(("C", "p", "nu"), [(2, 3, 0.0), (2, 3, 0.2), (3, 3, 0.1), (2, 5, 0.1)])
def test_the_equations_of_motion(C, p, nu):
    """Speeds by the four sums over all inputs, against the derivatives of the exact risk."""
    D, q = 3 * C, 0.4
    s, chance = positive_inputs(D, C, q)
    risk = PopulationRisk(D, C, q, p, nu)
    n = np.repeat(s.reshape(len(s), -1, C).sum(axis=2), C, axis=1)  # (inputs, D)
    M = s.sum(axis=1, keepdims=True)
    for alpha, beta, gamma, rho in ((0.2, 0.5, 0.3, -0.1), (0.1, 1.0, 3.0, 0.2), (0.3, 0.1, 0.0, 0.0)):
        E, B = math.exp(gamma - rho), math.exp(beta - rho)
        Xi = 1 / (D - C + (C - 1) * E + B)
        zeta = (M - n) + E * (n - s) + B * s
        v = (D * alpha * Xi) ** p * (D + E**p)
        Psi = (zeta**p).sum(axis=1) / (D + E**p)
        mass = chance * expit(-(v * Psi + nu * D * alpha * M[:, 0]))
        sums = [mass @ (zeta ** (p - 1) * part).sum(axis=1) for part in (n - s, s, M - n, zeta)]
        G, own, H = (one - many * Xi * sums[3] for one, many in zip(sums, (C - 1, 1, D - C)))
        assert abs(E * G + B * own + H) < 1e-12 * (abs(E * G) + abs(B * own) + abs(H))
        pace = p * v * D / (D + E**p)
        inside, outside = score_drift(risk, alpha, beta, gamma, rho)
        assert D**2 * inside == pytest.approx(pace * E * G / (C - 1), rel=1e-9)
        assert D**2 * outside == pytest.approx(pace * H / (D - C), rel=1e-9)
        Q = mass @ Psi + nu * D * alpha / (p * v) * (mass @ M[:, 0])
        assert -alpha * risk.gradient(alpha, beta, gamma, rho)[0] == pytest.approx(p * v * Q, rel=1e-9)


@pytest.mark.parametrize(("E", "lam"), [(3.0, 1.5), (4.5, 0.0), (40.0, 0.3)])
def test_exact_sums_tend_to_the_limit_law(E, lam):
    """The lemma on the limit law, at a fixed b and v: times D^(1/p), its errors stay below one."""
    C, p, mean, v, off = 2, 3, 1.5, 0.2, []
    limit = LoudSets(C, mean, p)
    for D in (96, 768):
        wide = E * (D / 96) ** (1 / p)
        risk = PopulationRisk(D, C, mean / (D - C), p, 0.0, prune=1e-13)
        gamma, beta = math.log(wide), math.log(max(lam * wide, 1e-12))
        Xi, scale = 1 / (D - C + (C - 1) * wide + lam * wide), D + wide**p
        alpha = (v / scale) ** (1 / p) / (D * Xi)
        slope, *_ = risk.gradient(alpha, beta, gamma, 0.0)
        inside, outside = score_drift(risk, alpha, beta, gamma, 0.0)
        pull = -alpha * slope / (p * v)
        G = D * inside * scale * (C - 1) / (p * v * wide) + (C - 1) * Xi * scale * pull
        H = D * outside * scale * (D - C) / (p * v) + (D - C) * Xi * scale * pull
        told = limit.signs(1 / (1 + D * wide**-p), lam, v)
        size = D + wide ** (p - 1)
        rows = [
            (pull, told["pull"]),
            (G / ((C - 1) * wide ** (p - 1)), told["inside"]),
            (H / size, (D * told["vote"] + wide ** (p - 1) * told["sets"]) / size),
        ]
        if lam:
            rows.append(((scale * pull - wide * G - H) / (lam * wide**p), told["self"]))
        off.append([D ** (1 / p) * abs(exact - limit_of) for exact, limit_of in rows])
    assert np.max(off) < 0.9


def test_gamma_overshoots_by_an_amount_that_is_linear_in_the_size():
    peaks = {D: follow_into_trap(2, 3.6, 3, 0.05, D, np.geomspace(1, 300, 50)) for D in (24, 96)}
    limit = LoudSets(2, 3.6)
    assert peaks[24].gamma.max() == pytest.approx(2.37, abs=0.02)
    assert peaks[96].gamma.max() == pytest.approx(7.17, abs=0.01)
    assert limit.overshoot(96, 0.05) == pytest.approx(6.6, abs=0.1)
    for D, run in peaks.items():
        assert (run.gamma > run.rho).all() and (run.rho < 0.05).all()
        b = D * np.exp(3 * (run.rho - run.gamma))
        assert np.exp(0.05 - run.gamma).max() < limit.face(2.5) and b[np.argmax(b < 1) :].max() < 1
    with pytest.raises(ValueError, match="below 0.449"):
        limit.overshoot(96, 1.0)


@pytest.mark.parametrize(("C", "p", "nu"), [(2, 3, 1e-3), (3, 3, 1e-3), (2, 5, 1e-2)])
def test_single_rate_steps_from_the_papers_start_lead_from_the_first_on(C, p, nu):
    D = 24
    risk = PopulationRisk(D, C, 1.5 / (D - C), p, nu)
    run = descend_population(risk, Constant(0.01, 0.01), steps=400, diagonal=1.0, record=1, progress=False)
    assert run.alpha[0] == pytest.approx(nu ** (1 / (p - 1)))
    assert (run.gamma > run.rho)[1:].all() and (run.rho < 1.0).all()
    assert run.gamma[-1] > 0


def test_gamma_rises_before_the_entry_and_on_the_face():
    limit = LoudSets(2, 3.6)
    for lam in (0.01, 0.5, 0.9):
        b = limit.entry(lam)
        above, below = (limit.signs(1 / (1 + b * factor), lam)["inside"] for factor in (1.01, 0.99))
        assert 1e-6 < b < 1 and above > 0 > below
    assert limit.entry(2.0) == limit.entry(limit.face(2.5)) == 0.0


@settings(max_examples=15)
@given(st.integers(3, 5), st.floats(8, 60), st.floats(0.001, 1), st.integers(0, 1))
def test_explicit_bounds_lie_below_what_they_bound(C, mean, theta, lam):
    """The theorem for growing sets: where compactness gave least values there are formulas."""
    limit = LoudSets(C, mean)
    try:
        found = limit.explicit(theta, lam)
    except ValueError as error:  # below float64, which is said and not drawn as zero
        assert C == 5 and "float64" in str(error)
        return
    assert all(value > bound > 0 for value, bound in found.values()), found
    R, J, chance = poisson_table(mean)
    M = C + R
    w = expit(-limit.best(0.0, 0.0) * M**3)
    assert found["count"][1] == pytest.approx(abs(chance @ (w * J * M)) / (chance @ w), rel=1e-5)
    assert found["vote"][0] == pytest.approx(chance @ (w * M), rel=1e-5)


def test_an_explicit_bound_is_its_formula():
    C, p, mean = 3, 3, 8.0
    limit, half = LoudSets(C, mean), mean / 2
    assert LoudSets(3, 60.0, 5).explicit(0.5, 0)["strangers"][0] > 0
    for lam, k in ((0, 12), (1, 27)):
        for theta in (0.2, 1.0):
            found = limit.explicit(theta, lam)
            share = theta * limit.best(theta, lam) / limit.best(1.0, lam)
            told = share * (k - C) ** p * skellam.cdf(-k, half, half) / 8
            assert found["strangers"][1] == pytest.approx(told, rel=1e-6)
            assert found["chance"][0] == pytest.approx(skellam.pmf(-28, half, half), rel=1e-6)
        assert found["sets"][1] == pytest.approx(k * (k - 2) * limit.signs(1.0, lam)["slope"])


def test_a_bound_that_float64_loses_is_refused():
    with pytest.raises(ValueError, match="above what float64 takes for zero, got zero for slope"):
        LoudSets(5, 8.0).explicit(1.0, 1)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="set_size must be at least 2, got 1"):
        LoudSets(1, 1.0)
    limit = LoudSets(2, 1.0)
    with pytest.raises(ValueError, match=r"theta must lie in \[0, 1\]"):
        limit.signs(1.2, 0.0)
    with pytest.raises(ValueError, match="lam be at least 0"):
        limit.best(0.5, -1.0)
    with pytest.raises(ValueError, match=r"lam must be 0 or 1 and theta lie in \(0, 1\], got 0.5 and 1"):
        limit.explicit(1.0, 0.5)
    with pytest.raises(ValueError, match="got 1 and 0"):
        limit.explicit(0.0, 1)
    with pytest.raises(ValueError, match="R = -244 must have a chance above 1e-290, got 0 for"):
        LoudSets(3, 8.0, 5).explicit(1.0, 0)
    with pytest.raises(ValueError, match="k must lie between 2 and 8, got 8"):
        limit.face(8.0)
    with pytest.raises(ValueError, match="psi < 0 must have a chance above 1e-290, got 0 for"):
        LoudSets(3, 0.1, 5).best(1.0, 1.0)
