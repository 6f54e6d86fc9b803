"""The ledger's machinery: evidence, tolerances, recording and the card; on a ledger made for the test."""

import json
import math
import os
from importlib import import_module

import numpy as np
import pytest

from patch_association import _files
from patch_association.claims import exact, ledger, record_verdict, sampled, totals
from patch_association.claims.evidence import Number
from patch_association.claims.ledger import VERDICTS, find
from patch_association.intervals import Estimate, proportion

CLAIMS = """
[[claim]]
id = "ours-first"
source = "ours"
where = "Proposition 1 & its <converse>"
statement = 'Always $a < b$.'
chapter = "setting/structure"

[[claim]]
id = "jelassi2022-second"
source = "jelassi2022"
where = "Theorem 2"
statement = 'Sometimes.'
chapter = "setting/attention"
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A ledger of two claims in a folder of its own."""
    (tmp_path / "claims.toml").write_text(CLAIMS)
    # By import_module: as an attribute of the package, the module's name means its function.
    monkeypatch.setattr(import_module("patch_association.claims.ledger"), "files", lambda package: tmp_path)
    monkeypatch.delenv("PATCH_ASSOCIATION_RECORD", raising=False)
    return tmp_path


def give(verdict="holds exactly", value=0.5, because="Counted.", claim="ours-first", **options):
    return record_verdict(claim, verdict, because=because, evidence=[exact("the value", value)], **options)


@pytest.fixture
def recorded(room, monkeypatch):
    """The same ledger with the first claim's evidence on record."""
    monkeypatch.setenv("PATCH_ASSOCIATION_RECORD", "1")
    give()
    monkeypatch.delenv("PATCH_ASSOCIATION_RECORD")
    return room


def test_a_claim_without_evidence_has_no_verdict_and_cannot_be_replayed(room):
    assert [claim.verdict for claim in ledger()] == [None, None] and totals() == {}
    with pytest.raises(
        AssertionError, match="claim 'ours-first' has no recorded evidence yet: run `make execute`"
    ):
        give()


def test_recording_then_replaying(recorded):
    assert find("ours-first").evidence == (exact("the value", 0.5),)
    assert os.listdir(recorded / "evidence") == ["ours-first.json"]
    assert give().claim == find("ours-first")
    assert totals() == {"holds exactly": 1}


def test_ledger_by_source_and_chapter(room):
    assert [claim.id for claim in ledger(source="ours")] == ["ours-first"]
    assert [claim.id for claim in ledger(chapter="setting/attention")] == ["jelassi2022-second"]
    with pytest.raises(ValueError, match="source must be one of jelassi2022, li2023, ours, got 'theirs'"):
        ledger(source="theirs")
    with pytest.raises(ValueError, match="no claim 'ours-third'; it has ours-first, jelassi2022-second"):
        find("ours-third")


@pytest.mark.parametrize("value", [0.5, 0.5 + 4e-10, 0.5 - 4e-10])
def test_evidence_within_its_tolerance_passes(recorded, value):
    give(value=value)


@pytest.mark.parametrize("value", [0.5 + 6e-10, 0.5 - 6e-10, 1])
def test_evidence_beyond_its_tolerance_stops_the_chapter(recorded, value):
    with pytest.raises(
        AssertionError, match=rf"'the value' is {value!r} now and was recorded as 0.5, more than"
    ):
        give(value=value)


def test_a_nan_agrees_with_nothing():
    number = Number("x", math.nan, "exact", 1.0)
    assert "nan now" in number.differs_from(Number("x", 0.0, "exact", 1.0))


def test_the_recorded_tolerance_decides_not_the_fresh_one():
    tight, loose = Number("x", 1.0, "sampled", 0.1, n=5), Number("x", 1.2, "sampled", 9.0, n=5)
    assert loose.differs_from(tight) and tight.differs_from(loose) is None


@pytest.mark.parametrize(
    ("fresh", "message"),
    [
        (
            dict(verdict="fails as stated"),
            "the verdict is 'fails as stated' now and was recorded as 'holds exactly'",
        ),
        (dict(evidence=[exact("the value", 0.5), exact("another", 1)]), "2 numbers now, 1 recorded"),
        (dict(evidence=[exact("the price", 0.5)]), "evidence 'the price' was recorded as 'the value'"),
        (dict(evidence=[sampled("the value", 0.5, seeds=3, tolerance=1)]), "how it was obtained has changed"),
    ],
)
def test_other_differences_stop_the_chapter_too(recorded, fresh, message):
    arguments = dict(verdict="holds exactly", because="Counted.", evidence=[exact("the value", 0.5)])
    with pytest.raises(AssertionError, match=message):
        record_verdict("ours-first", **{**arguments, **fresh})


def test_other_presets_are_shown_without_comparing(recorded):
    assert "preset “gpu”" in give(value=9.0, preset="gpu")._repr_markdown_()
    assert find("ours-first").evidence[0].value == 0.5


def test_recording_never_leaves_half_a_file(recorded, monkeypatch):
    monkeypatch.setenv("PATCH_ASSOCIATION_RECORD", "1")

    def full_disk(source, target):
        raise OSError("no space left")

    monkeypatch.setattr(_files.os, "replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        give(value=0.7)
    assert os.listdir(recorded / "evidence") == ["ours-first.json"]
    assert json.loads((recorded / "evidence" / "ours-first.json").read_text())["evidence"][0]["value"] == 0.5


def test_the_card_escapes_what_is_no_markup(room, monkeypatch):
    monkeypatch.setenv("PATCH_ASSOCIATION_RECORD", "1")
    evidence = [exact('error at q < 1 & "C" > 2', 3, unit="<b>")]
    verdict = record_verdict("ours-first", "holds only if", because="If\n  $C > 1$.", evidence=evidence)
    card = verdict._repr_markdown_()
    assert "Proposition 1 &amp; its &lt;converse&gt;, this book" in card
    assert "<td>error at q &lt; 1 &amp; &quot;C&quot; &gt; 2</td><td>3 &lt;b&gt;</td><td>exact</td>" in card
    assert "\n\nAlways $a < b$.\n\nIf $C > 1$.\n\n" in card  # Markdown, with its mathematics left alone
    assert 'class="pa-verdict pa-conditional"' in card and "<strong>holds only if</strong>" in card
    assert card.count("<div") == card.count("</div>") == 1
    assert repr(verdict).splitlines()[0] == "Proposition 1 & its <converse> (this book): holds only if"


def test_every_verdict_has_a_family_that_colors_its_card():
    assert set(VERDICTS.values()) == {"holds", "conditional", "fails", "untested"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(claim="ours-third"), "no claim 'ours-third'"),
        (dict(verdict="holds"), "verdict must be one of proved here, .*, got 'holds'"),
        (dict(because="  \n"), "needs a sentence that says why its verdict is 'holds exactly'"),
    ],
)
def test_refused_verdicts(room, arguments, message):
    with pytest.raises(ValueError, match=message):
        give(**arguments)


@pytest.mark.parametrize("evidence", [[], [0.5], [("the value", 0.5)]])
def test_a_verdict_needs_numbers(room, evidence):
    with pytest.raises(ValueError, match="claim 'ours-first' needs at least one Number of evidence, got"):
        record_verdict("ours-first", "holds exactly", because="Counted.", evidence=evidence)


def test_a_number_is_named_once(room):
    with pytest.raises(ValueError, match="names one number twice"):
        record_verdict(
            "ours-first", "holds exactly", because="Counted.", evidence=[exact("x", 1), exact("x", 2)]
        )


@pytest.mark.parametrize("value", [3, np.int64(3), True, np.bool_(True)])
def test_whole_numbers_must_be_reproduced_exactly(value):
    number = exact("count", value)
    assert type(number.value) is int and number.tolerance == 0 and number.show() == str(int(value))


def test_sampled_numbers_say_what_they_rest_on():
    estimate = proportion(5, 100)
    number = sampled("error", estimate, n=100, seeds=1, unit="%")
    assert number.tolerance == (estimate.high - estimate.low) / 2
    assert number.show_basis() == "95% [0.016, 0.113], n = 100, 1 seed" and number.show() == "0.050 %"
    tiny = sampled("gap", Estimate(-3e-9, -5e-9, 1e-9, 5), seeds=5)
    assert tiny.show() == "−3 × 10⁻⁹" and tiny.show_basis() == "95% [−5 × 10⁻⁹, 10⁻⁹], 5 seeds"
    same = sampled("mean", Estimate(2.0, 2.0, 2.0, 3), seeds=3)
    assert same.tolerance == 2e-9 and same.show_basis() == "95% [2, 2], 3 seeds"
    assert Number(**json.loads(json.dumps(number.as_dict()))) == number


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: exact("x", math.nan), "x must be a finite number, got nan"),
        (lambda: exact("x", "3"), "x must be a finite number, got '3'"),
        (lambda: sampled("x", 0.5), "sampled evidence 'x' must say n or seeds"),
        (lambda: sampled("x", 0.5, n=3), "without an interval must state its tolerance"),
        (lambda: sampled("x", 0.5, n=0, tolerance=1), "n must be at least 1, got 0"),
        (lambda: sampled("x", 0.5, n=3, tolerance=-1), "tolerance must be at least 0, got -1"),
        (lambda: sampled("x", math.inf, n=3, tolerance=1), "x must be a finite number, got inf"),
        (
            lambda: sampled("x", Estimate(1.0, 0.0, math.inf, 3), n=3, tolerance=1),
            r"finite interval, got \[0.0, inf\]",
        ),
    ],
)
def test_refused_evidence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
