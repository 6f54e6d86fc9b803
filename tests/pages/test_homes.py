"""What leaves the way of reading arrives: proofs, notes, solutions and cards stand on their pages, once."""

from __future__ import annotations

import re
from functools import cache

import pytest
from browser import SITE
from bs4 import BeautifulSoup
from docutils.nodes import make_id
from notebooks import chapters, name_of
from page_visits import shown

from patch_lab.ledger import shipped

every_chapter = pytest.mark.parametrize("text", chapters(), ids=name_of)


@cache
def page(name: str) -> BeautifulSoup:
    return BeautifulSoup((SITE / "book" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def pages_of(chapter: str) -> list[BeautifulSoup]:
    """The chapter, and what stands under its title on the pages of its part."""
    part, _, name = chapter.partition("/")
    homes = [page(f"{part}/{kind}").find(id=f"of-{name}") for kind in ("proofs", "solutions")]
    return [page(chapter), *filter(None, homes)]


def labels(text: str) -> set[str]:
    """The addresses that a chapter's text gives to its boxes, figures and equations."""
    boxes = re.findall(r"^:label: (\S+)$", text, re.M)
    figures = re.findall(r"^ {4}name: (fig-\S+)$", text, re.M)
    equations = re.findall(r"^\$\$ \(([^)]+)\)$", text, re.M)
    return {*map(make_id, boxes), *map(make_id, figures), *(make_id(f"equation-{one}") for one in equations)}


@every_chapter
def test_every_label_has_its_content_and_its_old_address(text):
    found = pages_of(name_of(text))
    for label in labels(text.read_text(encoding="utf-8")):
        assert found[0].find(id=label) is not None, f"the old address #{label} leads nowhere"
        at = [place for one in found for place in one.find_all(id=label)]
        shown = [place for place in at if place.name != "span" or not place.find_parent(class_="pa-moved")]
        assert any(place.get_text(strip=True) or place.find("svg") for place in shown), f"{label} is lost"


@every_chapter
def test_proofs_and_solutions_stand_once(text):
    source = text.read_text(encoding="utf-8")
    for written, box in (("{prf:proof}", "div.proof:not([id])"), ("{solution}", "div.solution")):
        shown = sum(len(one.select(box)) for one in pages_of(name_of(text)))
        assert shown == source.count(written), written
    assert page(name_of(text)).select("div.solution") == []


def spaced(text: str) -> str:
    """The text with plain spaces alone."""
    return " ".join(text.split())


@pytest.mark.parametrize("claim", [pytest.param(claim, id=claim.id) for claim in shipped()])
def test_every_claim_has_a_card_with_its_evidence_and_a_chip(claim):
    card = page(f"claims/{claim.chapter.partition('/')[0]}").find(id=f"claim-{claim.id}")
    rows = [[spaced(cell.get_text(" ")) for cell in row.select("td")] for row in card.select("tbody tr")]
    shown = [[spaced(n.show()), spaced(n.show_basis())] for n in claim.evidence.values()]
    assert [row[1:] for row in rows] == shown
    if claim.kind == "claim":
        assert card.select_one(".pa-verdict-head strong").get_text() == claim.standing
        chips = page(claim.chapter).select(f'a.pa-chip[href$="#claim-{claim.id}"]')
        assert len(chips) == 1 and claim.standing in chips[0]["title"]


@pytest.mark.parametrize("reach", ["focus", "hover"])
def test_a_chip_says_its_verdict_in_full(browser, reach):
    with shown(browser, "book/dynamics/limits.html") as tab:
        chip = tab.locator("a.pa-chip.pa-conditional").first
        said = chip.get_attribute("title")
        getattr(chip, reach)()
        tip = tab.locator("div.pa-tip")
        tip.wait_for()
        assert said.startswith("holds only if ") and tip.inner_text() == said
        assert chip.get_attribute("aria-describedby") == tip.get_attribute("id")
