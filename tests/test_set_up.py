"""The set-up tells a reader what to do when the machine is not ready."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import namedtuple

import pytest
import set_up

REPOSITORY = set_up.ROOT
Usage = namedtuple("Usage", "total used free")


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
