"""What a page asks of its reader: little waiting, and no number that nobody computed."""

from __future__ import annotations

import pytest
from browser import SITE, page_names
from page_text import ADVICE, leftovers, typed_numbers

WHOLE = 2_000_000  # bytes of a page with its drawings, before compression

every_page = pytest.mark.parametrize("page", page_names())


@every_page
def test_a_page_is_light(page):
    assert (SITE / page).stat().st_size <= WHOLE


@every_page
def test_no_format_left_anything_behind(page):
    assert leftovers((SITE / page).read_text(encoding="utf-8")) == []


@every_page
def test_every_number_in_running_text_was_computed(page):
    found = typed_numbers((SITE / page).read_text(encoding="utf-8"))
    assert found == [], ADVICE
