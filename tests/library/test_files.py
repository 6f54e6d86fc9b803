"""Files are replaced whole or not at all."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import patch_association
from patch_lab import _files
from patch_lab._files import write_atomically

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(patch_association.__file__).parents[1])}


class FullDisk:
    """A file on a disk that has room for three bytes."""

    def __init__(self, descriptor, mode):
        self.file = open(descriptor, mode)  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def write(self, data):
        self.file.write(data[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize(
    ("step", "failure", "error"),
    [
        ("fdopen", FullDisk, OSError),
        ("fsync", refuse, OSError),
        ("chmod", refuse, OSError),
        ("replace", refuse, OSError),
        ("fsync", interrupt, KeyboardInterrupt),
    ],
)
def test_a_failure_at_any_step_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path, monkeypatch, step, failure, error, existing
):
    path = tmp_path / "record.json"
    if existing:
        path.write_text("old")
    monkeypatch.setattr(_files.os, step, failure)
    with pytest.raises(error) as raised:
        write_atomically(path, "new content")
    monkeypatch.undo()
    assert getattr(raised.value, "errno", errno.ENOSPC) == errno.ENOSPC
    assert os.listdir(tmp_path) == (["record.json"] if existing else [])
    assert not existing or path.read_text() == "old"


KILLED = """
import os, signal, sys
from patch_lab import _files

_files.os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
_files.write_atomically(sys.argv[1], "new")
"""


def test_what_a_killed_process_leaves_is_gone_after_the_next_write(tmp_path):
    path = tmp_path / "record [1].json"  # no pattern
    path.write_text("old")
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], env=ENVIRONMENT)
        assert killed.returncode == -signal.SIGKILL
    assert (
        path.read_text() == "old" and len(os.listdir(tmp_path)) == 2
    )  # the second removed what the first left
    (tmp_path / ".other.json.x.tmp").write_text("of another file")
    write_atomically(path, "new")
    assert sorted(os.listdir(tmp_path)) == [".other.json.x.tmp", path.name] and path.read_text() == "new"
