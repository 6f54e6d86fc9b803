"""The book on paper: a chapter printed by Chromium, its title in the outline, its pages numbered through."""

from __future__ import annotations

import re

from print_book import contents, print_book
from pypdf import PdfReader


def test_chapters_are_printed(browser, tmp_path):
    chapters = ["book/transfer/mismatch", "book/transfer/mismatch_notes"]
    assert set(chapters) < set(contents())
    titles = print_book(browser, chapters, tmp_path / "two.pdf")
    printed = PdfReader(tmp_path / "two.pdf")
    assert [entry.title for entry in printed.outline] == titles and all(titles) and len(titles) == 2
    numbers = [int(re.findall(r"\d+", page.extract_text())[-1]) for page in printed.pages]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 6
