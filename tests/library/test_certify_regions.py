"""Traps and signs: each certified inequality against the condition it stands for, counted without it."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from enumeration import positive_inputs, predictions
from flint import arb

from patch_association.exact.risk import PopulationRisk
from patch_lab.certify import rounded, signs
from patch_lab.certify.descent import Undecided
from patch_lab.certify.ends import End
from patch_lab.certify.field import Field
from patch_lab.certify.law import atoms
from patch_lab.certify.quadrant import quadrant
from patch_lab.certify.rounded import RoundedField
from patch_lab.certify.runs import RUNS
from patch_lab.certify.statements import STATEMENTS
from patch_lab.certify.traps import Away, Towards
from patch_lab.dynamics.first_move import FirstMove
from patch_lab.kit import records

D, C, RATE, SCORE_RATE = 6, 2, Fraction(4), Fraction(24)
TOWARDS = Towards((Fraction(1, 16), Fraction(3, 8)), Fraction(1, 32), Fraction(1, 2), Fraction(3, 4))
AWAY = Away(
    (Fraction(1, 16), Fraction(3, 8)), Fraction(1, 32), Fraction(1, 4), Fraction(1, 2), Fraction(15, 16)
)


def stated(trap, alpha, y, z, gradient) -> dict:
    """What each inequality of a trap says at a point, from the gradient by (alpha, gamma, rho)."""
    a, b = (float(x) for x in trap.alpha)
    by_alpha, by_gamma, by_rho = gradient
    step = alpha - float(RATE) * by_alpha
    ends = {
        "alpha rises at the lower end": by_alpha < 0,
        "alpha falls at the upper end": by_alpha > 0,
        "no step over the upper end": step < b,
        "no step over the lower end": step > a,
    }
    if isinstance(trap, Towards):
        move = float(SCORE_RATE) / (D * (C - 1)) * by_gamma
        return ends | {"rho falls": by_rho > 0, "gamma stays": move < 1 - y / float(trap.Y)}
    X0, X = float(trap.X0), float(trap.X)
    move = float(SCORE_RATE) / (D * (D - C)) * by_rho
    return ends | {
        "gamma falls": by_gamma > 0,
        "rho stays below": -move * X / z < 1 - z / X,
        "rho stays above": move * X**2 / z < z - X0,
    }


@pytest.mark.parametrize("trap", [TOWARDS, AWAY], ids=["towards", "away"])
def test_the_inequalities_of_a_trap_are_its_conditions(trap):
    field, risk = Field(atoms(D, C, "9/10"), 1, Fraction(1, 10)), PopulationRisk(D, C, 0.9, linear=0.1)
    problems = trap.inequalities(D, C, RATE, SCORE_RATE)
    rng, seen = np.random.default_rng(0), {name: set() for name in problems}
    for _ in range(150):
        y = float(rng.uniform(0.02, float(trap.Y)))
        z = float(rng.uniform(float(getattr(trap, "X0", Fraction(1, 50))), float(trap.X)))
        alpha = float(rng.uniform(*map(float, trap.alpha)))
        gamma, rho = math.log(y) * (-1 if trap is TOWARDS else 1), math.log(z)
        said = stated(trap, alpha, y, z, risk.gradient(alpha, 1.0, gamma, rho))
        assert said.keys() == problems.keys()
        for name, problem in problems.items():
            u = alpha / float(field.alpha_of(problem.chart, [(1.0, 1.0), (y, y), (z, z)]).mid())
            value, _ = field.enclose(problem, [(u, u), (y, y), (z, z)])
            assert bool(problem.sign * value > 0) == said[name], name
            seen[name].add(said[name])
    assert sum(len(values) == 2 for values in seen.values()) >= 5, seen  # else it could not have failed


@pytest.mark.parametrize("trap", [TOWARDS, AWAY], ids=["towards", "away"])
def test_a_trap_is_covered_on_all_of_its_region(trap):
    problems = trap.inequalities(D, C, RATE, SCORE_RATE)
    low = (float(getattr(trap, "X0", 0)), float(trap.X))
    assert all((p.y, p.z) == ((0.0, float(trap.Y)), low) for p in problems.values())
    a, b, slab = map(float, (*trap.alpha, trap.slab))
    parts = {"alpha rises at the lower end": (a, a + slab), "alpha falls at the upper end": (b - slab, b)}
    parts |= {"no step over the upper end": (a, b - slab), "no step over the lower end": (a + slab, b)}
    for name, problem in problems.items():
        assert problem.alpha == parts.get(name, (a, b)), name


def test_the_signs_over_a_range_of_q_are_those_of_the_float_margin():
    pieces = signs.window(9, 3, 3, Fraction(1, 10), Fraction(1, 20_000))
    assert pieces[0][0] == Fraction(1, 10) and pieces[-1][1] == 1
    assert all(
        before[1] == after[0] and before[2] != after[2] for before, after in itertools.pairwise(pieces)
    )
    assert [sign for _, _, sign in pieces] == [-1, 0, 1, 0, -1]
    for low, high, sign in pieces:
        margins = [FirstMove(9, 3, float(q)).margin for q in (low, (low + high) / 2, high)]
        if sign == 0:
            assert margins[0] * margins[2] < 0 and high - low < 0.005
        else:
            assert all(sign * margin > 0 for margin in margins)


@pytest.mark.parametrize("n", [rounded._CHUNK, 3 * rounded._CHUNK])
def test_the_slack_of_the_second_sum_is_the_worst_case_of_rounding(monkeypatch, n):
    """An error that large never happens, so no sum would show it: the bound itself is compared.

    A product of k terms is off by k u sum |x_i y_i| at most (to first order), m N by one u more.
    """
    mid = 1 + np.random.default_rng(0).random((n, 1))
    features = np.arange(1.0, n + 1)[:, None]
    field = object.__new__(rounded.RoundedField)
    field._N = features, np.abs(features)
    monkeypatch.setattr(rounded.RoundedField, "_weighted", lambda self, x: (mid, np.zeros_like(mid)))
    [[found]] = field._second_sum((np.zeros((n, 1)), np.zeros((n, 1))))
    exact = sum(Fraction(float(m)) * int(k) ** 2 for m, k in zip(mid[:, 0], features[:, 0]))
    needed = (rounded._CHUNK + 1) * Fraction(1, 2**53) * exact
    assert found.contains(arb(exact.numerator) / exact.denominator)
    assert Fraction(float(found.rad().lower())) >= needed


# --- Where a certified run ends: conditions against plain enumeration; claims that must not come through


D_ends, C_ends, Q, NU = 8, 2, Fraction(1, 2), Fraction(1, 10_000)
END = End(
    (Fraction(9, 64), Fraction(3, 16)), Fraction(1, 2), Fraction(1, 4), Fraction(7, 32), Fraction(1, 2048)
)
RATES = Fraction(1, 400), Fraction(64, 400)


pytestmark = pytest.mark.usefixtures("sixty_four_bits")


def loss(alpha, gamma, rho):
    """The risk by every draw, every patch and the model's own formula."""
    s, P = positive_inputs(D_ends, C_ends, float(Q), anywhere=False)
    return P @ np.log1p(np.exp(-predictions(s, C_ends, alpha, (1.0, gamma, rho), linear=float(NU))))


def slopes(x, h=1e-3):
    """(gradient, Hessian) by central differences."""
    e = h * np.eye(3)
    gradient = np.array([(loss(*(x + d)) - loss(*(x - d))) / (2 * h) for d in e])
    hessian = [
        [(loss(*(x + a + b)) - loss(*(x + a - b)) - loss(*(x - a + b)) + loss(*(x - a - b))) for b in e]
        for a in e
    ]
    return gradient, np.array(hessian) / (4 * h * h)


def test_the_conditions_hold_on_counted_inputs():
    _, alpha, k = END.prove(RoundedField(atoms(D_ends, C_ends, Q), 1, NU), *RATES)
    rng = np.random.default_rng(3)
    rate, score_rate = map(float, RATES)
    each = score_rate / D_ends / np.array([C_ends - 1, D_ends - C_ends])
    roots = np.sqrt([rate, *each])
    for _ in range(12):
        a, rho = rng.uniform(9 / 64, 3 / 16), -math.log(2048) - rng.exponential()
        far = math.log(4) + rng.exponential()
        assert slopes(np.array([a, far, rho]))[0][1] > 0
        _, hessian = slopes(np.array([a, rng.uniform(math.log(2), math.log(32 / 7)), rho]))
        assert np.abs(hessian * np.outer(roots, roots)).sum(1).max() < 2
    at = float(alpha.mid())
    assert [slopes(np.array([at + d, 1.0, -40.0]), 1e-5)[0][0] > 0 for d in (-1e-4, 1e-4)] == [False, True]
    _, hessian = slopes(np.array([at, 1.0, -40.0]))
    assert hessian[0, 0] > 0 and hessian[1, 1] > 0
    pull = slopes(np.array([at, 1.0, -9.0]))[0][2] * math.exp(9.0)
    assert pull == pytest.approx(float(k.mid()), rel=0.02)


@pytest.mark.parametrize(
    ("end", "rates", "words"),
    [
        (replace(END, X=Fraction(1, 2)), RATES, "gamma: no sign|row sum"),
        (END, (Fraction(2), RATES[1]), "row sum"),
        (END, (RATES[0], Fraction(10**6)), "gamma"),
        (replace(END, alpha=(Fraction(11, 64), Fraction(3, 16))), RATES, "zero of dL/dalpha"),
        (replace(END, near=Fraction(1, 2), beyond=Fraction(15, 32)), RATES, "gamma"),
    ],
)
def test_false_claims_are_not_certified(end, rates, words):
    with pytest.raises(Undecided, match=words):
        end.prove(RoundedField(atoms(D_ends, C_ends, Q), 1, NU), *rates)


# --- The quadrant that keeps its runs: the cover against signs counted on patches; a false claim must fail


def _counted(D, C, q, beta, y, z):
    """(dL/dgamma, dL/drho) at alpha*, up to positive factors, from every input: no atoms, no brackets."""
    s, P = positive_inputs(D, C, q, anywhere=False)

    def F(gamma, rho):  # at D alpha = 1
        return predictions(s, C, 1 / D, (beta, gamma, rho))

    gamma, rho = -math.log(y), math.log(z)
    h, low, high = F(gamma, rho), -20.0, 20.0
    for _ in range(90):
        middle = (low + high) / 2
        w = 1 / (1 + np.exp(np.clip(math.exp(middle) * h, -700, 700)))
        low, high = (middle, high) if (P * h) @ w > 0 else (low, middle)
    e = 1e-5
    return [
        -(P * w) @ (F(gamma + e * (k == 0), rho + e * (k == 1)) - F(gamma - e * (k == 0), rho - e * (k == 1)))
        for k in range(2)
    ]


@pytest.mark.parametrize("exact", [False, True])
def test_a_small_quadrant_by_both_arithmetics(exact):
    found = quadrant(8, 2, "1/5", 1, exact=exact)
    assert all(edge.least > 0 and edge.tried == 2 * edge.pieces - 1 for edge in found.values())
    for t in (0.003, 0.1, 0.4, 0.8, 1.0):
        assert _counted(8, 2, 0.2, 1.0, 1.0, t)[0] < 0 < _counted(8, 2, 0.2, 1.0, t, 1.0)[1]


def test_a_quadrant_that_leaks_is_not_certified():
    """At q = 0.9 the run crosses an edge; the cover must not say otherwise."""
    leaks = [
        _counted(8, 2, 0.9, 1.0, 1.0, t)[0] > 0 or _counted(8, 2, 0.9, 1.0, t, 1.0)[1] < 0
        for t in np.linspace(0.01, 1, 30)
    ]
    assert any(leaks)
    with pytest.raises(Undecided, match="no sign at alpha"):
        quadrant(8, 2, "9/10", 1)


# --- The certified statements say what the computation is given, and records what is trained today


def said(name: str, symbol: str) -> Fraction:
    """The number that a statement's text gives to a symbol."""
    found = re.search(rf"{re.escape(symbol)} = ([0-9./]+|10\^{{-4}})(?=[$ ,])", STATEMENTS[name].text)
    assert found is not None, (name, symbol)
    return Fraction(1, 10_000) if found[1].startswith("10^") else Fraction(found[1].rstrip("."))


@pytest.mark.parametrize("name", RUNS)
def test_a_certified_run_is_the_one_that_its_statement_describes(name):
    run, text = RUNS[name], STATEMENTS[name].text
    assert (run.num_patches, run.set_size, run.degree) == tuple(said(name, x) for x in ("D", "C", "p"))
    assert run.q == said(name, "q") and run.linear == said(name, r"\nu")
    assert run.alpha == said(name, r"\alpha") and run.diagonal == said(name, r"\sigma_A")
    if r"\eta = \eta_A = " in text:
        assert run.rate == run.score_rate == said(name, r"\eta = \eta_A")
    else:
        assert run.rate == said(name, r"\eta") and r"\eta_A = D^2 \eta" in text
        assert run.score_rate == run.num_patches**2 * run.rate
    # What is claimed of gamma - rho: from step 1 on, and for the one run that loses, until step 77.
    changes = [(1, 1), (77, -1)] if name == "association-lost" else [(1, 1)]
    assert list(run.expect) == changes and max(run.errors_at, default=0) <= run.steps
    if changes[1:]:
        assert r"at the steps 1 to 76, $\gamma < \rho$ at step 77 and at every step after it" in text
    ends = {
        "degree-five": "from 1 to 2000",
        "many-patches": "from 1 to 200.",
        "single-rate": "After 87,000 steps",
    }
    assert ends.get(name, "forever") in text
    assert run.steps == {"degree-five": 2000, "many-patches": 200, "single-rate": 87_000}.get(name, run.steps)
    assert (run.trap is not None) == ("forever" in text)


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].trap is not None])
def test_a_recorded_run_ends_in_the_region_that_is_covered(name):
    """The record's last box lies inside the trap, and one that is shifted out does not."""
    run = RUNS[name]
    row = next(r for r in records.load("certified").where(arithmetic="double") if r["statement"] == name)
    assert row["steps"] == run.steps
    assert row["text"] == STATEMENTS[name].text
    box = [arb(row[key]) for key in ("alpha", "gamma", "rho")]
    assert run.trap.holds(box)
    a, b = (float(x) for x in run.trap.alpha)
    assert not run.trap.holds([arb(a), *box[1:]]) and not run.trap.holds([arb(b), *box[1:]])
    # A region's inequalities need ends that doubles hold; it must be able to state them.
    rates = run.trap_rates or (run.rate, run.score_rate)
    asked = run.trap.inequalities(run.num_patches, run.set_size, *rates)
    assert set(asked) == set(row["covers"]) if "covers" in row else run.lemma in RUNS
    if run.lemma is not None:  # the other statement's cover is for the same region and faster rates
        other = RUNS[run.lemma]
        assert other.trap == run.trap and all(x <= y for x, y in zip(rates, other.trap_rates))
