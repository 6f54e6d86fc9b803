"""What leaves the way of reading arrives: proofs, solutions and cards stand on their pages, once."""

from __future__ import annotations

import re
from functools import cache

import pytest
from browser import SITE
from bs4 import BeautifulSoup
from docutils.nodes import make_id
from notebooks import MEASURES, ROOT, chapters, name_of
from page_visits import shown

from patch_lab.kit.ledger import shipped

every_chapter = pytest.mark.parametrize("text", chapters(), ids=name_of)


@cache
def page(name: str) -> BeautifulSoup:
    return BeautifulSoup((SITE / "book" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def pages_of(chapter: str) -> list[BeautifulSoup]:
    """The chapter, and its notes."""
    return [page(chapter), page(f"{chapter}_notes")]


def sources_of(text) -> str:
    """What the chapter and its notes say, as it is written."""
    notes = text.with_name(f"{text.stem}_notes.md")
    return text.read_text(encoding="utf-8") + notes.read_text(encoding="utf-8")


def labels(text: str) -> set[str]:
    """The addresses that a chapter's text gives to its boxes, figures and equations."""
    boxes = re.findall(r"^:label: (\S+)$", text, re.M)
    figures = re.findall(r"^ {4}name: (fig-\S+)$", text, re.M)
    equations = re.findall(r"^\$\$ \(([^)]+)\)$", text, re.M)
    return {*map(make_id, boxes), *map(make_id, figures), *(make_id(f"equation-{one}") for one in equations)}


@every_chapter
def test_every_label_has_its_content_on_the_chapter_or_in_its_notes(text):
    for label in labels(sources_of(text)):
        places = [place for one in pages_of(name_of(text)) for place in one.find_all(id=label)]
        assert any(place.get_text(strip=True) or place.find("svg") for place in places), f"{label} is lost"


@every_chapter
def test_proofs_and_solutions_stand_once(text):
    source = sources_of(text)
    shown = sum(len(one.select("div.proof:not([id])")) for one in pages_of(name_of(text)))
    assert shown == source.count("{prf:proof}") + source.count("{proof-of}")
    assert len(page(f"{name_of(text)}_notes").select("div.solution")) == source.count("{solution}")
    assert page(name_of(text)).select("div.solution") == []


@every_chapter
def test_what_is_measured_for_the_notes_is_not_on_the_chapters_page(text):
    assert MEASURES in text.read_text(encoding="utf-8")
    titles = [title.get_text() for title in page(name_of(text)).select("h2")]
    assert titles and not [title for title in titles if MEASURES in title]


@cache
def chips(claim: str) -> list:
    """Every chip of a claim, on chapters and in their notes."""
    names = [name_of(text) for text in chapters()]
    pages = [*names, *sorted(name_of(text) for text in (ROOT / "book").glob("*/*_notes.md"))]
    return [chip for name in pages for chip in page(name).select(f'a.verdict[data-claim="{claim}"]')]


def spaced(text: str) -> str:
    """The text with plain spaces alone."""
    return " ".join(text.split())


@pytest.mark.parametrize("claim", [pytest.param(claim, id=claim.id) for claim in shipped()])
def test_every_claim_has_a_card_with_its_evidence_and_a_chip(claim):
    card = page(f"claims/{claim.chapter.partition('/')[0]}").find(id=claim.id)
    rows = [[spaced(cell.get_text(" ")) for cell in row.select("td")] for row in card.select("tbody tr")]
    shown = [[spaced(n.show()), spaced(n.basis())] for n in claim.evidence.values()]
    assert [row[1:] for row in rows] == shown
    if claim.kind == "claim":
        assert card.select_one(".pa-verdict-head strong").get_text() == claim.current_verdict
        shown = chips(claim.id)
        assert shown and all(claim.current_verdict in chip["title"] for chip in shown)
        assert all(chip["href"].endswith(f"#{claim.id}") for chip in shown)
        assert len([chip for chip in shown if not chip.find_parent(class_="paper")]) <= 1


@pytest.mark.parametrize("reach", ["focus", "hover"])
def test_a_chip_says_its_verdict_in_full(browser, reach):
    with shown(browser, "book/dynamics/longer.html") as tab:
        chip = tab.locator("a.pa-chip.pa-conditional").first
        said = chip.get_attribute("title")
        getattr(chip, reach)()
        tip = tab.locator("div.pa-tip")
        tip.wait_for()
        assert said.startswith("holds only if ") and tip.inner_text() == said
        assert chip.get_attribute("aria-describedby") == tip.get_attribute("id")
