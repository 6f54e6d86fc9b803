"""One home for everything: proofs, notes and solutions leave the way of reading for pages of their part.

A chapter is written, and run, as one notebook. While the book is built

- a dropdown with a proof goes to ``<part>/proofs``, below a copy of the statement that stands before it;
- every other dropdown, and each section whose title begins with "Appendix:", to the notes on the same page;
- solutions, and the section "More exercises", to ``<part>/solutions``;
- the section "Verdicts" goes: its cards stand on the pages of claims (``ledger.py``), its chips in the text;
- cells above the first figure are shown below "What we find".

Where something stood, a link leads to it, which keeps its old address. Numbers are those that it had in its
chapter. ``home`` on a page ``<part>/proofs`` or ``<part>/solutions`` is where the part's content appears.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from notes import SUFFIX
from papers import paper_node
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import is_exercise_enumerable_node, is_exercise_node, solution_node
from sphinx_proof.nodes import NODE_TYPES, proof_node

OPENING, VERDICTS, MORE = "Appendix: ", "Verdicts", "More exercises"
PROOFS, SOLUTIONS = "proofs", "solutions"
_STATEMENTS = (paper_node, *NODE_TYPES.values())
#: Both packages give every box's body the same id.
_REPEATED_IDS = {"proof", "proof-content", "exercise-content", "solution-content"}


class Place(nodes.General, nodes.Element):
    """Where the content of ``chapter`` appears on a page of ``kind``."""


@dataclass
class Move:
    """Something that leaves its chapter.

    Attributes
    ----------
    node : Element
        As it stands in the chapter.
    kind : "proofs", "notes", "solutions" or "" (to nowhere)
    title : list of nodes
        Of the link that is left, and above it on its page.
    of : Element or None
        The statement or the exercise that it belongs to.
    """

    node: nodes.Element
    kind: str
    title: list[nodes.Node] = field(default_factory=list)
    of: nodes.Element | None = None

    @property
    def page(self) -> str:
        """The name of the page that it goes to."""
        return SOLUTIONS if self.kind == SOLUTIONS else PROOFS

    def ids(self) -> list[str]:
        """Every address within it."""
        return [name for node in self.node.findall(nodes.Element) for name in node.get("ids", ())]

    def anchor(self) -> str:
        """Its address on its page."""
        if self.kind == PROOFS and self.of is not None:
            return self.of["ids"][0]
        return next(name for name in self.ids() if name not in _REPEATED_IDS)


def is_dropdown(node: nodes.Node) -> bool:
    """Whether it is a dropdown of sphinx-design."""
    return isinstance(node, nodes.container) and node.get("design_component") == "dropdown"


def moves(document: nodes.document, chapter: str) -> list[Move]:
    """What leaves a chapter, in its order; what lies inside something that leaves goes with it."""
    found: list[Move] = []
    statement, exercises, inside = None, {}, set()
    for node in document.findall(nodes.Element):
        if id(node) in inside:
            continue
        move = None
        if isinstance(node, _STATEMENTS):
            statement = node
        elif is_exercise_node(node) or is_exercise_enumerable_node(node):
            exercises[node["label"]] = node
        elif isinstance(node, solution_node):
            move = Move(node, SOLUTIONS, [nodes.Text("Solution")], exercises.get(node["target_label"]))
        elif is_dropdown(node):
            title = [child.deepcopy() for child in node[0].children]
            proof = node[0].astext().startswith("Proof") or next(node.findall(proof_node), None) is not None
            kind = PROOFS if proof and statement is not None else "notes"
            move = Move(node, kind, title, statement if proof else None)
        elif isinstance(node, nodes.section) and isinstance(node[0], nodes.title):
            title = node[0].astext()
            if title == VERDICTS:
                move = Move(node, "")
            elif title == MORE:
                move = Move(node, SOLUTIONS, [nodes.Text(MORE)])
            elif title.startswith(OPENING):
                move = Move(node, "notes", _without_opening(node[0]))
        if move is not None:
            if move.kind and not [name for name in move.ids() if name not in _REPEATED_IDS]:
                node["ids"].append(f"note-{chapter.rpartition('/')[2]}-{len(found)}")
            found.append(move)
            inside.update(id(one) for one in node.findall(nodes.Element))
    return found


def _without_opening(title: nodes.Node) -> list[nodes.Node]:
    first, *rest = title.children
    words = first.astext().removeprefix(OPENING)
    return [nodes.Text(words[:1].upper() + words[1:]), *(child.deepcopy() for child in rest)]


def chapters(app, part: str) -> list[str]:
    """The chapters of a part in the order of the contents."""
    contents = yaml.safe_load(Path(app.srcdir, "_toc.yml").read_text(encoding="utf-8"))
    return [
        one["file"]
        for block in contents["parts"]
        for one in block["chapters"]
        if block.get("numbered") and one["file"].startswith(f"{part}/") and not one.get("sections")
    ]


def title_of(app, chapter: str) -> str:
    """The title of a chapter, as it is written."""
    text = Path(app.srcdir, f"{chapter}.md").read_text(encoding="utf-8")
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1]  # type: ignore[index]


class Home(SphinxDirective):
    """``home``: a section for each chapter of the part, with what belongs on this page."""

    def run(self) -> list[nodes.Node]:
        part, _, kind = self.env.docname.rpartition("/")
        if kind not in (PROOFS, SOLUTIONS):
            raise self.error(f"expected a page called {PROOFS} or {SOLUTIONS}, got {kind}")
        sections = []
        for chapter in chapters(self.env.app, part):
            self.env.note_dependency(f"{chapter}.ipynb")
            name = chapter.rpartition("/")[2]
            words, _ = self.state.inline_text(title_of(self.env.app, chapter), self.lineno)
            section = nodes.section("", ids=[f"of-{name}"], names=[f"of-{name}"])
            section += [nodes.title("", "", *words), Place("", chapter=chapter, kind=kind)]
            sections.append(section)
        return sections


def shorten(app, env) -> list[str]:
    """Once all pages are read, before sections are numbered: what moves leaves the tables of contents."""
    for docname in env.found_docs:
        part, _, name = docname.rpartition("/")
        if name in (PROOFS, SOLUTIONS):
            places = env.get_doctree(docname).findall(Place)
            gone = {place.parent["ids"][0] for place in places if not _content(env, place)}
        elif _has_homes(env, part) and not _at_home(env, docname):
            found = moves(env.get_doctree(docname), docname)
            gone = {name for move in found for name in _section_ids(move.node)}
        else:
            continue
        _shorten(env.tocs[docname], gone)
    return []


def settle(app, env) -> list[str]:
    """Once figures are numbered: what moves gets the address of its new page, and keeps its number."""
    held: dict[str, dict[str, nodes.Element]] = {}
    for docname in env.found_docs:
        part, _, name = docname.rpartition("/")
        if name in (PROOFS, SOLUTIONS) or not _has_homes(env, part) or _at_home(env, docname):
            continue
        for move in moves(env.get_doctree(docname), docname):
            page = f"{part}/{move.page}"
            if move.kind:
                _readdress(env, docname, page, set(move.ids()))
                held.setdefault(page, {}).update(_by_id(move.node))
            if move.kind == PROOFS and move.of is not None:  # its copy has its number
                _copy_numbers(env, docname, page, set(move.of["ids"]))
    for docname, found in held.items():
        page = env.get_doctree(docname)
        page.ids.update(found)  # a numbered link asks its page for what it leads to
        app.builder.write_doctree(docname, page)
        env._pickled_doctree_cache.pop(docname, None)  # what Sphinx read a moment ago
    return []


def _by_id(moved: nodes.Element) -> dict[str, nodes.Element]:
    """What has a name in something that moves, by its name."""
    copied = moved.deepcopy()
    node: Any
    for node in copied.findall():
        node.document = None
    return {name: node for node in copied.findall(nodes.Element) for name in node.get("ids", ())}


def _has_homes(env, part: str) -> bool:
    return {f"{part}/{PROOFS}", f"{part}/{SOLUTIONS}"} <= env.found_docs


def _at_home(env, docname: str) -> bool:
    """Whether nothing of a page moves: notes, and a chapter that has notes of its own."""
    return docname.endswith(SUFFIX) or f"{docname}{SUFFIX}" in env.found_docs


def _section_ids(node: nodes.Element) -> list[str]:
    return [name for section in node.findall(nodes.section) for name in section["ids"]]


def _readdress(env, old: str, new: str, ids: set[str]) -> None:
    standard, equations = env.get_domain("std"), env.get_domain("math").equations
    moved = _moved(env).setdefault(old, set())
    for known in (standard.labels, standard.anonlabels):
        for label, (docname, name, *rest) in list(known.items()):
            if docname == old and name in ids:
                known[label] = (new, name, *rest)
                moved.add(label)
    for label, (docname, number) in list(equations.items()):
        if docname == old and nodes.make_id(f"equation-{label}") in ids:
            equations[label] = (new, number)
            moved.add(label)
    for registry in _registries(env):
        for label, entry in registry.items():
            if entry.get("docname") == old and ids & {entry.get("label"), *entry.get("ids", ())}:
                entry["docname"] = new
                moved.add(label)
    _copy_numbers(env, old, new, ids)


def _moved(env) -> dict[str, set[str]]:
    """The labels that left each chapter, which Sphinx takes for those of another page."""
    if not hasattr(env, "moved_labels"):
        env.moved_labels = {}
    return env.moved_labels


def _registries(env) -> tuple[dict, ...]:
    return getattr(env, "proof_list", {}), getattr(env, "sphinx_exercise_registry", {})


def outdated(app, env, added, changed, removed) -> list[str]:
    """A part is read as a whole: what moves belongs to two pages, and Sphinx forgets it with either."""
    parts = {name.rpartition("/")[0] for name in (*added, *changed, *removed)}
    known = (name for name in env.found_docs if name in env.all_docs)
    return [name for name in known if (part := name.rpartition("/")[0]) in parts and _has_homes(env, part)]


def forget(app, env, docname: str) -> None:
    """Before a chapter is read again: the labels that left it are its own once more."""
    standard, equations = env.get_domain("std"), env.get_domain("math").equations
    for label in _moved(env).pop(docname, ()):
        for known in (standard.labels, standard.anonlabels, equations, *_registries(env)):
            known.pop(label, None)


def _copy_numbers(env, old: str, new: str, ids: set[str]) -> None:
    for kind, numbers in env.toc_fignumbers.get(old, {}).items():
        taken = {name: number for name, number in numbers.items() if name in ids}
        env.toc_fignumbers.setdefault(new, {}).setdefault(kind, {}).update(taken)


def _shorten(contents: nodes.Element, ids: set[str]) -> None:
    """Take sections that are gone from a page's table of contents."""
    for item in list(contents.findall(nodes.list_item)):
        link = next(item.findall(nodes.reference), None)
        if link is not None and link.get("anchorname", "").removeprefix("#") in ids and item.parent:
            item.parent.remove(item)
    for empty in [one for one in contents.findall(nodes.bullet_list) if not one.children]:
        if empty.parent is not None:
            empty.parent.remove(empty)


def _content(env, place: Place) -> list[Move]:
    found = moves(env.get_doctree(place["chapter"]), place["chapter"])
    return [move for move in found if move.kind and move.page == place["kind"]]


class MoveOut(SphinxPostTransform):
    """Before any link is resolved: chapters lose what moves, and its pages get it."""

    default_priority = 1

    def run(self, **kwargs) -> None:
        docname = self.env.docname
        part, _, name = docname.rpartition("/")
        if name in (PROOFS, SOLUTIONS):
            for place in list(self.document.findall(Place)):
                self._fill(place)
        elif _has_homes(self.env, part) and not _at_home(self.env, docname):
            for move in moves(self.document, docname):
                self._leave(move)

    def _leave(self, move: Move) -> None:
        """Put a link where something stood; for a solution, at the end of its exercise."""
        old = [name for name in move.ids() if name not in _REPEATED_IDS]
        address = self.app.builder.get_relative_uri(
            self.env.docname, f"{self.env.docname.rpartition('/')[0]}/{move.page}"
        )
        if not move.kind:  # whoever has its address still comes to the page
            spans = [nodes.inline("", "", ids=[name]) for name in old if name in _section_ids(move.node)]
            move.node.replace_self([nodes.paragraph("", "", *spans, classes=["pa-gone"])] if spans else [])
            return
        link = nodes.reference("", "", *move.title, internal=True, refuri=f"{address}#{move.anchor()}")
        spans = [nodes.inline("", "", ids=[name]) for name in old]
        line = nodes.paragraph("", "", *spans, link, classes=["pa-moved", f"pa-moved-{move.kind}"])
        if move.kind == SOLUTIONS and move.of is not None:
            move.node.parent.remove(move.node)
            body = next(iter(move.of.findall(nodes.section)), move.of)
            body += line
        else:
            move.node.replace_self(line)

    def _fill(self, place: Place) -> None:
        """What has come to this place, proofs and exercises before notes."""
        content = _content(self.env, place)
        found: list[nodes.Node] = [self._back(place["chapter"])]
        shown: set[str] = set()
        for move in sorted(content, key=lambda move: move.kind == "notes"):
            if move.kind == PROOFS and move.of is not None and move.of["ids"][0] not in shown:
                shown.add(move.of["ids"][0])
                found.append(_bare(move.of.deepcopy()))
            found += self._unfolded(move)
        for node in found:
            for link in node.findall(addnodes.pending_xref):
                link["refdoc"] = self.env.docname
        place.parent.remove(place) if not content else place.replace_self(found)

    def _back(self, chapter: str) -> nodes.paragraph:
        address = self.app.builder.get_relative_uri(self.env.docname, chapter)
        link = nodes.reference("", "To the chapter", internal=True, refuri=address)
        return nodes.paragraph("", "", link, classes=["pa-moved"])

    @staticmethod
    def _unfolded(move: Move) -> list[nodes.Node]:
        """The content, open."""
        node: Any = _bare(move.node.deepcopy())
        if isinstance(node, nodes.section):
            if move.kind == "notes":
                title: Any = node[0]
                title.children = []
                title += [child.deepcopy() for child in move.title]
            return [node]
        if isinstance(node, solution_node):
            node["classes"] = [name for name in node["classes"] if name not in ("dropdown", "toggle")]
            return [node]
        box = nodes.container("", ids=node["ids"] + node[0]["ids"], classes=["pa-unfolded"])
        if move.kind == "notes" or node[0].astext() != "Proof":
            box += nodes.rubric("", "", *(child.deepcopy() for child in move.title))
        box += node.children[1:]
        return [box]


def _bare(node: nodes.Element) -> nodes.Element:
    """A copy without the dropdowns in it and without ids that stand on every box."""
    inner: Any
    for inner in [one for one in node.findall(nodes.container) if one is not node and is_dropdown(one)]:
        box = nodes.container("", ids=inner["ids"] + inner[0]["ids"], classes=["pa-unfolded"])
        if inner[0].astext() != "Proof":
            box += nodes.rubric("", "", *inner[0].children)
        box += inner.children[1:]
        inner.replace_self(box)
    return node


def repair(app, doctree: nodes.document, docname: str) -> None:
    """Drop the repeated ids, and set the opening word of every proof apart: plain text has no style."""
    for box in doctree.findall(nodes.Element):
        if _REPEATED_IDS & set(box.get("ids", ())):
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
    """Register the directive and what moves things."""
    app.add_node(Place)
    app.add_directive("home", Home)
    app.connect("config-inited", leave_out_texts, priority=100)
    app.connect("env-get-outdated", outdated)
    app.connect("env-purge-doc", forget)
    app.connect("env-get-updated", shorten, priority=100)
    app.connect("env-get-updated", settle, priority=900)  # after the numbers are given
    app.add_post_transform(MoveOut)
    app.connect("doctree-resolved", repair)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
