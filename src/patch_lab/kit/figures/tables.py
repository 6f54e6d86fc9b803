"""Tables for the page: a frame as HTML that a screen reader can walk through, with aligned decimals."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import pandas as pd

from patch_association.intervals import Estimate
from patch_lab.kit.prose import number, percent, typeset, with_interval

#: Spaces as wide as a digit and as a point, which HTML does not collapse.
_DIGIT = "\u2007"
_POINT = "\u2008"


@dataclass(frozen=True)
class Table:
    """A table for a notebook: HTML on a page, aligned text in a terminal. Made by :func:`table`."""

    header: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    row_headers: int
    caption: str | None

    def _repr_html_(self) -> str:
        caption = f"<caption>{html_with_formulas(self.caption)}</caption>" if self.caption else ""
        head = "".join(
            f'<th scope="col"{_kind(numeric)}>{html_with_formulas(text)}</th>'
            for text, numeric in zip(self.header, self.numeric)
        )
        body = "\n".join(f"<tr>{self._row(row)}</tr>" for row in self.rows)
        return (
            f'<div class="pa-table"><table>{caption}\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody></table></div>"
        )

    def _row(self, row: list[str]) -> str:
        cells = []
        for place, (text, numeric) in enumerate(zip(row, self.numeric)):
            if place < self.row_headers:
                cells.append(f'<th scope="row"{_kind(numeric)}>{html_with_formulas(text)}</th>')
            else:
                cells.append(f"<td{_kind(numeric)}>{html_with_formulas(text)}</td>")
        return "".join(cells)

    def __repr__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.header))]
        text = [self.caption] if self.caption else []
        for line in lines:
            cells = []
            for cell, width, numeric in zip(line, widths, self.numeric):
                cells.append(cell.rjust(width) if numeric else cell.ljust(width))
            text.append("  ".join(cells).rstrip())
        return "\n".join(text)


def table(
    frame: pd.DataFrame,
    *,
    caption: str | None = None,
    digits: int | dict[str, int | str] = 3,
    index: bool | None = None,
) -> Table:
    """A frame as a table for the page.

    Parameters
    ----------
    frame : DataFrame
        Cells may be numbers, :class:`~patch_association.intervals.Estimate`, booleans, text, or missing.
        Headers and text may hold mathematics between dollars.
    caption : str, optional
        One sentence above the table.
    digits : int or dict
        Significant digits of the floating-point columns; or for each column its digits, or the decimals of
        a percentage as "1%".
    index : bool, optional
        Whether the index heads the rows; by default where it has a name or is no plain count.

    Returns
    -------
    Table
        What a notebook's last line shows.

    Examples
    --------
    >>> frame = pd.DataFrame({"$q$": [0.1, 0.25], "error": [0.0123, 0.5]})
    >>> table(frame.set_index("$q$"), digits={"error": "1%"})
     $q$  error
    0.10   1.2%
    0.25  50.0%
    """
    if not isinstance(frame, pd.DataFrame) or frame.empty or frame.columns.nlevels > 1:
        raise ValueError("table needs a DataFrame with rows and one level of columns")
    names = [str(name) for name in frame.columns]
    unknown = set(digits) - set(names) if isinstance(digits, dict) else set()
    if unknown:
        raise ValueError(f"digits names columns {sorted(unknown)}, which are not in {names}")
    if index is None:
        index = not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None
    heads = frame.index.nlevels if index else 0
    flat = frame.reset_index(drop=not index)
    header = [str(name) for name in flat.columns]
    if heads:  # an index without a name has a header without text, not pandas' word for it
        header[:heads] = [name or "" for name in frame.index.names]
    columns = []
    numeric = []
    for name, values in zip(header, (flat.iloc[:, k] for k in range(flat.shape[1]))):
        chosen = digits.get(name, 3) if isinstance(digits, dict) else digits
        known = [value for value in values if not _missing(value)]
        is_numeric = bool(known) and all(isinstance(v, (Real, Estimate)) and not _is_bool(v) for v in known)
        if is_numeric and all(isinstance(value, float) for value in known) and isinstance(chosen, int):
            texts = _floats(values, chosen)
        else:
            texts = [_text(value, chosen) for value in values]
        columns.append(_align(texts) if is_numeric else texts)
        numeric.append(is_numeric)
    return Table(header, [list(row) for row in zip(*columns)], numeric, heads, caption)


def _missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _is_bool(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


def _text(value: object, digits: int | str) -> str:
    """The text of a cell of the table."""
    decimals = int(digits[:-1]) if isinstance(digits, str) else None
    if _missing(value):
        return "–"
    if _is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, Estimate):
        return with_interval(value, as_percent=decimals is not None)
    if isinstance(value, Integral):
        return typeset(f"{int(value):,}")
    if isinstance(value, Real):
        return _real(float(value), digits)
    return str(value)


def _real(value: float, digits: int | str) -> str:
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞"
    if isinstance(digits, str):
        return percent(value, int(digits[:-1])).replace("-", "−")
    return number(value, digits)


def _floats(values, digits: int) -> list[str]:
    """Floats with as many decimals as the largest needs for its digits where they are near one another."""
    sizes = [abs(v) for v in values if not _missing(v) and np.isfinite(v) and v != 0]
    if not sizes or max(sizes) >= 1000 * min(sizes) or max(sizes) >= 1e6 or max(sizes) < 1e-3:
        return [_text(value, digits) for value in values]
    decimals = max(0, digits - 1 - int(np.floor(np.log10(max(sizes)))))
    least = max(0, -int(np.floor(np.log10(min(sizes)))))  # the smallest keeps a digit
    decimals = max(decimals, least)
    # Trailing zeros that no value needs say nothing.
    while decimals and all(float(f"{v:.{decimals}f}") == float(f"{v:.{decimals - 1}f}") for v in sizes):
        decimals -= 1
    texts = []
    for value in values:
        if _missing(value) or not np.isfinite(value):
            texts.append(_text(value, digits))
        else:
            texts.append(typeset(f"{value + 0.0:,.{decimals}f}"))
    return texts


def _align(texts: list[str]) -> list[str]:
    """Pad with spaces of a digit's width, so that points stand in line; intervals stay in one piece."""
    values, rests = zip(*(text.partition(" [")[::2] for text in texts))
    after = [len(value.partition(".")[2]) for value in values]
    padded = []
    for value, places in zip(values, after):
        point = "" if "." in value or not max(after) else _POINT
        padded.append(value + point + _DIGIT * (max(after) - places))
    if not any(rests):
        return padded
    longest = max(map(len, rests))
    aligned = []
    for value, rest in zip(padded, rests):
        interval = "\u00a0[" + rest.replace(" ", "\u00a0") if rest else _DIGIT * 2
        aligned.append(value + interval + _DIGIT * (longest - len(rest)))
    return aligned


def _kind(numeric: bool) -> str:
    return ' class="pa-number"' if numeric else ""


def html_with_formulas(text: str) -> str:
    """Escape text for HTML, and hand what stands between dollars to the page's typesetter."""
    pieces = re.split(r"\$([^$]+)\$", text)
    pieces[::2] = map(html.escape, pieces[::2])
    pieces[1::2] = [
        rf'<span class="math notranslate nohighlight">\({html.escape(p)}\)</span>' for p in pieces[1::2]
    ]
    return "".join(pieces)
