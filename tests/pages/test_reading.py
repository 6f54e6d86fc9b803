"""What a page asks of its reader: little code and waiting, a short way, and no number nobody computed."""

from __future__ import annotations

from statistics import median

import pytest
from browser import ROOT, SITE, page_names
from notebooks import chapters
from page_measures import Measures, measure
from page_text import ADVICE, leftovers, typed_numbers

CODE_SHARE = 0.12  # of the page's area at 1440 pixels
FIRST_FIGURE = 1.5  # screens, in the median chapter
WORDS = 2500  # on the way of reading
WEIGHT = 1_500_000  # bytes without pictures, before compression
WHOLE = 2_000_000  # with them, and with the data of what one plays with

CHAPTERS = [str(path.relative_to(ROOT).with_suffix(".html")) for path in chapters()]
every_chapter = pytest.mark.parametrize("page", CHAPTERS)
every_page = pytest.mark.parametrize("page", page_names())


@pytest.fixture(scope="module")
def measured(browser) -> dict[str, Measures]:
    """Every chapter, measured once."""
    return {page: measure(browser, SITE / page) for page in CHAPTERS}


@every_chapter
def test_code_leaves_the_page_to_the_reader(measured, page):
    share = measured[page].code_share
    assert share <= CODE_SHARE, (
        f"open code takes {share:.0%} of {page}: fold imports and plots, hide what glues"
    )


@every_chapter
def test_the_way_of_reading_is_short(measured, page):
    words = measured[page].words
    assert words <= WORDS, f"{page} has {words} words to read: move {words - WORDS} into folded appendices"


@every_chapter
def test_a_page_is_light(measured, page):
    whole, weight = measured[page].bytes, measured[page].bytes_without_pictures
    assert weight <= WEIGHT, f"{page} weighs {weight:,} bytes without its pictures"
    assert whole <= WHOLE, f"{page} weighs {whole:,} bytes"


def test_the_first_figure_comes_early(measured):
    screens = {page: found.screens for page, found in measured.items()}
    assert None not in screens.values(), f"without a figure: {[p for p, s in screens.items() if s is None]}"
    assert median(screens.values()) <= FIRST_FIGURE, screens


@every_page
def test_no_format_left_anything_behind(page):
    assert leftovers((SITE / page).read_text(encoding="utf-8")) == []


@every_page
def test_every_number_in_running_text_was_computed(page):
    found = typed_numbers((SITE / page).read_text(encoding="utf-8"))
    assert found == [], ADVICE
