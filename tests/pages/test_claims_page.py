"""The ledger as a page: every claim has an address, a search finds it, and the errata are all there."""

from __future__ import annotations

from browser import SITE
from bs4 import BeautifulSoup

from patch_association.claims import shipped

PAGE = SITE / "book" / "claims.html"
CLAIMS = [claim for claim in shipped() if claim.kind == "claim"]


def test_every_claim_has_an_address_of_its_own():
    soup = BeautifulSoup(PAGE.read_text(encoding="utf-8"), "html.parser")
    found = [row["id"] for row in soup.select("table.pa-claims tr[id^=claim-]")]
    assert sorted(found) == sorted(f"claim-{claim.id}" for claim in shipped())


def test_the_map_counts_every_claim_once():
    soup = BeautifulSoup(PAGE.read_text(encoding="utf-8"), "html.parser")
    rows = soup.select("table.pa-claims")[0].select("tbody tr")
    counts = [[int(cell.get_text() or 0) for cell in row.select("td")[1:]] for row in rows]
    assert sum(row[-1] for row in counts) == len(CLAIMS)
    assert all(sum(row[:-1]) == row[-1] for row in counts)


def test_the_errata_are_all_that_fails_or_needs_a_condition():
    soup = BeautifulSoup(PAGE.read_text(encoding="utf-8"), "html.parser")
    listed = {a["href"] for a in soup.select("#errata .pa-id a")}
    papers = {c.id for c in CLAIMS if c.source != "ours" and c.family in ("conditional", "fails")}
    assert listed == {f"#claim-{one}" for one in papers}


def test_the_search_leaves_what_it_finds(browser):
    page = browser.new_context().new_page()
    page.goto(PAGE.as_uri())
    page.get_by_label("words").fill("theorem alpha-scaling")
    shown = page.locator("table.pa-claims tr[id^=claim-]:visible")
    assert shown.count() == 1 and shown.first.get_attribute("id") == "claim-ours-alpha-scaling"
    assert page.locator(".pa-filter output").inner_text() == f"1 of {len(list(shipped()))} claims"
    page.get_by_label("words").fill("")
    assert page.locator("table.pa-claims tr[id^=claim-]:visible").count() == len(list(shipped()))
    page.context.close()
