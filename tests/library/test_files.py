"""Files are replaced whole or not at all."""

import errno
import os

import pytest

from patch_lab import _files
from patch_lab._files import write_atomically


def refuse(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize(
    ("step", "failure", "error"),
    [
        ("fsync", refuse, OSError),
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
