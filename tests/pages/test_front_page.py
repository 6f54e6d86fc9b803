"""The front page draws in: a picture that learns, findings with their figures, and no word too many."""

from __future__ import annotations

import re

from browser import SITE
from bs4 import BeautifulSoup
from findings import MINUTES_A_PICTURE, WORDS_A_MINUTE
from page_measures import measure

INDEX = SITE / "book" / "index.html"


def test_it_is_short_and_light(browser):
    found = measure(browser, INDEX)
    assert found.words <= 700
    assert found.bytes <= 2_000_000


def test_its_picture_moves_by_itself_once_and_leads_to_the_essay(browser):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(INDEX.as_uri())
    page.wait_for_function(
        "document.querySelector('.pa-sentence')?.textContent.startsWith('After training, 364')"
    )
    assert page.locator("[data-scene=heap] a").first.get_attribute("href").startswith("next_to.html")
    page.context.close()


def test_the_picture_is_there_without_script(browser):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(INDEX.as_uri())
    assert page.locator(".pa-explorable svg[aria-label]").first.is_visible()
    page.context.close()


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


def test_reading_times_are_those_of_the_chapters():
    soup = BeautifulSoup(INDEX.read_text(encoding="utf-8"), "html.parser")
    times = [line.get_text() for line in soup.select(".pa-time")]
    form = r"about \d+ (minutes|hours) of reading; their code runs in \d+ minutes?$"
    assert len(times) == 3 and all(re.search(form, time) for time in times[1:]), times
    assert re.fullmatch(r"4 pages, about \d+ minutes, a minute a picture", times[0]), times[0]


def test_the_first_look_counts_the_pages_that_it_names():
    """Words of the built pages' paragraphs, read apart from the book's own count, and a minute a picture."""
    soup = BeautifulSoup(INDEX.read_text(encoding="utf-8"), "html.parser")
    (line,) = (p for p in soup.select("p") if p.get_text().startswith("A first look."))
    pages = [INDEX.parent / a["href"] for a in line.select("a")]
    assert len(pages) == 4
    words = 0
    for page in pages:
        article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select_one("article")
        for aside in article.select(".math, .pa-explorable, details, script, .prev-next-area"):
            aside.decompose()
        words += sum(len(p.get_text(" ").split()) for p in article.select("p, li > p"))
    shown = int(re.search(r"about (\d+)", soup.select_one(".pa-time").get_text())[1])
    assert abs(words / WORDS_A_MINUTE + 10 * MINUTES_A_PICTURE - shown) <= 4
