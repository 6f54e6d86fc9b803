"""``road``: the head of a side road, which says what it needs and who may skip it.

::

    :::{road} dynamics/idealized dynamics/realistic
    you want to know how long association lasts.
    :::
"""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective


class Road(SphinxDirective):
    """The head, below the title."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        skip = self.parse_content_to_nodes()
        if not skip or not isinstance(skip[0], nodes.paragraph):
            raise self.error("expected what follows on 'Skip this unless'")
        needs: list[nodes.Node] = []
        for name in self.arguments[0].split():
            if needs:
                needs.append(nodes.Text("; "))
            needs.append(self._link(name))
        first = nodes.paragraph(
            "", "", nodes.strong("", "You need"), nodes.Text(" "), *needs, nodes.Text(".")
        )
        second = nodes.paragraph(
            "", "", nodes.strong("", "Skip this unless"), nodes.Text(" "), *skip[0].children
        )
        label = nodes.paragraph("", "A side road, beyond the papers", classes=["pa-road-label"])
        return [nodes.container("", label, first, second, classes=["road", "pa-road"])]

    def _link(self, name: str) -> addnodes.pending_xref:
        target = {"refdomain": "std", "reftype": "doc", "reftarget": f"/book/{name}", "refexplicit": False}
        words = nodes.inline("", "")
        return addnodes.pending_xref("", words, refdoc=self.env.docname, refwarn=True, **target)


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("road", Road)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
