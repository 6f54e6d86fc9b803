"""Show the ledger of claims on a page, read while the book is built: no page can disagree with it.

``claims-totals``       how many claims have each verdict, those of the papers apart from the book's own
``claims-table``        the claims of a part; options ``part``, ``source``
``claims-definitions``  the definitions and assumptions, with the reading that the book chose
``claims-downloads``    the whole ledger as JSON and CSV
``claims-filter``       choices with their counts, and a search, that hide what is not asked for from a page
``claims-trust``        what still trusts which engine
``claims-map``          how many claims of each part have each verdict
``claims-errata``       what of a source holds only under a condition, or fails; option ``source``
``claims-headlines``    claims chosen by the page, in short; the ids are its content
``claims-falls``        what falls if a claim falls, as a picture and a table
``claims-cards``        the claims of a part, each with reason, knobs and evidence; option ``part``

The role ``claim`` is a chip: a claim's verdict in a word or two, its condition on hover and focus, which
leads to the card. One that opens a numbered statement stands in its title.

Pages that use them are built again when the ledger changes.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from cells import Fold
from docutils import nodes
from findings import raw
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.osutil import relative_uri
from sphinx_proof.nodes import NODE_TYPES

from patch_lab.kit.ledger import ENGINES, SOURCES, VERDICTS, Card, Ledger, escaped, shipped
from patch_lab.kit.ledger.cli import as_csv
from patch_lab.kit.prose import without_markup

#: What the filter offers beside the verdicts: the papers and the parts.
PAPER_NAMES = {"papers": "both papers", **SOURCES}
PART_NAMES = {
    "setting": "the setting",
    "dynamics": "the dynamics",
    "transfer": "transfer",
    "images": "images",
    "shallow_vit": "content instead of position",
    "beyond": "beyond",
}
#: A part with more claims shows its chapters folded.
MANY = 24
#: Letters of a claim's name that a chip has room for.
NAMED = 28
#: The verdicts as chips say them.
CHIPS = {
    "proved here": "proved",
    "proved by computer": "by computer",
    "observation": "observation, proved",
    "held in every run within its hypotheses": "in every run it covers",
    "holds only if": "only if …",
    "fails as stated": "fails",
    "not run at this size": "not run at its size",
}


#: The verdicts that are said otherwise of several claims.
MANY_WORDS = {
    "observation": "observations",
    "holds only if": "hold only if",
    "fails as stated": "fail as stated",
}


#: The page of the table, whose address may ask for some of the claims.
TABLE = "book/claims"


def slug(verdict: str) -> str:
    """A verdict in an address."""
    return verdict.replace(" ", "-")


def choices_of(claim) -> set[str]:
    """The filter's choices that leave a claim."""
    papers = set() if claim.source == "ours" else {"papers"}
    return papers | {slug(claim.current_verdict), claim.source, claim.chapter.partition("/")[0]}


@cache
def digest(ledger: Ledger) -> str:
    """A name for the ledger's present content."""
    content = json.dumps(ledger.entries(), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


class LedgerDirective(SphinxDirective):
    """What the directives share: they note which ledger the page was built from."""

    option_spec: ClassVar = {"part": str, "source": str}

    def claims(self) -> list:
        """The entries that the options select."""
        self.env.metadata[self.env.docname]["ledger_digest"] = digest(shipped())
        try:
            return shipped().select(**self.options)
        except ValueError as error:
            raise self.error(str(error)) from None

    def paragraph(self, text: str, *classes: str) -> nodes.paragraph:
        """A paragraph of the ledger's text: mathematics is typeset, all else stands as it is."""
        children, messages = self.state.inline_text(escaped(text), self.lineno)
        return nodes.paragraph(text, "", *children, *messages, classes=list(classes))

    def table(self, titles: tuple[str, ...], widths: tuple[int, ...], rows: list[nodes.row]) -> nodes.table:
        """A table with a header."""
        table = nodes.table(classes=["pa-claims"])
        group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
        head = self.row([[nodes.paragraph("", title)] for title in titles])
        group += [nodes.thead("", head), nodes.tbody("", *rows)]
        table += group
        return table

    @staticmethod
    def row(cells: list, *classes: str) -> nodes.row:
        """A row of cells, each a list of nodes."""
        return nodes.row("", *(nodes.entry("", *cell) for cell in cells), classes=list(classes))

    def place(self, claim) -> list[nodes.paragraph]:
        """Where a claim stands: in its source, in the book, and on this page (its stable address)."""
        where = nodes.paragraph("", "", nodes.strong("", "", *self.paragraph(claim.where).children))
        source = nodes.paragraph("", SOURCES[claim.source], classes=["pa-source"])
        return [where, source, self._link(claim.chapter), self.address(claim)]

    @staticmethod
    def address(claim) -> nodes.paragraph:
        """A link to a claim's row."""
        reference = nodes.reference("", "Link to this row", refuri=f"#claim-{claim.id}", internal=True)
        return nodes.paragraph("", "", reference, classes=["pa-source", "pa-id"])

    def verdict(self, claim) -> list[nodes.paragraph]:
        """The verdict's badge, and the condition where there is one."""
        badge = nodes.inline("", claim.current_verdict, classes=["pa-badge", f"pa-{claim.family}"])
        condition = claim.heading[len(claim.current_verdict) :]
        parts = [nodes.paragraph("", "", badge)]
        return parts + ([self.paragraph(condition, "pa-condition")] if condition else [])

    def _link(self, chapter: str) -> nodes.paragraph:
        """A link to the chapter, or its bare name while it is not part of the book."""
        text = nodes.inline("", chapter)
        if f"book/{chapter}" not in self.env.found_docs:
            return nodes.paragraph("", "", text, classes=["pa-source"])
        options = {"refdomain": "std", "reftype": "doc", "refdoc": self.env.docname}
        reference = addnodes.pending_xref(
            "", text, reftarget=f"/book/{chapter}", refexplicit=True, refwarn=True, **options
        )
        return nodes.paragraph("", "", reference, classes=["pa-source"])


class ClaimsTable(LedgerDirective):
    """One row a claim: where it is stated, what it says, its verdict and why."""

    def run(self) -> list[nodes.Node]:
        claims = [claim for claim in self.claims() if claim.kind == "claim"]
        if not claims:
            return [nodes.paragraph("", "The ledger has no claim here yet.")]
        titles = ("claim", "what it says", "verdict")
        rows = map(self._claim, claims)
        table = self.table(titles, (20, 60, 20), list(rows))
        return [Fold("", table, label=f"The {len(claims)} claims")]

    def _claim(self, claim) -> nodes.row:
        row = self.row(
            [self.place(claim), [self.paragraph(claim.statement), self._card(claim)], self.verdict(claim)],
            *(f"pa-row-{value}" for value in sorted(choices_of(claim))),
        )
        row["ids"] = [f"claim-{claim.id}"]
        return row

    def _card(self, claim) -> nodes.paragraph:
        """A link to the reason and the evidence."""
        link = card_link(self.env.app.builder, self.env.docname, claim, [nodes.Text("Reason and evidence")])
        return nodes.paragraph("", "", link, classes=["pa-knobs"])


class ClaimsCards(LedgerDirective):
    """Every claim of a part in full, in the order of the chapters."""

    def run(self) -> list[nodes.Node]:
        sections: dict[str, nodes.section] = {}
        for claim in self.claims():
            if claim.chapter not in sections:
                name = claim.chapter.rpartition("/")[2]
                written = title_of(self.env.app, f"book/{claim.chapter}")
                words, _ = self.state.inline_text(written, self.lineno)
                title = nodes.title("", "", *words)
                sections[claim.chapter] = nodes.section("", title, ids=[f"of-{name}"], names=[f"of-{name}"])
            sections[claim.chapter] += self._full(claim)
        if len(self.claims()) > MANY:
            for chapter, section in sections.items():
                cards = section.children[1:]
                section[1:] = [Fold("", *cards, label=self._counted(chapter))]
        return list(sections.values())

    def _counted(self, chapter: str) -> str:
        """How many claims a chapter has, and how many of each verdict."""
        claims = [claim for claim in self.claims() if claim.chapter == chapter]
        verdicts = Counter(claim.current_verdict for claim in claims if claim.kind == "claim")
        counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        return f"{len(claims)} claims: {counts}" if len(claims) > 1 else f"One claim: {counts}"

    def _full(self, claim) -> nodes.container:
        card = Card(claim)
        box = nodes.container("", classes=["pa-verdict", f"pa-{claim.family}"], ids=[claim.id])
        head = self.parse_text_to_nodes(card.head)
        box += [nodes.container("", *head, classes=["pa-verdict-head"])]
        box += self.parse_text_to_nodes(card.statement)
        fold = Fold("", label="Reason and evidence" if claim.kind == "claim" else "How it is read")
        fold += self.parse_text_to_nodes(card.reasons)
        if claim.filled_knobs:
            tried = "; ".join(f"{knob.name} ({knob.tried}): {knob.moved}" for knob in claim.filled_knobs)
            fold += self.paragraph(f"What was varied, and what changed: {tried}.", "pa-knobs")
        if claim.outcome:
            fold += self.paragraph(f"In one word: {claim.outcome}. Tested: {claim.horizon}.", "pa-knobs")
        fold += self._rests(claim)
        if claim.evidence:
            fold += self.parse_text_to_nodes(card.table)
        if fold.children:
            box += fold
        return box

    def _rests(self, claim) -> list[nodes.paragraph]:
        """What a proof uses, and what falls if it falls."""
        falls = shipped().dependents(claim.id)
        line = nodes.paragraph("", classes=["pa-knobs"])
        verb = "does" if len(falls) == 1 else "do"
        for title, ids in (("Rests on ", claim.rests_on), (f"If it falls, so {verb} ", falls)):
            for number, claim_id in enumerate(ids):
                line += nodes.Text(title if number == 0 else ", ")
                other = shipped()[claim_id]
                words = self.paragraph(other.where).children
                line += card_link(self.env.app.builder, self.env.docname, other, words)
            line += nodes.Text(". " if ids else "")
        return [line] if line.astext() else []


def card_link(builder, docname: str, claim, words: list[nodes.Node], **options) -> nodes.reference:
    """A link to the card of a claim."""
    page = f"book/claims/{claim.chapter.partition('/')[0]}"
    address = builder.get_relative_uri(docname, page)
    link = VerdictLink if "verdict" in options.get("classes", ()) else nodes.reference
    return link("", "", *words, refuri=f"{address}#{claim.id}", internal=True, **options)


class VerdictLink(nodes.reference):
    """A chip's link, which says of which claim it is: ``data-claim``."""


def visit_verdict(translator, node: VerdictLink) -> None:
    """Open the link."""
    translator.visit_reference(node)
    claim = node["refuri"].rpartition("#")[2]
    translator.body[-1] = translator.body[-1].replace("<a ", f'<a data-claim="{claim}" ', 1)


def depart_verdict(translator, node: VerdictLink) -> None:
    """Close it."""
    translator.depart_reference(node)


class ClaimChip(SphinxRole):
    """``{claim}`id```: the verdict in a word or two."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            claim = shipped()[self.text]
        except (KeyError, ValueError):
            return [], [self.inliner.reporter.error(f"there is no claim {self.text!r}", line=self.lineno)]
        self.env.metadata[self.env.docname]["ledger_digest"] = digest(shipped())
        return [Chip("", claim=claim.id)], []


class Chip(nodes.Inline, nodes.Element):
    """Where a chip will stand."""


def chip(builder, docname: str, claim, named: bool = False) -> nodes.reference:
    """The chip of a claim, with its name where it does not stand in the claim's own title.

    A bare verdict behind a sentence would seem to judge that sentence.
    """
    where = without_markup(claim.where.replace("$", ""))
    short = len(where) <= NAMED and "\\" not in where  # no formula that would stand there as TeX
    name = (where if short else "claim") + ": "
    verdict = CHIPS.get(claim.current_verdict, claim.current_verdict)
    word = nodes.inline("", f"{name if named else ''}{verdict}", classes=["pasted-text"])
    condition = without_markup(claim.heading.replace("$", ""))
    classes = ["verdict", "pa-chip", f"pa-{claim.family}"]
    return card_link(builder, docname, claim, [word], classes=classes, reftitle=condition)


class Chips(SphinxPostTransform):
    """Chips become links, those of a statement in its title."""

    default_priority = 2

    def run(self, **kwargs) -> None:
        known = shipped()
        for place in list(self.document.findall(Chip)):
            claim = known[place["claim"]]
            title = _title_above(place)
            made = chip(self.app.builder, self.env.docname, claim, named=title is None)
            if title is None:
                place.replace_self(made)
            else:
                title += [nodes.Text(" "), made]
                place.parent.remove(place)


def _title_above(place: Chip) -> nodes.title | None:
    """The title of the statement that a chip opens."""
    paragraph: Any = place.parent
    box = paragraph.parent and paragraph.parent.parent
    if paragraph.index(place) or not isinstance(box, tuple(NODE_TYPES.values())):
        return None
    return box[0] if paragraph.parent.index(paragraph) == 0 else None


class ClaimsTrust(LedgerDirective):
    """How many proofs were checked by which engine, and how many claims would fall with it."""

    def run(self) -> list[nodes.Node]:
        claims = self.claims()
        sentences = []
        for engine, name in ENGINES.items():
            checked = sum(claim.checked_by == engine for claim in claims)
            rest = len(shipped().relying_on(engine)) - checked
            more = f", and {rest} more rest on these" if rest else ""
            sentences.append(f"{checked} proofs were checked by {name}{more}.")
        return [self.paragraph(" ".join(sentences))]


class ClaimsHeadlines(LedgerDirective):
    """The claims that the page names, a line each: where, verdict, what it says, and the way to its card."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.claims()  # notes the ledger, so that the page is built again when it changes
        items = []
        for name in filter(None, map(str.strip, self.content)):
            try:
                claim = shipped()[name]
            except ValueError as error:
                raise self.error(str(error)) from None
            line = self.paragraph(f"{claim.where}, {SOURCES[claim.source]}: {claim.statement} ")
            badge = nodes.inline("", claim.current_verdict, classes=["pa-badge", f"pa-{claim.family}"])
            condition = self.paragraph(claim.heading[len(claim.current_verdict) :]).children
            link = card_link(self.env.app.builder, self.env.docname, claim, [nodes.Text("why")])
            line += [badge, *condition, nodes.Text(" \u00b7 "), link]
            items.append(nodes.list_item("", line))
        return [nodes.enumerated_list("", *items, classes=["pa-headlines"])]


class ClaimsFalls(LedgerDirective):
    """What falls if a claim falls."""

    def run(self) -> list[nodes.Node]:
        ledger = shipped()
        claims = {claim.id: claim for claim in self.claims()}
        carrying = sorted(
            (claim_id for claim_id in claims if ledger.carries(claim_id)),
            key=lambda claim_id: -len(ledger.dependents(claim_id)),
        )
        rows = []
        for one in carrying:
            claim = claims[one]
            falls = ledger.dependents(one)
            line = nodes.paragraph("")
            for number, other in enumerate(falls):
                line += nodes.Text(", " if number else "")
                words = self.paragraph(ledger[other].where).children
                line += card_link(self.env.app.builder, self.env.docname, ledger[other], words)
            count = nodes.paragraph("", f"{len(falls)}")
            rows.append(self.row([self.place(claim), [count], [line]]))
        table = self.table(("if this falls", "so many fall", "with it"), (30, 10, 60), rows)
        return [Fold("", table, label="The table")]


class ClaimsMap(LedgerDirective):
    """Verdicts against parts: how many claims stand in each cell."""

    def run(self) -> list[nodes.Node]:
        claims = [claim for claim in self.claims() if claim.kind == "claim"]
        words = [word for word in VERDICTS if any(claim.current_verdict == word for claim in claims)]
        parts = list(dict.fromkeys(claim.chapter.partition("/")[0] for claim in claims))
        rows = []
        for word in (*words, "all"):
            chapters = [claim.chapter for claim in claims if word in (claim.current_verdict, "all")]
            counts = [sum(chapter.startswith(f"{part}/") for chapter in chapters) for part in parts]
            cells = [[nodes.paragraph("", str(count) if count else "")] for count in (*counts, len(chapters))]
            rows.append(self.row([[nodes.paragraph("", word)], *cells]))
        titles = ("verdict", *(PART_NAMES[part] for part in parts), "all")
        table = self.table(titles, (26, *(12 for _ in parts), 8), rows)
        table["classes"].append("pa-map")
        return [table]


class ClaimsErrata(LedgerDirective):
    """What one would write to the authors: a statement that fails, or needs a condition, and why."""

    def run(self) -> list[nodes.Node]:
        claims = [claim for claim in self.claims() if claim.family in ("conditional", "fails")]
        if not claims:
            return [nodes.paragraph("", "Nothing so far.")]
        rows = []
        for claim in claims:
            where = nodes.paragraph("", "", nodes.strong("", "", *self.paragraph(claim.where).children))
            place = [where, self._link(claim.chapter), self.address(claim)]
            rows.append(self.row([place, self.verdict(claim), [self.paragraph(claim.reason)]]))
        table = self.table(("where", "what is wrong or missing", "the proof or the run"), (20, 26, 54), rows)
        return [Fold("", table, label=f"{len(rows)} lines")]


class ClaimsDefinitions(LedgerDirective):
    """One row a definition or assumption: where it is stated, what it says, and how the book reads it."""

    def run(self) -> list[nodes.Node]:
        used = [claim for claim in self.claims() if claim.kind != "claim"]
        rows = [
            self.row([self.place(entry), [self.paragraph(entry.statement)], [self.paragraph(entry.reason)]])
            for entry in used
        ]
        for row, entry in zip(rows, used):
            row["ids"] = [f"claim-{entry.id}"]
        table = self.table(("definition", "what it says", "as used here"), (20, 40, 40), rows)
        return [Fold("", table, label=f"The {len(rows)} definitions")]


class ClaimsTotals(LedgerDirective):
    """How many claims have each verdict: a line of badges for the papers, and one for the book's own.

    Each leads to the table, which shows these claims.
    """

    def run(self) -> list[nodes.Node]:
        claims = [claim for claim in self.claims() if claim.kind == "claim"]
        papers = [claim.current_verdict for claim in claims if "papers" in choices_of(claim)]
        ours = [claim.current_verdict for claim in claims if "ours" in choices_of(claim)]
        lines = [
            self._line("The papers\u2019", "papers", papers),
            self._line("The book\u2019s own", "ours", ours),
        ]
        rows: list[nodes.Node] = [line for line in lines if line is not None]
        return rows or [nodes.paragraph("", "The ledger has no claim yet.")]

    def _line(self, whose: str, paper: str, standings: list[str]) -> nodes.paragraph | None:
        if not standings:
            return None
        line = nodes.paragraph("", f"{whose} {len(standings)}: ", classes=["pa-totals"])
        table = relative_uri(f"{self.env.docname}.html", f"{TABLE}.html")
        for word in (*VERDICTS, *sorted(set(standings) - VERDICTS.keys())):
            if word in standings:
                badge = ["pa-badge", f"pa-{VERDICTS.get(word, 'untested')}"]
                if len(line) > 1:  # a comma for who reads the text alone
                    line += [nodes.inline("", ",", classes=["pa-heard"]), nodes.Text(" ")]
                count = standings.count(word)
                counted = f"{count} {word if count == 1 else MANY_WORDS.get(word, word)}"
                address = f"{table}#paper={paper}&verdict={slug(word)}"
                line += [nodes.reference("", counted, refuri=address, internal=True, classes=badge)]
        return line


class ClaimsFilter(LedgerDirective):
    """Three groups of choices, each with its count; the style sheet hides what they leave out.

    A script adds a search and the address (``claims.js``).
    """

    def run(self) -> list[nodes.Node]:
        claims = [claim for claim in self.claims() if claim.kind == "claim"]
        verdicts = {slug(word): word for word in VERDICTS}
        groups = []
        for group, choices in (("paper", PAPER_NAMES), ("part", PART_NAMES), ("verdict", verdicts)):
            options = [choice(group, "all", "all", len(claims))]
            for value, text in choices.items():
                options.append(
                    choice(group, value, text, sum(value in choices_of(claim) for claim in claims))
                )
            groups.append(f"<fieldset><legend>{group}</legend>{''.join(options)}</fieldset>")
        self.env.metadata[self.env.docname]["searches_claims"] = True
        return [raw(f'<form class="pa-filter" aria-label="Which claims to show">{"".join(groups)}</form>')]


def choice(group: str, value: str, text: str, count: int) -> str:
    """A choice of the filter, with how many claims it leaves."""
    checked = " checked" if value == "all" else ""
    radio = f'<input type="radio" name="pa-{group}" value="{value}"{checked}>'
    return f'<label>{radio} {html.escape(text)} <span class="pa-count">{count}</span></label> '


class ClaimsDownloads(LedgerDirective):
    """Links to the two files that :func:`write_downloads` puts beside the pages."""

    def run(self) -> list[nodes.Node]:
        up = "../" * self.env.docname.count("/")
        links = [
            f'<a href="{up}_static/claims.{kind}" download>{kind.upper()}</a>' for kind in ("json", "csv")
        ]
        return [raw(f'<p class="pa-downloads">The whole ledger with its evidence: {" ".join(links)}</p>')]


def write_downloads(app, error: Exception | None) -> None:
    """After a build: the ledger as files."""
    if error is None and app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        entries = shipped().entries()
        (static / "claims.json").write_text(json.dumps(entries, indent=1), encoding="utf-8")
        (static / "claims.csv").write_text(as_csv(shipped()), encoding="utf-8")


def add_search(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """On a page with a filter, its style and its script."""
    if app.env.metadata.get(pagename, {}).get("searches_claims"):
        app.add_css_file("claims.css")
        app.add_js_file("claims.js", loading_method="defer")


def outdated(app, env, added, changed, removed) -> list[str]:
    """The pages that were built from another ledger than today's."""
    now = digest(shipped())
    return [name for name, metadata in env.metadata.items() if metadata.get("ledger_digest", now) != now]


def title_of(app, chapter: str) -> str:
    """The title of a chapter, as it is written."""
    text = Path(app.srcdir, f"{chapter}.md").read_text(encoding="utf-8")
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1]  # type: ignore[index]


DIRECTIVES = {
    "cards": ClaimsCards,
    "definitions": ClaimsDefinitions,
    "downloads": ClaimsDownloads,
    "errata": ClaimsErrata,
    "falls": ClaimsFalls,
    "filter": ClaimsFilter,
    "headlines": ClaimsHeadlines,
    "map": ClaimsMap,
    "table": ClaimsTable,
    "totals": ClaimsTotals,
    "trust": ClaimsTrust,
}


def setup(app) -> dict:
    """Register the directives."""
    for name, directive in DIRECTIVES.items():
        app.add_directive(f"claims-{name}", directive)
    app.add_node(Chip)
    app.add_node(VerdictLink, html=(visit_verdict, depart_verdict), latex=(visit_verdict, depart_verdict))
    app.add_role("claim", ClaimChip())
    app.add_post_transform(Chips)
    app.connect("html-page-context", add_search, priority=400)
    app.connect("env-get-outdated", outdated)
    app.connect("build-finished", write_downloads)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
