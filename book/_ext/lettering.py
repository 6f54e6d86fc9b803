"""Numbers that cannot be mistaken: 7.b is the book's own statement, 4.1 a paper's; no side road is called I.

The book's own statements are counted by letters. Side roads are lettered by the style ``alphaupper`` of
sphinx-external-toc, which would call the ninth I, as the first chapter of Part II is.
"""

from __future__ import annotations

import string

from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

ROADS = string.ascii_uppercase.replace("I", "")
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def letter(count: int) -> str:
    """What the ``count``-th statement of a page is called: 1 is a, 26 is z, 27 is aa."""
    name = ""
    while count:
        count, rest = divmod(count - 1, 26)
        name = string.ascii_lowercase[rest] + name
    return name


def all_pages(contents: dict) -> list[str]:
    """Every page of ``_toc.yml`` in order, the root first."""
    return [contents["root"], *(page for part in contents["parts"] for page in pages_of(part))]


def pages_of(part: dict) -> list[str]:
    """The pages of a part of ``_toc.yml``; a chapter's notes behind it."""
    pages = []
    for chapter in part["chapters"]:
        pages.append(chapter["file"])
        pages += (notes["file"] for notes in chapter.get("sections", ()))
    return pages


def chapter_numbers(contents: dict) -> dict[str, str]:
    """The number of every chapter, as its page shows it, from what ``_toc.yml`` says."""
    numbers = {}
    counted = 0
    for part in contents["parts"]:
        if not part.get("numbered"):
            continue
        if part.get("restart_numbering"):
            counted = 0
        for chapter in part["chapters"]:
            counted += 1
            numbers[chapter["file"]] = _STYLES[part.get("style", "numerical")](counted)
    return numbers


_TO_ALPHA = "_TocTreeCollectorWithStyles__to_alpha"
_STYLES = {
    "numerical": str,
    "romanupper": lambda count: ROMAN[count - 1],
    "alphaupper": lambda count: ROADS[count - 1],
}


def letters(app, env) -> list[str]:
    """Once everything is numbered: the last number of a statement becomes a letter."""
    for kinds in env.toc_fignumbers.values():
        for name, number in kinds.get("theorem", {}).items():
            *chapter, count = number
            if isinstance(count, int):
                kinds["theorem"][name] = (*chapter, letter(count))
    return []


def setup(app) -> dict:
    """After the numbers are given, and before they are copied (notes.py)."""
    # A private name: where the package changes it one day, a test finds two pages of one number.
    setattr(TocTreeCollectorWithStyles, _TO_ALPHA, lambda self, count: ROADS[count - 1])
    app.connect("env-get-updated", letters, priority=850)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
