"""The edition of the chapters for Colab, JupyterLab and download: ``tools/edition.py [--out FOLDER]``.

The book's notebooks hold MyST, which only the book renders. Here every chapter becomes a notebook whose
theorems, proofs, exercises, captions and references are plain Markdown. A paragraph that shows computed
numbers becomes a cell that displays it, so that its numbers are those of the last run. Code cells keep
their source and outputs.
"""

from __future__ import annotations

import argparse
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


def write_edition(out: Path = DEFAULT_OUT) -> list[Path]:
    """Write the notebook of every chapter below ``out``, as ``book/part/chapter.ipynb``; their paths."""
    book, written = read_book(), []
    for file in book.numbers:
        path = out / f"{file}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_notebook(make(file, book), path)
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
