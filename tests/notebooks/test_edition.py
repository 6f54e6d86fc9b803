"""The edition of the chapters holds plain Markdown, and its prose moves with the numbers."""

from __future__ import annotations

import re
import shutil
import subprocess

import edition
import nbformat
import pytest
from book_labels import Book, Label, read_book
from edition import make
from notebooks import ROOT, notebook_from_text
from plain_markdown import Chapter

BOOK = read_book()
#: What no front end but the book's would render.
MYST = re.compile(
    r"\{(glue|prf|doc|eq|numref|ref|cite|code)(:[a-z]+)?\}`|^:::|^```\{|^\([\w-]+\)=$", re.MULTILINE
)


@pytest.fixture
def chapter(monkeypatch):
    """A chapter that needs no file: two labels, one glued number."""
    made = Chapter.__new__(Chapter)
    made.book = Book("https://example.org/", {"book/part/one": 3})
    made.book.labels = {
        "thm-a": Label("Theorem 3.1", "https://example.org/book/part/one.html#thm-a"),
        "eq-b": Label("(3.2)", "https://example.org/book/part/one.html#equation-eq-b"),
        "ex-c": Label("Exercise 3.1", "https://example.org/book/part/one.html#ex-c"),
    }
    made.book.titles = {"book/part/two": "The second", "book/why": "Why"}
    made.book.works = {"jelassi2022": "Jelassi et al. (2022)"}
    made.file, made.glued = "book/part/one", {"share": "12%"}
    return made


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


def test_the_install_cell_names_what_was_tested(tmp_path):
    """The library of the published commit, and python-flint as the constraints have it."""
    cell = notebook_from_text(ROOT / "book/setting/structure.md").cells
    source = next(each.source for each in cell if each.cell_type == "code")
    constraints = "numpy==2.4.6\npython-flint==0.9.0\nscipy==1.17.1\n"
    assert edition.pinned(source, "abc123", constraints) == source.replace(
        'patch-association" python-flint', 'patch-association@abc123" python-flint==0.9.0'
    )
    alone = edition.pinned(source, None, constraints)
    assert alone == source.replace('" python-flint', '" python-flint==0.9.0') != source


def test_only_a_commit_that_a_remote_has_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(edition, "ROOT", tmp_path)
    assert edition.published() is None  # no checkout
    if shutil.which("git") is None:
        pytest.skip("not compared: no git here")

    def git(*words, folder=tmp_path):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    assert edition.published() is None  # nowhere but here
    git("clone", "-q", ".", "there")
    there = tmp_path / "there"
    monkeypatch.setattr(edition, "ROOT", there)
    assert edition.published() == git("rev-parse", "HEAD")
    git("commit", "-q", "--allow-empty", "-m", "two", folder=there)
    assert edition.published() is None
