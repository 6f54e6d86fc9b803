"""What links and symbols mean, on hover and focus: from the file system, in both themes, by keyboard."""

from __future__ import annotations

import pytest
from browser import SITE
from page_visits import UNFOLD, Visit, axe_findings, open_page, set_theme

pytestmark = pytest.mark.slow

ATTENTION = SITE / "book" / "setting" / "attention.html"
POSITIONAL = SITE / "book" / "images" / "positional_vit.html"
TIP = "#pa-tip"

#: A link by its target, and what its tip says: on the same page, on another one, a work.
LINKS = {
    "#prop-positional-cost": "Cost of a layer",
    "../setting/attention.html#def-positional-attention": "Positional attention",
    "../references.html": "On the relationship between self-attention and convolutional layers",
}


@pytest.fixture
def page(browser):
    seen = Visit()
    with open_page(browser, POSITIONAL, seen) as tab:
        yield tab
    assert seen.console == [] and seen.outside == [] and seen.lost == []


def link_to(page, target):
    return page.locator(f"article a.reference.internal[href^='{target}']").last


@pytest.mark.parametrize("target", LINKS)
def test_a_link_shows_what_it_leads_to(page, target):
    link = link_to(page, target)
    link.scroll_into_view_if_needed()
    link.hover()
    page.wait_for_selector(TIP)
    assert LINKS[target].lower() in page.inner_text(TIP).lower()
    assert page.locator(f"{TIP} .math:not([data-typeset])").count() == 0
    assert page.get_attribute(TIP, "role") == "tooltip"
    assert link.get_attribute("aria-describedby") == "pa-tip"
    box = page.locator(TIP).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
    page.mouse.move(box["x"] + 20, box["y"] + 10)  # into the tip: it stays
    page.wait_for_timeout(500)
    assert page.locator(TIP).count() == 1
    page.mouse.move(1, 1)
    page.wait_for_selector(TIP, state="detached")


def test_figures_and_equations_are_copied_with_what_they_show(browser):
    with open_page(browser, SITE / "book" / "dynamics" / "idealized.html") as tab:
        tab.evaluate(UNFOLD)
        link_to(tab, "#fig-idealized-step").focus()
        assert tab.locator(f"{TIP} figure svg path").count() > 10
        assert tab.locator(f"{TIP} figcaption").count() == 1
        link_to(tab, "#equation-eq-idealized-velocity").focus()
        assert tab.locator(f"{TIP} .katex").count() == 1
        assert tab.locator(f"{TIP} [id]:not(svg *)").count() == 0, "no id twice on a page"


def test_the_keyboard_opens_and_closes_it(page):
    link = link_to(page, "#prop-positional-cost")
    link.focus()
    assert page.locator(TIP).count() == 1
    page.keyboard.press("Escape")
    assert page.locator(TIP).count() == 0 and link.get_attribute("aria-describedby") is None


def test_the_arrow_keys_move_a_formula_that_is_wider_than_its_tip(browser):
    with open_page(browser, SITE / "book" / "dynamics" / "idealized.html") as tab:
        tab.set_viewport_size({"width": 320, "height": 700})
        tab.evaluate(UNFOLD)
        link_to(tab, "#equation-eq-idealized-first").focus()
        left = f"() => Math.max(...[...document.querySelectorAll('{TIP} *')].map(e => e.scrollLeft))"
        assert tab.evaluate(left) == 0
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate(left) > 0 and tab.locator(TIP).count() == 1


def test_a_symbol_says_its_meaning_and_its_name_in_the_code(page):
    page.goto(ATTENTION.as_uri())
    symbol = page.locator("article p .pa-symbol[data-symbol='\\\\mathbfA']").first
    symbol.scroll_into_view_if_needed()
    symbol.hover()
    page.wait_for_selector(TIP)
    assert "attention scores" in page.inner_text(TIP) and "scores" in page.inner_text(f"{TIP} code")
    stops = page.eval_on_selector_all(
        "article .pa-symbol[tabindex]", "marks => marks.map(e => e.dataset.symbol)"
    )
    assert stops and len(stops) == len(set(stops)), "the Tab key stops once at each symbol"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_open_tip_is_accessible(page, theme):
    set_theme(page, theme)
    link_to(page, "../references.html").focus()
    assert page.locator(TIP).count() == 1
    assert axe_findings(page, theme) == []


def test_the_letters_of_the_second_theory_are_its_own(browser):
    with open_page(browser, SITE / "book" / "shallow_vit" / "setting.html") as tab:
        mark = "template.pa-tip[data-symbol='L']"
        assert "tokens" in tab.eval_on_selector(mark, "e => e.content.textContent")


@pytest.mark.parametrize("by", ["focus", "tap", "paper"])
def test_a_word_of_the_claims_shows_its_definition(browser, by):
    """By the Tab key and by a tap as its tip; on paper, where nothing can be pressed, behind the word."""
    with open_page(browser, SITE / "book" / "claims.html") as tab:
        word = tab.locator(".pa-word", has_text="undecided").first
        meaning = word.locator("xpath=../following-sibling::dd[1]")
        assert "neither the statement nor its contrary" in meaning.text_content()
        if by == "paper":
            tab.emulate_media(media="print")
            assert meaning.is_visible()
            return
        assert not meaning.is_visible()
        word.scroll_into_view_if_needed()
        word.focus() if by == "focus" else word.click()
        assert "neither the statement nor its contrary" in tab.inner_text(TIP)
        assert word.get_attribute("aria-describedby") == "pa-tip"
