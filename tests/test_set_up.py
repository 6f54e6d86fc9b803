"""The set-up tells a reader what to do when the machine is not ready."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
import set_up

PLACES = {"ROOT": ".", "VENV": ".", "STAMP": "set-up.json", "LOG": "set-up.log", "PYTHON": "python"}


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A project of its own, with a finished environment that holds one package."""
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(set_up.ROOT / name, tmp_path)
    for name, place in PLACES.items():
        monkeypatch.setattr(set_up, name, tmp_path / place)
    (tmp_path / "lib" / "python3" / "site-packages" / "torch-2.0.dist-info").mkdir(parents=True)
    (tmp_path / "python").touch()
    (tmp_path / "set-up.json").write_text(json.dumps(set_up.wanted() | {"installed": set_up.installed()}))
    return tmp_path


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


def test_only_the_standard_library_is_used():
    """It runs before anything is installed: with site packages switched off it still starts."""
    code = "import sys; sys.path.insert(0, 'tools'); import set_up; print(set_up.wanted()['python'])"
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=set_up.ROOT, capture_output=True, text=True
    )
    assert result.stdout.strip() == "{}.{}".format(*sys.version_info), result.stderr
