"""Certificates: enclosures against plain enumeration, and wrong claims that must not come through."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from enumeration import positive_inputs, predictions
from flint import arb

from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_lab.certify import rounded
from patch_lab.certify.cover import Inequality, cover
from patch_lab.certify.descent import BallDescent, Undecided, ahead
from patch_lab.certify.field import Field
from patch_lab.certify.law import atoms
from patch_lab.certify.polynomials import bracket
from patch_lab.certify.rounded import RoundedField, exp, logistic
from patch_lab.certify.runs import RUNS, Options, lead_run
from patch_lab.certify.traps import Towards

ENGINES = [Field, RoundedField]
TENTH = Fraction(1, 10)


pytestmark = pytest.mark.usefixtures("sixty_four_bits")


def enumerated(D, C, q, p, nu, beta, alpha, gamma, rho):
    """(loss, error) by every draw and the model's own formula, in floats."""
    s, chance = positive_inputs(D, C, q, anywhere=False)
    F = predictions(s, C, alpha, (beta, gamma, rho), p, nu)
    return chance @ np.log1p(np.exp(-F)), chance @ np.where(abs(F) < 1e-12, 0.5, F < 0)


@pytest.mark.parametrize(
    ("D", "C", "q", "p"), [(6, 2, "3/10", 3), (9, 3, "1/2", 3), (6, 2, "1", 5), (8, 4, "2/5", 3)]
)
def test_the_law_adds_up_and_its_features_are_the_model(D, C, q, p):
    law = atoms(D, C, q, p)
    assert sum(law.numerator) == law.denominator
    at = (0.17, 0.6, -0.4)
    field = Field(law, 1, Fraction(1, 100))
    W, _ = field._derivatives([arb(x) for x in at])
    F = [float(f.mid()) for f in field._predictions([w.value for w in W]).entries()]
    P = [x / law.denominator for x in law.numerator]
    loss, error = enumerated(D, C, float(Fraction(q)), p, 0.01, 1.0, *at)
    assert sum(a * math.log1p(math.exp(-f)) for a, f in zip(P, F)) == pytest.approx(loss, rel=1e-12)
    for engine in ENGINES:
        ball = engine(law, 1, Fraction(1, 100)).error([arb(x) for x in at])
        assert ball.contains(arb(error, 1e-13)) or ball.overlaps(arb(error, 1e-12))
        assert float(ball.rad()) < 1e-10


@pytest.mark.parametrize("engine", ENGINES)
def test_derivatives_contain_the_exact_ones(engine):
    field = engine(atoms(12, 4, "3/10"), 1, Fraction(1, 100))
    risk = PopulationRisk(12, 4, 0.3)
    at, h = np.array([0.15, 0.7, -0.3]), 1e-5
    gradient, hessian = field.step([arb(x) for x in at], [1e-9] * 3)
    assert [float(g.mid()) for g in gradient] == pytest.approx(risk.gradient(0.15, 1.0, 0.7, -0.3), rel=1e-9)
    for k in range(3):
        up, down = at + h * np.eye(3)[k], at - h * np.eye(3)[k]
        slope = (risk.gradient(up[0], 1.0, *up[1:]) - risk.gradient(down[0], 1.0, *down[1:])) / (2 * h)
        assert [float(row[k].mid()) for row in hessian] == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("chart", ["towards", "away"])
def test_a_box_contains_its_points_and_its_brackets_have_the_signs(engine, chart):
    field, risk = engine(atoms(9, 3, "2/5"), 1, TENTH), PopulationRisk(9, 3, 0.4, linear=0.1)
    box = [(0.2, 0.24), (0.3, 0.36), (0.5, 0.6)]
    rng = np.random.default_rng(1)
    for target, entry in (("alpha", 0), ("gamma", 1), ("rho", 2)):
        problem = Inequality(chart, target, 1, (0.0, 9.0), (0.0, 1.0), (0.0, 1.0))
        whole, _ = field.enclose(problem, box)
        for _ in range(5):
            point = [float(rng.uniform(*side)) for side in box]
            value, _ = field.enclose(problem, [(x, x) for x in point])
            assert whole.overlaps(value) and whole.lower() <= value.upper() and value.lower() <= whole.upper()
            alpha = float(field.alpha_of(chart, [(x, x) for x in point]).mid())
            gamma = math.log(point[1]) * (1 if chart == "away" else -1)
            derivative = risk.gradient(alpha, 1.0, gamma, math.log(point[2]))[entry]
            assert (float(value.mid()) > 0) == (derivative > 0)


def test_both_arithmetics_agree():
    law = atoms(9, 3, "2/5", 5)
    one, other = (engine(law, 1, TENTH) for engine in ENGINES)
    for half in (0.0, 1e-6, 0.05):
        problem = Inequality("towards", "rho", 1, (0.0, 9.0), (0.0, 1.0), (0.0, 1.0))
        box = [(0.2, 0.2 + half), (0.3, 0.3 + half), (0.5, 0.5 + half)]
        (a, slopes), (b, others) = one.enclose(problem, box), other.enclose(problem, box)
        assert a.overlaps(b) and all(x.overlaps(y) for x, y in zip(slopes, others))
        if half == 0.0:
            assert b.rad() < 1e-9 and b.contains(a.mid())


def test_our_exponential():
    x = [*np.random.default_rng(0).uniform(-700, 700, 3000), 0.0, -700.0, 700.0, 0.34657359, 1e-300]
    for value, exact in zip(exp(np.array(x)).tolist(), (arb(v).exp() for v in x)):
        assert abs(arb(value) / exact - 1) < 2.0**-44


@pytest.mark.parametrize("engine", ENGINES)
def test_descent_contains_the_float_run(engine):
    field, risk = engine(atoms(9, 3, "3/10"), 1, Fraction(1, 10_000)), PopulationRisk(9, 3, 0.3, linear=1e-4)
    run = descend_population(risk, Constant(0.02, 1.62), steps=60, alpha=0.01, progress=False)
    start = (Fraction(1, 100), Fraction(0), Fraction(0))
    for state in itertools.islice(BallDescent(field, Fraction(1, 50), Fraction(162, 100), start), 60):
        floats = [x[state.step] for x in (run.alpha, run.gamma, run.rho)]
        assert all(abs(x - y) < 1e-12 for x, y in zip(floats, (float(b.mid()) for b in state.box)))
        assert state.radius < 1e-10 and ahead(state.box) == 1


def test_wrong_claims_are_not_certified():
    with pytest.raises(Undecided, match="step 1:"):
        replace(RUNS["association-lost"], steps=3, expect=((1, -1),), trap=None).prove(Options())
    with pytest.raises(Undecided, match="trap"):
        replace(RUNS["companions-lead"], steps=3, errors_at=()).prove(Options())
    field = RoundedField(atoms(9, 3, "2/5"), 1, TENTH)
    problem = Inequality("towards", "rho", -1, (0.05, 0.1), (0.3, 0.4), (0.5, 0.6))
    with pytest.raises(Undecided):
        cover(problem, field, most=50)
    assert cover(replace(problem, sign=1), field).boxes > 0
    box = [arb(x) for x in (0.1, 1.0, -0.5)]
    trap = Towards((Fraction(1, 16), Fraction(1, 8)), Fraction(1, 128), Fraction(1, 2), Fraction(3, 4))
    assert trap.holds(box) and not trap.holds([box[0], arb(0.6), box[2]])
    with pytest.raises(Undecided):
        ahead([arb(0.1), arb(0.5, 1.0), arb(0)])


def test_a_run_of_ones_own_is_proved_or_refuted():
    assert lead_run("1/5", "1/300", steps=3).prove(Options())["steps"] == 3
    with pytest.raises(Undecided, match="step 77"):
        lead_run("4/5", "1/540", steps=80).prove(Options())


# --- What certificates rest on, by hand: bounds on rounding, the law of the votes, how a cover goes on


U = 2.0**-53


# --- rounding: each radius is the worst case to first order, and no more than a hair above it


def hugs(radius, worst):
    """At least the worst case, and within 10^-8 of it."""
    radius, worst = np.asarray(radius), np.asarray(worst)
    return bool((radius >= worst).all() and (radius <= worst * (1 + 1e-8) + 1e-290).all())


def test_the_radius_of_a_sum_a_product_and_a_dot_product():
    rng = np.random.default_rng(0)
    x, y, z = ((rng.standard_normal((5, 1)), rng.random((5, 1)) * 1e-9) for _ in range(3))
    mid, rad = rounded._plus(x, y, z)
    partial = x[0] + y[0]
    assert np.array_equal(mid, partial + z[0])
    assert hugs(rad, x[1] + y[1] + z[1] + U * (np.abs(partial) + np.abs(mid)))
    mid, rad = rounded._times(x, y)
    assert np.array_equal(mid, x[0] * y[0])
    # |x||ry| + rx (|y| + ry), and half a unit in the last place of the product.
    assert hugs(rad, np.abs(x[0]) * y[1] + x[1] * (np.abs(y[0]) + y[1]) + U * np.abs(mid))
    N = rng.integers(-50, 50, (7, 5)).astype(float)
    mid, rad = rounded._apply(N, np.abs(N), x)
    assert mid == pytest.approx(N @ x[0]) and hugs(rad, np.abs(N) @ (x[1] + 6 * U * np.abs(x[0])))
    mid, rad = rounded._total(x)
    assert mid == pytest.approx(x[0].sum(axis=0))
    assert hugs(rad, x[1].sum(axis=0) + 6 * U * np.abs(x[0]).sum(axis=0))
    exact = np.zeros((2, 1)), np.zeros((2, 1))
    assert (rounded._times(exact, exact)[1] > 0).all()  # underflow has a bound as well
    low, high = np.array([1.0, -2.0]), np.array([1.5, 7.0])
    mid, rad = rounded._between(low, high)
    assert (mid - rad <= low).all() and (mid + rad >= high).all() and hugs(rad, (high - low) / 2)
    minus = rounded._negative((low, high))
    assert (minus[0] == -low).all() and (minus[1] == high).all()


@pytest.mark.parametrize("mid", [0.0, 0.3, -2.0, 30.0, -40.0, 650.0, 900.0, -900.0])
@pytest.mark.parametrize("rad", [0.0, 1e-9, 0.5, 300.0])
def test_the_logistic_function_on_an_interval_is_tight(mid, rad):
    """It holds the exact range, and is hardly wider."""
    (w, dw), (s, ds) = logistic((np.array([mid]), np.array([rad])))
    ends = [1 / (1 + arb(x).exp()) for x in (mid - rad, mid + rad)]
    least, most = float(ends[1].lower()), float(ends[0].upper())
    for point in np.linspace(mid - rad, mid + rad, 7):
        e = arb(float(point)).exp()
        assert arb(w[0], dw[0]).overlaps(1 / (1 + e)) and arb(s[0], ds[0]).overlaps(e / (1 + e) / (1 + e))
    assert 2 * dw[0] <= (most - least) * (1 + 1e-8) + 2e-12 * most + 1e-290
    falls = [arb(-abs(x)).exp() for x in (mid - rad, mid + rad)]
    slopes = [float((e / (1 + e) / (1 + e)).mid()) for e in falls]  # even in x
    top = 0.25 if mid - rad < 0 < mid + rad else max(slopes)
    assert s[0] - ds[0] <= min(slopes) * (1 + 1e-11) and top <= (s[0] + ds[0]) * (1 + 1e-11)
    assert 2 * ds[0] <= (top - min(slopes)) * (1 + 1e-8) + 1e-10 * top + 1e-290


# --- charts and brackets, by Euler's formula on one input


@pytest.mark.parametrize("name", ["alpha", "gamma", "rho"])
def test_the_brackets_are_the_derivatives_of_a_homogeneous_form(name):
    """For one form h in (l, g, x), with its partial derivatives by central differences."""
    D, C, p = 12, 4, 3
    exponents = tuple((i, j, p - i - j) for i in range(p, -1, -1) for j in range(p - i, -1, -1))
    N = np.random.default_rng(2).integers(-5, 6, len(exponents)).astype(float)
    at = np.array([0.7, 0.4, 0.3])

    def h(t):
        return sum(n * t[0] ** a * t[1] ** b * t[2] ** c for n, (a, b, c) in zip(N, exponents))

    own, g, x = at
    hl, hg, hx = ((h(at + d) - h(at - d)) / 2e-5 for d in 1e-5 * np.eye(3))
    expected = {
        "alpha": p * h(at),
        "gamma": own * (hg - (C - 1) * hl) + x * ((D - C) * hg - (C - 1) * hx),
        "rho": g * ((C - 1) * hx - (D - C) * hg) + own * (hx - (D - C) * hl),
    }[name]
    matrix = bracket(name, D, C, exponents)
    made = sum(v * N[column] * np.prod(at ** np.array(exponents[row])) for (row, column), v in matrix.items())
    assert made == pytest.approx(expected, rel=1e-7)
