"""A chapter's notebook is its text plus outputs, and nothing that is stored depends on the machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml
from notebooks import ROOT, cards_in, chapters, differences, name_of

TEXTS = chapters()
NOTEBOOKS = sorted(
    path for path in ROOT.glob("book/*/*.ipynb") if not path.parent.name.startswith(("_", "."))
)

#: What another machine or another run would print differently.
UNSTABLE = {
    "a path of one machine": re.compile(r"(?:/home/|/root/|/Users/|/tmp/|/work/|[A-Z]:\\\\)[\w.]"),
    "an address in memory": re.compile(r"\b0x[0-9a-f]{6,}"),
    "a progress bar": re.compile(r"\d+%\|"),
    "a warning": re.compile(r"\w*Warning:"),
}

#: Tags of cells whose code a reader does not see unasked.
HIDDEN = {"hide-input", "remove-cell", "remove-input"}

#: Rounding in double precision, which every processor does in its own way. A true probability may be smaller.
NOISE = re.compile(
    r"(?<!\+/- )(?<![\d.])\d[\d.]*(?:e-1[4-9]\b|\s?(?:×|\\cdot|\\times)\s?10(?:⁻¹[⁴-⁹]|\^\{-1[4-9]\}))"
)

#: What a format leaves behind when an argument lands in the wrong place.
BROKEN = {
    "a number that runs into a truth value": re.compile(r"\d(?:True|False)\b"),
    "a number that is none": re.compile(r"\bnan\b|\binf \["),
}


def test_every_notebook_has_its_text():
    """A notebook without a .md cannot be reviewed, and `make execute` does not know it."""
    assert NOTEBOOKS == [text.with_suffix(".ipynb") for text in TEXTS]


@pytest.mark.parametrize("text", TEXTS, ids=name_of)
def test_code_that_stays_open_fits_the_column(text):
    """A line of more than 88 characters has to be scrolled at 1440 pixels."""
    cells = nbformat.read(text.with_suffix(".ipynb"), as_version=4).cells
    shown = [c for c in cells if c.cell_type == "code" and not HIDDEN & set(c.metadata.get("tags", []))]
    wide = [line for cell in shown for line in cell.source.splitlines() if len(line) > 88]
    assert shown and not wide, wide


@pytest.mark.parametrize("text", TEXTS, ids=name_of)
def test_pair_agrees(text):
    """Cells, their metadata and their ids follow from the .md."""
    assert differences(text) == []


@pytest.mark.parametrize("newer", [".md", ".ipynb"])
def test_jupytext_changes_no_untouched_pair(newer, tmp_path):
    """`jupytext --sync`, as JupyterLab when it saves, writes every file as it is, in either direction."""
    shutil.copy(ROOT / "jupytext.toml", tmp_path)
    files = [*TEXTS, *NOTEBOOKS]
    before = {tmp_path / path.relative_to(ROOT): path.read_bytes() for path in files}
    for path, content in before.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (1e9, 1e9 + 60 * (path.suffix == newer)))
    notebooks = [str(path) for path in before if path.suffix == ".ipynb"]
    subprocess.run(
        [sys.executable, "-m", "jupytext", "--quiet", "--sync", *notebooks], cwd=tmp_path, check=True
    )
    assert [path.name for path, content in before.items() if path.read_bytes() != content] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_outputs_are_complete_and_stable(path):
    """Every code cell ran, in order, without an error, and stored nothing that belongs to one machine."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run `make execute`"
    for cell in code:
        assert "execution" not in cell.metadata, "timestamps are stored: run `make execute`"
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr"
            for text in _texts(output):
                for what, pattern in (UNSTABLE | BROKEN | {"the noise of a zero": NOISE}).items():
                    assert not pattern.search(text), f"{what} in an output: {pattern.search(text).group()!r}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_stored_cards_say_what_the_ledger_says(path):
    """Else a replay differs, though nothing that was measured does."""
    for cell in nbformat.read(path, as_version=4).cells:
        for output, card in cards_in(cell):
            assert output.data["text/markdown"] == card._repr_markdown_(), "run `make words`"
            assert output.data["text/plain"] == repr(card), "run `make words`"


def _texts(output) -> list[str]:
    """What an output says, pictures left out."""
    data = output.get("data", {})
    return [output.get("text", "")] + [str(value) for kind, value in data.items() if "image/" not in kind]


def test_install_cells_use_the_repository_of_the_configuration():
    """The first code cell of every chapter installs what is missing or older, from one address."""
    address = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    notebooks = [nbformat.read(path, as_version=4) for path in NOTEBOOKS]
    first = [next(cell for cell in one.cells if cell.cell_type == "code") for one in notebooks]
    (install,) = {cell.source for cell in first}
    assert f'%pip install -qqq --no-deps "git+{address}"' in install
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    assert f"missing(needed=({', '.join(version.split('.'))}))" in install
    assert all("remove-cell" in cell.metadata.get("tags", []) for cell in first)


#: A row behind an empty line that a table's row comes before: it would be printed as it is typed.
TORN_TABLE = re.compile(r"^\|.*\|\n\n\|(?!.*\n\|[ :|-]+\|$).*$", re.MULTILINE)


@pytest.mark.parametrize("path", sorted((ROOT / "book").rglob("*.md")), ids=lambda path: path.stem)
def test_no_table_is_torn(path):
    assert not (torn := TORN_TABLE.search(path.read_text(encoding="utf-8"))), torn
