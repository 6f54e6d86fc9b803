"""Files that are never half-written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content`` in one step: a reader sees the old file or the new, never a part.

    The content goes to a temporary file beside it, reaches the disk, and is then renamed. On any
    failure (a full disk, an interrupt) the old file stays and the temporary one is removed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
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
