"""The set-up tells a reader what to do when the machine is not ready."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import namedtuple

import pytest
import set_up

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize("version", [(2, 7), (3, 9), (3, 14)])
def test_unsupported_python_is_named(version):
    with pytest.raises(set_up.CannotSetUp, match=rf"this is Python {version[0]}\.{version[1]}.*PYTHON="):
        set_up.check_python(version)


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 9)])
def test_supported_python_passes(version):
    set_up.check_python(version)


def test_supported_pythons_are_those_of_the_package():
    text = set_up.ROOT + "/pyproject.toml"
    with open(text, encoding="utf-8") as file:
        assert 'requires-python = ">=3.10,<3.14"' in file.read()
    assert (set_up.OLDEST, set_up.NEWEST) == ((3, 10), (3, 13))


def test_full_disk_is_found_before_downloading(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(10e9, 9e9, 1e9))
    with pytest.raises(set_up.CannotSetUp, match="1.0 GB are free .* needs about 3 GB"):
        set_up.check_disk()


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        (
            "The virtual environment was not created because ensurepip is not available.",
            "apt-get install python3-venv",
        ),
        ("/usr/bin/python3: No module named venv", "apt-get install python3-venv"),
        ("Error: something else", "something else"),
    ],
)
def test_missing_venv(output, advice):
    assert advice in set_up.explain_venv(output)


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("NewConnectionError: failed\nERROR: No matching distribution found for numpy", "network"),
        ("ERROR: ResolutionImpossible: for help visit", "another Python"),
        ("ERROR: No matching distribution found for numpy==9", "another Python"),
        ("PermissionError: [Errno 13] Permission denied: '.venv/lib'", "owner"),
        ("something new", "set-up.log"),
    ],
)
def test_pip_failures(output, advice):
    assert advice in set_up.explain_pip(output)


def test_stamp_follows_the_requirements(tmp_path, monkeypatch):
    """Nothing changed: nothing to do. A changed requirement, a moved folder or another Python: set up again."""
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(set_up.ROOT + "/" + name, tmp_path)
    monkeypatch.setattr(set_up, "ROOT", str(tmp_path))
    before = set_up.wanted()
    assert set_up.wanted() == before
    with open(tmp_path / "constraints.txt", "a", encoding="utf-8") as file:
        file.write("# another line\n")
    assert set_up.wanted() != before


def test_only_the_standard_library_is_used():
    """It runs before anything is installed: with site packages switched off it still starts."""
    code = "import sys; sys.path.insert(0, 'tools'); import set_up; print(set_up.wanted()['python'])"
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=set_up.ROOT, capture_output=True, text=True
    )
    assert result.stdout.strip() == "{}.{}".format(*sys.version_info), result.stderr
