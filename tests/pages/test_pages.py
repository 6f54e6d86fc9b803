"""Every built page in a real browser: it opens, keeps to itself, and can be read by everybody."""

from __future__ import annotations

import re

import pytest
import yaml
from browser import ROOT, SITE, bytes_of, page_names, settle
from lettering import all_pages
from page_visits import DESK, NEXT_FRAME, PHONE, open_page, set_theme, shown

#: One page of each kind, which `make test` visits; `make test-all` visits all of them.
SMOKE = {
    "book/index.html", "book/claims.html", "book/setting/structure.html", "book/dynamics/longer.html",
    "book/images/fixed.html", "book/shallow_vit/setting.html", "book/explore/descent.html",
}  # fmt: skip
PAGES = [page if page in SMOKE else pytest.param(page, marks=pytest.mark.slow) for page in page_names()]
# The scope puts a page's tests beside one another, so that most pages are visited by one worker only.
every_page = pytest.mark.parametrize("page", PAGES, scope="module")

FILE_NAME = re.compile(r"\.(png|svg|jpe?g|gif|webp)\b|/|\b[0-9a-f]{16,}", re.IGNORECASE)


def test_every_page_of_the_contents_is_built():
    """The tests below run over what was built; this one makes sure that it is the whole book."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    missing = [file for file in all_pages(contents) if not (SITE / f"{file}.html").exists()]
    assert not missing, f"not built: {', '.join(missing)}; run `make book` first"


@every_page
def test_it_opens_whole_and_asks_nobody(visit, page):
    """No error on the console, no request that leaves the book, no file missing, no equation as typed."""
    seen = visit(page)
    assert (seen.console, seen.outside, seen.lost) == ([], [], [])
    assert seen.equations == {"raw": [], "failed": [], "tex": []}


@every_page
def test_figures_are_there_and_described(visit, page):
    for image in visit(page).images:
        assert image["loaded"], f"{image['src']} does not load"
        alt = (image["alt"] or "").strip()
        assert len(alt.split()) >= 3 and not FILE_NAME.search(alt), (
            f"{image['src']} needs a sentence as alt: {alt!r}"
        )


@every_page
def test_a_phone_shows_all_of_it(visit, page):
    """Nothing scrolls sideways but boxes of their own, which the Tab key must reach."""
    width = visit(page).width
    assert width["scroll"] <= width["inner"], width["wide"]
    assert width["unreachable"] == []


@every_page
def test_figures_stack_on_a_phone_and_can_be_read(visit, page):
    """No letter is below eleven pixels on either screen; panels stand below one another and fit."""
    figures = visit(page).figures
    assert figures["desk"]["small"] == figures["phone"]["small"] == []
    assert figures["phone"]["outside"] == figures["phone"]["beside"] == []


@every_page
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_accessible(visit, page, theme):
    """axe finds nothing against WCAG 2.1 A and AA in light, nor against its rule for colors in dark.

    What axe cannot see: colored equations reach 4.5 : 1 and icons 3 : 1 against their ground.
    """
    assert visit(page).axe[theme] == []
    assert visit(page).contrast[theme] == []


def test_search_finds_a_word(browser):
    """Straight from the file system, where a page may not fetch anything."""
    with shown(browser, "search.html?q=patches") as tab:
        # Results arrive one by one: only the closing sentence says that all of them are there.
        tab.wait_for_selector("#search-results .search-summary:has-text('Search finished')", timeout=60_000)
        targets = [link.get_attribute("href") for link in tab.locator("#search-results li a").all()]
        quotes = tab.locator("#search-results li").all_inner_texts()
        marked = tab.locator("#search-results mark").all_text_contents()
    assert any("book/letters.html" in target for target in targets), targets
    assert all(len(quote.split()) > 8 for quote in quotes), "every result quotes its page"
    assert marked and all(mark.lower() in ("patches", "") for mark in marked)


def test_dark_mode_recolors_every_quantity(browser):
    """The palette's codes in equations turn into other colors in the dark, each into its own."""
    colors = "equations => equations.map(e => [e.style.color, getComputedStyle(e).color])"
    with open_page(browser, SITE / "book" / "letters.html") as tab:
        light = dict(tab.eval_on_selector_all(".katex-html [style*=color]", colors))
        set_theme(tab, "dark")
        dark = dict(tab.eval_on_selector_all(".katex-html [style*=color]", colors))
    assert len(light) == 6, f"the notation page shows the six quantities: {light}"
    assert all(light[code] == code for code in light)
    assert len(set(dark.values())) == 6 and not set(dark.values()) & set(light)


PARTED = """() => {
  const middle = box => (box.top + box.bottom) / 2;
  const shown = e => e.getClientRects().length;
  const formulas = [...document.querySelectorAll('.pa-together .math')].filter(shown);
  const parted = formulas.filter(formula => {
    const next = formula.closest('.pa-together').lastChild;
    if (next.nodeType !== Node.TEXT_NODE || !next.textContent) return false;
    const behind = document.createRange();
    behind.setStart(next, 0);
    behind.setEnd(next, 1);
    const last = [...formula.querySelectorAll('.base')].at(-1).getBoundingClientRect();
    return Math.abs(middle(behind.getBoundingClientRect()) - middle(last)) > 14;
  });
  return [formulas.length, parted.map(e => e.parentElement.textContent.slice(-40))];
}"""


def test_punctuation_stays_with_its_formula(browser):
    with shown(browser, "book/dynamics/idealized.html", viewport=PHONE) as page:
        settle(page)
        count, parted = page.evaluate(PARTED)
    assert count > 50 and parted == []


@pytest.mark.parametrize("name", ["book.css", "heights.css", "claims.css"])
def test_a_style_sheet_closes_what_it_opens(browser, name):
    """A rule that is left open swallows all that follow: on a wide screen none of them would hold."""
    sheet = (SITE / "_static" / name).read_text(encoding="utf-8")
    with shown(browser, "book/index.html") as page:
        count = (
            "text => { const all = new CSSStyleSheet(); all.replaceSync(text); return all.cssRules.length; }"
        )
        assert page.evaluate(count, f"{sheet}\n.pa-last {{ color: red; }}") == page.evaluate(count, sheet) + 1


# --- The front page draws in: a picture that learns, and two doors


INDEX = SITE / "book" / "index.html"


def test_it_is_light(browser):
    assert bytes_of(browser, INDEX) <= 2_000_000


def test_its_picture_moves_by_itself_once(browser):
    with shown(browser, "book/index.html", viewport=DESK) as page:
        page.wait_for_function(
            "document.querySelector('.pa-sentence')?.textContent.startsWith('Nobody looked')"
        )


def test_the_picture_is_there_without_script(browser):
    with shown(browser, "book/index.html", java_script_enabled=False) as page:
        assert page.locator(".pa-explorable svg[aria-label]").first.is_visible()


@pytest.mark.parametrize(
    "size", [{"width": 1280, "height": 800}, {"width": 390, "height": 844}], ids=["desk", "phone"]
)
def test_both_doors_stand_on_the_first_screen(browser, size):
    with shown(browser, "book/index.html", viewport=size) as page:
        doors = page.locator("a.door")
        boxes = [doors.nth(k).bounding_box() for k in range(doors.count())]
        assert [doors.nth(k).get_attribute("href") for k in range(2)] == ["next_to.html", "paper.html"]
        assert len(boxes) == 2 and all(box["y"] + box["height"] <= size["height"] for box in boxes)


def test_a_caption_names_panels_as_the_screen_shows_them(browser):
    """Side by side on a desk, below one another on a phone."""
    for size, named, unnamed in (
        (DESK, ("Left:", "Right:"), "First:"),
        (PHONE, ("First:", "Second:"), "Left:"),
    ):
        with shown(browser, "book/setting/spatial_data.html", viewport=size) as page:
            caption = page.locator("#fig-spatial-draw figcaption").inner_text()
        assert all(word in caption for word in named) and unnamed not in caption


def test_formulas_and_tables_of_a_chapter_fit_a_phone(browser):
    """A displayed formula that is a little too wide gets smaller letters; a table's heads may break."""
    wide = (
        "[...document.querySelectorAll('div.math, .pa-table')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    )
    with shown(browser, "book/setting/spatial_data.html", viewport=PHONE) as page:
        settle(page)
        page.wait_for_load_state("load")
        page.evaluate(NEXT_FRAME)
        assert page.evaluate(f"{wide}.map(e => e.textContent.slice(0, 40))") == []
