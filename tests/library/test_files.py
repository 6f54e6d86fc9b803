"""Files are replaced whole or not at all."""

import errno
import os
import stat

import pytest

from patch_association import _files
from patch_association._files import write_atomically


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
        self.file = open(descriptor, mode)

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
    assert steps == [("fsync", "old"), ("replace", "new", "old")]
