"""Files are replaced whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import patch_association
from patch_lab import _files
from patch_lab._files import write_atomically

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(patch_association.__file__).parents[1])}


def test_text_and_bytes_in_folders_that_do_not_exist_yet(tmp_path):
    path = tmp_path / "a" / "b" / "record.json"
    write_atomically(path, "ä\n")
    assert path.read_bytes() == "ä\n".encode()
    write_atomically(path, b"\x00new")
    assert path.read_bytes() == b"\x00new" and os.listdir(path.parent) == ["record.json"]


def test_the_mode_is_the_one_of_an_ordinary_file(tmp_path):
    write_atomically(tmp_path / "ours", "x")
    (tmp_path / "theirs").write_text("x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "theirs")}
    assert len(modes) == 1


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


def test_the_new_content_is_on_the_disk_before_it_takes_the_old_ones_place(tmp_path, monkeypatch):
    path, steps = tmp_path / "record.json", []
    path.write_text("old")
    fsync, replace = os.fsync, os.replace

    def watched_fsync(descriptor):
        steps.append(("fsync", path.read_text()))
        fsync(descriptor)

    def watched_replace(source, target):
        with open(source) as file:
            steps.append(("replace", file.read(), path.read_text()))
        replace(source, target)

    monkeypatch.setattr(_files.os, "fsync", watched_fsync)
    monkeypatch.setattr(_files.os, "replace", watched_replace)
    write_atomically(path, "new")
    # the content, the name, and then the folder: a rename outlasts a loss of power
    assert steps == [("fsync", "old"), ("replace", "new", "old"), ("fsync", "new")]


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


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path):
    path, coming = tmp_path / "record.json", tmp_path / ".record.json.x.tmp"
    with coming.open("wb") as file:
        assert _files.lock(file) is True
        with coming.open("rb") as other:
            assert _files.lock(other) is False
        write_atomically(path, "ours")
        assert coming.exists()
    write_atomically(path, "ours again")
    assert os.listdir(tmp_path) == ["record.json"]


def test_a_new_file_that_was_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    """Another process may remove it in the moment before it is locked."""
    mkstemp, made = _files.tempfile.mkstemp, []

    def removed_at_first(**options):
        descriptor, name = mkstemp(**options)
        made.append(name)
        if len(made) == 1:
            os.unlink(name)
        return descriptor, name

    monkeypatch.setattr(_files.tempfile, "mkstemp", removed_at_first)
    write_atomically(tmp_path / "record.json", "whole")
    assert len(made) == 2 and (tmp_path / "record.json").read_text() == "whole"
    assert os.listdir(tmp_path) == ["record.json"]


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    """On Windows, and on file systems that know none: it cannot be told whose file it is."""
    (tmp_path / ".record.json.x.tmp").write_text("?")

    class NoLocks:
        LOCK_EX = LOCK_NB = 0

        def flock(*arguments):
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    for fcntl in (None, NoLocks):
        monkeypatch.setattr(_files, "fcntl", fcntl)
        write_atomically(tmp_path / "record.json", "x")
        assert sorted(os.listdir(tmp_path)) == [".record.json.x.tmp", "record.json"]
