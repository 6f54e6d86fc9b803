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
from patch_lab.certify.cover import Inequality, cover
from patch_lab.certify.descent import BallDescent, Undecided, ahead
from patch_lab.certify.field import Field
from patch_lab.certify.law import atoms
from patch_lab.certify.rounded import RoundedField, exp
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
