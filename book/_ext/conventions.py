"""Show the default setting and its departures on a page: the directive ``conventions``.

Its argument is ``default``, ``departures`` (of ``book/departures.toml``), or ``criteria`` for numbers that
answer one question differently, read from the ledger and the records.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from criteria import criteria_table
from docutils import nodes
from ledger import digest
from sphinx.util.docutils import SphinxDirective

from patch_association.defaults import DEFAULT, ModelSetting
from patch_lab.kit import conventions
from patch_lab.kit.ledger import shipped
from patch_lab.kit.ledger.table import tomllib

SOURCE = Path(__file__).resolve().parent.parent / "departures.toml"


def load() -> dict:
    """``departure``, a list of rows; and ``letters``, how a page writes each field of a setting."""
    return tomllib.loads(SOURCE.read_text(encoding="utf-8"))


def changed(setting: ModelSetting) -> dict:
    """What of a setting differs from the default one, by name."""
    pairs = {field.name: getattr(setting, field.name) for field in fields(ModelSetting)}
    return {name: value for name, value in pairs.items() if value != getattr(DEFAULT, name)}


def default_table() -> str:
    """The default setting as a MyST table."""
    rows = ["| letter | what it is | name in the code | value |", "|---|---|---|---|"]
    for name, (letter, meaning) in load()["letters"].items():
        rows.append(f"| {letter} | {meaning} | `{name}` | ${_written(getattr(DEFAULT, name))}$ |")
    return "\n".join(rows)


def departures_table() -> str:
    """Every departure as a MyST table."""
    source = load()
    rows = ["| chapter | what differs | why |", "|---|---|---|"]
    for departure in source["departure"]:
        setting = getattr(conventions, departure.get("setting", "DEFAULT"))
        symbols = [
            f"{source['letters'][name][0].removesuffix('$')} = {_written(value)}$"
            for name, value in changed(setting).items()
        ]
        if "values" in departure:
            symbols.append(departure["values"].replace("{alpha}", _written(setting.alpha)))
        chapters = ", ".join(f"{{doc}}`/book/{chapter}`" for chapter in departure["chapters"])
        rows.append(f"| {chapters} | {'; '.join(symbols)} | {departure['reason']} |")
    return "\n".join(rows)


def _written(value) -> str:
    return f"{round(value, 12):g}"


TABLES = {"default": default_table, "departures": departures_table, "criteria": criteria_table}


class Conventions(SphinxDirective):
    """The directive that shows one of the tables of conventions."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in TABLES:
            raise self.error(f"expected one of {', '.join(TABLES)}, got {name!r}")
        self.env.note_dependency(str(SOURCE))
        self.env.metadata[self.env.docname]["ledger_digest"] = digest(shipped())
        tables = self.parse_text_to_nodes(TABLES[name]())
        for table in tables:
            table["classes"].append("pa-conventions")  # type: ignore[index]
        return tables


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("conventions", Conventions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
