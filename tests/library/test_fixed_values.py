"""The certified statements say what the computation is given, and records what is trained today."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from flint import arb

from patch_lab import records
from patch_lab.certify.runs import RUNS
from patch_lab.certify.statements import STATEMENTS

# --- the certified statements: what the text says is what the computation is given


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
    assert ends.get(name, "for ever") in text
    assert run.steps == {"degree-five": 2000, "many-patches": 200, "single-rate": 87_000}.get(name, run.steps)
    assert (run.trap is not None) == ("for ever" in text)


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


# --- what was trained
