"""The edition of the chapters for Colab, JupyterLab and download: ``tools/edition.py [--out FOLDER]``.

The book's notebooks hold MyST, which only the book renders. Here every chapter becomes a notebook whose
theorems, proofs, exercises, captions and references are plain Markdown. A paragraph that shows computed
numbers becomes a cell that displays it, so that its numbers are those of the last run. Code cells keep
their source and outputs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parent))

from book_labels import Book, read_book
from notebooks import ROOT, name_of, write_notebook
from plain_markdown import Chapter

DEFAULT_OUT = ROOT / "_build" / "notebooks"


def make(file: str, book: Book, images: bool = True):
    """The edition's notebook of ``book/part/chapter``.

    Its drawings are stored as ``images``, or else as a run gives them, to compare with one.
    """
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    notebook.cells = Chapter(book, file).cells(images)
    code = (cell for cell in notebook.cells if cell.cell_type == "code")
    for number, cell in enumerate(code, start=1):
        cell.execution_count = number
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = number
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{Path(file).stem}-{number}"[-64:]
    return notebook


def published() -> str | None:
    """The commit of this checkout if a remote branch has it, else None: nobody could install it."""
    commands = (["git", "rev-parse", "HEAD"], ["git", "for-each-ref", "--contains", "HEAD", "refs/remotes"])
    try:
        commit, branches = (
            subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
            for command in commands
        )
    except (OSError, subprocess.CalledProcessError):  # no git, or no checkout: an archive of the sources
        return None
    return commit if branches else None


def pinned(source: str, commit: str | None, constraints: str) -> str:
    """The install cell with the library of this commit and the tested python-flint."""
    (flint,) = re.findall(r"^python-flint==\S+$", constraints, re.MULTILINE)
    source = re.sub(r'("git\+[^"@]+)(" )python-flint$', rf"\1\2{flint}", source, flags=re.MULTILINE)
    return re.sub(r'("git\+[^"@]+)" ', rf'\1@{commit}" ', source) if commit else source


def for_readers(file: str, book: Book):
    """The edition's notebook of a chapter, whose first cell installs what it was tested with."""
    notebook = make(file, book)
    install = next(cell for cell in notebook.cells if cell.cell_type == "code")
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    install.source = pinned(install.source, published(), constraints)
    return notebook


def write_edition(out: Path = DEFAULT_OUT) -> list[Path]:
    """Write the notebook of every chapter below ``out``, as ``book/part/chapter.ipynb``; their paths."""
    book = read_book()
    written = []
    for file in book.numbers:
        path = out / f"{file}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_notebook(for_readers(file, book), path)
        written.append(path)
    return written


def main() -> int:
    """Write the edition; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, metavar="FOLDER")
    out = parser.parse_args().out
    written = write_edition(out)
    print(f"{len(written)} notebooks in {out}: {', '.join(name_of(path) for path in written)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
