"""Values that every published number rests on and that no caller writes down.

Defaults, the numbers of the certified statements, the learners of a record: who changes one of them changes
results that were published, and should hear of it.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb

import patch_association
from patch_association.shallow.training import VARIANTS
from patch_lab import records
from patch_lab.beyond.gaussian_learners import RECIPES
from patch_lab.certify import statements
from patch_lab.certify.field import ball
from patch_lab.certify.runs import END, PRECISION, RUNS
from patch_lab.certify.statements import STATEMENTS
from patch_lab.certify.traps import Towards

PACKAGE = Path(patch_association.__file__).parent
ROOMS = ("structure", "data", "model", "exact", "training", "certify", "shallow_vit")


def core():
    """The modules of the numerical core."""
    for room in ROOMS:
        folder = PACKAGE / room
        for file in sorted(folder.glob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]:
            name = file.relative_to(PACKAGE).with_suffix("").as_posix()
            if not name.endswith("__init__"):
                yield name, importlib.import_module(f"patch_association.{name.replace('/', '.')}")


def functions():
    """("module.function" or "module.Class.method", its signature), all that the core defines."""
    for name, module in core():
        for key, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(value):
                yield f"{name}.{key}", inspect.signature(value)
            elif inspect.isclass(value):
                for method, one in vars(value).items():
                    one = getattr(one, "__func__", one)
                    if inspect.isfunction(one):
                        yield f"{name}.{key}.{method}", inspect.signature(one)


#: Numbers and truth values that may be left out, but for seeds and what `conventions` names.
DEFAULTS = {
    "structure.as_scores": {"stacked": False},
    "model.SimplifiedViT.__init__": {"scaled": False},
    "exact/block_attention.BlockAttention.__init__": {"rho": 0.0},
    "exact/block_attention.DenseAttention.__init__": {"scale": 1.0},
    "exact/block_error.exact_error": {"fineness": 1.0},
    "exact/constructions.hard_attention_error": {"pooled_sets": 1},
    "exact/constructions.hard_attention_bound": {"pooled_sets": 1},
    "exact/constructions.derangement_scores": {"shift": 1},
    "exact/constructions.violations": {"diagonal": True},
    "exact/constructions.chain_encodings": {"growth": 4.5, "gap": 0.05},
    "exact/constructions.paired_encodings": {"share": 12.0, "repel": 0.25, "lift": 1.0},
    "exact/costs.descent_cost": {"seeds": 1, "element_size": 4},
    "exact/dilution.linear_weight": {"response": 1.0},
    "exact/dilution.diluted_error": {"linear_weight": 0.0, "draws": 100_000},
    "exact/dilution.diluted_limit": {"linear_weight": 0.0},
    "exact/gaussian.linear_disagreement": {"nodes": 200},
    "exact/gaussian.sample_linear_disagreement": {"n": 200_000},
    "exact/gaussian.sample_excess": {"n": 20_000},
    "exact/gaussian.critical_ratio": {"n": 200_000},
    "exact/lifetime.ScoreNoise.draw_scores": {"start_std": 0.0, "draws": 100},
    "exact/linear.critical_q": {"error": 1 / 8},
    "exact/linear.search_weights": {"per_patch": False},
    "exact/linear_bounds.any_weights_boundary": {"error": 1 / 8},
    "exact/optimality.CubicForm.largest": {"grid": 240},
    "exact/optimality._shapes": {"points": 101},
    "exact/risk.PopulationRisk.__init__": {"max_atoms": 2**21},
    "exact/sample_bounds.genie_error": {"told": False},
    "exact/sample_bounds.lower_bound": {"told": False},
    "exact/sample_limits.weights_by_count": {"draws": 100_000},
    "exact/sample_limits.far_sets_told": {"draws": 100_000},
    "exact/sample_limits.samples_per_set": {"most": 20.0, "accuracy": 1e-4},
    "exact/set_blind.blind_errors": {"n": 10_000, "most": 2000},
    "exact/sign.FirstMove._mean": {"size": False},
    "exact/sign.window": {"points": 200},
    "training/adam.train": {
        "batch": 512,
        "learning_rate": 1e-2,
        "clip": 5.0,
        "points": 20,
        "n_curve": 4000,
    },
    "training/adam.first_step": {"n": 20_000, "parts": 20},
    "training/adam.test_inputs": {"n": 20_000},
    "training/empirical.idealized_start": {"num_seeds": 1},
    "training/empirical.descend": {"scale": 1.0},
    "training/events.spread_steps": {"count": 3000},
    "training/gradients.loss_and_gradients": {"scale": 1.0},
    "training/gradients.score_gradient": {"scale": 1.0},
    "training/learners.OneLayerViT.__init__": {"width": 32, "positional": False},
    "training/learners._normal": {"stream": 0},
    "training/population.descend_population": {"gamma": 0.0, "rho": 0.0},
    "training/reduced.flow_line": {"gamma": 0.0, "rho": 0.0},
    "training/reduced.lag": {"step": 1e-4},
    "training/reduced._surroundings": {"step": 1e-4},
    "training/samples.StreamedSamples.__init__": {"chunk": 500},
    "training/settings.train_setting": {"records": 12},
    "training/steps.Clipped.__init__": {"clip": 0.1},
    "training/valley.best_alpha": {"gamma": 0.0, "rho": 0.0},
    "training/valley.curvature": {"gamma": 0.0, "rho": 0.0},
    "training/valley.score_drift": {"gamma": 0.0, "rho": 0.0},
    "training/valley.follow_valley": {"beta": 1.0, "until": 1.0, "points": 40},
    "training/valley.largest_settling_rate": {"low": 0.01, "high": 1.0, "halvings": 20},
    "certify/blocks._coefficients": {"missing": 0},
    "certify/cover.Inequality.__init__": {"drop": 0},
    "certify/cover.cover": {"most": 5_000_000, "every": 60.0},
    "certify/field.decimal": {"digits": 12},
    "certify/quadrant.quadrant": {"exact": False},
    "certify/rounded.RoundedField._columns": {"width": 1},
    "certify/runs.lead_run": {"steps": 150},
    "certify/statements.quick": {"together": 120.0},
    "shallow_vit/data.PatternData.__init__": {
        "num_patterns": 5,
        "dim": 10,
        "noise": 0.01,
        "shuffled": True,
        "noisy_share": 0.0,
        "noisy_std": 0.0,
    },
    "shallow_vit/extensions.ExtendedViT.__init__": {"num_outputs": 1, "skip": False},
    "shallow_vit/extensions.train_extended": {"every": 10},
    "shallow_vit/initial.initial_weights": {
        "num_neurons": 100,
        "value_error": 0.1,
        "score_error": 0.2,
        "output_std": 0.01,
    },
    "shallow_vit/network.Weights.moved": {"attention_moves": True},
    "shallow_vit/network.chunk_size": {"entries": 4_000_000},
    "shallow_vit/network.backward": {"attention_moves": True},
    "shallow_vit/network.loss_and_slope": {"margin": 1.0},
    "shallow_vit/network.loss_and_gradient": {"margin": 1.0},
    "shallow_vit/population.population": {"max_atoms": 2_000_000},
    "shallow_vit/population.gradient": {"margin": 1.0},
    "shallow_vit/slow.follow_logistic": {"step": 0.05, "caution": 0.2, "growth": 1.3, "max_steps": 200_000},
    "shallow_vit/slow.reduced_gap": {"start": 1.0},
    "shallow_vit/sparsify.attention_received": {"own_score": 1.0},
    "shallow_vit/theory.time_to_fit": {"num_patterns": 5},
    "shallow_vit/theory.class_overlap": {"num_patterns": 5},
    "shallow_vit/theory.direction_noise": {"num_patterns": 5, "balanced": False},
    "shallow_vit/theory.samples_for_averages": {"failure": 0.01},
    "shallow_vit/theory.samples_for_rare_kinds": {"failure": 0.01, "kinds": 2},
    "shallow_vit/theory.lucky_bound": {"slack": 0.0},
    "shallow_vit/training.train": {"margin": 1.0},
}
#: Named in `conventions` and tested there.
CONVENTIONS = {"degree", "linear", "diagonal", "init_std"}


def test_what_may_be_left_out_is_what_published_numbers_left_out():
    found, seeds = {}, {}
    for name, signature in functions():
        given = {
            one.name: one.default
            for one in signature.parameters.values()
            if isinstance(one.default, int | float) and not isinstance(one.default, Fraction)
        }
        seeds |= {name: given.pop("seed")} if "seed" in given else {}
        given = {key: one for key, one in given.items() if key not in CONVENTIONS or one is True}
        found |= {name: given} if given else {}
    assert found == DEFAULTS
    assert len(seeds) > 20 and set(seeds.values()) == {0}
    assert dict(functions())["shallow_vit/initial.initial_weights"].parameters["seeds"].default == (0,)
    assert all(
        type(value) is type(DEFAULTS[name][key]) for name in found for key, value in found[name].items()
    )


def test_results_cannot_be_changed_behind_their_makers_back():
    """All but what a cover reports and the options of a proof, which callers fill."""
    loose = {
        value.__name__
        for _, module in core()
        for value in vars(module).values()
        if dataclasses.is_dataclass(value)
        and getattr(value, "__module__", "") == module.__name__
        and isinstance(value, type)
        and not value.__dataclass_params__.frozen
    }
    assert loose == {"Covered", "Options"}


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


def test_the_region_says_what_the_statement_says_of_gamma():
    """ "From step 2003 on gamma stays above 0.63"."""
    run = RUNS["companions-lead"]
    assert "From step 2003 on $\\gamma$ stays above 0.63" in STATEMENTS["companions-lead"].text
    assert run.steps == 2003 and isinstance(run.trap, Towards)
    assert -math.log(run.trap.Y) > 0.63 and run.errors_at == (1, 710, 2003)


def test_the_end_begins_in_the_region_that_both_runs_reach():
    trap = RUNS["companions-lead"].trap
    assert (END.alpha, END.Y) == (trap.alpha, trap.Y) == (RUNS["single-rate"].trap.alpha, Fraction(17, 32))
    for value in (END.near, END.beyond, END.X):  # read as doubles, so they must be doubles
        assert Fraction(float(value)) == value
    assert END.beyond < END.near < END.Y and 0 < END.X < trap.X
    low, high = (ball(x) for x in END.alpha)
    assert low < ball(Fraction("0.090707")) and ball(Fraction("0.090708")) < high
    assert PRECISION == 64


def test_the_sizes_of_the_proofs_are_those_of_the_text(monkeypatch):
    text = STATEMENTS["blocks-are-best"].text
    sizes = re.findall(r"\((\d+), (\d+), ([\d.]+)\)", text)
    assert [(int(D), int(C), Fraction(q)) for D, C, q in sizes] == [
        (D, C, Fraction(q)) for D, C, q in statements.BLOCKS
    ]
    tried = []
    monkeypatch.setattr(statements.exactly, "no_movement", lambda *sizes: tried.append(sizes))
    statements.prove("nothing-moves")
    text = STATEMENTS["nothing-moves"].text
    assert {tuple(map(int, x)) for x in re.findall(r"\((\d+), (\d+), (\d+)\)", text)} == set(tried)
    monkeypatch.setattr(statements.signs, "every_number_of_sets", lambda *sizes: {"got": sizes})
    C, q, p, _ = statements.prove("first-move-every-size")["got"]
    name = "first-move-every-size"
    assert (C, q, p) == (said(name, "C"), said(name, "q"), said(name, "p"))

    def window(*arguments):
        tried.append(arguments)
        return [(Fraction(0), Fraction(1), 0)]

    monkeypatch.setattr(statements.signs, "window", window)
    with pytest.raises(ArithmeticError):
        statements.prove("first-move-window")
    D, C, p, start, width = tried[-1]
    name = "first-move-window"
    assert (D, C, p) == (said(name, "D"), said(name, "C"), said(name, "p"))
    assert rf"${float(start)} \le q \le 1$" in STATEMENTS[name].text and width < Fraction(1, 1000)
    monkeypatch.setattr(
        statements, "quadrant", lambda D, C, q, beta, exact: tried.append((D, C, q, beta)) or {}
    )
    statements.prove("quadrant-keeps")
    assert tried[-3:] == [(16, 4, Fraction(q), 1) for q in ("0.3", "0.1", "0.5")]
    assert r"$D = 16$, $C = 4$, $p = 3$, $\nu = 0$, $\sigma_A = 1$, $q = 0.3$, 0.1 and 0.5" in (
        STATEMENTS["quadrant-keeps"].text
    )


# --- what was trained


def test_the_recorded_learners_are_those_that_are_trained_today():
    recorded = records.load("gaussian").config["recipes"]
    assert {kind: [r.title, r.learning_rate, r.batch] for kind, r in RECIPES.items()} == recorded
    for kind, recipe in RECIPES.items():
        model = recipe.make(16, 4, 0)
        number = re.search(r"(?:diagonal|≈) (\d)", recipe.title)
        if kind.startswith("free"):
            assert model.diagonal == int(number[1])
        elif kind.startswith("gram"):  # rows of P have this squared length on average
            assert float((model.encodings.detach() ** 2).sum(1).mean()) == pytest.approx(
                int(number[1]), rel=0.25
            )
        elif kind.startswith("vit"):
            assert model.positional == ("positional" in kind)


def test_variants_of_the_second_theory_are_what_its_text_says():
    """Section 3 trains attention; "frozen" keeps W_K and W_Q; the other two have none to train."""
    assert VARIANTS == {
        "trained": ("softmax", True),
        "frozen": ("softmax", False),
        "uniform": ("uniform", False),
        "identity": ("identity", False),
    }
