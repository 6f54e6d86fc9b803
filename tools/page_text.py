"""Read the built pages for what no reader should meet.

Two things are looked for. What a broken format leaves behind: ``nan``, ``None``, e-notation, a bare
backslash, a reference that led nowhere. And numbers in running text that no computation put there: a glued
number follows the run, a typed one goes stale. A formula may say what is put in ($q = 0.3$); a decimal alone
between dollars is a result, and so is one behind a sign for "about".
"""

from __future__ import annotations

import re

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

#: What a format that went wrong leaves on a page, and its name.
LEFTOVERS = {
    "a truth value behind a number": r"\d\s?(?:True|False)\b",
    "not a number": r"(?<![\w-])(?:nan|NaN)(?![\w-])",
    "an infinite number as Python writes it": r"(?<![\w-])-?inf(?![\w-])",
    "a missing value": r"(?<=\w[ ,(=])None\b(?! of\b)|^None$",
    "a number in e-notation": r"(?<![\w#])[\d.]*\d[eE][-+−]?\d+\b",
    "a role that was not read": r"\{(?:glue|cite|doc|eq|ref|numref|prf|math)[^}]*\}",
    "a reference to nothing": r"\?\?|\[\?\]",
    "a bare backslash": r"\\",
    "emphasis that was not read": r"(?<![\w*])\*\w[^*\n]*\*(?![\w*])",
    "a letter in brackets read as a sign": r"©(?! ?Copyright)|[®™]",
    "an object as Python writes it": r"\b(?:np\.\w+|array|tensor|Estimate|dtype)\(|<\w+ object at |\[object ",
}

#: Elements whose text is not prose: code, docstrings, formulas, marks of the theme, scripts.
NOT_TEXT = (
    "pre, code, .pa-api, .math, script, style, svg, .headerlink, .pa-fold, .copybtn, .prev-next-area, "
    ".toggle-button"
)

#: Elements whose numbers something else answers for: computations, references, titles with running numbers.
ANSWERED = (
    ".pasted-text, .cell_output, .pa-verdict, .pa-claims, .pa-totals, .pa-headlines, a, .caption-number, "
    ".section-number, .admonition-title, cite, .citation, table.pa-conventions, .pa-timed, h1, h2, h3, h4"
)

#: Where running text stands.
PROSE = "p, li, dd, figcaption"

_POWER = "10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+"
_NUMBER = re.compile(
    rf"(?<![\w.,/−-])(?:{_POWER}|[-−]?\d(?:[\d,.]*\d)?(?:\s?[×·]\s?{_POWER})?(?:\s?%)?(?![\w-]))"
)

#: Formulas without their marks and spaces: a decimal or a percentage alone, and one behind "about".
_DECIMAL = r"(?:\d[\d,]*\.\d+(?:\\cdot10\^\{?-?\d+\}?)?(?:\\%)?|\d+\\%)"
_ALONE = re.compile(rf"(?:\\approx|\\pm|[-+])*(?P<number>{_DECIMAL})")
_ABOUT = re.compile(rf"\\approx[-+]?(?P<number>{_DECIMAL})")

#: Where a formula's number is no result of this page: statements, proofs, and what an exercise asks about.
STATED = ["proof", "exercise"]

#: What opens a list of values to try; all of them are played.
_TRY = re.compile(r"What to try|Set \w+ to ")

#: Numbers that may stand alone between dollars, each with its reason.
GIVEN = {
    "1\\%": "a level that is asked for",
    "5\\%": "a level that is asked for",
    "95\\%": "the level of an interval",
    "99\\%": "a level that is asked for",
    "100\\%": "the whole",
    "71.9\\%": "the first paper's accuracy of vanilla attention, its Figure 6",
    "68.9\\%": "the first paper's accuracy of positional attention, its Figure 6",
    "0.55": "the first paper's threshold, its Figure 1a",
    "77.5\\%": "the accuracy at which the second paper counts a success",
}

#: Counts up to this one may stand as digits ("patch 1", "at most 1"): they are named, not measured.
SMALL = 12

#: What stands before the number of a statement, in a paper or here; the second of two follows "and".
_LABELED = re.compile(
    r"(?:Theorem|Lemma|Proposition|Prop\.|Definition|Def\.|Assumption|Simplification|Corollary|Figure|Fig\.|Table|"
    r"Section|section|Sec\.|Equation|Eq\.|Algorithm|Appendix|Chapter|chapter|Event|Remark|Exercise|Python|version)"
    r"s?[\s\u00a0(]+(?:\d+(?:\.\d+)?\w?,?\s(?:and|to|or)\s)?$"
)

_DRAWING = re.compile(r"<svg\b.*?</svg>", re.S)  # most of a page, and no running text


def leftovers(html: str) -> list[str]:
    """What broken formats left in the text of a page, each with what stands around it."""
    main = _article(html)
    for element in main.select(NOT_TEXT):
        element.decompose()
    leftovers = []
    for element in main.find_all(
        ["p", "li", "td", "th", "dd", "figcaption", "h1", "h2", "h3", "h4", "caption"]
    ):
        text = " ".join(element.get_text().split())
        for name, pattern in LEFTOVERS.items():
            leftovers += [f"{name}: {_around(text, match)}" for match in re.finditer(pattern, text)]
    return list(dict.fromkeys(leftovers))


def typed_numbers(html: str) -> list[str]:
    """The numbers in a page's running text that no computation glued, each with what stands around it.

    Code, references, years, numbers of statements and names with digits are left alone; so are small numbers
    in words. In formulas and in the cells of tables only decimals and percentages are looked at.
    """
    main = _article(html)
    for element in main.select(ANSWERED):
        element.replace_with(NavigableString("\u25c7"))
    numbers = _typed_formulas(main)
    for element in main.select(NOT_TEXT):
        element.replace_with(NavigableString("\u25c7"))  # so that its neighbors do not grow together
    for element in main.select("td"):
        text = " ".join(element.get_text().split())
        numbers += [
            _around(text, match)
            for match in _NUMBER.finditer(text)
            if re.search("[.%]", match[0]) and not _is_name(text, match)
        ]
    for element in main.select(PROSE):
        if element.find_parent("td"):
            continue
        if element.find(PROSE.split(", ")):
            for inner in element.find_all(PROSE.split(", ")):
                inner.replace_with(NavigableString("\u25c7"))
        text = " ".join(element.get_text().split())
        numbers += [_around(text, match) for match in _NUMBER.finditer(text) if not _is_name(text, match)]
    return list(dict.fromkeys(numbers))


def _typed_formulas(main: Tag) -> list[str]:
    """The formulas in running text that are a number alone or end in one that is rounded."""
    formulas = []
    for formula in main.select("span.math"):
        paragraph = formula.find_parent([*PROSE.split(", "), "td"])
        if paragraph is None or formula.find_parent(class_=STATED):
            continue
        text = " ".join(paragraph.get_text().split())
        tex = re.sub(r"\s|\\[,;!()]|[{}](?=,|\d|$)", "", formula.get_text())
        match = _ALONE.fullmatch(tex)
        if match is None and not formula.find_parent(class_="solution"):
            match = _ABOUT.search(tex)
        if match and match["number"] not in GIVEN and not _TRY.match(text):
            before, _, after = text.partition(" ".join(formula.get_text().split()))
            formulas.append(f"…{before[-40:]}»{match[0]}«{after[:40]}…")
    return formulas


def _article(html: str) -> Tag:
    page = BeautifulSoup(_DRAWING.sub("", html), "html.parser")
    article = page.select_one("article.bd-article") or page.select_one("main") or page
    return article


def _is_name(text: str, match: re.Match) -> bool:
    """Whether a number is small, a year, the level of an interval, or names a statement ("Lemma 4.3")."""
    number = match[0]
    before = text[: match.start()]
    after = text[match.end() :]
    if number.isdigit() and int(number) <= SMALL:
        return not after.startswith("/")
    if re.fullmatch(r"(?:19|20)\d\d", number):
        return True
    if number == "95%" and re.match(r"[\s\u00a0-](?:\w+ )?(?:confidence|interval)", after):
        return True
    return re.fullmatch(r"\d{1,2}(?:\.\d{1,2})?", number) is not None and _LABELED.search(before) is not None


def _around(text: str, match: re.Match) -> str:
    before = text[: match.start()][-40:]
    after = text[match.end() :][:40]
    return f"…{before}»{match[0]}«{after}…"


ADVICE = (
    "Glue a number that was computed ({glue:text}`name`), put one that the text sets between dollars "
    "($D = 16$), write a small count in words."
)
