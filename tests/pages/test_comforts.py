"""What helps a reader along: questions before figures, large figures, neighbors, names in the search."""

from __future__ import annotations

import re

import pytest
from browser import SITE, page_names
from bs4 import BeautifulSoup
from page_visits import EXPLORE, PHONE, axe_findings, open_page, set_theme, shown

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_opens_in_full_size_and_gives_the_focus_back(browser, theme):
    with open_page(browser, SITE / "book" / "setting" / "linear_models.html") as tab:
        set_theme(tab, theme)
        figure = tab.locator("#fig-linear-bell")
        before = figure.locator(".pa-drawing").bounding_box()["width"]
        button = figure.get_by_role("button")
        button.focus()
        tab.keyboard.press("Enter")
        full = tab.get_by_role("dialog")
        assert full.locator(".pa-drawing").bounding_box()["width"] > before
        assert full.locator("figcaption").is_visible()
        assert axe_findings(tab, theme) == []
        tab.keyboard.press("Escape")
        assert full.count() == 0 and figure.locator(".pa-drawing").bounding_box()["width"] == before
        assert tab.evaluate("document.activeElement.className") == "pa-enlarge"
        figure.locator(".pa-drawing").click()
        assert full.count() == 1


def test_neighbors_have_a_sentence_and_arrows_lead_to_them(browser):
    with open_page(browser, SITE / "book" / "setting" / "spatial_data.html") as tab:
        for link in tab.locator(".prev-next-area a").all():
            assert len(link.locator(".pa-about").inner_text().split()) > 6
        symbol = tab.locator(".pa-symbol[tabindex]").first
        symbol.focus()
        tab.keyboard.press("ArrowRight")
        tab.wait_for_timeout(200)
        assert tab.url.endswith("spatial_data.html"), "what has the focus may want the key"
        symbol.evaluate("e => e.blur()")
        with tab.expect_navigation():
            tab.keyboard.press("ArrowRight")
        assert tab.url.endswith("attention.html")


@pytest.mark.parametrize(
    ("query", "title", "where"),
    [
        ("gamma", "γ, a symbol", "book/letters.html"),
        ("Gamma", "Γ, a symbol", "book/letters.html"),
        ("γ", "γ, a symbol", "book/letters.html"),
        ("rho", "ρ, a symbol", "book/letters.html"),
        ("q_c", "qc, a symbol", "book/letters.html"),
        ("Theorem 3.1", "Theorem 3.1", "book/claims.html#claim-jelassi2022-theorem-3.1"),
        ("theorem 4.2", "Theorem 4.2", "book/dynamics/realistic.html#"),
        ("Fig. 8.1", "Figure 8.1", "book/dynamics/"),
    ],
)
def test_the_search_finds_what_has_a_name(browser, query, title, where):
    with shown(browser, f"search.html?q={query}") as tab:
        tab.wait_for_selector(".pa-named")
        texts = tab.locator(".pa-named li").all_inner_texts()
        links = [link.get_attribute("href") for link in tab.locator(".pa-named li a").all()]
    assert all(text.startswith(title) and len(text.split()) > 4 for text in texts), texts
    assert any(where in link for link in links), links
    for link in links:
        page, _, id = link.removeprefix("./").partition("#")
        assert not id or f'id="{id}"' in (SITE / page).read_text(encoding="utf-8"), link


@pytest.mark.parametrize("query", ["constructor", "__proto__", pytest.param(50_000 * "x", id="long")])
def test_no_query_throws(browser, query):
    with shown(browser, f"search.html?q={query}") as tab:
        tab.wait_for_function("!Search._pulse_status || Search._pulse_status < 0")
        assert tab.locator(".search-summary").inner_text()


def test_a_number_is_not_found_in_a_longer_one(browser):
    with shown(browser, "search.html?q=theorem 4.1") as tab:
        tab.wait_for_selector(".pa-named")
        found = tab.locator(".pa-named a").all_inner_texts()
    assert not [text for text in found if re.match(r"Theorem 4\.1\d", text)]


def test_the_list_for_language_models_has_every_page_and_a_sentence():
    text = (SITE / "llms.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^- \[(.+)\]\(https://\S+/(book/\S+\.html)\): (.+)$", text, re.M)
    assert {address for _, address, _ in lines} == set(page_names()) - {"book/index.html", "search.html"}
    assert all(len(sentence.split()) > 2 and "<" not in sentence for _, _, sentence in lines)


@pytest.mark.parametrize("page", ["book/index.html", "book/next_to.html"])
def test_links_that_read_the_same_lead_to_the_same_place(page):
    """Whoever hears the links alone, one after the other, can tell them apart."""
    soup = BeautifulSoup((SITE / page).read_text(encoding="utf-8"), "html.parser")
    places: dict[str, set[str]] = {}
    for link in soup.select("article a[href]:not(.headerlink)"):
        picture = link.select_one("img[alt]")
        text = picture["alt"] if picture else " ".join(link.get_text(" ").split())
        name = link.get("aria-label") or text
        places.setdefault(name, set()).add(link["href"])
    assert {name: to for name, to in places.items() if len(to) > 1 or len(name) < 5} == {}
    toggles = [one["aria-label"] for one in soup.select(".bd-sidebar-primary summary")]
    assert len(set(toggles)) == len(toggles) > 20


#: The smaller side of what can be tapped in an explorable, in pixels.
TAPPED = """() => [...document.querySelectorAll('.pa-explorable :is(button, select, summary, input)')]
  .filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect())
  .map(box => Math.round(Math.min(box.width, box.height)))"""


@pytest.mark.parametrize("name", ["paint", "look", "descent"])
def test_a_finger_finds_what_it_taps(browser, name):
    with shown(browser, f"{EXPLORE}/{name}.html", viewport=PHONE, has_touch=True) as page:
        page.evaluate("() => window.explorable.ready")
        assert min(page.evaluate(TAPPED)) >= 32


#: Words of a figure, and those that a curve runs through: how far along it, in steps of two pixels.
WORDS = '.pa-panel g[transform*="scale(0."]'
STRUCK = """words => words.filter(word => {
  const box = word.getBoundingClientRect();
  return [...word.closest('svg').querySelectorAll('path')].some(path => {
    if (!/fill: none;.*stroke: /.test(path.getAttribute('style')) || path.closest('defs')) return false;
    const [to, whole] = [path.getScreenCTM(), path.getTotalLength()];
    for (let at = 0; at < whole; at += 2) {
      const { x, y } = path.getPointAtLength(at).matrixTransform(to);
      if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
    }
  });
}).length"""


def test_no_curve_runs_through_a_word_on_a_phone(browser):
    with shown(browser, "book/dynamics/idealized.html", viewport=PHONE) as page:
        for figure in ("fig-idealized-feedback", "fig-idealized-loud"):
            words = page.locator(f"#{figure} {WORDS}")
            assert words.count() > 2
            assert words.evaluate_all(STRUCK) == 0
