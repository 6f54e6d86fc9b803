"""Show the ledger of claims on a page: the directives ``claims-table`` and ``claims-totals``.

Both read :func:`patch_association.claims.ledger` while the book is built, so a page cannot
disagree with the ledger. Pages that use them are built again when the ledger changes.

    :::{claims-table}
    :chapter: setting/structure
    :source: jelassi2022
    :::
"""

from __future__ import annotations

import hashlib
import json

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from patch_association.claims import SOURCES, VERDICTS, ledger


def digest() -> str:
    """A name for the ledger's present content."""
    content = json.dumps([claim.as_dict() for claim in ledger()], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


class LedgerDirective(SphinxDirective):
    """What both directives share: they note which ledger the page was built from."""

    option_spec = {"chapter": str, "source": str}

    def claims(self) -> list:
        """The claims that the options select."""
        self.env.metadata[self.env.docname]["ledger_digest"] = digest()
        source, chapter = self.options.get("source"), self.options.get("chapter")
        try:
            return ledger(source=source, chapter=chapter)
        except ValueError as error:
            raise self.error(str(error)) from None

    def paragraph(self, text: str, *classes: str) -> nodes.paragraph:
        """A paragraph of inline MyST: the ledger's statements hold mathematics."""
        children, messages = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(text, "", *children, *messages, classes=list(classes))


class ClaimsTable(LedgerDirective):
    """One row a claim: where it is stated, what it says, its verdict and why."""

    def run(self) -> list[nodes.Node]:
        claims = self.claims()
        if not claims:
            return [nodes.paragraph("", "The ledger has no claim here yet.")]
        table = nodes.table(classes=["pa-claims"])
        group = nodes.tgroup(cols=3)
        table += group
        group.extend(nodes.colspec(colwidth=width) for width in (20, 60, 20))
        head = nodes.thead()
        head += self._row([[nodes.paragraph("", title)] for title in ("claim", "what it says", "verdict")])
        body = nodes.tbody()
        body.extend(self._claim(claim) for claim in claims)
        group.extend([head, body])
        return [table]

    def _claim(self, claim) -> nodes.row:
        place = nodes.paragraph("", "", nodes.strong("", claim.where))
        source = nodes.paragraph("", SOURCES[claim.source], classes=["pa-source"])
        says = [self.paragraph(claim.statement)]
        if claim.because:
            says.append(self.paragraph(claim.because, "pa-because"))
        badge = nodes.inline(
            "", claim.verdict or "not examined yet", classes=["pa-badge", f"pa-{claim.family}"]
        )
        return self._row([[place, source, self._link(claim.chapter)], says, [nodes.paragraph("", "", badge)]])

    def _link(self, chapter: str) -> nodes.paragraph:
        """A link to the chapter, or its bare name while it is not part of the book."""
        text = nodes.inline("", chapter)
        if f"book/{chapter}" not in self.env.found_docs:
            return nodes.paragraph("", "", text, classes=["pa-source"])
        reference = addnodes.pending_xref(
            "",
            text,
            refdomain="std",
            reftype="doc",
            refdoc=self.env.docname,
            reftarget=f"/book/{chapter}",
            refexplicit=True,
            refwarn=True,
        )
        return nodes.paragraph("", "", reference, classes=["pa-source"])

    @staticmethod
    def _row(cells: list[list[nodes.Node]]) -> nodes.row:
        row = nodes.row()
        row.extend(nodes.entry("", *cell) for cell in cells)
        return row


class ClaimsTotals(LedgerDirective):
    """How many claims have each verdict, as a line of badges."""

    def run(self) -> list[nodes.Node]:
        claims = self.claims()
        line = nodes.paragraph(classes=["pa-totals"])
        counts = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in (*VERDICTS, None)}
        for verdict, count in counts.items():
            if count:
                family = VERDICTS.get(verdict, "untested")
                text = f"{count} {verdict or 'not examined yet'}"
                line += nodes.inline("", text, classes=["pa-badge", f"pa-{family}"])
                line += nodes.Text(" ")
        if not claims:
            line += nodes.Text("The ledger has no claim yet.")
        return [line]


def outdated(app, env, added, changed, removed) -> list[str]:
    """The pages that were built from another ledger than today's."""
    now = digest()
    return [name for name, metadata in env.metadata.items() if metadata.get("ledger_digest", now) != now]


def setup(app) -> dict:
    """Register the directives."""
    app.add_directive("claims-table", ClaimsTable)
    app.add_directive("claims-totals", ClaimsTotals)
    app.connect("env-get-outdated", outdated)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
