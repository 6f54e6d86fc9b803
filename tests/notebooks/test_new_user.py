"""A new user's way: download, make the notebooks, open five chapters, change every size and seed at once.

The notebooks run one by one in an empty folder, with the library as its wheel installs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import play
import pytest
from notebooks import ROOT

#: What is changed in each chapter, all of it together.
CHANGES = {
    "setting/spatial_data": {"sides": "(4, 6)", "block": "(2, 1)", "q": "0.3", "dim": "30", "seed": "1"},
    "setting/attention": {"sides": "(4, 6)", "block": "(2, 3)", "q": "0.4", "degree": "5", "seed": "1"},
    "dynamics/three_scalars": {"small": "(8, 2)", "large": "(12, 3)", "q": "0.2", "degree": "5", "seed": "1"},
    "dynamics/idealized": {"size": "(12, 3)", "q": "0.2", "degree": "5"},
    "dynamics/companions": {"size": "(12, 4)", "q": "0.2", "degree": "5"},
}


#: What does not belong to the tree.
MADE = {".git", ".venv", "_build", "runs", "data"}


def git(*words, cwd=None) -> str:
    return subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A copy of this tree as a repository of one commit, with its notebooks made."""
    place = tmp_path_factory.mktemp("new") / "book"
    shutil.copytree(
        ROOT, place, ignore=lambda folder, names: MADE if Path(folder) == ROOT else {"__pycache__"}
    )
    if shutil.which("git"):
        git("init", "-q", cwd=place)
        git("add", "-A", cwd=place)
        git("-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-q", "-m", "all", cwd=place)
        git("update-ref", "refs/remotes/origin/main", "HEAD", cwd=place)  # as if it were published
    environment = os.environ | {"PYTHONPATH": str(place / "src")}
    subprocess.run([sys.executable, place / "tools" / "edition.py"], env=environment, check=True)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_five_chapters_changed_in_every_size_show_no_red_cell(name, clone, wheel, monkeypatch):
    notebook = nbformat.read(clone / "_build" / "notebooks" / "book" / f"{name}.ipynb", as_version=4)
    found = {p.name: p for p in play.read_parameters(play.parameters_cell(notebook).source)}
    for parameter, value in CHANGES[name].items():
        assert value != found[parameter].value
        notebook = play.changed(notebook, found[parameter], value)
    monkeypatch.setenv("PYTHONPATH", str(wheel))
    assert play.run(notebook) is None
