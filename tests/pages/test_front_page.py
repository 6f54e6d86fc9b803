"""The front page draws in: a picture that learns, and findings with their figures."""

from __future__ import annotations

from browser import SITE
from bs4 import BeautifulSoup
from page_measures import measure
from page_visits import DESK, shown

INDEX = SITE / "book" / "index.html"


def test_it_is_light(browser):
    assert measure(browser, INDEX).bytes <= 2_000_000


def test_its_picture_moves_by_itself_once_and_leads_to_the_essay(browser):
    with shown(browser, "book/index.html", viewport=DESK) as page:
        page.wait_for_function(
            "document.querySelector('.pa-sentence')?.textContent.startsWith('After training, 364')"
        )
        assert page.locator("[data-scene=heap] a").first.get_attribute("href").startswith("next_to.html")


def test_the_picture_is_there_without_script(browser):
    with shown(browser, "book/index.html", java_script_enabled=False) as page:
        assert page.locator(".pa-explorable svg[aria-label]").first.is_visible()


def test_every_finding_has_its_figure_and_leads_to_it():
    soup = BeautifulSoup(INDEX.read_text(encoding="utf-8"), "html.parser")
    findings = soup.select(".pa-finding")
    assert 6 <= len(findings) <= 8
    for finding in findings:
        picture = (INDEX.parent / finding.img["src"]).resolve()
        assert picture.read_text(encoding="utf-8").rstrip().endswith("</svg>")
        address, _, label = finding.a["href"].partition("#")
        there = BeautifulSoup((INDEX.parent / address).read_text(encoding="utf-8"), "html.parser")
        assert there.find(id=label), f"{address} has no {label}"
        assert len(finding.img["alt"].split()) >= 3
