"""A notebook where PyTorch and NumPy are and the library is not, as on Colab: its first cell brings it."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest
import yaml
from book_labels import read_book
from edition import make
from notebooks import ROOT, write_notebook

pytestmark = pytest.mark.slow

ADDRESS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
CHAPTER = make("book/setting/structure", read_book())
WHERE = "import patch_association as pa; print(pa.__file__)"


def site_of(place: Path) -> Path:
    """Where an environment in ``place`` keeps its packages."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(place / "venv")}))


@pytest.fixture
def machine(tmp_path):
    """A new environment that has the packages of this one, without what lies there as a mere path: ours."""
    venv.create(tmp_path / "venv", with_pip=False)
    (site_of(tmp_path) / "packages.pth").write_text(sysconfig.get_path("purelib"))
    return tmp_path


def run(machine, cells, repository) -> nbformat.NotebookNode:
    """Run cells in a kernel of that environment, GitHub being ``repository``; what came of them."""
    file = machine / "alone" / "chapter.ipynb"
    file.parent.mkdir(exist_ok=True)
    write_notebook(nbformat.v4.new_notebook(cells=cells), file)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1", "GIT_CONFIG_COUNT": "1"}
    environment |= {"GIT_CONFIG_KEY_0": f"url.{repository}.insteadOf", "GIT_CONFIG_VALUE_0": ADDRESS}
    execute = "from nbclient.cli import main; main()"
    done = subprocess.run(
        [machine / "venv" / "bin" / "python", "-c", execute, "--inplace", "--allow-errors", file],
        env=environment,
        cwd=file.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return nbformat.read(file, as_version=4)


def texts(cell) -> str:
    """What a cell printed, without colors."""
    said = "".join(o.get("text", "") + "".join(o.get("traceback", ())) for o in cell.outputs)
    return re.sub(r"\x1b\[[\d;]*m", "", said)


def test_without_a_published_repository_it_says_so_in_a_sentence(machine):
    (install,) = run(machine, CHAPTER.cells[:1], machine / "nowhere").cells
    assert "The library was not installed: no network, or its repository is not published." in texts(install)
    assert not re.search(r"ERROR|fatal|Traceback", texts(install))


@pytest.mark.parametrize("older", [False, True])
def test_it_brings_the_library_and_changes_nothing_else(older, machine):
    """Also in the place of an older one."""
    if older:
        info = site_of(machine) / "patch_association-0.0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: patch-association\nVersion: 0.0.1\n")
        (info / "RECORD").write_text("patch_association/__init__.py,,\n")
        (site_of(machine) / "patch_association").mkdir()
        (site_of(machine) / "patch_association" / "__init__.py").write_text("")
    notebook = run(machine, [*CHAPTER.cells, nbformat.v4.new_code_cell(WHERE)], ROOT)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [output for cell in code for output in cell.outputs if output.output_type == "error"] == []
    brought = Path(texts(code[-1]).strip()).parents[1]
    assert brought == site_of(machine)
    assert {path.name.partition("-")[0] for path in brought.iterdir()} == {
        "patch_association",
        "patch_lab",
        "packages.pth",
    }
