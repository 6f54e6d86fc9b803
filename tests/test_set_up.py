"""The set-up tells a reader what to do when the machine is not ready."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
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
        ("error: Failed to fetch\n  Caused by: dns error", "network"),
        ("  × No solution found when resolving dependencies", "another Python"),
        ("PermissionError: [Errno 13] Permission denied: '.venv/lib'", "owner"),
        ("Error: something new", "something new"),
        ("", "set-up.log"),
    ],
)
def test_failures_come_with_advice(output, advice):
    assert advice in set_up.explain(output)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A project of its own, with a finished environment that holds one package."""
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(set_up.ROOT / name, tmp_path)
    for name, place in PLACES.items():
        monkeypatch.setattr(set_up, name, tmp_path / place)
    for folder in ("torch", "torch-2.0.dist-info"):
        (tmp_path / "lib" / "python3" / "site-packages" / folder).mkdir(parents=True)
    (tmp_path / "python").touch()
    (tmp_path / "set-up.json").write_text(json.dumps(set_up.wanted() | {"installed": set_up.installed()}))
    return tmp_path


PLACES = {"ROOT": ".", "VENV": ".", "STAMP": "set-up.json", "LOG": "set-up.log", "PYTHON": "python"}


def test_nothing_is_done_when_nothing_changed(elsewhere, monkeypatch):
    """A changed requirement, a lost package, or an unfinished set-up: it is done again."""
    done = []
    monkeypatch.setattr(set_up, "install", lambda lock: done.append("installed"))
    assert set_up.main() == 0 and done == []
    (elsewhere / "constraints.txt").write_text("# others\n")
    assert set_up.main() == 0 and done == ["installed"]
    set_up.STAMP.write_text(json.dumps(set_up.wanted() | {"installed": set_up.installed()}))
    assert set_up.main() == 0 and done == ["installed"]
    (elsewhere / "lib" / "python3" / "site-packages" / "torch").rmdir()
    assert set_up.main() == 0 and done == ["installed"] * 2
    set_up.STAMP.unlink()
    assert set_up.main() == 0 and done == ["installed"] * 3


COMMAND = """
import signal, sys
sys.path.insert(0, "tools")
import set_up
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
place, slow = Path(sys.argv[1]), ["sh", "-c", "echo begun >> done; sleep 2; echo ended >> done"]
set_up.ROOT = place
with set_up.alone() as lock:
    set_up.run(slow, lock)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "log"),
    [
        (signal.SIGKILL, "begun ended begun ended"),  # its command goes on, and is waited for
        (signal.SIGTERM, "begun begun ended"),  # its command ends with it
        (signal.SIGINT, "begun begun ended"),
    ],
)
def test_a_second_set_up_never_meets_a_command_of_the_first(tmp_path, number, log):
    command = [sys.executable, "-c", COMMAND, str(tmp_path)]
    first = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.DEVNULL)
    while not (tmp_path / "done").exists():
        time.sleep(0.02)
    first.send_signal(number)
    assert first.wait() != 0
    subprocess.run(command, cwd=REPOSITORY, check=True, timeout=60)
    assert (tmp_path / "done").read_text().split() == log.split()


def test_a_folder_that_cannot_be_written_is_named(elsewhere, monkeypatch, capsys):
    (elsewhere / "set-up.json").unlink()
    monkeypatch.setattr(set_up, "ROOT", elsewhere / "file")
    (elsewhere / "file").touch()
    monkeypatch.setattr(set_up, "wanted", lambda: {"root": "here"})
    assert set_up.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("Set-up failed: ") and "file" in said and len(said.splitlines()) == 1


def test_a_failure_is_explained_and_pip_does_what_uv_cannot(elsewhere, capsys):
    """Where both fail: the log's last lines, the advice, and no stamp, so that the next call begins again."""
    (elsewhere / "python").write_text(
        "#!/bin/sh\necho \"$@\"; echo 'ERROR: ResolutionImpossible: numpy'\nexit 3\n"
    )
    (elsewhere / "python").chmod(0o755)
    with set_up.alone() as lock, pytest.raises(set_up.CannotSetUp, match="another Python"):
        set_up.install(lock)
    assert "ResolutionImpossible: numpy" in capsys.readouterr().out and not set_up.STAMP.exists()
    set_up.STAMP.write_text(json.dumps(set_up.wanted() | {"installed": []}))
    (elsewhere / "python").write_text('#!/bin/sh\necho "$@"\n[ "$2" = pip ]\n')
    with set_up.alone() as lock:
        set_up.install(lock)
    assert set_up.finished() and "Set-up done" in capsys.readouterr().out
    assert [line.split()[1] for line in set_up.LOG.read_text().splitlines()] == ["pip", "uv", "pip"]


def test_uv_is_told_what_pip_was_told(monkeypatch):
    for key in set_up.SAME_AS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels /more")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://one.example https://two.example")
    monkeypatch.setenv("PIP_INDEX_URL", "https://pips.example")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://uvs.example")
    told = set_up.environment()
    assert told["UV_FIND_LINKS"] == "/wheels,/more" and told["UV_DEFAULT_INDEX"] == "https://uvs.example"
    assert told["UV_INDEX"].split() == ["https://one.example", "https://two.example"]
    assert told["UV_INDEX_STRATEGY"] == "unsafe-best-match"


def test_only_the_standard_library_is_used():
    """It runs before anything is installed: with site packages switched off it still starts."""
    code = "import sys; sys.path.insert(0, 'tools'); import set_up; print(set_up.wanted()['python'])"
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=set_up.ROOT, capture_output=True, text=True
    )
    assert result.stdout.strip() == "{}.{}".format(*sys.version_info), result.stderr
