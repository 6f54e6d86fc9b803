"""Code cells as a page wants them: a result first, and below it, folded to one quiet line, how it was made.

A cell tagged ``hide-input`` comes out of MyST-NB with a bar above its output that says "Show code cell
source". Here its code stands below its output, in a fold that says what it holds. So does the cell tagged
``parameters``: it is for those who run the notebook.
"""

from __future__ import annotations

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.transforms.post_transforms import SphinxPostTransform


class Fold(nodes.General, nodes.Element):
    """What is shown on demand; ``label`` is its line."""


def visit_fold(translator, node: Fold) -> None:
    """Open the fold."""
    translator.body.append(
        f'<details class="pa-fold"><summary>{translator.encode(node["label"])}</summary>\n'
    )


def depart_fold(translator, node: Fold) -> None:
    """Close the fold."""
    translator.body.append("</details>\n")


def label_of(source: str, output: nodes.Node | None) -> str:
    """What a folded piece of code is."""
    if source.lstrip().startswith(("import ", "from ")):
        return "Imports"
    if output is not None and next(output.findall(nodes.image), None):
        return "Code of the figure"
    return "Code"


def fold(app, doctree: nodes.document, docname: str) -> None:
    """Fold every hidden input, below its output."""
    for hidden in list(doctree.findall(HideCodeCellNode)):
        cell = hidden.parent
        code = next(hidden.findall(nodes.literal_block), None)
        if code is None or "above-input" not in hidden["classes"]:
            continue
        output = next((child for child in cell.children if child is not hidden), None)
        folded = Fold("", *hidden.children, label=label_of(code.astext(), output))
        cell.remove(hidden)
        cell.append(folded)
    fold_parameters(doctree)


def fold_parameters(document: nodes.document) -> None:
    """What a reader may change waits behind one line."""
    for cell in list(document.findall(nodes.container)):
        if "tag_parameters" in cell["classes"]:
            folded = Fold("", *cell.children, label="What you can change in the notebook")
            cell.clear()
            cell.append(folded)


def show_first_figure(document: nodes.document) -> None:
    """The cells above a chapter's first figure go below what it finds."""
    finds = next((box for box in document.findall(nodes.admonition) if "find" in box["classes"]), None)
    if finds is None:
        return
    siblings = finds.parent.children
    early = []
    for node in siblings[: siblings.index(finds)]:
        if not isinstance(node, nodes.container) or "cell" not in node["classes"]:
            continue
        if not any(isinstance(figure, nodes.figure) for figure in node.findall(nodes.figure)):
            early.append(node)
    for node in early:
        finds.parent.remove(node)
    at = finds.parent.index(finds) + 1
    for node in reversed(early):
        finds.parent.insert(at, node)


class FirstFigure(SphinxPostTransform):
    """On every page that says what it finds."""

    default_priority = 3

    def run(self, **kwargs) -> None:
        show_first_figure(self.document)


def setup(app) -> dict:
    """Before the drawings are put in, which ends what can be told from the nodes."""
    app.add_node(Fold, html=(visit_fold, depart_fold))
    app.add_post_transform(FirstFigure)
    app.connect("doctree-resolved", fold, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
