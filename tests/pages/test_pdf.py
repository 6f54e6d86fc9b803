"""The book on paper: Chromium's PDFs joined into one, with every title in its outline and running numbers."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from print_book import contents, join, print_book
from pypdf import PdfReader


@pytest.fixture(scope="module")
def leaf(browser) -> bytes:
    """Two printed pages."""
    tab = browser.new_page()
    tab.set_content('<p>One</p><p style="break-before: page">Two <a id="x" href="#x">links</a></p>')
    printed = tab.pdf(format="A4")
    tab.close()
    return printed


def titles(pdf: bytes) -> list[str]:
    return [entry.title for entry in PdfReader(BytesIO(pdf)).outline]


def numbers(pdf: bytes) -> list[int]:
    return [int(re.findall(r"\d+", page.extract_text())[-1]) for page in PdfReader(BytesIO(pdf)).pages]


def test_all_titles_stand_in_the_outline_and_pages_are_numbered_through(leaf):
    pages = contents()
    assert pages[0] == "book/index" and len(pages) > 30
    whole = join([(page, leaf) for page in pages])
    assert titles(whole) == pages
    assert numbers(whole) == list(range(1, 2 * len(pages) + 1))


def test_a_chapter_is_printed(browser, tmp_path):
    out = tmp_path / "chapter.pdf"
    assert print_book(browser, ["book/transfer/mismatch"], out) == titles(out.read_bytes())
    assert titles(out.read_bytes()) != [""]
    assert len(numbers(out.read_bytes())) > 5
