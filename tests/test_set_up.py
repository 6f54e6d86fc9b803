"""The set-up tells a reader what to do when the machine is not ready."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import namedtuple

import pytest
import set_up

REPOSITORY = set_up.ROOT
Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize("version", [(2, 7), (3, 9), (3, 14)])
def test_unsupported_python_is_named(version):
    with pytest.raises(set_up.CannotSetUp, match=rf"this is Python {version[0]}\.{version[1]}.*PYTHON="):
        set_up.check_python(version)


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 9)])
def test_supported_python_passes(version):
    set_up.check_python(version)


def test_supported_pythons_are_those_of_the_package():
    assert 'requires-python = ">=3.10,<3.14"' in (set_up.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert (set_up.OLDEST, set_up.NEWEST) == ((3, 10), (3, 13))


def test_full_disk_is_found_before_downloading(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(10e9, 9e9, 1e9))
    with pytest.raises(set_up.CannotSetUp, match="1.0 GB are free .* needs about 3 GB"):
        set_up.check_disk()


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("The virtual environment was not created because ensurepip is not available.", "python3-venv"),
        ("/usr/bin/python3: No module named venv", "apt-get install python3-venv"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("NewConnectionError: failed\nERROR: No matching distribution found for numpy", "network"),
        ("ERROR: ResolutionImpossible: for help visit", "another Python"),
        ("ERROR: No matching distribution found for numpy==9", "another Python"),
        ("PermissionError: [Errno 13] Permission denied: '.venv/lib'", "owner"),
        ("Error: something new", "something new"),
        ("", "set-up.log"),
    ],
)
def test_failures_come_with_advice(output, advice):
    assert advice in set_up.explain(output)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A project of its own, with a finished environment."""
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(set_up.ROOT / name, tmp_path)
    for name, place in (("ROOT", "."), ("STAMP", "set-up.json"), ("LOG", "set-up.log"), ("PYTHON", "python")):
        monkeypatch.setattr(set_up, name, tmp_path / place)
    (tmp_path / "python").touch()
    (tmp_path / "set-up.json").write_text(json.dumps(set_up.wanted()))
    return tmp_path


def test_nothing_is_done_when_nothing_changed(elsewhere, monkeypatch):
    """A changed requirement, another Python, or an unfinished set-up: it is done again."""
    done = []
    monkeypatch.setattr(set_up, "make_environment", lambda: done.append("made"))
    monkeypatch.setattr(set_up, "install", lambda: done.append("installed"))
    assert set_up.main() == 0 and done == []
    (elsewhere / "constraints.txt").write_text("# others\n")
    assert set_up.main() == 0 and done == ["made", "installed"]
    done.clear()
    (elsewhere / "set-up.json").unlink()
    assert set_up.main() == 0 and done == ["made", "installed"]


TWO = """
import sys, time
sys.path.insert(0, "tools")
import set_up
from pathlib import Path
place = Path(sys.argv[1])
for name, path in (("ROOT", "."), ("STAMP", "set-up.json"), ("PYTHON", "python")):
    setattr(set_up, name, place / path)

def slowly():
    with (place / "done").open("a") as file:
        file.write("begun ")
        file.flush()
        time.sleep(1)
        file.write("ended ")
    set_up.STAMP.write_text(set_up.json.dumps(set_up.wanted()))

set_up.make_environment, set_up.install = (lambda: None), slowly
sys.exit(set_up.main())
"""


def test_two_set_ups_at_once_are_one(elsewhere):
    """The second waits for the first, and finds everything done."""
    (elsewhere / "set-up.json").unlink()
    command = [sys.executable, "-c", TWO, str(elsewhere)]
    both = [subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert (elsewhere / "done").read_text() == "begun ended "
    assert "".join(said) == "Another set-up works in this folder; waiting for it ...\n"


def test_a_folder_that_cannot_be_written_is_named(elsewhere, monkeypatch, capsys):
    (elsewhere / "set-up.json").unlink()
    monkeypatch.setattr(set_up, "ROOT", elsewhere / "file")
    (elsewhere / "file").touch()
    monkeypatch.setattr(set_up, "wanted", lambda: {"root": "here"})
    assert set_up.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("Set-up failed: ") and "file" in said and len(said.splitlines()) == 1


def test_pip_is_watched_and_its_failure_explained(elsewhere, capsys):
    """The log's last lines, the advice, and no stamp: the next call begins again."""
    (elsewhere / "python").write_text("#!/bin/sh\necho 'ERROR: ResolutionImpossible: numpy'\nexit 3\n")
    (elsewhere / "python").chmod(0o755)
    with pytest.raises(set_up.CannotSetUp, match="another Python"):
        set_up.install()
    assert "ResolutionImpossible: numpy" in capsys.readouterr().out and not set_up.STAMP.exists()
    (elsewhere / "python").write_text("#!/bin/sh\nexit 0\n")
    set_up.install()
    assert set_up.stamp() == set_up.wanted() and "Set-up done" in capsys.readouterr().out


def test_only_the_standard_library_is_used():
    """It runs before anything is installed: with site packages switched off it still starts."""
    code = "import sys; sys.path.insert(0, 'tools'); import set_up; print(set_up.wanted()['python'])"
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=set_up.ROOT, capture_output=True, text=True
    )
    assert result.stdout.strip() == "{}.{}".format(*sys.version_info), result.stderr
