"""``predict``: a question that the reader answers before the figure that it is about appears.

::

    :::{predict} What happens to the margin?
    :right: 2
    :figure: fig-part-name

    - It grows.
    - It falls.

    What one sees, in a sentence or two.
    :::

Without script it is a question, its choices and a folded answer, and the figure stands where it stands. With
it (``figures.js``) the figure is veiled until the reader has chosen or asks to see it.
"""

from __future__ import annotations

import html
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from findings import raw
from sphinx.util.docutils import SphinxDirective


class Predict(SphinxDirective):
    """One question."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"right": directives.positive_int, "figure": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        choices, *answer = self.parse_content_to_nodes()
        if not isinstance(choices, nodes.bullet_list) or not answer:
            raise self.error("expected a list of choices, then the answer")
        right = self.options.get("right", 0)
        if not 1 <= right <= len(choices):
            raise self.error(f"right must name one of {len(choices)} choices, got {right}")
        name = f"predict-{self.env.new_serialno('predict')}"
        figure = html.escape(self.options.get("figure", ""), quote=True)
        question, messages = self.state.inline_text(self.arguments[0], self.lineno)
        found = [
            raw(f'<div class="pa-predict" data-right="{right}" data-figure="{figure}"><fieldset><legend>'),
            nodes.inline("", "", nodes.strong("", "Predict. "), *question),
            raw("</legend>"),
        ]
        for choice in choices:
            words = choice.children[0].children
            found += [
                raw(f'<label><input type="radio" name="{name}"> '),
                nodes.inline("", "", *words),
                raw("</label>"),
            ]
        opened = '</fieldset><p role="status"></p><details><summary>Answer</summary>'
        return [*found, raw(opened), *answer, raw("</details></div>"), *messages]


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("predict", Predict)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
