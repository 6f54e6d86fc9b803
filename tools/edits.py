"""Edits in a notebook: found before its ``.md`` is written over it, and taken over into the ``.md``.

A cell that the tools wrote has an id that follows from its content. One that was edited or added in
JupyterLab, VS Code or Colab has not; what was deleted or moved is told by the notebook of the last commit,
where git has one.
"""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import nbformat
from notebooks import notebook_from_text, own_ids, text_from_notebook

from patch_lab.kit.files import write_atomically

#: What git calls the other side of a merge that goes on: then the last commit is not what was edited.
_MERGING = ("MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD")
#: What chapters say of a cell; all else is an editor's.
_KEPT = ("tags", "mystnb")


class BothEdited(Exception):
    """The notebook was edited, and so was its ``.md``, each where the other was not."""


class PastedPicture(Exception):
    """A picture was pasted into the notebook; a ``.md`` cannot hold it."""


def edits(path: Path) -> list[str]:
    """What was edited in a chapter's notebook and is not in its ``.md``, a line for each cell."""
    file = path.with_suffix(".ipynb")
    notebook = read_notebook(file)
    text = notebook_from_text(path).cells
    if notebook is None:
        return []
    cells_of_text = {_key(cell) for cell in text}
    committed = _committed(file)
    before = [_key(cell) for cell in committed]
    made = {_key(cell) for cell in _made(committed)}
    lost = [
        f"cell {number}: {_brief(cell)}"
        for number, cell in _foreign(notebook.cells)
        if _key(cell) not in cells_of_text | made
    ]
    kept = [key for key in before if key in cells_of_text]  # by the .md
    left = [key for key in map(_key, notebook.cells) if key in set(kept)]
    held = {cell.get("id") for cell in notebook.cells}
    missing = set(kept) - set(left)
    lost += [f"deleted: {_brief(cell)}" for cell in text if _key(cell) in missing and cell.id not in held]
    if not lost and left != kept and kept == [key for key in map(_key, text) if key in set(kept)]:
        lost.append("cells are in another order")
    return lost


def take(path: Path) -> bool:
    """Write what was edited in the notebook into the ``.md``; whether there was anything.

    Raises
    ------
    BothEdited
        If the ``.md`` has cells that neither the notebook has nor what it was made from, or has deleted or
        moved some that the notebook has as they were.
    PastedPicture
        If a cell holds a picture.
    """
    if not edits(path):
        return False
    file = path.with_suffix(".ipynb")
    notebook = nbformat.read(file, as_version=4)
    text = notebook_from_text(path).cells
    old = {cell.get("id") for cell in notebook.cells} | set(own_ids(_committed(file)))
    here = {_key(cell) for cell in notebook.cells}
    newer = [cell for cell in text if cell.id not in old and _key(cell) not in here]
    newer += _undone(text, notebook.cells, _committed(file))
    if newer and path.read_text(encoding="utf-8") != _head(path):
        raise BothEdited("\n".join(f"  in {path.name}: {_brief(cell)}" for cell in newer))
    if pasted := [cell for cell in notebook.cells if cell.get("attachments")]:
        raise PastedPicture("\n".join(f"  in {file.name}: {_brief(cell)}" for cell in pasted))
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in _KEPT if key in cell.metadata})
    notebook.metadata = notebook_from_text(path).metadata
    write_atomically(path, text_from_notebook(notebook))
    return True


def _undone(text: list, notebook: list, before: list) -> list:
    """The cells that the ``.md`` deleted, changed or moved and that the notebook has as they were before."""
    of_text = [_key(cell) for cell in text]
    of_notebook = [_key(cell) for cell in notebook]
    of_before = [_key(cell) for cell in before]
    gone = [cell for cell in before if _key(cell) in set(of_notebook) - set(of_text)]
    common = set(of_text) & set(of_notebook) & set(of_before)
    order = [key for key in of_before if key in common]
    moved_in_text = [key for key in of_text if key in common] != order
    moved_in_notebook = [key for key in of_notebook if key in common] != order
    if moved_in_text and not moved_in_notebook:
        gone += [cell for cell in text if _key(cell) in common][:1]
    return gone


def read_notebook(file: Path):
    """A notebook; None where there is none, or no whole one, as between the two sides of a merge."""
    try:
        return nbformat.read(file, as_version=4)
    except (FileNotFoundError, nbformat.reader.NotJSONError):
        return None


def as_run(notebook, path: Path) -> bool:
    """Whether all code of a notebook is what the tools ran, so that its outputs are those of its code."""
    made = {cell.source.strip() for cell in _made(_committed(path.with_suffix(".ipynb")))}
    new = [cell for _, cell in _foreign(notebook.cells) if cell.cell_type == "code"]
    return all(cell.source.strip() in made for cell in new)


def _foreign(cells: list) -> list[tuple]:
    """The cells, empty ones left out, that the tools did not write as they are, with their numbers from 1."""
    rows = enumerate(zip(cells, own_ids(cells)), start=1)
    return [
        (number, cell)
        for number, (cell, fixed_id) in rows
        if cell.get("id") != fixed_id and cell.source.strip()
    ]


def _made(cells: list) -> list:
    foreign = {number for number, _ in _foreign(cells)}
    return [cell for number, cell in enumerate(cells, start=1) if number not in foreign]


def _committed(file: Path) -> list:
    """The cells of the last commit's notebook; none without git, or while two sides are merged."""
    held = (
        None
        if any(_git(file, "rev-parse", "--verify", "--quiet", head) for head in _MERGING)
        else _head(file)
    )
    return nbformat.reads(held, as_version=4).cells if held else []


def _head(file: Path) -> str | None:
    """A file as the last commit has it."""
    return _git(file, "show", f"HEAD:./{file.name}")


def _git(file: Path, *words: str) -> str | None:
    """What git says; None where it fails, or is not there."""
    with suppress(OSError):
        said = subprocess.run(
            ["git", *words], cwd=file.parent, capture_output=True, text=True, encoding="utf-8"
        )
        return said.stdout if said.returncode == 0 else None


def _key(cell) -> tuple[str, str, str]:
    """What a cell says."""
    about = {key: cell.metadata[key] for key in _KEPT if cell.metadata.get(key)}
    lines = cell.source.strip().splitlines()
    if cell.cell_type == "markdown":  # two spaces at its end break a line
        lines = [re.sub(r"(?<=\S) {2,}$", "\\\\", line) for line in lines]
    source = "\n".join(line.rstrip() for line in lines)
    return cell.cell_type, source, json.dumps(about, sort_keys=True)


def _brief(cell) -> str:
    line = " ".join(cell.source.split())
    return f"{cell.cell_type}, {line[:70]!r}"
