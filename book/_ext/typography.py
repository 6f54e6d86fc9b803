"""What must not be parted at the end of a line: mathematics and its punctuation, the ends of an interval.

A browser may break a line before and after every formula, even between it and the comma that follows.
"""

from __future__ import annotations

import re

from docutils import nodes

BEHIND = re.compile(
    r"[.,;:!?)\]’”'\"%–-][^\s]*|(?:th|st|nd|rd)\b[^\s]*"
)  # what belongs to the formula before it
BEFORE = re.compile(r"[^\s]*[(\[“‘–-]$")  # what belongs to the formula behind it
INTERVAL = re.compile(r" ?\[[^\]\s]+, [^\]\s]+\]")


def bind(doctree: nodes.Element) -> None:
    """Put every inline formula and the text that belongs to it into one span."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        place = formula.parent.index(formula)
        together = nodes.inline(classes=["pa-together"])
        before, behind = _text(parent, place - 1), _text(parent, place + 1)
        opening = BEFORE.search(before.astext()) if before is not None else None
        closing = BEHIND.match(behind.astext()) if behind is not None else None
        if not opening and not closing:
            continue
        parent.replace(formula, together)
        if before is not None and opening:
            together += nodes.Text(opening[0])
            _put(parent, before, before.astext()[: opening.start()])
        together += formula
        if behind is not None and closing:
            together += nodes.Text(closing[0])
            _put(parent, behind, behind.astext()[closing.end() :])


def _put(parent: nodes.Element, text: nodes.Text, words: str) -> None:
    """Other words in place of this very text: its neighbors may read the same, ", " between two formulas."""
    place = next(k for k, child in enumerate(parent.children) if child is text)
    parent[place] = nodes.Text(words)


def _text(parent: nodes.Element, place: int) -> nodes.Text | None:
    child = parent[place] if 0 <= place < len(parent) else None
    return child if isinstance(child, nodes.Text) else None


def keep_intervals(doctree: nodes.Element) -> None:
    """Intervals keep their ends on one line."""
    for text in list(doctree.findall(nodes.Text)):
        kept = INTERVAL.sub(lambda interval: interval[0].replace(" ", "\u00a0"), text)
        if kept != text and not isinstance(
            text.parent, (nodes.literal, nodes.literal_block, nodes.math, nodes.raw)
        ):
            _put(text.parent, text, kept)


def plain_spaces(doctree: nodes.Element) -> None:
    """In a formula a no-break space would be set as one: a card keeps "$D = 16$" together, TeX spaces it."""
    for formula in doctree.findall(nodes.math):
        formula[:] = [nodes.Text(formula.astext().replace("\u00a0", " "))]


def typeset(app, doctree: nodes.document, docname: str) -> None:
    """All three, just before the page is written."""
    plain_spaces(doctree)
    bind(doctree)
    keep_intervals(doctree)


def setup(app) -> dict:
    """Run when all references are text."""
    app.connect("doctree-resolved", typeset)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
