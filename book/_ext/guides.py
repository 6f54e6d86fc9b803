"""What guides a reader: a sentence beside each link to a neighbor, an index for the search, and a list of
pages for language models (``llms.txt``).

All of it is taken from the finished pages, the ledger and the table of symbols; nothing is typed twice.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from pathlib import Path

import yaml
from bs4 import BeautifulSoup
from front import short, without_tex
from lettering import all_pages, pages_of
from notation import load as load_notation
from sphinx.errors import ExtensionError
from tips import bare

from patch_lab.kit.ledger import SOURCES, shipped

INDEX = "_static/page-index.js"
#: What the theme and docutils write that a screen reader stumbles over, and what stands in its place. Each
#: pattern matches what it has put there, too: pages that a build leaves alone are gone through again.
UNHEARD = {
    "the toggle of a page with notes": (
        r'<summary(?: aria-label="[^"]*")?>(?=<span class="toctree-toggle")', '<summary aria-label="Notes">'),
    "the toggle beside a link": (
        r'(<a\b[^>]*>(?:[\dA-Z]+\. )?)([^<]*)(</a><details[^>]*>)<summary(?: aria-label="Notes[^"]*")?>',
        r'\1\2\3<summary aria-label="Notes on \2">'),
    "the button of the search, whose name is not its text": (
        r'(<button class="btn search-button-field(?:(?! aria-label)[^>])*)(?: aria-label="Search")?', r"\1"),
    "the head of the sidebar, outside of all landmarks": (
        r'<div class="sidebar-primary-item"(?: role="navigation" aria-label="Home")?>'
        r'(?=\s*<a class="navbar-brand)',
        '<div class="sidebar-primary-item" role="navigation" aria-label="Home">'),
    "the head of no column": (r"<th\b[^>]*>\s*(?:<p>\s*</p>)?\s*</th>|<td></td>", "<td></td>"),
    "the list of references": (
        r'<div(?: role="list")? class="citation-list">', '<div class="citation-list">'),
    "a reference, whose role is no longer used": (
        r'(<div class="citation" id="[^"]*")(?: role="doc-biblioentry")?', r"\1"),
}  # fmt: skip
#: A work in a sentence, whose link is its year; and the ways on below a scene, whose links all read the same.
CITED = re.compile(
    r'(?P<names><span[^>]* id="id\d+">(?:(?!</span>|<a\b).)*?)\[<a (?P<to>class="reference internal" '
    r'href="[^"]*references\.html#[^"]*")(?: aria-label="[^"]*")?(?P<title>[^>]*)>(?P<year>\d{4}\w?)</a>'
)
WAYS = re.compile(
    r'<section class="pa-scene" data-scene="\w+" aria-label="(?P<scene>[^"]+)">'
    r'.*?<div class="pa-ways">.*?</section>',
    re.S,
)
WAY = re.compile(
    r'<a (?P<to>class="[^"]*" href="[^"]*")(?: aria-label="[^"]*")?>'
    r"(?P<said>(?:<span[^>]*>)?(?:the theorem|the notebook)(?:</span>)?)</a>"
)
CLAIMS = "book/claims"
NOTATION = "book/letters"

FINDS = re.compile(r'<div class="find admonition">\s*<p class="admonition-title">.*?</p>(.*?)</div>', re.S)
FIRST = re.compile(r"</h1>\s*(?:<[^p][^>]*>\s*)*<p>(.*?)</p>", re.S)
STATEMENT = re.compile(
    r'<div class="proof (?!paper)\w+ admonition" id="(?P<id>[^"]+)">\s*<p class="admonition-title">'
    r"(?P<title>.*?)</p>(?P<body>.*?)</section>",
    re.S,
)
FIGURE = re.compile(
    r'<figure[^>]*\bid="(?P<id>[^"]+)"[^>]*>(?:(?!</figure>).)*?'
    r'<span class="caption-number">(?P<title>.*?)</span>(?P<body>.*?)</figcaption>',
    re.S,
)
# after a sentence; a formula is kept in one piece with its full stop
SENTENCES = re.compile(r"(?<=[.?!])\s|(?<=[.?!]</span>)\s")
NEIGHBOR = re.compile(
    r'(<a class="(?:left-prev|right-next)"\s+href="(?P<page>[^"]+)".*?<p class="prev-next-title">.*?</p>)'
    r'(?:\s*<p class="pa-about">.*?</p>)?',
    re.S,
)
#: What there is on some page of the book: a pattern that matches on none no longer fits the theme.
SOUGHT = {
    **{what: re.compile(pattern) for what, (pattern, _) in UNHEARD.items()},
    "a cited work": CITED,
    "the ways on below a scene": WAYS,
    "one of these ways": WAY,
    "the findings of a chapter": FINDS,
    "the first paragraph of a page": FIRST,
    "a numbered statement": STATEMENT,
    "a figure with its caption": FIGURE,
    "the link to a neighbor": NEIGHBOR,
}


def words(markup: str) -> str:
    """The text of a piece of a page, short formulas in plain letters."""
    markup = re.sub(
        r'<(span|div) class="math[^>]*>(.*?)</\1>',
        lambda match: short(html.unescape(match[2])),
        markup,
        flags=re.S,
    )
    unseen = r'<a class="headerlink".*?</a>|<svg.*?</svg>|<span class="pa-n(?:ight|arrow)">.*?</span>'
    text = re.sub(unseen, "", markup, flags=re.S)
    return re.sub(r"\s+([.,;:?)])", r"\1", " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split()))


def flowing(markup: str) -> str:
    """A piece of a page that can stand inside a link on another one."""
    return re.sub(r' class="pa-symbol" data-symbol="[^"]*"', "", bare(markup)).strip()


def question(page: str) -> str | None:
    """The question of a chapter, as HTML: it ends a paragraph above the first cell or figure."""
    if FINDS.search(page) is None:
        return None
    opening = re.split(r'<div class="cell|<figure', page.partition("</h1>")[2], maxsplit=1)[0]
    paragraphs = re.findall(r"<p>(.*?)</p>", opening, re.S)
    last = (SENTENCES.split(flowing(paragraph))[-1] for paragraph in reversed(paragraphs))
    return next((sentence for sentence in last if sentence.removesuffix("</span>").endswith("?")), None)


def about(page: str) -> str:
    """A page in a sentence: its question, else its first sentence."""
    if asked := question(page):
        return asked
    first = FIRST.search(page)
    return SENTENCES.split(flowing(first[1]))[0] if first else ""


def named(page: str) -> str:
    """The page as a screen reader should hear it: each link and each toggle with a name that says enough."""
    for pattern, better in UNHEARD.values():
        page = re.sub(pattern, better, page)

    def cited(match: re.Match) -> str:
        name = f"{words(match['names'])} {match['year']}"
        link = f'<a {match["to"]} aria-label="{html.escape(name)}"{match["title"]}>{match["year"]}</a>'
        return f"{match['names']}[{link}"

    def ways(match: re.Match) -> str:
        def way(link: re.Match) -> str:
            return f'<a {link["to"]} aria-label="{words(link["said"])}: {match["scene"]}">{link["said"]}</a>'

        return WAY.sub(way, match[0])

    return WAYS.sub(ways, CITED.sub(cited, page))


def neighbors(name: str, page: str, sentences: dict[str, str]) -> str:
    """The page with a sentence below the title of the page before and of the page after."""

    def with_sentence(match: re.Match) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match["page"]))
        sentence = sentences.get(target.removesuffix(".html"))
        return f'{match[1]}\n        <p class="pa-about">{sentence}</p>' if sentence else match[1]

    return NEIGHBOR.sub(with_sentence, page)


def stated_by_papers(name: str, page: str, title: str) -> list[dict]:
    """The boxes of the papers' statements on a page; one that is repeated there is found on its own page."""
    boxes = []
    for box in BeautifulSoup(page, "html.parser").select("div.paper[data-name]"):
        if str(box["id"]).endswith("-again") or box.find_parent(class_="pa-proof-of"):
            continue
        heading = box.select_one(".admonition-title")
        body = box.select_one(".paper-content")
        words_of_it = without_tex(" ".join(heading.get_text(" ").split()))  # type: ignore[union-attr]
        boxes.append(
            {
                "title": words_of_it,
                "names": [box["data-name"]],
                "page": name,
                "id": box["id"],
                "of": title,
                "text": words(str(body))[:260],
            }
        )
    return boxes


def index(pages: dict[str, str], titles: dict[str, str]) -> list[dict]:
    """What the search finds by name: symbols, numbered statements and figures, the papers' statements."""
    entries = []
    for group in load_notation():
        for symbol in group.symbols:
            tex = {symbol.tex, *symbol.also}
            names = {symbol.code, *tex, *(without_tex(name).strip() for name in tex)}
            names |= {name.replace("\\", "") for name in tex}
            entries.append(
                {
                    "title": f"{without_tex(symbol.tex).strip()}, a symbol",
                    "names": sorted(names - {"–", ""}),
                    "page": NOTATION,
                    "text": without_tex(symbol.means.replace("$", "")),
                }
            )
    seen: set[tuple[str, str]] = set()
    for name, page in pages.items():
        entries += stated_by_papers(name, page, titles[name])
        for box in (*STATEMENT.finditer(page), *FIGURE.finditer(page)):
            if (box["id"], words(box["title"])) in seen:  # a statement is repeated above its proof
                continue
            seen.add((box["id"], words(box["title"])))
            title = words(box["title"]).replace("Fig. ", "Figure ")
            entries.append(
                {
                    "title": title,
                    "page": name,
                    "id": box["id"],
                    "of": titles[name],
                    "text": words(box["body"])[:260],
                }
            )
    for claim in shipped():
        entries.append(
            {
                "title": without_tex(claim.where.replace("$", "")),
                "page": CLAIMS,
                "id": f"claim-{claim.id}",
                "of": SOURCES[claim.source],
                "text": f"{claim.current_verdict}: {without_tex(claim.statement.replace('$', ''))}"[:260],
            }
        )
    return entries


def listing(contents: dict, title: str, address: str, titles: dict, sentences: dict) -> str:
    """``llms.txt``: every page with its address and a sentence."""
    lines = [f"# {title}", "", f"> {words(sentences[contents['root']])}", ""]
    for part in contents["parts"]:
        lines += [f"## {part['caption']}", ""]
        for name in pages_of(part):
            lines.append(f"- [{titles[name]}]({address}{name}.html): {words(sentences[name])}")
        lines.append("")
    return "\n".join(lines)


def require_all(pages: list[str]) -> None:
    """Fail a build where something that guides a reader is on no page, or is written in another way."""
    for what, pattern in SOUGHT.items():
        if not any(map(pattern.search, pages)):
            raise ExtensionError(f"no page has {what}, sought as {pattern.pattern}")


def guide(app, error: Exception | None) -> None:
    """After a build: write all of it."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    contents = yaml.safe_load(Path(app.srcdir, "_toc.yml").read_text(encoding="utf-8"))
    order = all_pages(contents)
    pages = {name: (out / f"{name}.html").read_text(encoding="utf-8") for name in order}
    titles = {name: app.env.titles[name].astext() for name in order}
    sentences = {name: about(page) for name, page in pages.items()}
    for name, page in pages.items():
        new = neighbors(name, page, sentences)
        if new != page:
            (out / f"{name}.html").write_text(new, encoding="utf-8")
    written = []
    for path in (*out.glob("*.html"), *out.glob("book/**/*.html")):
        page = path.read_text(encoding="utf-8")
        new = named(page)
        if new != page:
            path.write_text(new, encoding="utf-8")
        written.append(new)
    require_all(written)
    entries = json.dumps(index(pages, titles), ensure_ascii=False)
    (out / INDEX).write_text(f"window.pageIndex = {entries};\n", encoding="utf-8")
    text = listing(
        contents, app.config.html_title or app.config.project, app.config.ogp_site_url, titles, sentences
    )
    (out / "llms.txt").write_text(text, encoding="utf-8")


def setup(app) -> dict:
    """After the tips, which copy statements out of the pages."""
    app.connect("build-finished", guide, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
