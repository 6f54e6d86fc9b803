"""The papers' own statements, under the papers' own names, in a box of their own look.

::

    :::{paper} Theorem 4.1
    :label: thm-idealized
    :title: Association by gradient descent
    :claim: jelassi2022-theorem-4.1

    After any ...
    :::

The name is the paper's and is never counted; ``{paper}`Theorem 4.1``` and ``{prf:ref}`thm-idealized``` both
say "Theorem 4.1" and lead there. Statements of the second paper are called "Theorem 1 (Li)". ``:again:``
repeats a box on another page: links lead to the first one. A built box carries ``data-paper`` and
``data-name``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

SECOND = "(Li)"
#: What ends a name: the key of its paper, and who is named at the head of a box.
PAPERS = {
    "": ("jelassi2022", "Jelassi, Sander & Li 2022"),
    SECOND: ("li2023", "Li, Wang, Liu & Chen 2023"),
}


class paper_node(nodes.Admonition, nodes.Element):
    """The box: ``name``, ``paper``."""


def visit_paper(translator, node: paper_node) -> None:
    """Open the box."""
    data = {"data-paper": node["paper"], "data-name": node["name"]}
    translator.body.append(translator.starttag(node, "div", CLASS="proof paper admonition", **data))


def depart_paper(translator, node: paper_node) -> None:
    """Close it."""
    translator.body.append("</div>")


def paper_of(name: str) -> tuple[str, str]:
    """The key of the paper that states ``name``, and its authors."""
    return PAPERS[SECOND if name.endswith(SECOND) else ""]


def statements(env) -> dict[str, tuple[str, str]]:
    """The page and the label of every statement, by its name."""
    if not hasattr(env, "paper_statements"):
        env.paper_statements = {}
    return env.paper_statements


class Paper(SphinxDirective):
    """One statement of a paper."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {
        "label": directives.unchanged_required,
        "title": directives.unchanged,
        "claim": directives.unchanged,
        "again": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        name = " ".join(self.arguments[0].split())
        again = "again" in self.options
        label = self.options.get("label", nodes.make_id(name))
        key, authors = paper_of(name)
        box = paper_node("", ids=[f"{label}-again" if again else label], name=name, paper=key)
        box += [self._title(name, authors), self._body()]
        if not again:
            self._note(name, label)
        return [box]

    def _title(self, name: str, authors: str) -> nodes.title:
        title = nodes.title("", "", nodes.inline("", name, classes=["pa-paper-name"]))
        if given := self.options.get("title"):
            words, _ = self.state.inline_text(f" ({given})", self.lineno)
            title += words
        title += [nodes.Text(" "), nodes.inline("", authors, classes=["pa-paper-source"])]
        return title

    def _body(self) -> nodes.container:
        body = nodes.container(classes=["paper-content"])  # a section would be numbered
        self.state.nested_parse(self.content, self.content_offset, body)
        if claim := self.options.get("claim"):
            chips = " ".join(f"{{claim}}`{claim_id}`" for claim_id in claim.split())
            words, _ = self.state.inline_text(chips, self.lineno)
            body += nodes.paragraph("", "", *words, classes=["pa-paper-verdict"])
        return body

    def _note(self, name: str, label: str) -> None:
        known = statements(self.env)
        if name in known and known[name] != (self.env.docname, label):
            raise self.error(f"{name} stands on {known[name][0]} already; :again: repeats it")
        known[name] = (self.env.docname, label)
        env: Any = self.env
        if not hasattr(env, "proof_list"):
            env.proof_list = {}
        env.proof_list[label] = {  # for {prf:ref}: a word without a number, which is the name
            "docname": self.env.docname,
            "countertype": "theorem",
            "realtype": name,
            "ids": [label],
            "label": label,
            "prio": 0,
            "nonumber": True,
        }


class PaperRole(SphinxRole):
    """``{paper}`Theorem 4.1```: a link to the box."""

    def run(self):
        shown = nodes.inline("", self.text)
        target = {"refdomain": "paper", "reftype": "statement", "reftarget": self.text}
        return [addnodes.pending_xref("", shown, refdoc=self.env.docname, **target)], []


class Resolve(SphinxPostTransform):
    """Links to statements of the papers, by name or by label, before the domains see them."""

    default_priority = 5

    def run(self, **kwargs) -> None:
        known = statements(self.env)
        names = {label: name for name, (_, label) in known.items()}
        for link in list(self.document.findall(addnodes.pending_xref)):
            domain = link.get("refdomain")
            target = link.get("reftarget")
            if domain == "paper":
                name = target
            elif domain == "prf" and target in names:
                name = names[target]
            else:
                continue
            if name not in known:
                raise ValueError(f"{self.env.docname}: no box states {name!r}")
            page, label = known[name]
            words = link.astext() if link.get("refexplicit") else name
            link.replace_self(
                make_refnode(self.app.builder, self.env.docname, page, label, nodes.Text(words))
            )


def purge(app, env, docname: str) -> None:
    """Forget the statements of a page that is read again."""
    known = statements(env)
    for name in [name for name, (page, _) in known.items() if page == docname]:
        del known[name]


def merge(app, env, docnames, other) -> None:
    """Take the statements that another process has read."""
    statements(env).update(statements(other))


def setup(app) -> dict:
    """Register the box, the role, and what resolves them."""
    app.add_node(paper_node, html=(visit_paper, depart_paper), latex=(visit_paper, depart_paper))
    app.add_directive("paper", Paper)
    app.add_role("paper", PaperRole())
    app.add_post_transform(Resolve)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
