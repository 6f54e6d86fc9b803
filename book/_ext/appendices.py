"""Appendices: a section whose title begins with "Appendix:" is folded under its title, cells and all.

A dropdown of MyST cannot hold code cells. Here whole sections can be folded, with the figures, tables and
proofs that only a checker wants. A link to something inside opens the fold (book.js).
"""

from __future__ import annotations

from cells import Fold
from docutils import nodes

OPENING = "Appendix:"


def fold(app, doctree: nodes.document, docname: str) -> None:
    """Fold every appendix below its title."""
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        if title is not None and title.parent is section and title.astext().startswith(OPENING):
            rest = [child for child in section.children if child is not title]
            folded = Fold("", label="Show this appendix")
            section.children = []
            section += [title, folded]
            folded += rest


def setup(app) -> dict:
    """After the cells of the section are folded."""
    app.connect("doctree-resolved", fold, priority=410)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
