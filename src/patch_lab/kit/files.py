"""Files that are never half-written, and that only one process at a time writes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there, a file that is open cannot be removed by others anyway
    fcntl = None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content`` in one step: a reader sees the old file or the new, never a part.

    The content goes to a temporary file beside it, reaches the disk, and is then renamed. On any
    failure (a full disk, an interrupt) the old file stays and the temporary one is removed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    coming = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with coming.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(coming, path)
    except BaseException:
        coming.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # the folder's names, too: Windows opens no folder, and some systems sync none
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def lock(file) -> bool | None:
    """Hold an open file until it is closed or the process ends, however it ends.

    Returns
    -------
    bool or None
        False when another process holds it; None where the file system knows no locks.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return None
