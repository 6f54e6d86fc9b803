"""A chapter's notes: proofs below the statements that they prove, tables, more exercises, solutions.

``book/<part>/<chapter>_notes`` stands below its chapter in ``_toc.yml``: it has the chapter's number, and
what it states is counted on. It has no kernel. Its numbers, tables and further figures are those of the
chapter's notebook, whose last section, "What the notes and the verdicts measure", is run and compared and
left off the chapter's page. ::

    :::{proof-of} prop-score-velocity
    Only row i contains ...
    :::

shows the statement again above its proof, and gives the statement in the chapter the link "Proof"; an
exercise gets the link "Solution" in the same way. ``{number}`name``` is what the notebook glues as ``name``;
``figure-of`` shows a figure of the notebook, by its name; ``shown-of NAME`` shows what its cell tagged
``shown-NAME`` displays. On any other page ``{number}`part/chapter:name``` and the option ``:page:`` say
whose notebook it is.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import nbformat
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from drawings import draw
from ledger import Chip
from papers import paper_node
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx_exercise.nodes import is_exercise_enumerable_node, is_exercise_node, solution_node
from sphinx_proof.nodes import NODE_TYPES, proof_node

SUFFIX = "_notes"
MEASURES = "What the notes and the verdicts measure"
#: Both packages give every box's body the same id.
_REPEATED_IDS = {"proof", "proof-content", "exercise-content", "solution-content"}
STATEMENTS = (paper_node, *NODE_TYPES.values())


class Again(nodes.General, nodes.Element):
    """Where the statement ``label`` appears once more."""


def proofs(env) -> dict[str, str]:
    """The page of every proof that stands in notes, by the label of its statement."""
    if not hasattr(env, "proofs_of"):
        env.proofs_of = {}
    return env.proofs_of


def statement(env, label: str) -> nodes.Element:
    """A statement as it stands on its own page."""
    page = env.get_doctree(env.proof_list[label]["docname"])
    return next(node for node in page.findall(nodes.Element) if label in node.get("ids", ()))


class ProofOf(SphinxDirective):
    """A statement of another page, and its proof."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        label = self.arguments[0]
        known = proofs(self.env)
        if known.get(label, self.env.docname) != self.env.docname:
            raise self.error(f"{label} is proved on {known[label]} already")
        known[label] = self.env.docname
        proof = proof_node("", nodes.admonition("", *self.parse_content_to_nodes(), classes=["proof"]))
        first = next(proof.findall(nodes.paragraph), None)
        if first is not None:
            first[:0] = [nodes.inline("", "Proof.", classes=["pa-proof-opening"]), nodes.Text(" ")]
        box = nodes.container("", Again("", label=label), proof, classes=["pa-proof-of"])
        box["ids"] = [f"proof-{label}"]
        return [box]


def number(app, env) -> list[str]:
    """A statement that is shown again, and each equation in it, keeps its number."""
    for label, page in proofs(env).items():
        if label not in getattr(env, "proof_list", {}):
            raise ValueError(f"{page}: no statement is labelled {label!r}")
        home = env.proof_list[label]["docname"]
        ids = {
            name
            for element in statement(env, label).findall(nodes.Element)
            for name in element.get("ids", ())
        }
        for kind, numbers in env.toc_fignumbers.get(home, {}).items():
            taken = {name: its_number for name, its_number in numbers.items() if name in ids}
            env.toc_fignumbers.setdefault(page, {}).setdefault(kind, {}).update(taken)
    return []


def purge(app, env, docname: str) -> None:
    """Forget the proofs of a page that is read again."""
    known = proofs(env)
    for label in [label for label, page in known.items() if page == docname]:
        del known[label]


class Link(SphinxPostTransform):
    """Before any link or chip is resolved: statements appear again, and lead to their proofs."""

    default_priority = 1

    def run(self, **kwargs) -> None:
        for place in list(self.document.findall(Again)):
            place.replace_self(self._copy(place["label"]))
        for box in list(self.document.findall(nodes.Element)):
            if isinstance(box, STATEMENTS):
                self._lead_to_proof(box)
            elif is_exercise_node(box) or is_exercise_enumerable_node(box):
                self._lead_to_solution(box)

    def _copy(self, label: str) -> nodes.Element:
        copied = statement(self.env, label).deepcopy()
        for chip in list(copied.findall(Chip)):  # a claim has one chip
            chip.parent.remove(chip)
        for link in copied.findall():
            if isinstance(link, nodes.Element) and "refdoc" in link:
                link["refdoc"] = self.env.docname
        return copied

    def _lead_to_proof(self, box: nodes.Element) -> None:
        label = next(iter(box["ids"]), "")
        page = proofs(self.env).get(label)
        if page not in (None, self.env.docname):
            self._lead(box, "Proof", page, f"proof-{label}")

    def _lead_to_solution(self, box: nodes.Element) -> None:
        for label, entry in getattr(self.env, "sphinx_exercise_registry", {}).items():
            solution = entry.get("node")
            if not isinstance(solution, solution_node) or solution["target_label"] != box["label"]:
                continue
            page = entry["docname"]
            if page.endswith(SUFFIX) and page != self.env.docname:
                self._lead(box, "Solution", page, label)
            return

    def _lead(self, box: nodes.Element, word: str, page: str, label: str) -> None:
        address = self.app.builder.get_relative_uri(self.env.docname, page)
        link = nodes.reference("", word, internal=True, refuri=f"{address}#{label}")
        body = next(iter(box.findall(nodes.section)), box)
        body += nodes.paragraph("", "", link, classes=["pa-moved"])


def arrows(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """The page before and the page after a chapter are no notes; those of notes are their chapter's."""
    relations = app.env.collect_relations()
    for key, way in (("prev", 1), ("next", 2)):
        page = relations.get(pagename, (None,) * 3)[way]
        while page and page.endswith(SUFFIX):
            page = relations[page][way]
        if page and context.get(key):
            title = app.builder.render_partial(app.env.titles[page])["title"]
            context[key] = {"link": app.builder.get_relative_uri(pagename, page), "title": title}


# What notes show of their chapter's notebook


class NumberRole(SphinxRole):
    """``{number}`name```: what the chapter's notebook glues."""

    def run(self):
        page, _, name = self.text.rpartition(":")
        chapter = f"book/{page}" if page else self.env.docname.removesuffix(SUFFIX)
        self.env.note_dependency(f"{chapter}.ipynb")
        path = Path(self.env.app.srcdir) / f"{chapter}.ipynb"
        held = glued(path, path.stat().st_mtime_ns) if path.is_file() else {}
        if name not in held:
            message = f"{chapter} glues nothing as {name!r}"
            return [], [self.inliner.reporter.error(message, line=self.lineno)]
        words = held[name]
        if "$" not in words:
            return [nodes.inline("", words, classes=["pasted-text"])], []
        box: Any = nodes.inline("", "", classes=["pasted-text"])
        inliner: Any = self.inliner
        box += inliner.parse(words, self.lineno, inliner, box)[0]  # formulas in it
        return [box], []


def notebook_of(directive: SphinxDirective):
    """The chapter that a page of notes, or the option ``page``, names, and its notebook."""
    page = directive.options.get("page")
    chapter = f"book/{page}" if page else directive.env.docname.removesuffix(SUFFIX)
    directive.env.note_dependency(f"{chapter}.ipynb")
    path = Path(directive.env.app.srcdir) / f"{chapter}.ipynb"
    return chapter, nbformat.read(path, as_version=4)


@lru_cache(maxsize=8)
def glued(path: Path, changed: int) -> dict[str, str]:
    """What a notebook's outputs hold under each name; ``changed`` tells states of the file apart."""
    values = {}
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", ()):
            if name := output.get("metadata", {}).get("scrapbook", {}).get("name"):
                values[name] = ast.literal_eval(output["data"]["application/papermill.record/text/plain"])
    return values


class LeaveOut(SphinxTransform):
    """What a chapter measures for its notes is run and compared, and is not on its page."""

    default_priority = 300  # before labels are noted (SphinxDomains, 850)

    def apply(self, **kwargs) -> None:
        for section in list(self.document.findall(nodes.section)):
            if section[0].astext() != MEASURES:
                continue
            for node in section.findall(nodes.Element):
                for name in node.get("names", ()):
                    self.document.nametypes.pop(name, None)
            section.parent.remove(section)


class FigureOf(SphinxDirective):
    """``figure-of`` shows a figure of a notebook; its content is the caption here, else the figure's own is.

    A figure that its chapter's page shows as well needs a name of its own here: ``:name:``.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"page": directives.unchanged, "name": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        label = self.arguments[0]
        chapter, notebook = notebook_of(self)
        for cell in notebook.cells:
            shown = cell.metadata.get("mystnb", {})
            if shown.get("figure", {}).get("name") == label:
                break
        else:
            raise self.error(f"{chapter} draws no {label!r}")
        svg = next(
            "".join(output["data"]["image/svg+xml"])
            for output in cell.outputs
            if "image/svg+xml" in output.get("data", {})
        )
        name = self.options.get("name", label)
        drawing = draw(svg, f"{nodes.make_id(name)}-", shown["image"]["alt"])
        figure = nodes.figure("", nodes.raw("", drawing, format="html"))
        figure += nodes.caption("", "", *self._caption(shown["figure"]["caption"]))
        figure["names"].append(name)
        self.state.document.note_explicit_target(figure, figure)
        return [figure]

    def _caption(self, caption: str) -> Sequence[nodes.Node]:
        page = self.options.get("page")
        given = caption.replace("{glue:text}`", f"{{number}}`{page}:" if page else "{number}`")
        text = self.content or StringList(given.splitlines(), self.env.docname)
        box = nodes.container()
        self.state.nested_parse(text, self.content_offset, box)
        return box[0].children


class ShownOf(SphinxDirective):
    """``shown-of NAME`` shows the tables and the Markdown of the chapter's cell tagged ``shown-NAME``."""

    required_arguments = 1
    option_spec: ClassVar = {"page": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        tag = f"shown-{self.arguments[0]}"
        chapter, notebook = notebook_of(self)
        box = nodes.container(classes=["cell_output", "pasted-text"])
        for cell in notebook.cells:
            if tag in cell.metadata.get("tags", ()):
                for output in cell.outputs:
                    self._show(output.get("data", {}), box)
        if not box.children:
            raise self.error(f"{chapter} has no cell tagged {tag!r} that displays Markdown or HTML")
        return [box]

    def _show(self, data: dict, box: nodes.Element) -> None:
        if "text/markdown" in data:
            lines = "".join(data["text/markdown"]).splitlines()
            self.state.nested_parse(StringList(lines, self.env.docname), self.content_offset, box)
        elif "text/html" in data:
            box += nodes.raw("", "".join(data["text/html"]), format="html")


def repair(app, doctree: nodes.document, docname: str) -> None:
    """Drop the repeated ids, and set the opening word of every proof apart: plain text has no style."""
    for box in doctree.findall(nodes.Element):
        titled = isinstance(box, nodes.section) and isinstance(next(iter(box.children), None), nodes.title)
        if not titled and _REPEATED_IDS & set(box.get("ids", ())):
            box["ids"] = [name for name in box["ids"] if name not in _REPEATED_IDS]
    opening = "Proof."
    for proof in doctree.findall(proof_node):
        first = next(proof.findall(nodes.Text), None)
        if first is not None and first.startswith(opening):
            word = nodes.inline("", opening, classes=["pa-proof-opening"])
            first.parent.replace(first, [word, nodes.Text(first.astext()[len(opening) :])])


def leave_out_texts(app, config) -> None:
    """Of a chapter's pair the notebook is the page: it has the outputs."""
    root = Path(app.srcdir)
    for notebook in (root / "book").rglob("*.ipynb"):
        config.exclude_patterns.append(notebook.relative_to(root).with_suffix(".md").as_posix())


def setup(app) -> dict:
    """Register the directives and what links them."""
    app.add_node(Again)
    app.add_directive("proof-of", ProofOf)
    app.add_directive("figure-of", FigureOf)
    app.add_directive("shown-of", ShownOf)
    app.add_role("number", NumberRole())
    app.add_transform(LeaveOut)
    app.add_post_transform(Link)
    app.connect("config-inited", leave_out_texts, priority=100)
    app.connect("env-purge-doc", purge)
    app.connect("env-get-updated", number, priority=900)
    app.connect("doctree-resolved", repair)
    app.connect("html-page-context", arrows)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
