"""The book's own ledger: every claim with its chapter and its evidence, and no evidence without a claim."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from ledger_checks import defects, typed_numbers

from patch_lab import ledger as claims
from patch_lab.ledger import Claim, exact, shipped

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = {path.relative_to(BOOK).with_suffix("").as_posix() for path in BOOK.glob("*/*.ipynb")}
ROOM = Path(claims.__file__).parent


def recorded():
    """(chapter, claim) for all that the files of evidence hold."""
    for path in sorted((ROOM / "evidence").rglob("*.json")):
        chapter = path.relative_to(ROOM / "evidence").with_suffix("").as_posix()
        for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]:
            yield chapter, claim


def test_the_ledger_is_whole():
    assert defects(shipped(), recorded(), CHAPTERS) == []


def test_totals_add_up():
    ledger = shipped()
    assert sum(ledger.totals().values()) == len(ledger) > 0
    assert all(count == sum(c.standing == word for c in ledger) for word, count in ledger.totals().items())


WHOLE = Claim(
    "ours-a",
    "ours",
    "Prop. 1",
    "It is $1$.",
    "setting/a",
    verdict="holds only if",
    condition="$x \\le 10$",
    because="By Lemma 4.1, {x} at $D^2$ on CIFAR-10, section 2.",
    requires=("x == 1",),
    evidence={"x": exact("x", 1)},
)
EVIDENCE = [("setting/a", "ours-a")]


@pytest.mark.parametrize(
    ("claim", "evidence", "said"),
    [
        (WHOLE, EVIDENCE, []),
        (replace(WHOLE, evidence={}), [], ["ours-a has no evidence"]),
        (replace(WHOLE, chapter="setting/b"), [], ["ours-a has no chapter setting/b"]),
        (replace(WHOLE, requires=()), EVIDENCE, ["ours-a requires nothing of its evidence"]),
        (replace(WHOLE, evidence={"x": exact("x", 2)}), EVIDENCE, ["ours-a requires x == 1"]),
        (replace(WHOLE, because="At 16."), EVIDENCE, ["ours-a types the number 16."]),
        (replace(WHOLE, because="At $q = 0.3$."), EVIDENCE, ["ours-a types the number 0.3"]),
        (replace(WHOLE, condition="7 runs"), EVIDENCE, ["ours-a types the number 7"]),
        (replace(WHOLE, kind="definition", evidence={}, requires=()), [], []),
        (replace(WHOLE, verdict="seen in one network", condition=""), EVIDENCE,
         ["ours-a was measured and names no knob that was turned"]),
        (WHOLE, [*EVIDENCE, ("setting/a", "ours-b")], ["setting/a has evidence of no claim ours-b"]),
        (WHOLE, [("setting/b", "ours-a")], ["setting/b has evidence of no claim ours-a"]),
    ],
)  # fmt: skip
def test_an_incomplete_ledger_fails(claim, evidence, said):
    assert defects([claim], evidence, ["setting/a"]) == said


def test_a_placeholder_that_nothing_fills_fails():
    with pytest.raises(ValueError, match="'ours-a' says {y} and its evidence has x"):
        defects([replace(WHOLE, because="{y}")], EVIDENCE, ["setting/a"])


def test_numbers_of_mathematics_and_names_are_not_typed_numbers():
    assert typed_numbers("Theorem 3.1 on $C \\le 10$, Figure 1a and ResNet-18: {x:.1%}") == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sides": (4, 4), "block": (3, 1)}, r"block must .* got \(3, 1\) beside sides = \(4, 4\)"),
        ({"block": (2, 2), "sides": (5, 5)}, r"sides must .* got \(5, 5\) beside block = \(2, 2\)"),
        ({"nobody_said": 1}, "nobody_said of setting/structure must be declared"),
    ],
)
def test_a_chapter_refuses_what_a_parameter_can_never_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        claims.chapter("setting/structure", **parameters)
