"""Figures of chapters on other pages, and the front page's doors.

A figure is taken from its chapter's stored outputs while the book is built, so it is the chapter's own.
``doors`` is a row of large links::

    :::{doors}
    paper | The paper in ten minutes
    :::
"""

from __future__ import annotations

import html
import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

FOLDER = "_static/findings"


def chapter(app, name: str):
    """The notebook of ``part/chapter``."""
    return nbformat.read(Path(app.srcdir) / "book" / f"{name}.ipynb", as_version=4)


def figure(notebook, label: str) -> tuple[str, str]:
    """The SVG of a named figure and its alternative text."""
    for cell in notebook.cells:
        shown = cell.metadata.get("mystnb", {})
        if shown.get("figure", {}).get("name") != label:
            continue
        for output in cell.get("outputs", ()):
            if drawing := output.get("data", {}).get("image/svg+xml"):
                return "".join(drawing), shown["image"]["alt"]
    raise LookupError(label)


def finding(directive: SphinxDirective, label: str, page: str) -> str:
    """The first sentence of a figure's caption: what the figure shows."""
    for cell in chapter(directive.env.app, page).cells:
        shown = cell.metadata.get("mystnb", {}).get("figure", {})
        if shown.get("name") == label:
            return re.split(r"(?<=[.?!])\s", " ".join(shown["caption"].split()), maxsplit=1)[0]
    raise directive.error(f"{page} has no figure {label!r}")


def drawing_of(directive: SphinxDirective, label: str, page: str) -> tuple[str, str]:
    """A chapter's figure and its alternative text; the directive's page is built again when it changes."""
    directive.env.note_dependency(f"book/{page}.ipynb")
    try:
        return figure(chapter(directive.env.app, page), label)
    except LookupError:
        raise directive.error(f"{page} has no figure {label!r}") from None


def picture_of(directive: SphinxDirective, label: str, page: str) -> tuple[str, str]:
    """Where a copy of a chapter's figure lies, seen from the directive's page, and its alternative text."""
    env = directive.env
    drawing, alt = drawing_of(directive, label, page)
    env.metadata[env.docname].setdefault("findings", {})[label] = drawing
    return html.escape(relative_uri(f"{env.docname}.html", f"{FOLDER}/{label}.svg")), html.escape(alt)


def raw(markup: str) -> nodes.raw:
    """A piece of HTML."""
    return nodes.raw("", markup, format="html")


def around(directive: SphinxDirective, start: str, end: str) -> list[nodes.Node]:
    """What a directive contains between two pieces of HTML."""
    return [raw(start), *(directive.parse_content_to_nodes() if directive.content else []), raw(end)]


class Doors(SphinxDirective):
    """``doors``: a row of large links, a line ``page | words`` each."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        doors = []
        for line in self.content:
            page, _, words = (part.strip() for part in line.partition("|"))
            if f"book/{page}" not in self.env.found_docs or not words:
                raise self.error(f"expected a page and words, got {line!r}")
            address = html.escape(relative_uri(f"{self.env.docname}.html", f"book/{page}.html"))
            doors.append(f'<a class="door" href="{address}">{html.escape(words)} <span>→</span></a>')
        return [raw(f'<p class="pa-doors">{"".join(doors)}</p>')]


def write_drawings(app, error: Exception | None) -> None:
    """After a build: the drawings as files."""
    if error is not None or app.builder.format != "html":
        return
    for metadata in app.env.metadata.values():
        for label, drawing in metadata.get("findings", {}).items():
            path = Path(app.outdir) / FOLDER / f"{label}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(drawing, encoding="utf-8")


def setup(app) -> dict:
    """Register the directives."""
    app.add_directive("doors", Doors)
    app.connect("build-finished", write_drawings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
