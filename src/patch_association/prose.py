"""Numbers for the prose: a chapter computes them, the text shows them, nobody types them."""

from __future__ import annotations

import re
from numbers import Integral, Real

import numpy as np

from patch_association.intervals import Estimate


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
        rounded = isinstance(text, Integral) and not isinstance(text, bool)
        if isinstance(text, (Real, np.bool_)) and not rounded:
            raise ValueError(f"glue needs text, an integer or an estimate, so that its rounding is chosen; "
                             f"got {name}={text!r}")
        shown = f"{text:,}" if rounded else str(text)
        metadata = {"scrapbook": {"name": name, "mime_prefix": prefix}}
        # As a Python literal, quotes and all: MyST-NB evaluates what it can, and would read
        # "4,000" as a pair and "0.150" as 0.15.
        display({prefix + "text/plain": repr(shown)}, raw=True, metadata=metadata)


def number(x: float, digits: int = 3) -> str:
    """``x`` to that many significant digits, powers of ten as mathematics: 1.2 × 10⁻⁵."""
    mantissa, _, exponent = f"{x:.{digits}g}".replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    raised = str(int(exponent.replace("−", "-"))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa[:-1]}10{raised}" if mantissa in ("1", "−1") else f"{mantissa} × 10{raised}"


def percent(x: float, digits: int = 1) -> str:
    """A share as a percentage with that many decimals."""
    return f"{100 * x:.{digits}f}%"


def with_interval(estimate: Estimate, digits: int = 3, as_percent: bool = False) -> str:
    """"value [low, high]" to that many significant digits, or as percentages."""
    parts = (estimate.value, estimate.low, estimate.high)
    if as_percent:
        shares = (100 * part for part in parts)
        # Percentages with more digits before the point than asked for stay whole: 100, not 1 × 10².
        value, low, high = (f"{x:.0f}" if x >= 10**digits - 0.5 else number(x, digits) for x in shares)
        return f"{value}% [{low}, {high}]"
    value, low, high = (number(part, digits) for part in parts)
    return f"{value} [{low}, {high}]"


def plain(text: str) -> str:
    """MyST text without its markup, for tables outside the book."""
    return re.sub(r"\{[a-z:]+\}`([^`]*)`", r"\1", text).replace("$", "").strip()
