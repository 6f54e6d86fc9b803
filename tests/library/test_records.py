"""Recorded runs: whole, reproducible, and with their provenance."""

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from patch_association import records
from patch_association.records import Record, hardware, load, names, parse, provenance, read

RECORD = Record(
    name="demo",
    command="patch-association sweep demo",
    config={"seeds": [0, 1], "q": 0.25},
    results=[{"D": 16, "error": 0.125}, {"D": 64, "error": 1e-300, "note": "ä"}],
    provenance=provenance(83.21),
)


def test_round_trip(tmp_path):
    path = tmp_path / "runs" / "demo.json"
    RECORD.save(path)
    assert read(path) == RECORD
    assert read(path).to_json() == path.read_text(encoding="utf-8") == RECORD.to_json()


def test_equal_records_are_equal_files():
    again = Record(
        RECORD.name, RECORD.command, dict(reversed(RECORD.config.items())), RECORD.results, RECORD.provenance
    )
    assert again.to_json() == RECORD.to_json()


def test_provenance():
    made = RECORD.provenance
    assert set(made) == {"commit", "date", "hardware", "python", "versions", "wall_s"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"]) and made["wall_s"] == 83.2
    assert set(made["versions"]) == {"patch-association", "numpy", "scipy", "torch"}
    assert all(re.match(r"\d", version) for version in made["versions"].values())
    assert made["python"] == ".".join(map(str, sys.version_info[:3]))
    assert re.match(r"\d+ cores of \S", hardware())
    assert re.fullmatch(r"[0-9a-f]{12}(\+changes)?|installed", made["commit"])


def test_an_installed_package_inside_another_projects_repository_is_not_that_project(tmp_path, monkeypatch):
    """As in a virtual environment that lies in the repository of whoever uses this package."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "theirs"], check=True)
    installed = tmp_path / "env" / "records" / "__init__.py"
    installed.parent.mkdir(parents=True)
    shutil.copy(records.__file__, installed)
    monkeypatch.setattr(records, "__file__", str(installed))
    assert records.provenance(0)["commit"] == "installed"
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "ours"], check=True)
    assert re.fullmatch(r"[0-9a-f]{12}", records.provenance(0)["commit"])
    installed.write_text("changed")
    assert records.provenance(0)["commit"].endswith("+changes")


def test_origin():
    assert "in 83 seconds; the command “patch-association sweep demo” makes it again" in RECORD.origin()
    assert "2 results" in RECORD.origin()
    slow = Record("demo", "make it", {}, [], {**RECORD.provenance, "wall_s": 7200.0})
    assert "in 120 minutes" in slow.origin()


@pytest.mark.parametrize(
    "text",
    ["", "{", RECORD.to_json()[:100], "[]", "3", '{"name": "a"}', '{"name": "a", "unknown": 1}', "null"],
)
def test_damaged_records(tmp_path, text):
    path = tmp_path / "demo.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} is not a whole record: "):
        read(path)
    with pytest.raises(ValueError, match="^here is not a whole record: "):
        parse(text, origin="here")


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "demo.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="demo.json is not a whole record"):
        read(path)


def test_results_that_are_no_numbers_are_not_written(tmp_path):
    path = tmp_path / "demo.json"
    RECORD.save(path)
    with pytest.raises(ValueError, match="JSON"):
        Record("demo", "", {}, [{"error": math.nan}]).save(path)
    assert read(path) == RECORD


def test_every_record_that_ships_is_whole():
    for name in names():
        record = load(name)
        assert record.name == name and record.results and record.command == f"patch-association sweep {name}"
        assert set(record.provenance) == set(RECORD.provenance)
        text = (Path(records.__file__).parent / f"{name}.json").read_text(encoding="utf-8")
        assert json.loads(text) == json.loads(record.to_json())


def test_a_record_that_does_not_ship():
    with pytest.raises(ValueError, match="there is no recorded run 'nothing'; the package ships "):
        load("nothing")
