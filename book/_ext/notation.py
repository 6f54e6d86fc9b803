"""Every symbol of the book from one table, ``book/notation.toml``: the directive ``symbols``.

Its argument is the title of a group; it writes the group as a table. :func:`load` serves the tests, and
:func:`spoken` the tips over formulas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from patch_lab.kit.figures.style import COLORS
from patch_lab.kit.ledger.table import tomllib

SOURCE = Path(__file__).resolve().parent.parent / "notation.toml"


@dataclass(frozen=True)
class Symbol:
    """One row: the fields are explained at the top of the table."""

    tex: str
    means: str
    code: str
    color: str | None = None
    shape: tuple[str | int, ...] | None = None
    value: str = ""
    example: str | None = None
    also: tuple[str, ...] = ()
    tips: bool = True

    @property
    def colored(self) -> str:
        """The symbol as equations show it."""
        return f"\\textcolor{{{COLORS[self.color]}}}{{{self.tex}}}" if self.color else self.tex

    @property
    def kind(self) -> str:
        """Its shape and its values, in words."""
        shape = "" if not self.shape else f"$({', '.join(map(_size, self.shape))}{_comma(self.shape)})$"
        return ", ".join(filter(None, (shape, self.value))) or "a number"


@dataclass(frozen=True)
class Group:
    """Symbols that stand together; ``pages`` is a part, where they alone are meant, or a chapter."""

    title: str
    symbols: tuple[Symbol, ...]
    pages: str = ""


def _size(size) -> str:
    return {"tokens": "L", "ma": "m_a", "mb": "m_b", "width": "d"}.get(size, str(size))


def _comma(shape) -> str:
    return "," if len(shape) == 1 else ""


def load() -> list[Group]:
    """The symbols of ``notation.toml``, in its order."""
    rows = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["group"]
    return [
        Group(row["title"], tuple(_symbol(entry) for entry in row["symbol"]), row.get("pages", ""))
        for row in rows
    ]


def _symbol(row: dict) -> Symbol:
    shape = tuple(row["shape"]) if "shape" in row else None
    return Symbol(**{**row, "shape": shape, "also": tuple(row.get("also", ()))})


def written(tex: str) -> str:
    """A formula without its colors and spaces, to compare it with a symbol."""
    tex = re.sub(r"\\textcolor\{#[0-9A-Fa-f]{6}\}\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1", tex)
    return re.sub(r"\s+|(?<=[a-zA-Z])\{\}|\\,", "", tex)


def spoken(page: str) -> dict[str, Symbol]:
    """The symbols that a page may name, by how they are written."""
    groups = load()
    of_page = [group for group in groups if group.pages and page.startswith(group.pages)]
    part = [group for group in of_page if group.pages.endswith("/")]
    chapter = [group for group in of_page if group not in part]
    symbols = {}
    for group in (part or [group for group in groups if not group.pages]) + chapter:
        for symbol in group.symbols:
            if symbol.tips:
                symbols.update({written(tex): symbol for tex in (symbol.tex, *symbol.also)})
    return symbols


def table(group: Group) -> str:
    """A group as a MyST table."""
    rows = ["| symbol | meaning | code | shape or value |", "|---|---|---|---|"]
    for symbol in group.symbols:
        code = "–" if symbol.code == "–" else f"`{symbol.code}`"
        rows.append(f"| ${symbol.colored}$ | {symbol.means} | {code} | {symbol.kind} |")
    return "\n".join(rows)


class Symbols(SphinxDirective):
    """The table of one group."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        groups = {group.title: group for group in load()}
        if self.arguments[0] not in groups:
            raise self.error(f"expected one of {', '.join(groups)}, got {self.arguments[0]!r}")
        self.env.note_dependency(str(SOURCE))
        return self.parse_text_to_nodes(table(groups[self.arguments[0]]))


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("symbols", Symbols)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
