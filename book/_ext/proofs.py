"""Small repairs to how sphinx-proof and sphinx-exercise write their boxes.

Both give every box's body the same id, and a proof's word "Proof." is plain text that a style sheet
cannot reach. The label that a box is referred to by is left alone.
"""

from __future__ import annotations

from docutils import nodes
from sphinx_proof.nodes import proof_node

REPEATED_IDS = {"proof", "proof-content", "exercise-content", "solution-content"}
OPENING = "Proof."


def repair(app, doctree: nodes.document, docname: str) -> None:
    """Drop the repeated ids and set the opening word of every proof apart."""
    for box in doctree.findall(nodes.Element):
        if REPEATED_IDS & set(box.get("ids", ())):
            box["ids"] = [name for name in box["ids"] if name not in REPEATED_IDS]
    for proof in doctree.findall(proof_node):
        first = next(proof.findall(nodes.Text), None)
        if first is not None and first.startswith(OPENING):
            opening = nodes.inline("", OPENING, classes=["pa-proof-opening"])
            first.parent.replace(first, [opening, nodes.Text(first.astext()[len(OPENING) :])])


def setup(app) -> dict:
    """Repair each page just before it is written."""
    app.connect("doctree-resolved", repair)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
