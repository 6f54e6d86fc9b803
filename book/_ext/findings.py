"""The front page: findings, each beside a small copy of its figure, and how long the ways through take.

::

    :::{finding} fig-linear-bell
    :page: setting/linear_models
    One sentence.
    :::

The figure is taken from the chapter's stored outputs while the book is built, so it is the chapter's own.
``reading-time`` lists chapters, and says how long their way of reading takes, and how long their code runs:
the sum of the times in ``book/times.json``, which ``tools/times.py`` measures. A page without a notebook is
read in the same way, and takes a minute more for each picture to play with.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import ClassVar

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

FOLDER = "_static/findings"
WORDS_A_MINUTE = 100  # half of what plain prose allows: between the words stands mathematics
MINUTES_A_PICTURE = 1  # to move what can be moved, on a page that is made for it
_FOLDED = re.compile(
    r"^(:{3,})\{(?:dropdown|solution)[^\n]*\n.*?^\1$|^(:{3,})\{[^}]*\}[^\n]*\n:class: dropdown\n.*?^\2$",
    re.MULTILINE | re.DOTALL,
)


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


def source(app, name: str) -> Path:
    """Where a page's text stands: its notebook, else its Markdown file."""
    path = Path(app.srcdir) / "book" / f"{name}.ipynb"
    return path if path.exists() else path.with_suffix(".md")


def text_of(path: Path) -> str:
    """The text of a page, without cells and addresses."""
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
        return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return re.sub(r"<[^>]*>", " ", path.read_text(encoding="utf-8"))


def minutes(text: str) -> float:
    """How long the way of reading takes: the words of the text, without what is folded or a formula."""
    played = len(re.findall(r"^:::\{(?:explorable|scene)\}", text, re.MULTILINE)) * MINUTES_A_PICTURE
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", " ", _FOLDED.sub(" ", text), flags=re.DOTALL)
    return played + len(re.findall(r"[A-Za-z][A-Za-z'’-]*", text)) / WORDS_A_MINUTE


def running(app, names: list[str]) -> float:
    """Minutes of processor time that the chapters took when they were measured."""
    measured = json.loads((Path(app.srcdir) / "book" / "times.json").read_text(encoding="utf-8"))
    return sum(measured[name]["seconds"] for name in names) / 60


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


class Finding(SphinxDirective):
    """One finding of the front page."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"page": str}

    def run(self) -> list[nodes.Node]:
        label, page = self.arguments[0], self.options["page"]
        picture, alt = picture_of(self, label, page)
        address = html.escape(relative_uri(f"{self.env.docname}.html", f"book/{page}.html"))
        start = (
            f'<div class="pa-finding"><a href="{address}#{label}" tabindex="-1" aria-hidden="true">'
            f'<img src="{picture}" alt="{alt}" width="150" height="94" loading="lazy"></a><div>'
        )
        return around(self, start, "</div></div>")


class ReadingTime(SphinxDirective):
    """``reading-time`` of the pages named in its content: how long they take to read, and chapters to run."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        names = " ".join(self.content).split()
        paths = [source(self.env.app, name) for name in names]
        for path in paths:
            self.env.note_dependency(str(path.relative_to(self.env.app.srcdir)))
        self.env.note_dependency("book/times.json")
        total = sum(minutes(text_of(path)) for path in paths)
        rounded = max(5, 5 * round(total / 5))
        words = f"{rounded} minutes" if rounded < 120 else f"{rounded / 60:.0f} hours"
        number = {2: "Two chapters", 3: "Three chapters"}.get(len(names), f"{len(names)} chapters")
        if all(path.suffix == ".md" for path in paths):
            line = f"{len(names)} pages, about {words}, a minute a picture"
            return [
                nodes.paragraph("", "", nodes.inline("", line, classes=["pasted-text"]), classes=["pa-time"])
            ]
        computed = nodes.inline("", f"{number}, about {words}", classes=["pasted-text"])
        ran = running(self.env.app, names)
        measured = nodes.inline("", f"{max(1, round(ran))}", classes=["pasted-text"])
        unit = " minute" if ran < 1.5 else " minutes"
        words = [computed, nodes.Text(" of reading; their code runs in "), measured, nodes.Text(unit)]
        return [nodes.paragraph("", "", *words, classes=["pa-time"])]


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
    app.add_directive("finding", Finding)
    app.add_directive("reading-time", ReadingTime)
    app.connect("build-finished", write_drawings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
