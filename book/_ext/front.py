"""What stands for a page elsewhere: the description that a link shows, the text that the search quotes.

Sphinx's search fetches each page that it found, to quote it, and a browser refuses that under ``file://``.
Here the pages' text comes with the search page as a script, and ``search.js`` quotes from it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

from bs4 import BeautifulSoup

TEXTS = "_static/page-texts.js"
#: Commands of TeX that are a sign and no letter.
SIGNS = {
    "times": "×", "cdot": "·", "geq": "≥", "ge": "≥", "leq": "≤", "le": "≤", "neq": "≠", "in": "∈", "to": "→",
    "infty": "∞", "ell": "ℓ", "top": "ᵀ", "sim": "∼", "approx": "≈",
}  # fmt: skip


def without_tex(text: str) -> str:
    r"""A description without TeX: ``\alpha`` as its letter, commands and braces gone."""

    def letter(command: re.Match) -> str:
        if command[1] in SIGNS:
            return SIGNS[command[1]]
        size = "CAPITAL" if command[1][0].isupper() else "SMALL"
        try:
            return unicodedata.lookup(f"GREEK {size} LETTER {command[1].upper()}")
        except KeyError:
            return ""

    text = re.sub(r"\\textcolor\{[^}]*\}", "", text)
    text = re.sub(r"(?<=[a-z]{3})(?=\\[a-zA-Z])", " ", text)  # "and\\sigma"
    text = re.sub(r"\\([A-Za-z]+)", letter, text)
    text = re.sub(r"[{}^$]|(?<![a-z]{2})_|_(?![a-z]{2})", "", text)  # the underscore of a name in code stays
    return re.sub(r"([,;:])(?=[^\s\d/])", r"\1 ", text.replace("[ ", " ["))


def short(tex: str) -> str:
    """A formula in a quotation: itself in plain letters where it is short, else an ellipsis."""
    bare = without_tex(re.sub(r"\\[()\[\]]", "", tex)).strip()
    return bare if len(bare) <= 12 else "…"


def describe(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Clean the descriptions that sphinxext-opengraph took from a page's first sentences."""
    context["metatags"] = re.sub(
        r'((?:name="description"|property="og:description") content=")([^"]*)',
        lambda tag: tag[1] + without_tex(tag[2]),
        context.get("metatags", ""),
    )


def quote_pages(app, error: Exception | None) -> None:
    """After a build: write the text of every page for the search."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    texts = {}
    for name in sorted(app.env.found_docs):
        page = out / f"{name}.html"
        article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select_one("article")
        if article is None:
            continue
        for element in article.select(
            "h1, pre, .math, svg, script, style, .headerlink, .prev-next-area, .pa-night, .pa-narrow, summary"
        ):
            element.decompose()
        texts[name] = " ".join(article.get_text(" ").split())
    script = f"window.pageTexts = {json.dumps(texts, ensure_ascii=False)};\n"
    (out / TEXTS).write_text(script, encoding="utf-8")


def load_texts(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """On the search page: what it finds by name (``guides.py``), the texts, and what quotes them."""
    if pagename == "search":
        for name in ("page-index.js", "page-texts.js", "search.js"):
            app.add_js_file(name, loading_method="defer")


def setup(app) -> dict:
    """Register the steps, after those of sphinxext-opengraph."""
    app.connect("html-page-context", describe, priority=900)
    app.connect("html-page-context", load_texts, priority=400)
    app.connect("build-finished", quote_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
