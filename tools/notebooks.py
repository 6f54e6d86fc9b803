"""The pair that makes a chapter: ``book/<part>/<chapter>.md`` and its ``.ipynb``.

The ``.md`` decides what the notebook says; the ``.ipynb`` adds outputs and nothing else. This module
knows how to go from one to the other and how to tell whether they agree.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from pathlib import Path

import jupytext
import nbformat

from patch_lab._files import write_atomically

ROOT = Path(__file__).resolve().parent.parent

# What a notebook says about itself. The interpreter's version is left out: it would change with
# every machine that executes the chapter. The lexer colors the code on the page.
NOTEBOOK_METADATA = {
    "jupytext": {"formats": "ipynb,md:myst"},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


def chapters(root: Path = ROOT) -> list[Path]:
    """Every chapter's ``.md``, sorted; a page without code has no header that names a kernel."""
    pages = sorted(path for path in root.glob("book/[!_.]*/*.md"))
    return [path for path in pages if path.read_text(encoding="utf-8").startswith("---\n")]


def name_of(path: Path) -> str:
    """``part/chapter``."""
    return f"{path.parent.name}/{path.stem}"


def notebook_from_text(path: Path) -> nbformat.NotebookNode:
    """The notebook that a chapter's ``.md`` describes, without outputs.

    Cell ids follow from the cells' own content, so that executing again changes no line of the file.
    """
    notebook = jupytext.read(path, fmt="md:myst")
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        content = f"{cell.cell_type}\n{cell.source}"
        digest = hashlib.sha1(f"{content}\n{seen[content]}".encode(), usedforsecurity=False)
        cell.id = digest.hexdigest()[:12]
        seen[content] += 1
    return notebook


def differences(text: Path) -> list[str]:
    """A diff of a chapter's notebook and its ``.md`` in all but outputs; empty when in sync."""
    file = text.with_suffix(".ipynb")
    if not file.exists():
        return [f"{name_of(text)}: the notebook {file.name} is missing"]
    found = nbformat.read(file, as_version=4)
    for cell in found.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    old, new = (nbformat.writes(notebook).splitlines() for notebook in (found, notebook_from_text(text)))
    names = str(file.relative_to(file.parents[2])), name_of(text)
    return list(difflib.unified_diff(old, new, *names, n=0, lineterm=""))


def write_notebook(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a valid notebook in one step: an interrupt leaves the old file whole."""
    nbformat.validate(notebook)
    write_atomically(path, nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n")
