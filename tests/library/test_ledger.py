"""The book's own ledger: every claim with its chapter and its evidence, and no evidence without a claim."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from ledger_checks import defects

from patch_association.claims import Claim, exact, ledger, totals

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = {path.relative_to(BOOK).with_suffix("").as_posix() for path in BOOK.glob("*/*.md")}


def evidence_files():
    return [entry.name for entry in (files("patch_association.claims") / "evidence").iterdir()]


def test_the_ledger_is_whole():
    assert defects(ledger(), evidence_files(), CHAPTERS) == []


def test_totals_add_up():
    claims = ledger()
    assert sum(totals().values()) == len(claims) > 0
    assert all(
        count == sum(claim.verdict == verdict for claim in claims) for verdict, count in totals().items()
    )


WHOLE = Claim(
    "ours-a", "ours", "Prop. 1", "It is $1$.", "setting/a", "holds exactly", "Counted.", (exact("x", 1),)
)


@pytest.mark.parametrize(
    ("claims", "evidence", "said"),
    [
        ([WHOLE], ["ours-a.json"], []),
        ([WHOLE, WHOLE], [], ["ours-a is stated twice"]),
        ([replace(WHOLE, verdict=None, evidence=())], [], ["ours-a has no evidence"]),
        ([replace(WHOLE, evidence=())], [], ["ours-a has no evidence"]),
        ([replace(WHOLE, chapter="setting/b")], [], ["ours-a has no chapter setting/b"]),
        ([replace(WHOLE, source="li2023")], [], ["ours-a is not named source-place"]),
        ([replace(WHOLE, source="li2024", id="li2024-a")], [], ["li2024-a has the unknown source li2024"]),
        ([replace(WHOLE, id="ours-../a")], [], ["ours-../a is not named source-place"]),
        ([replace(WHOLE, verdict="holds")], [], ["ours-a has no whole verdict"]),
        ([replace(WHOLE, because="")], [], ["ours-a has no whole verdict"]),
        ([replace(WHOLE, statement="It is $1.")], [], ["ours-a has no whole statement"]),
        ([replace(WHOLE, evidence=(exact("x", 1), exact("x", 2)))], [], ["ours-a names one number twice"]),
        ([WHOLE], ["ours-b.json"], ["ours-b.json is evidence of no claim"]),
    ],
)
def test_an_incomplete_ledger_fails(claims, evidence, said):
    assert defects(claims, evidence, ["setting/a"]) == said
