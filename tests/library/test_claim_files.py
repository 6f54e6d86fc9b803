"""Damaged tables, evidence and requirements: one line that names the file and the entry."""

import json
import re

import pytest
from ledgers import SmallLedger

from patch_lab.kit.ledger import exact
from patch_lab.kit.ledger.cli import as_csv
from patch_lab.kit.ledger.requires import holds, parse

ENTRY = {
    "id": "ours-first",
    "source": "ours",
    "where": "Proposition 1",
    "chapter": "notes",
    "statement": "It is $1$.",
    "verdict": "proved here",
    "because": "Counted.",
    "requires": ["x == 1"],
}
KNOB = {"name": "seeds", "tried": "{seeds} of them", "moved": "nothing"}
GONE = object()


def toml(value) -> str:
    """JSON's texts and lists are TOML's; its objects are not."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def write(path, *entries):
    """A TOML file of these entries."""
    lines = [
        "\n".join(["[[claim]]", *(f"{key} = {toml(value)}" for key, value in entry.items())])
        for entry in entries
    ]
    path.write_text("\n\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdct": "proved here"}, "unknown key 'verdct'; the keys are id, source, where, statement,"),
        ({"id": GONE}, "claim 2 (without id): id is missing"),
        ({"because": "It is $1."}, "because has a dollar sign without its partner"),
        ({"id": "first"}, "the id must be ours-PLACE in small letters"),
        ({"chapter": "../notes"}, "chapter must be part/chapter in small letters, got '../notes'"),
        ({"verdict": "holds exactly"}, "verdict must be one of proved here, proved by computer,"),
        ({"because": GONE}, "a claim has a because, and no reading"),
        ({"condition": "it rains"}, "a condition goes with the verdicts 'holds only if' and 'held in"),
        ({"verdict": "holds only if"}, "the verdict 'holds only if' needs a condition"),
        ({"kind": "assumption"}, "an assumption has a reading, and no verdict, because, condition or knobs"),
        ({"knobs": [KNOB | {"name": "luck"}]}, "a knob's name must be one of law, size, model, start, "),
        ({"knobs": [{"name": "seeds"}]}, "a knob has name, tried, moved, got name"),
        ({"checked_by": "a friend"}, "checked_by must be one of coq, flint, of a claim that is proved"),
        (
            {"checked_by": "coq", "verdict": "undecided"},
            "checked_by must be one of coq, flint, of a claim that is proved",
        ),
        ({"rests_on": "ours-first"}, "rests_on must be a list of ids, got 'ours-first'"),
        ({"requires": ["x ="]}, "the requirement 'x =' is no expression"),
        ({"id": "ours-first"}, "the claim 'ours-first' is stated twice"),
    ],
)
def test_a_damaged_table(tmp_path, change, message):
    entry = {
        key: value for key, value in (ENTRY | {"id": "ours-second"} | change).items() if value is not GONE
    }
    file = write(tmp_path / "mine.toml", ENTRY, entry)
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        SmallLedger(file)
    assert str(file) in str(refused.value) and "\n" not in str(refused.value)
    assert "claim 2 (" in str(refused.value) or "stated twice" in str(refused.value)


NUMBER = {"name": "x", "value": 1, "kind": "exact", "tolerance": 0}


def damaged(number) -> str:
    return json.dumps({"parameters": {}, "claims": {"ours-first": {"x": number}}})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no evidence: "),
        ("[]", "it must hold parameters and claims, and nothing else"),
        ('{"claims": {}}', "it must hold parameters and claims, and nothing else"),
        ('{"parameters": {}, "claims": {"ours-first": 3}}', "the numbers of a claim must be objects"),
        (damaged(3), "claim 'ours-first', number 'x': unknown key 3"),
        (damaged(NUMBER | {"size": 3}), "claim 'ours-first', number 'x': unknown key 'size'"),
        (damaged({"name": "x"}), "claim 'ours-first', number 'x': .*missing 3 required"),
        (damaged(NUMBER | {"value": "1"}), "claim 'ours-first', number 'x': .*must hold numbers"),
        (damaged(NUMBER | {"value": float("nan")}), "claim 'ours-first', number 'x': .*be finite"),
        (damaged(NUMBER | {"kind": "guess"}), "claim 'ours-first', number 'x': .*got 'guess'"),
    ],
)
def test_damaged_evidence(tmp_path, content, message):
    ledger = SmallLedger(write(tmp_path / "mine.toml", ENTRY))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.json").write_text(content)
    with pytest.raises(ValueError, match=message) as refused:
        list(ledger)
    assert str(tmp_path / "mine" / "notes.json") in str(refused.value) and "\n" not in str(refused.value)


NUMBERS = {"lost": exact("lost", 0), "share": exact("share", 0.25), "big": exact("big", 10**6)}


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("lost == 0", True),
        ("lost != 0 or share < 1 / 4", False),
        ("not lost > share and share <= big", True),
        ("-1 < lost < share < q", True),
        ("max(lost, share) - min(lost, share) == abs(lost - share)", True),
        ("big == 1000000 * (1 + lost)", True),
        ("N == 16", True),
    ],
)
def test_requirements(text, true):
    assert holds(text, NUMBERS, {"q": 0.3, "N": 16, "PRESET": "reader"}) is true


def test_requirements_that_could_do_more_than_compute():
    for text in (
        *("__import__('os')", "lost.__class__", "(lost).real", "lost ** 9", "open(lost)", "[lost][0]"),
        *("min(lost, key=abs)", "lambda: lost", "'a' == 'a'", "lost if share else big", "lost := 1"),
    ):
        with pytest.raises(ValueError, match=r"the requirement .* (may not hold|is no expression)"):
            parse(text)


def test_what_is_no_evidence_has_no_interval():
    with pytest.raises(ValueError, match="the requirement 'q.low > 0' cannot be evaluated"):
        holds("q.low > 0", NUMBERS, {"q": 0.3})


def test_knobs_are_filled_and_listed(tmp_path):
    entry = ENTRY | {"verdict": "seen in one network", "knobs": [KNOB]}
    mine = SmallLedger(write(tmp_path / "mine.toml", entry), record=True)
    mine.chapter("notes")
    mine.check("ours-first", {"x": exact("x", 1), "seeds": exact("seeds", 5)})
    claim = mine["ours-first"]
    assert claim.measured and claim.as_dict()["knobs"] == [KNOB | {"tried": "5 of them"}]


def test_what_falls_with_a_claim(tmp_path):
    two, three = (
        ENTRY | {"id": f"ours-{name}", "rests_on": [f"ours-{ground}"]}
        for name, ground in (("second", "first"), ("third", "second"))
    )
    mine = SmallLedger(write(tmp_path / "mine.toml", three, ENTRY | {"checked_by": "flint"}, two))
    assert mine.dependents("ours-first") == ["ours-third", "ours-second"]
    assert mine.dependents("ours-third") == []
    assert mine.relying_on("flint") == ["ours-third", "ours-first", "ours-second"] and not mine.relying_on(
        "coq"
    )
    assert [one["rests_on"] for one in mine.entries()][1] == []
    assert mine.carries("ours-first") == ["ours-second"] and mine.entries()[1]["carries"] == ["ours-second"]
    header, first, *_ = as_csv(mine).splitlines()
    assert "checked_by,rests_on" in header and "ours-second" in first


def test_a_claim_has_one_word_of_the_common_vocabulary_and_a_horizon(tmp_path):
    def one(verdict, **more):
        entry = ENTRY | {"verdict": verdict, "knobs": [KNOB]} | more
        mine = SmallLedger(write(tmp_path / "mine.toml", entry), record=True)
        mine.chapter("notes")
        mine.check("ours-first", {"x": exact("x", 1), "seeds": exact("seeds", 5)})
        return mine["ours-first"].outcome, mine["ours-first"].horizon

    name = KNOB["name"]
    assert one("proved here") == ("verified", "everything that it states, by proof")
    assert one("observation")[0] == "verified" and one("not testable")[0] == "inconclusive"
    assert one("held in every run within its hypotheses") == ("verified", f"{name}: 5 of them")
    assert one("holds only if", condition="it rains")[0] == one("fails as stated")[0] == "falsified"
    assert one("not run at this size", outcome="toy", horizon="{seeds} seeds") == ("toy", "5 seeds")
    with pytest.raises(
        ValueError, match="outcome must be one of verified, toy, falsified, inconclusive, got 'ye"
    ):
        one("undecided", outcome="yes")


def test_a_claim_that_rests_on_nothing(tmp_path):
    for first, second, message in (
        ("gone", None, "claim 'ours-first' rests on 'ours-gone', which the ledger does not have"),
        ("first", None, "claims rest on one another: ours-first on ours-first"),
        ("second", "first", "claims rest on one another: ours-first on ours-second on ours-first"),
    ):
        entries = [
            ENTRY | {"id": f"ours-{name}", "rests_on": [f"ours-{ground}"] if ground else []}
            for name, ground in (("first", first), ("second", second))
        ]
        with pytest.raises(ValueError, match=message):
            SmallLedger(write(tmp_path / "mine.toml", *entries))
