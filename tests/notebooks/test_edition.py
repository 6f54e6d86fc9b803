"""The edition of the chapters holds plain Markdown, and its prose moves with the numbers."""

from __future__ import annotations

import re

import nbformat
import pytest
from book_labels import read_book
from edition import make
from notebooks import followed
from plain_markdown import Chapter

BOOK = read_book()
#: What no front end but the book's would render.
MYST = re.compile(
    r"\{(glue|prf|doc|eq|numref|ref|cite|code)(:[a-z]+)?\}`|^:::|^```\{|^\([\w-]+\)=$", re.MULTILINE
)


@pytest.mark.parametrize(
    ("code", "follows"),
    [
        ("draw([q for q in (1, 2)], lambda q: q)", ""),
        ("draw([q for q in (1, 2, q)])", "q"),
        ("def late():\n    return own\n#---\nown = q\n#---\ndraw(late())", "q"),
        ("for x in range(N):\n    y = 1\ndraw(y)", "N"),
        ("x = q\nx = 2\ndraw(x)", "q"),  # a cell is taken whole
        ("rng = default_rng(seed)\nx = rng.random(N)\n#---\ndraw(rng.random())", "N seed"),
        ("rows = []\nrows.append(q)\n#---\ndraw(rows)", "q"),
        ("x = q\n#---\nx = 2\n#---\ndraw(x)", ""),
        ("import numpy as np\nnp.array(q).sum()\n#---\nwith one(N) as f:\n    draw(f, np.pi)", "N"),
    ],
)
def test_a_figure_follows_the_parameters_behind_its_names(code, follows):
    cells = [nbformat.v4.new_code_cell(text) for text in ("q, N, seed = 1, 2, 3", *code.split("#---\n"))]
    cells[0].metadata = {"tags": ["parameters"]}
    cells[-1].metadata = {"mystnb": {"figure": {"name": "fig"}}}
    assert followed(nbformat.v4.new_notebook(cells=cells)) == {"fig": set(follows.split())}


@pytest.mark.parametrize("file", list(BOOK.numbers))
def test_every_chapter_is_plain_and_keeps_its_code(file):
    edition = make(file, BOOK)
    nbformat.validate(edition)
    for cell in edition.cells:
        if cell.cell_type == "markdown" or "show(r" in cell.source:
            assert not MYST.search(cell.source), MYST.search(cell.source)
            assert cell.source.count("$$") % 2 == 0 and cell.source.count("<details>") == cell.source.count(
                "</details>"
            )
    chapter = Chapter(BOOK, file).notebook
    code = [cell.source for cell in chapter.cells if cell.cell_type == "code"]
    assert [cell.source for cell in edition.cells if cell.cell_type == "code" and cell.source in code] == code
    assert "find_spec" in edition.cells[0].source
