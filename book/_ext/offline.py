"""Make the built book independent of any network, and its pages light.

Formulas are typeset by KaTeX while the book is built (``formulas.py``); its fonts come with the pages.
After a build, what no page uses is taken out: the theme's whole set of icons (a script of 1.5 MB and three
fonts, of which a page shows some twenty), style rules for classes that occur nowhere, and Jupyter Book's
hooks for Thebe, which would load code from a server. The search's index is fetched by the search alone.
"""

from __future__ import annotations

import base64
import logging
import re
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.ext.mathjax import html_visit_displaymath, html_visit_math

#: Style sheets of the theme and of extensions that hold rules for far more than these pages.
SHEETS = (
    "styles/pydata-sphinx-theme.css",
    "sphinx-design.min.css",
    "mystnb*.css",
    "styles/sphinx-book-theme.css",
)

#: Scripts that every page loads and none needs; the search page keeps what it searches with.
UNUSED = r"fontawesome\.js|design-tabs\.js"
SEARCH = r"searchtools\.js|language_data\.js|searchindex\.js"

#: The fonts that pages show first stand in a style sheet: a browser has them when it sets the first line.
FACES = {
    "fonts/BookSans.woff2": "font-family: 'Book Sans'; font-weight: 400 700;",
    "fonts/BookSans-Italic.woff2": "font-family: 'Book Sans'; font-weight: 400 700; font-style: italic;",
    "katex/fonts/KaTeX_Main-Regular.woff2": "font-family: KaTeX_Main;",
    "katex/fonts/KaTeX_Main-Bold.woff2": "font-family: KaTeX_Main; font-weight: 700;",
    "katex/fonts/KaTeX_Math-Italic.woff2": "font-family: KaTeX_Math; font-style: italic;",
    "katex/fonts/KaTeX_Caligraphic-Regular.woff2": "font-family: KaTeX_Caligraphic;",
    "katex/fonts/KaTeX_Size1-Regular.woff2": "font-family: KaTeX_Size1;",
    "katex/fonts/KaTeX_Size2-Regular.woff2": "font-family: KaTeX_Size2;",
}
#: A browser reads a font when a line wants it, and would then set that line again: it is to begin at once.
AHEAD = (
    "<script>for (const [style, font] of [['', 'Book Sans'], ['italic', 'Book Sans'], ['', 'KaTeX_Main'], "
    "['bold', 'KaTeX_Main'], ['italic', 'KaTeX_Math'], ['', 'KaTeX_Caligraphic'], ['', 'KaTeX_Size1'], "
    "['', 'KaTeX_Size2']]) document.fonts.load(`${style} 1em '${font}'`);</script>\n"
)
#: Pages that are laid out in their own way, by what they hold.
LAYOUTS = {
    "pa-essay": re.compile(r'data-scene="strings"'),
    "pa-alone": re.compile(r'<div class="pa-explorable" data-explorable="\w+">'),
}

_SCRIPT = r'<script[^>]*src="[^"]*(?:{names})[^"]*"[^>]*></script>\s*'
_RULE = re.compile(r"(?P<head>[^{};]+)\{(?P<body>[^{}]*)\}")


def lighten(app, error: Exception | None) -> None:
    """After a build of HTML: drop from pages, style sheets and fonts what is not used."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = Path(app.outdir) / "_static"
    pages = [page for page in out.rglob("*.html") if "_static" not in page.parts]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        unused = UNUSED if page == out / "search.html" else f"{UNUSED}|{SEARCH}"
        lighter = re.sub(_SCRIPT.format(names=unused), "", text)
        for name, holds in LAYOUTS.items():
            if holds.search(lighter):
                lighter = lighter.replace("<body data", f'<body class="{name}" data', 1)
        if AHEAD not in lighter:
            lighter = lighter.replace("</head>", f"{AHEAD}</head>", 1)
        if lighter != text:
            page.write_text(lighter, encoding="utf-8")
    for path in static.glob("scripts/fontawesome*"):
        path.unlink()
    words = used_words(pages, static)
    for sheet in (path for pattern in SHEETS for path in static.glob(pattern)):
        sheet.write_text(purge(sheet.read_text(encoding="utf-8"), words), encoding="utf-8")
    shrink_icons(static)


def write_fonts(app, error: Exception | None) -> None:
    """After a build: the style sheet that holds fonts."""
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    rules = []
    for name, says in FACES.items():
        data = base64.b64encode((static / name).read_bytes()).decode()
        rules.append(f"@font-face {{ {says} src: url(data:font/woff2;base64,{data}) format('woff2'); }}\n")
    (static / "fonts.css").write_text("".join(rules), encoding="utf-8")


def used_words(pages: list[Path], static: Path) -> set[str]:
    """Every class that a page has, and every word that a script or template might make one of."""
    words: set[str] = set()
    for page in pages:
        for classes in re.findall(r'class="([^"]*)"', page.read_text(encoding="utf-8")):
            words.update(classes.split())
    for script in static.rglob("*.js"):
        if "katex" not in script.parts:
            words.update(re.findall(r"[A-Za-z_][\w-]*", script.read_text(encoding="utf-8")))
    return words


def purge(css: str, words: set[str]) -> str:
    """The style sheet without the selectors that name a class no page has."""

    def keep(rule: re.Match) -> str:
        head = rule["head"]
        if head.lstrip().startswith("@") or "." not in head:
            return rule[0]
        some = [selector for selector in split(head) if possible(selector, words)]
        return f"{','.join(some)}{{{rule['body']}}}" if some else ""

    notices = "".join(re.findall(r"/\*!.*?\*/", css, flags=re.DOTALL))  # the licenses stay
    bare = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return notices + re.sub(r"@media[^{}]*\{\s*\}", "", _RULE.sub(keep, bare))


def split(selectors: str) -> list[str]:
    """A list of selectors at its commas, not at those inside parentheses."""
    parts = [""]
    depth = 0
    for letter in selectors:
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def possible(selector: str, words: set[str]) -> bool:
    """Whether an element of these pages could be meant; what stands inside :not(), :is() does not decide."""
    bare = re.sub(r"\[[^\]]*\]", "", selector)
    while "(" in bare and (barer := re.sub(r":[\w-]+\([^()]*\)", "", bare)) != bare:
        bare = barer
    return all(name in words for name in re.findall(r"\.(-?[A-Za-z_][\w-]*)", bare.replace("\\", "")))


def shrink_icons(static: Path) -> None:
    """Keep the icons that a style sheet still names, as the only files of their fonts."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    sheets = [*static.glob("*.css"), *static.glob("styles/*.css")]
    codes = set().union(*(icons_asked(path.read_text("utf-8")) for path in sheets))
    folder = static / "vendor" / "fontawesome" / "webfonts"
    for path in folder.glob("*.ttf"):
        font = TTFont(path)
        chosen = subset.Subsetter(subset.Options(notdef_outline=True, layout_features=[]))
        chosen.populate(unicodes=codes)
        chosen.subset(font)
        font.flavor = "woff"
        font.save(path.with_suffix(".woff"))
        path.unlink()
        path.with_suffix(".woff2").unlink()
    faces = r"url\(([^)]*webfonts/[\w-]+)\.woff2\)[^,;}]*,url\([^)]*\.ttf\) format\(\"truetype\"\)"
    for path in sheets:
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(faces, r'url(\1.woff) format("woff")', text), encoding="utf-8")


def icons_asked(css: str) -> set[int]:
    """The codes of the icons that a style sheet names, as letters or written out after a backslash."""
    written = {int(code, 16) for code in re.findall(r"\\([0-9a-fA-F]{4,6})", css)}
    return {code for code in written | set(map(ord, css)) if 0xE000 <= code <= 0xF8FF}


def drop_thebe(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Keep Thebe's scripts off every page."""
    context["script_files"] = [
        script
        for script in context.get("script_files", ())
        if "thebe" not in f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', '')}".lower()
    ]


def restyled(app, env, added, changed, removed) -> list[str]:
    """Every page where a style sheet or script of ours changed: Sphinx would copy none of them otherwise."""
    folders = [Path(app.srcdir, name) for name in app.config.html_static_path if not Path(name).is_absolute()]
    for folder in folders:
        for path in folder.rglob("*.[cj]s*"):
            built = Path(app.outdir, "_static", path.relative_to(folder))
            if built.exists() and built.read_bytes() != path.read_bytes():
                return sorted(env.found_docs)
    return []


def setup(app) -> dict:
    """Typeset with KaTeX, and clean the pages after the other extensions."""
    app.add_html_math_renderer("katex", (html_visit_math, None), (html_visit_displaymath, None))
    app.config.html_math_renderer = "katex"
    app.add_css_file("katex/katex.min.css")
    app.add_css_file("fonts.css", priority=900)
    app.connect("env-get-outdated", restyled)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", write_fonts)
    app.connect("build-finished", lighten, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
