"""Files that are never half-written, and that only one process at a time writes."""

from __future__ import annotations

import glob
import os
import tempfile
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there, a file that is open cannot be removed by others anyway
    fcntl = None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content`` in one step: a reader sees the old file or the new, never a part.

    The content goes to a temporary file beside it, reaches the disk, and is then renamed. On any
    failure (a full disk, an interrupt) the old file stays and the temporary one is removed. One that a
    killed process left behind is removed by the next write to the same path.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    data = content.encode() if isinstance(content, str) else content
    descriptor, name = _open_beside(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes private files; records are meant to be read
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, so that a rename outlasts a loss of power."""
    with suppress(OSError):  # Windows opens no folder, and some file systems sync none
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def lock(file, wait: bool = False) -> bool | None:
    """Hold an open file until it is closed or the process ends, however it ends.

    Returns
    -------
    bool or None
        False when another process holds it; None where the file system knows no locks.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return True
    except BlockingIOError:
        return False
    except OSError:
        return None


def _open_beside(path: Path) -> tuple[int, str]:
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        lock(descriptor, wait=True)
        if os.path.exists(name):
            return descriptor, name
        os.close(descriptor)  # it was taken for a leftover in the moment before it was locked


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files of ``path`` that no process holds: their writers were killed."""
    for name in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with suppress(OSError), name.open("rb") as file:
            if lock(file):
                name.unlink()
