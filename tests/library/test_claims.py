"""The ledger's machinery: evidence, replay, recording and the card; on ledgers made for the tests."""

import json
import math

import pytest
from ledgers import SmallLedger

from patch_association.intervals import Estimate, proportion
from patch_lab.kit.ledger import exact, sampled

TABLE = """
[[claim]]
id = "ours-first"
source = "ours"
where = "Proposition 1 & its <converse> for $n$"
chapter = "setting/first"
statement = 'Always $a < b$, *never* <b>not</b>.'
verdict = "holds only if"
condition = "$q$ is at most {largest}"
because = 'In {good:.0%} of $2^{n}$ runs, {good:interval} at n = {n}, [that] is so.'
requires = ["good.high > 0.4", "abs(largest - n) <= 1"]

[[claim]]
id = "jelassi2022-second"
kind = "definition"
source = "jelassi2022"
where = "Definition 2"
chapter = "setting/second"
statement = 'Sometimes.'
reading = "Always."
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A table of two entries in a folder of its own."""
    monkeypatch.delenv("PATCH_ASSOCIATION_RECORD", raising=False)
    file = tmp_path / "mine.toml"
    file.write_text(TABLE)
    return file


def give(ledger, claim="ours-first", n=3, **evidence):
    """Run the chapter and hand in the claim's numbers, some of them changed."""
    ledger.chapter("setting/first", n=n, sizes=(1, 2))
    numbers = {
        "good": sampled("share of good runs", proportion(5, 10), seeds=10),
        "largest": exact("largest", 3),
    }
    return ledger.check(claim, numbers | evidence)


@pytest.fixture
def recorded(path):
    """The same table with the first claim's evidence on record."""
    give(SmallLedger(path, record=True))
    return path


def test_a_claim_without_evidence_is_unexamined_and_cannot_be_replayed(path):
    ledger = SmallLedger(path)
    first, second = ledger
    assert (first.current_verdict, first.reason, first.family) == ("not examined yet", "", "untested")
    assert (second.current_verdict, second.reason, second.family) == ("definition", "Always.", "used")
    assert ledger.totals() == {"not examined yet": 1, "definition": 1}
    with pytest.raises(AssertionError, match="'ours-first' has no recorded evidence yet: record it"):
        give(ledger)


def test_recording_then_replaying(recorded):
    ledger = SmallLedger(recorded)
    claim = ledger["ours-first"]
    assert claim.evidence["largest"] == exact("largest", 3) and claim.parameters == {"n": 3, "sizes": [1, 2]}
    assert claim.heading == "holds only if $q$ is at most 3" and claim.family == "conditional"
    assert claim.reason == "In 50% of $2^{n}$ runs, 0.50 [0.19, 0.81] at n = 3, [that] is so."
    assert ledger.totals() == {"holds only if": 1, "definition": 1} and len(ledger) == 2
    assert give(ledger).claim == claim and claim.as_dict()["because"] == claim.reason
    assert [file.name for file in recorded.with_suffix("").rglob("*.json")] == ["first.json"]


@pytest.mark.parametrize(("relative", "kept"), [(1e-12, True), (1e-6, False)])
def test_recording_again_changes_nothing_but_what_has_changed(path, relative, kept):
    """Another machine rounds differently: the file stays as it is, and a real change is written."""
    path.write_text(TABLE + TABLE[: TABLE.index('[[claim]]\nid = "jel')].replace("ours-first", "ours-later"))
    for scale in (1, 1 + relative):
        estimate, ledger = (
            Estimate(0.1 * scale, 0.05 * scale, 0.15 * scale, 3),
            SmallLedger(path, record=True),
        )
        give(ledger, share=sampled("share", estimate, seeds=3))
        numbers = {
            "good": sampled("share of good runs", proportion(5, 10), seeds=10),
            "largest": exact("l", 3),
        }
        ledger.check("ours-later", numbers | {"x": exact("x", scale / 3)})
    first, later = (SmallLedger(path)[claim].evidence for claim in ("ours-first", "ours-later"))
    assert (later["x"] == exact("x", 1 / 3)) == (first["share"].low == 0.05) == kept
    give(SmallLedger(path, record=True), x=exact("renamed", 1 / 3))
    assert SmallLedger(path)["ours-first"].evidence["x"].name == "renamed"


@pytest.mark.parametrize("change", [4e-10, 0.0, -4e-10])
def test_evidence_within_its_tolerance_passes(path, change):
    give(SmallLedger(path, record=True), extra=exact("extra", 0.5))
    give(SmallLedger(path), extra=exact("extra", 0.5 + change))


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"largest": exact("largest", 4)}, r"'largest' \(largest\) is 4 now and was recorded as 3, "
                                           r"more than its tolerance 0 apart"),
        ({"largest": exact("greatest", 3)}, "'largest' is 'greatest' now and was recorded as 'largest'"),
        ({"largest": sampled("largest", 3, seeds=1, tolerance=9)}, "how it was obtained has changed"),
        ({"largest": exact("largest", 3, unit="m")}, "how it was obtained has changed"),
        ({"another": exact("x", 1)}, "'another' is new: it was not recorded"),
    ],
)  # fmt: skip
def test_what_differs_at_the_recorded_setting_stops_the_chapter(recorded, evidence, message):
    setting = r"setting/first at n = 3, sizes = \[1, 2\]: claim 'ours-first': "
    with pytest.raises(AssertionError, match=setting + ".*" + message):
        give(SmallLedger(recorded), **evidence)


def test_other_parameters_than_the_recorded_ones_are_not_taken_for_a_setting(recorded):
    """A chapter with a new parameter must be recorded again: else nothing would be compared any more."""
    ledger = SmallLedger(recorded)
    ledger.chapter("setting/first", n=3)
    with pytest.raises(AssertionError, match=r"recorded with n = 3, sizes = \[1, 2\]; record it again"):
        ledger.check("ours-first", {"largest": exact("largest", 3)})


def test_at_another_setting_nothing_stops_and_both_are_shown(recorded):
    card = give(SmallLedger(recorded), n=4, largest=exact("largest at 4", 40), extra=exact("extra", 2))
    markdown = card._repr_markdown_()
    assert "**Your setting: this is not the recorded run.** n = 4 (recorded: 3)." in markdown
    assert "**The verdict asks for more than your run gives:** abs(“largest at 4” - n) &lt;= 1." in markdown
    assert "| evidence | yours | recorded | basis |\n| :-- | --: | --: | :-- |" in markdown
    assert "| largest at 4 | 40 | 3 | exact |" in markdown and "| extra | 2 | – | exact |" in markdown
    assert "holds only if** $q$ is at most 3" in markdown and "at n = 3" in markdown  # the recorded verdict
    assert "Your setting: this is not the recorded run. n = 4 (recorded: 3)." in repr(card)
    assert "- largest at 4: 40, 3 (exact)" in repr(card)
    unchanged = json.loads((recorded.with_suffix("") / "setting/first.json").read_text())
    assert unchanged["parameters"]["n"] == 3


@pytest.mark.parametrize("record", [True, False])
def test_a_verdict_that_its_numbers_do_not_support_stops_the_chapter(recorded, record):
    """Recorded or not: with the requirement sharpened, the same numbers no longer do."""
    recorded.write_text(TABLE.replace("good.high > 0.4", "good.low > 0.4"))
    with pytest.raises(AssertionError, match=r"requires good.low > 0.4 and has good = 0.5, largest = 3"):
        give(SmallLedger(recorded, record=record))


UNDEFINED = [exact("largest", math.nan), sampled("largest", Estimate(1.0, 0.0, math.inf, 3), n=3)]


@pytest.mark.parametrize("number", UNDEFINED, ids=["nan", "an endless interval"])
def test_what_is_not_defined_is_shown_at_a_readers_setting_alone(recorded, number):
    with pytest.raises(AssertionError, match="'largest'"):
        give(SmallLedger(recorded), largest=number)
    with pytest.raises(ValueError, match="'ours-first': 'largest' is not finite and cannot be recorded"):
        give(SmallLedger(recorded, record=True), largest=number)
    shown = "not defined" if math.isnan(number.value) else "1"
    assert f"| largest | {shown} | 3 |" in give(SmallLedger(recorded), n=4, largest=number)._repr_markdown_()


def test_what_is_drawn_may_differ_by_half_its_interval_and_no_more():
    recorded = sampled("share", Estimate(0.5, 0.4, 0.7, 10), n=10)
    assert recorded.tolerance == pytest.approx(0.15)
    assert sampled("share", Estimate(0.64, 0.4, 0.7, 10), n=10).differs_from(recorded) is None
    assert "apart" in sampled("share", Estimate(0.66, 0.4, 0.7, 10), n=10).differs_from(recorded)
