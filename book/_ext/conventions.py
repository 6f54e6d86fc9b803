"""Show the default setting and its departures on a page: the directive ``conventions``.

It reads :mod:`patch_association.defaults` while the book is built, so a page cannot disagree with the
code. Its argument is ``default`` or ``departures``, or ``criteria`` for numbers that answer one question
differently, read from the ledger and the records.
"""

from __future__ import annotations

from criteria import criteria_table
from docutils import nodes
from docutils.statemachine import StringList
from ledger import digest
from sphinx.util.docutils import SphinxDirective

from patch_lab import conventions
from patch_lab.ledger import shipped

TABLES = {
    "default": conventions.default_table,
    "departures": conventions.departures_table,
    "criteria": criteria_table,
}


class Conventions(SphinxDirective):
    """One of the tables."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in TABLES:
            raise self.error(f"expected one of {', '.join(TABLES)}, got {name!r}")
        self.env.note_dependency(conventions.__file__)
        self.env.metadata[self.env.docname]["ledger_digest"] = digest(shipped())
        holder = nodes.container()
        lines = StringList(TABLES[name]().splitlines(), source=conventions.__file__)
        self.state.nested_parse(lines, 0, holder)
        for table in holder.findall(nodes.table):
            table["classes"].append("pa-conventions")
        return holder.children


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("conventions", Conventions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
