"""Numbers for the prose: a chapter computes them, the text shows them, nobody types them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from numbers import Integral, Real

import numpy as np

from patch_association.intervals import Estimate, rounded


def glue(**texts) -> None:
    """Store texts under names, for ``{glue:text}`` in the chapter's prose; shows nothing.

    The stored form is what MyST-NB reads from a notebook's outputs. Each value is turned into
    text here (an :class:`~patch_association.intervals.Estimate` as "value [low, high]"), so what
    the reader sees is what strict replay compares.
    """
    # Imported here: the library's users outside a notebook need no display machinery.
    from IPython.display import display

    prefix = "application/papermill.record/"
    for name, text in texts.items():
        is_count = isinstance(text, Integral) and not isinstance(text, bool)
        if isinstance(text, (Real, np.bool_)) and not is_count:
            raise ValueError(
                f"glue needs text, an integer or an estimate, so that its rounding is chosen; "
                f"got {name}={text!r}"
            )
        shown = f"{text:,}" if is_count else str(text)
        metadata = {"scrapbook": {"name": name, "mime_prefix": prefix}}
        _SESSION.glued[name] = shown
        # As a Python literal, quotes and all: MyST-NB evaluates what it can, and would read
        # "4,000" as a pair and "0.150" as 0.15.
        display({prefix + "text/plain": repr(shown)}, raw=True, metadata=metadata)
    for shown_text in _SESSION.shown:
        if not texts.keys().isdisjoint(shown_text.names):
            shown_text.write()


#: What stands for a number that this run has not computed, once its setting is not the recorded one.
UNKNOWN = "⟨?⟩"
#: How the sentence begins that says what a reader has changed.
BANNER = "**Your setting.**"
#: What stands before words that were written for the recorded setting, once a reader has changed it: not
#: judged; what its claims require holds; it does not.
WRITTEN = "▷ "
HOLDS = "✓ "
FAILS = "✗ *Not so at your setting. As recorded:* "
#: What stands before the caption of a figure in which nothing follows what the reader has changed.
FIXED = "▣ *Nothing in this figure follows what you changed.* "


class _Shown:
    """A text on the page, and how to write it again when one of its numbers is computed anew."""

    def __init__(self, text: str, claims: tuple[str, ...], recorded: dict[str, str], follows):
        self.text = text
        self.claims = claims
        self.recorded = recorded
        self.follows = follows
        self.names = dict.fromkeys(re.findall("«([^»]*)»", text))
        self.handle = None
        self.has = ""

    @property
    def complete(self) -> bool:
        """Whether this session has computed each of its numbers."""
        return all(name in _SESSION.glued for name in self.names)

    def mark(self) -> str:
        """What is said of the words themselves."""
        if not _SESSION.changed:
            return ""
        if self.follows is not None and _SESSION.changed.isdisjoint(self.follows):
            return FIXED
        judged = [_SESSION.judged.get(claim) for claim in self.claims]
        if False in judged:
            return FAILS
        return HOLDS if judged and all(judged) else WRITTEN

    def words(self) -> str:
        numbers = dict.fromkeys(self.names, UNKNOWN) if _SESSION.changed else self.recorded
        numbers = numbers | _SESSION.glued
        text = re.sub("«([^»]*)»", lambda match: numbers[match[1]], self.text)
        mark = self.mark()
        # a table, a list, a fold, an equation begin a line of their own
        return f"{mark}\n\n{text}" if mark and text[0] in "|-<$`" else mark + text

    def write(self) -> None:
        """Show it, or write it again where it stands; a plain script prints it once it is complete."""
        from IPython import get_ipython
        from IPython.display import Markdown, display

        words = self.words()
        if words == self.has or (get_ipython() is None and (self.has or not self.complete)):
            return
        self.has = words
        if get_ipython() is None:
            print(f"\n{words}")
        elif self.handle is None:
            self.handle = display(Markdown(words), display_id=True)
        else:
            self.handle.update(Markdown(words))


@dataclass
class _Session:
    """What a kernel holds of the chapter that it runs.

    Attributes
    ----------
    glued : dict (the text of each number that was computed, by name)
    judged : dict (whether what a claim requires holds, by its id, away from the recorded setting)
    changed : set (the parameters that are not as recorded)
    shown : list of _Shown (the texts on the page)
    """

    glued: dict[str, str] = field(default_factory=dict)
    judged: dict[str, bool] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    shown: list[_Shown] = field(default_factory=list)


_SESSION = _Session()


def note_requirement(claim: str, holds: bool) -> None:
    """Note whether what a claim requires holds at a reader's setting, and mark the sentences that say it."""
    _SESSION.judged[claim] = holds
    for shown_text in _SESSION.shown:
        if claim in shown_text.claims:
            shown_text.write()


def show(text: str, *claims: str, follows: Collection[str] | None = None, **recorded: str) -> None:
    """Display Markdown in which «name» stands for the number that was glued under this name.

    Where the session computes a number later, or anew, the text is written again where it stands. Until
    then it shows the recorded number, which must be given for each name, or "⟨?⟩" away from the recorded
    setting. A plain script prints the text, once all its numbers are there.

    Words are not computed. Away from the recorded setting they stand behind a mark, which says whether what
    the ``claims`` that they state require holds there; or, for a caption, that its figure ``follows`` no
    parameter that was changed.
    """
    shown_text = _Shown(text, claims, recorded, follows)
    if unknown := [name for name in shown_text.names if name not in recorded]:
        raise ValueError(f"show needs the recorded value of each name, got none of {', '.join(unknown)}")
    _SESSION.shown.append(shown_text)
    shown_text.write()


def begin_chapter(changed: dict[str, tuple]) -> None:
    """Say that a chapter begins: numbers of an earlier run of it are forgotten.

    Parameters
    ----------
    changed : dict
        Each parameter that is not as recorded, with its value and the recorded one; empty at the recorded
        setting, where nothing is shown.
    """
    from IPython import get_ipython
    from IPython.display import Markdown, display

    _SESSION.changed = set(changed)
    _SESSION.glued.clear()
    _SESSION.judged.clear()
    for shown_text in _SESSION.shown:
        shown_text.write()
    if not changed:
        return
    listed = ", ".join(
        f"`{name} = {parameter_text(value)}` (recorded: `{parameter_text(old)}`)"
        for name, (value, old) in changed.items()
    )
    words = (
        f"{BANNER} You changed {listed}. Each number in a sentence is that of your run, or "
        f"{UNKNOWN} until its cell has run. Its words were written for the recorded setting: behind "
        f"{WRITTEN.strip()} they may not fit, behind {HOLDS.strip()} what they claim holds at your setting, "
        f"behind {FAILS[0]} it does not. Figures behind {FIXED[0]} are drawn from records or from "
        f"what you left alone and stay as they were, as does what is called *recorded* and what a sentence "
        f"says of a setting that it names."
    )
    if get_ipython() is None:
        print(words)
    else:
        display(Markdown(words))


def parameter_text(value) -> str:
    """A parameter as its cell has it: records keep tuples as lists."""
    return repr(tuple(value) if isinstance(value, list) else value)


def number(x: float, digits: int = 3) -> str:
    """``x`` to that many significant digits: 0.0123, 12,300, and powers of ten as mathematics: 1.2 × 10⁻⁵."""
    text = f"{x:.{digits}g}"
    # "g" turns to powers of ten as soon as the digits end before the point; up to a million, zeros are read
    # better.
    return typeset(f"{float(text):,.0f}" if "e" in text and 1 <= abs(x) < 999_999.5 else text)


def counted(count: int, thing: str) -> str:
    """How many of what: "1 layer", "2 layers"; for words whose plural takes an s."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def percent(x: float, digits: int = 1) -> str:
    """A share as a percentage with that many decimals."""
    return f"{100 * x:.{digits}f}%"


def with_interval(estimate: Estimate, *, as_percent: bool = False, unit: str | None = None) -> str:
    """The text "value [low, high]", rounded by :func:`~patch_association.intervals.rounded`.

    ``as_percent`` multiplies by 100 and writes "%" behind the value, unless ``unit`` says otherwise: a
    difference of two percentages is one of percentage points.
    """
    scale, unit = (100, "%" if unit is None else unit) if as_percent else (1, unit or "")
    value, low, high = rounded(scale * estimate.value, scale * estimate.low, scale * estimate.high)
    return f"{typeset(value)}{unit} [{typeset(low)}, {typeset(high)}]"


def typeset(text: str) -> str:
    """A number as Python writes it, with a minus sign and powers of ten as mathematics."""
    mantissa, _, exponent = text.replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    raised = str(int(exponent.replace("−", "-"))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa[:-1]}10{raised}" if mantissa in ("1", "−1") else f"{mantissa} × 10{raised}"


def without_markup(text: str) -> str:
    """MyST text without its markup, for tables outside the book."""
    return re.sub(r"\{[a-z:]+\}`([^`]*)`", r"\1", text).replace("$", "").strip()
