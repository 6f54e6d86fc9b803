"""Tips: what a link or a symbol means, shown on hover and focus (``book/_static/tips.js``).

Symbols in running text are marked while a page is written. When all pages are written, each gets the
statements of other pages that it links to, and the meaning of its symbols, as ``<template>`` elements at its
end: no page has to fetch anything, so tips work from the file system too.
"""

from __future__ import annotations

import html
import posixpath
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from notation import SOURCE, Symbol, spoken, written
from sphinx_proof.nodes import proof_node

from patch_lab.kit.figures.tables import html_with_formulas

BEGIN, END = "<!-- tips -->", "<!-- /tips -->"

#: Where a box begins that a tip may show. A box ends where its first tag is closed.
BOX = re.compile(
    r'<(?P<tag>div|figure)\b[^>]*class="(?:proof (?!admonition)|exercise |solution |math |citation|align-)'
    r'[^>]*\bid="(?P<id>[^"]+)"'
)
LINK = re.compile(r'<a class="reference internal" href="(?P<page>[^"#]+)#(?P<id>[^"]+)"')
SYMBOL = re.compile(r'<span class="pa-symbol" data-symbol="([^"]+)"')


class Mark(nodes.Inline, nodes.TextElement):
    """A symbol in running text: how it is written, and whether the Tab key stops there (``first``)."""


def visit_mark(translator, node: Mark) -> None:
    """Open the mark. One stop of the Tab key for each symbol of a page is enough."""
    stop = ' tabindex="0"' if node["first"] else ""
    symbol = html.escape(node["symbol"], quote=True)
    translator.body.append(f'<span class="pa-symbol" data-symbol="{symbol}"{stop}>')


def depart_mark(translator, node: Mark) -> None:
    """Close it."""
    translator.body.append("</span>")


def mark(app, doctree: nodes.document, docname: str) -> None:
    """Mark every formula that is a symbol of the notation, but in titles, links and proofs.

    Proofs have letters of their own.
    """
    if docname == "book/letters":
        return
    symbols = spoken(docname)
    seen = set()
    for formula in list(doctree.findall(nodes.math)):
        name = written(formula.astext())
        if name not in symbols or _within(formula, (nodes.title, nodes.reference, nodes.rubric, proof_node)):
            continue
        # A fold is closed: a stop of the Tab key would not be seen there.
        first = name not in seen and not _within(formula, (nodes.container,))
        seen |= {name} if first else set()
        marked = Mark(symbol=name, first=first)
        formula.parent.replace(formula, marked)
        marked += formula


def outdated(app, env, added, changed, removed) -> list[str]:
    """Every page, when the table of symbols has changed."""
    before = getattr(env, "pa_symbols", None)
    env.pa_symbols = SOURCE.read_text(encoding="utf-8")
    return [] if before == env.pa_symbols else sorted(env.found_docs)


def _within(node: nodes.Node, kinds) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def collect(app, error) -> None:
    """Put the tips into every page, when all of them are written."""
    if error is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for name in sorted(app.env.found_docs):
        page = site / f"{name}.html"
        text = page.read_text(encoding="utf-8")
        clean = re.sub(f"{BEGIN}.*?{END}\n?", "", text, flags=re.S)
        tips = [*_statements(site, name, clean), *_meanings(name, clean)]
        block = f"{BEGIN}{''.join(tips)}{END}\n" if tips else ""
        new = clean.replace("</body>", f"{block}</body>")
        if new != text:
            page.write_text(new, encoding="utf-8")
    _boxes.cache_clear()


def _statements(site: Path, name: str, text: str):
    """The boxes of other pages that this page links to."""
    links = {(match["page"], match["id"]) for match in LINK.finditer(text)}
    for page, id in sorted(links):
        target = site / posixpath.normpath(posixpath.join(posixpath.dirname(name), page))
        box = _boxes(target).get(id) if target.suffix == ".html" and target.is_file() else None
        if box:
            yield f'<template class="pa-tip" data-href="{page}#{id}">{box}</template>'


def _meanings(name: str, text: str):
    """The meaning of the symbols on this page."""
    symbols = spoken(name)
    for key in sorted(set(map(html.unescape, SYMBOL.findall(text)))):
        if key in symbols:
            escaped = html.escape(key, quote=True)
            yield f'<template class="pa-tip" data-symbol="{escaped}">{meaning(symbols[key])}</template>'


def meaning(symbol: Symbol) -> str:
    """A symbol's tip: itself, what it is, its name in the code, its shape."""
    code = "" if symbol.code == "–" else f" In the code <code>{html.escape(symbol.code)}</code>;"
    kind = f"{code} {html_with_formulas(symbol.kind)}." if code or symbol.value or symbol.shape else ""
    return f"<p>{html_with_formulas(f'${symbol.colored}$: {symbol.means}.')}{kind}</p>"


@cache
def _boxes(page: Path) -> dict[str, str]:
    """The boxes of a page by their id, without what belongs to the page: ids, links, pictures."""
    text = page.read_text(encoding="utf-8")
    return {match["id"]: bare(_element(text, match.start(), match["tag"])) for match in BOX.finditer(text)}


def _element(text: str, start: int, tag: str) -> str:
    """The element that starts there."""
    depth = 0
    for match in re.compile(rf"<(/?){tag}\b").finditer(text, start):
        depth += -1 if match[1] else 1
        if depth == 0:
            return text[start : match.end() + 1]
    raise ValueError(f"<{tag}> at character {start} is not closed")


def bare(box: str) -> str:
    """A box that can stand on another page."""
    box = re.sub(r'<a class="headerlink".*?</a>', "", box, flags=re.S)
    box = re.sub(r"<svg\b.*?</svg>|<img\b[^>]*>", "", box, flags=re.S)
    box = re.sub(r"</?a\b[^>]*>", "", box)
    return re.sub(r' (?:id|tabindex|aria-describedby)="[^"]*"', "", box)


def setup(app) -> dict:
    """After punctuation is bound to formulas (typography), and when the build is done."""
    app.add_node(Mark, html=(visit_mark, depart_mark))
    app.connect("env-get-outdated", outdated)
    app.connect("doctree-resolved", mark, priority=600)
    app.connect("build-finished", collect)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
