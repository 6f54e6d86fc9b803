"""Values at the edge of what is allowed, and arguments past it, where no other test goes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from flint import arb

from patch_association.data import SpatialData
from patch_association.exact.risk import PopulationRisk, attention_values
from patch_association.images.locality import row_and_column, similarity
from patch_association.images.vit import ViT
from patch_association.shallow import PatternData, initial_weights
from patch_association.structure import Partition
from patch_association.training import Constant, descend_population
from patch_lab.beyond import Design
from patch_lab.beyond.blind_error import blind_error
from patch_lab.beyond.gaussian import proved_excess
from patch_lab.certify import runs, signs, statements
from patch_lab.certify.cover import Inequality, cover
from patch_lab.certify.descent import Descent, Undecided
from patch_lab.certify.field import Field
from patch_lab.certify.jets import constant
from patch_lab.certify.law import atoms
from patch_lab.certify.polynomials import bracket
from patch_lab.certify.rounded import RoundedField
from patch_lab.certify.runs import RUNS, Options, prove_trap
from patch_lab.certify.traps import Towards
from patch_lab.dynamics.first_move import window
from patch_lab.dynamics.lifetime import ScoreNoise
from patch_lab.setting.constructions import hard_attention_bound
from patch_lab.shallow_vit.certificate import noise_bound
from patch_lab.shallow_vit.sparsify import keep_attended
from patch_lab.transfer.complexity import sample_complexity
from patch_lab.transfer.logistic import linear_test_error
from patch_lab.transfer.sample_limits import equal_weights

TENTH = Fraction(1, 10)
LAW = PatternData(10, 0.4, 0.2)


def pattern_weights(trials):
    return initial_weights(LAW, trials, num_neurons=4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hard_attention_bound(12, 3, 0.3, pooled_sets=3), "pooled_sets must divide the 4 sets"),
        (lambda: proved_excess(0.3, 5), "proved at 3 and 4 sets, got 5"),
        (lambda: attention_values(4, 2, math.nan, 0, 0), "beta, gamma and rho must be finite"),
        (lambda: atoms(6, 2, "3/2"), "q must lie in"),
        (lambda: bracket("beta", 6, 2, atoms(6, 2, "1/2").powers), "a target is one of alpha, gamma, rho"),
        (lambda: blind_error(60, 6, 0.3, 1), "classes of 60 patches are too large"),
        (lambda: Design(block=True, width=16, scores="vanilla", encoding_dim=8), "vanilla attention adds P"),
        (
            lambda: SpatialData(Partition.random(6, 2), 5, 0.4, feature=torch.ones(3)),
            "feature must have shape",
        ),
        (lambda: row_and_column(np.eye(4), 3), r"similarities must be finite with shape \(9, 9\)"),
        (lambda: similarity(np.ones(3)), r"P must be finite with shape \(N, width\)"),
        (lambda: ViT("small"), "config must be a ViTConfig, got str"),
        (lambda: noise_bound(pattern_weights([0]), 0.1, "sigmoid"), "attention must be one of"),
        (lambda: keep_attended(LAW.sample(3, 0), pattern_weights([0, 1]), 4), "weights must be those of one"),
        (lambda: sample_complexity([1, 2], np.zeros((2, 2)), level=1), "level must lie strictly between"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_path_with_gaps_has_no_noise_to_follow():
    path = descend_population(PopulationRisk(6, 2, 0.4), Constant(0.01, 0.1), steps=4, record=2)
    with pytest.raises(ValueError, match="recorded at every step"):
        ScoreNoise(6, 2, 0.4).deviations(path)


def test_bounds_where_nothing_can_be_wrong_or_nothing_is_known():
    assert hard_attention_bound(12, 3, 0.0) == 0.0
    assert hard_attention_bound(12, 3, 0.3, pooled_sets=4) == 1.0  # all sets pooled: no bound
    assert hard_attention_bound(4, 1, 0.3) == 1.0
    assert all(math.isnan(edge) for edge in window(6, 2))  # three pairs: companions never win
    assert equal_weights(4, 0.0, 1.0) == pytest.approx(equal_weights(4, 1e-9, 1.0), abs=1e-6)


def test_without_noise_a_link_and_its_opposite_err_on_opposite_inputs():
    data = SpatialData(
        Partition.random(6, 2), 5, 0.4
    )  # its feature lies on an axis: the noise is exactly zero
    ties = np.outer(np.ones(6), data.feature.numpy())  # a sum of zero is common, and half an error
    W = np.outer(np.arange(1.0, 7.0), data.feature.numpy())
    for link in (W, ties):
        assert linear_test_error(link, data) + linear_test_error(-link, data) == pytest.approx(1.0)
    assert 0 < linear_test_error(W, data) < 0.5


def test_a_number_is_added_to_a_jet_without_a_slope():
    moved = constant(arb(2)) + 3
    assert moved.value == 5 and all(slope == 0 for slope in moved.slope)


def test_steps_that_are_far_too_long_are_undecided():
    field = Field(atoms(6, 2, "2/5"), 1, TENTH)
    start = (TENTH, Fraction(0), Fraction(0))
    with pytest.raises(Undecided, match="not finite"):
        list(itertools.islice(Descent(field, Fraction(10**200), Fraction(10**200), start), 12))


def test_a_trap_is_proved_by_covers_that_a_checkpoint_names(tmp_path, monkeypatch):
    field = RoundedField(atoms(6, 2, "2/5"), 1, TENTH)
    problem = Inequality("towards", "rho", 1, (0.05, 0.1), (0.3, 0.6), (0.3, 0.6))
    trap, said, paths = SimpleNamespace(inequalities=lambda *rates: {"rho falls": problem}), [], []

    def watched(*arguments, checkpoint, **options):
        paths.append(checkpoint)
        return cover(*arguments, checkpoint=checkpoint, **options)

    monkeypatch.setattr(runs, "cover", watched)
    options = Options(checkpoints=tmp_path, tell=said.append)
    found = [prove_trap(trap, field, (TENTH, TENTH), each) for each in (options, options, Options())]
    whole = cover(problem, field)
    assert all(one["rho falls"]["boxes"] == whole.boxes for one in found) and "rho falls" in said[0]
    assert paths[0] == paths[1] and paths[0].parent == tmp_path and paths[2] is None
    other = replace(problem, sign=-1)
    assert runs.hash_of(other, field) != runs.hash_of(problem, field)


def test_a_run_that_ends_in_its_trap_is_covered_or_left_to_another_statement(monkeypatch):
    asked = []

    def covers(trap, engine, rates, options):
        asked.append(rates)
        return {"one": {"boxes": 3}, "two": {"boxes": 4}}

    monkeypatch.setattr(runs, "prove_trap", covers)
    wide = Towards((Fraction(1, 256), Fraction(1, 2)), Fraction(1, 512), Fraction(2), Fraction(2))
    short = replace(RUNS["companions-lead"], steps=2, trap=wide, errors_at=(2,))
    assert short.prove(Options())["boxes"] == 7 and asked == [short.trap_rates]
    assert "boxes" in replace(short, trap_rates=None).prove(Options())
    assert asked[1] == (short.rate, short.score_rate)
    monkeypatch.setitem(RUNS, "wide", short)
    left = replace(short, lemma="wide")
    found = left.prove(Options())
    assert "boxes" not in found and "error at 2" in found and len(asked) == 2
    for other, words in (
        ({"q": Fraction(2, 5)}, "must have the q of this run, 2/5, got 3/10"),
        ({"linear": Fraction(1, 1000)}, "must have the linear of this run"),
        ({"trap": RUNS["companions-lead"].trap}, "must have the trap of this run"),
        ({"rate": Fraction(1, 50)}, "covers rates up to 1/100 and 32/25, got 1/50"),
        ({"lemma": "degree-five"}, "must name a run that covers its own trap, got 'degree-five'"),
        ({"lemma": "nowhere"}, "got 'nowhere'"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(left, **other).prove(Options())


def test_the_statements_take_what_their_proofs_find(monkeypatch):
    def pieces(*arguments):
        ends = [Fraction(k, 10) for k in (0, 2, 3, 7, 8, 10)]
        ends[2], ends[4] = ends[1] + width, ends[3] + width
        return list(zip(ends, ends[1:], shown))

    monkeypatch.setattr(signs, "window", pieces)
    width, shown = Fraction(1, 2000), [-1, 0, 1, 0, -1]
    found = statements.prove("first-move-window")
    assert found["lower change"] == "between 0.200000 and 0.200500" and "upper change" in found
    width = Fraction(1, 500)
    with pytest.raises(Undecided, match="the signs are"):
        statements.prove("first-move-window")
    width, shown = Fraction(1, 2000), [-1, 0, 1, 0, 1]
    with pytest.raises(Undecided, match="the signs are"):
        statements.prove("first-move-window")
    tried = []

    def edges(D, C, q, beta, exact):
        tried.append((D, C, q, exact))
        return {"gamma": SimpleNamespace(pieces=5, least=0.1)}

    monkeypatch.setattr(statements, "quadrant", edges)
    found = statements.prove("quadrant-keeps", Options("arb"))
    assert [q for _, _, q, _ in tried] == [Fraction(3, 10), TENTH, Fraction(1, 2)]
    assert all(exact for *_, exact in tried) and found["pieces, q = 1/10, gamma"] == 5
    with pytest.raises(ValueError, match="there is no certified statement"):
        statements.prove("all-is-well")
