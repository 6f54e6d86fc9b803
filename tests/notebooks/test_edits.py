"""What is edited in a notebook is found, kept and taken over; an edit in its text is written into it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import edits
import execute
import nbformat
import pytest
from notebooks import ROOT, differences, notebook_from_text

NAME = "setting/structure"
SENTENCE = "A sentence that was written in the notebook."


@pytest.fixture
def chapter(tmp_path):
    """A chapter in a repository of its own."""
    (tmp_path / NAME).parent.mkdir()
    for kind in (".md", ".ipynb"):
        shutil.copy(ROOT / "book" / f"{NAME}{kind}", tmp_path / f"{NAME}{kind}")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path)
    return tmp_path / f"{NAME}.md"


def commit(folder):
    for words in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def prose(notebook):
    notebook.cells[0].source += f"\n\n{SENTENCE}"


def code(notebook):
    next(cell for cell in notebook.cells if "hide-input" in cell.metadata.get("tags", [])).source += "\nx = 1"


def caption(notebook):
    next(
        cell for cell in notebook.cells if "mystnb" in cell.metadata
    ).metadata.mystnb.figure.caption += " More."


def added(notebook):
    notebook.cells.insert(3, nbformat.v4.new_markdown_cell(SENTENCE))
    notebook.cells.append(nbformat.v4.new_code_cell(""))


def deleted(notebook):
    del notebook.cells[6]


def moved(notebook):
    notebook.cells.append(notebook.cells.pop(6))


def colab(notebook):
    """Another format, no ids, an editor's own metadata, and committed: Colab saves to GitHub."""
    prose(notebook)
    notebook.nbformat_minor = 0
    notebook.metadata["colab"] = {"provenance": []}
    for cell in notebook.cells:
        cell.metadata["id"] = cell.pop("id")


def vscode(notebook):
    prose(notebook)
    for cell in notebook.cells:
        cell.metadata["vscode"] = {"languageId": "python"}


EDITS = {"prose": prose, "code": code, "caption": caption, "added": added, "deleted": deleted, "moved": moved}
EDITS |= {"colab": colab, "vscode": vscode}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_in_a_notebook_is_found_and_taken_over(edit, chapter, capsys):
    file = chapter.with_suffix(".ipynb")
    notebook, text = nbformat.read(file, as_version=4), chapter.read_bytes()
    edit(notebook)
    nbformat.write(notebook, file)
    if edit is colab:
        commit(chapter.parent)
    held = file.read_bytes()
    for command in (execute.write_prose, execute.execute):
        with pytest.raises(
            execute.ChapterFailed, match="edited in its notebook.*\n(.*\n)+Take it over with `make text"
        ):
            command(chapter)
        assert (file.read_bytes(), chapter.read_bytes()) == (held, text)
    changed_code = edit in (code, colab)  # outputs may be those of Colab
    assert execute._take_over([chapter]) == changed_code  # the text has it, the outputs want a run
    said = [(cell.cell_type, cell.source) for cell in notebook.cells if cell.source]
    assert [(cell.cell_type, cell.source) for cell in notebook_from_text(chapter).cells] == said
    if changed_code:
        with pytest.raises(execute.ChapterFailed, match="has changed in its code"):
            execute.write_prose(chapter)
    assert edits.edits(chapter) == [] and chapter.read_bytes() != text
    assert ("make execute" in capsys.readouterr().out) == changed_code
    if not changed_code:
        assert differences(chapter) == []


def test_an_edit_in_the_text_is_no_edit_in_the_notebook(chapter):
    """Nor is a second one before a commit; where both sides were edited, neither is taken."""
    file = chapter.with_suffix(".ipynb")
    for old, new in (("A l", "One. A l"), ("One. A l", "Two. A l")):  # the first paragraph, and a caption
        source = chapter.read_text(encoding="utf-8")
        assert source.count(f"\n{old}abel") == source.count(f"caption: '{old}earner") == 1
        chapter.write_text(source.replace(old, new), encoding="utf-8")
        assert execute.write_prose(chapter) and differences(chapter) == []
        assert not execute.write_prose(chapter)
    notebook = nbformat.read(file, as_version=4)
    prose(notebook)
    nbformat.write(notebook, file)
    chapter.write_text(
        chapter.read_text(encoding="utf-8").replace("caption: 'Two", "caption: 'Four"), encoding="utf-8"
    )
    with pytest.raises(edits.BothEdited, match="in structure.md: code"):
        edits.take(chapter)
    file.write_text("<<<<<<< ours\n", encoding="utf-8")
    with pytest.raises(execute.ChapterFailed, match="has no whole notebook: make execute"):
        execute.write_prose(chapter)


def dropped(source):
    """The text without its first paragraph that stands alone."""
    lone = "Call the other patches of a set *companions* and all patches outside it *strangers*.\n"
    assert source.count(lone) == 1
    return source.replace(lone, "")


def tagged(source):
    return source.replace("tags: [hide-input]", "tags: [hide-input, more]", 1)


@pytest.mark.parametrize("change", [dropped, tagged])
def test_what_the_text_took_away_does_not_come_back(change, chapter):
    notebook = nbformat.read(chapter.with_suffix(".ipynb"), as_version=4)
    prose(notebook)
    nbformat.write(notebook, chapter.with_suffix(".ipynb"))
    chapter.write_text(change(chapter.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(edits.BothEdited):
        edits.take(chapter)


def test_a_pasted_picture_is_kept_where_it_is(chapter, capsys):
    notebook, text = nbformat.read(chapter.with_suffix(".ipynb"), as_version=4), chapter.read_bytes()
    prose(notebook)
    notebook.cells[0].attachments = {"a.png": {"image/png": "aGVsbG8="}}
    nbformat.write(notebook, chapter.with_suffix(".ipynb"))
    assert execute._take_over([chapter]) == 1 and "Save it as a file" in capsys.readouterr().out
    assert chapter.read_bytes() == text


def test_a_line_break_of_two_spaces_is_an_edit(chapter):
    notebook = nbformat.read(chapter.with_suffix(".ipynb"), as_version=4)
    cell = next(c for c in notebook.cells if c.cell_type == "markdown" and "\n" in c.source.strip())
    cell.source = (
        cell.source.replace("\n", "  \n", 1)
        if not cell.source.startswith("#")
        else cell.source.replace(". ", ".  \n", 1)
    )
    nbformat.write(notebook, chapter.with_suffix(".ipynb"))
    assert len(edits.edits(chapter)) >= 1


@pytest.mark.parametrize("allow_slow", [False, True])
def test_a_chapter_that_takes_too_long_is_named_unless_that_is_allowed(allow_slow, monkeypatch, capsys):
    clock = iter([0.0, 10.0, 10.0, 10.0 + execute.LIMIT_S + 1])
    monkeypatch.setattr(execute, "_processor_seconds", lambda: next(clock))
    monkeypatch.setattr(execute, "execute", lambda path: None)
    paths = [Path("book/setting/quick.md"), Path("book/setting/slow.md")]
    assert execute._execute_all(paths, allow_slow) == (not allow_slow)
    said = capsys.readouterr().out
    assert ("setting/slow takes over" in said) == (not allow_slow) and "quick takes over" not in said
