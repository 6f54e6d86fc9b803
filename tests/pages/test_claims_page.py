"""The ledger as a page: every claim has an address, a search finds it, and the errata are all there."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from browser import SITE
from bs4 import BeautifulSoup
from ledger import PAPER_NAMES, PART_NAMES, slug
from page_visits import shown

from patch_lab.kit.ledger import VERDICTS, shipped

PAGE = "book/claims.html"
CLAIMS = [claim for claim in shipped() if claim.kind == "claim"]


@pytest.fixture(scope="module")
def soup() -> BeautifulSoup:
    return BeautifulSoup((SITE / PAGE).read_text(encoding="utf-8"), "html.parser")


def test_every_claim_has_an_address_of_its_own(soup):
    found = [row["id"] for row in soup.select("table.pa-claims tr[id^=claim-]")]
    assert sorted(found) == sorted(f"claim-{claim.id}" for claim in shipped())


def test_the_map_counts_every_claim_once(soup):
    rows = soup.select("table.pa-map")[0].select("tbody tr")
    counts = [[int(cell.get_text() or 0) for cell in row.select("td")[1:]] for row in rows]
    *verdicts, every = counts
    assert sum(row[-1] for row in verdicts) == every[-1] == len(CLAIMS)
    assert all(sum(row[:-1]) == row[-1] for row in counts)
    assert [sum(column) for column in zip(*verdicts, strict=True)] == every


def test_the_papers_claims_are_counted_apart(soup):
    lines = [re.findall(r"\d+", line.get_text()) for line in soup.select("p.pa-totals")]
    totals = [len([c for c in CLAIMS if (c.source == "ours") == own]) for own in (False, True)]
    assert [int(line[0]) for line in lines] == totals
    assert all(sum(map(int, line[1:])) == int(line[0]) for line in lines)


def test_the_errata_are_all_that_fails_or_needs_a_condition(soup):
    listed = {a["href"] for a in soup.select("#errata .pa-id a")}
    papers = {c.id for c in CLAIMS if c.source != "ours" and c.family in ("conditional", "fails")}
    assert listed == {f"#claim-{one}" for one in papers}


def test_the_search_leaves_what_it_finds(browser):
    with shown(browser, PAGE) as page:
        page.get_by_label("words").fill("theorem alpha-scaling")
        rows = page.locator("table.pa-claims tr[id^=claim-]:visible")
        assert rows.count() == 1 and rows.first.get_attribute("id") == "claim-ours-alpha-scaling"
        assert page.locator(".pa-filter output").inner_text() == f"1 of {len(CLAIMS)} claims shown"
        page.get_by_label("words").fill("")
        assert rows.count() == len(list(shipped()))  # all parts are open by now


CHOICES = {
    "paper": {p: lambda c, p=p: c.source == p or (p == "papers" and c.source != "ours") for p in PAPER_NAMES},
    "part": {part: lambda c, p=part: c.chapter.startswith(f"{p}/") for part in PART_NAMES},
    "verdict": {slug(word): lambda c, word=word: c.current_verdict == word for word in VERDICTS},
}


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_each_filter_leaves_the_claims_of_the_table(browser, script):
    """Every choice alone, then one of each kind together; definitions have no verdict and stay."""

    def left(page) -> set[str]:
        rows = page.locator("table.pa-claims tr[class*=pa-row]")
        seen = "all => all.filter(row => row.checkVisibility()).map(row => row.id)"
        return {name.removeprefix("claim-") for name in rows.evaluate_all(seen)}

    with shown(browser, PAGE, java_script_enabled=script) as page:

        def choose(kind, value):
            return page.locator(f"[name=pa-{kind}][value={value}]").check()

        assert left(page) == set()  # parts are folded
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        assert left(page) == {claim.id for claim in CLAIMS}
        for kind, choices in CHOICES.items():
            offered = page.locator(f"[name=pa-{kind}]").evaluate_all("all => all.map(one => one.value)")
            assert offered == ["all", *choices]
            for value, belongs in choices.items():
                choose(kind, value)
                assert left(page) == {claim.id for claim in CLAIMS if belongs(claim)}, f"{kind}: {value}"
            choose(kind, "all")
        together = {"paper": "ours", "part": "dynamics", "verdict": "proved-here"}
        for kind, value in together.items():
            choose(kind, value)
        expected = {c.id for c in CLAIMS if all(CHOICES[kind][value](c) for kind, value in together.items())}
        assert left(page) == expected and 0 < len(expected) < len(CLAIMS)


def test_a_count_leads_to_its_claims_and_choices_say_how_many_they_leave(browser):
    """From the front page to the table; then another choice, whose address shows the same claims again."""
    shows = (
        "() => [...document.querySelectorAll('tr[class*=pa-row]')].filter(r => r.checkVisibility()).length"
    )
    with shown(browser, "book/index.html") as page:
        badge = page.locator(".pa-totals a").nth(2)
        count = int(badge.inner_text().split()[0])
        badge.click()
        page.wait_for_url("**/claims.html#paper=papers&verdict=*")
        said = page.locator(".pa-filter output")
        assert said.inner_text() == f"{count} of {len(CLAIMS)} claims shown"
        assert page.evaluate(shows) == count
        choice = page.locator("label", has=page.locator("[name=pa-paper][value=ours]"))
        count = int(choice.locator(".pa-count").inner_text())
        choice.click()
        assert page.evaluate(shows) == count and said.inner_text().startswith(f"{count} of")
        page.get_by_label("words").fill("a")
        expected = page.evaluate(shows)
        address = page.url
        page.goto("about:blank")
        page.goto(address)
        assert page.evaluate(shows) == expected and page.get_by_label("words").input_value() == "a"


def test_every_part_of_the_ledger_is_offered():
    assert {claim.chapter.partition("/")[0] for claim in shipped()} == PART_NAMES.keys()


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_downloads_hold_the_whole_ledger(soup, kind):
    (address,) = (a["href"] for a in soup.select(".pa-downloads a") if a["href"].endswith(f"/claims.{kind}"))
    text = ((SITE / PAGE).parent / address).read_text(encoding="utf-8")
    entries = list(csv.DictReader(io.StringIO(text))) if kind == "csv" else json.loads(text)
    assert [entry["id"] for entry in entries] == [claim.id for claim in shipped()]
    assert [entry["verdict"] or None for entry in entries] == [
        claim.as_dict()["verdict"] for claim in shipped()
    ]
