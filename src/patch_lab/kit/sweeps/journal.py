"""The finished cells of a sweep that is under way: a file that only grows, a line for each cell."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from patch_lab.kit.files import lock


class Journal:
    """Finished cells on the disk, each written before the next is counted.

    The first line says whose cells these are; every other is ``{"cell": ..., "result": ..., "wall_s": ...}``.
    A kill can tear the last line at most, and a torn line is dropped. The file is locked from the start, and
    changed only by :meth:`begin` and :meth:`add`.

    Parameters
    ----------
    path : path

    Attributes
    ----------
    interrupted : bool
        Whether a sweep under way has left something.
    done : dict
        Results by cell, both as JSON.
    wall_s : float
        Seconds that the finished cells took, over all interruptions.

    Raises
    ------
    ValueError
        If another process is writing the file.
    OSError
        If it cannot be opened.
    """

    def __init__(self, path: Path):
        self.path = path
        self.done = {}
        self.wall_s = 0.0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._locked()
        self.interrupted = self._file.seek(0, os.SEEK_END) > 0

    def begin(self, settings: str, resume: bool) -> None:
        """Go on with the cells that are there, or begin the file anew.

        Parameters
        ----------
        settings : str
            What tells this sweep from others.
        resume : bool

        Raises
        ------
        ValueError
            If the cells belong to other settings, or the file is damaged.
        OSError
            If it cannot be written: said before any cell is run.
        """
        size = self._read(settings) if resume else 0
        self._file.truncate(size)
        if size == 0:
            self._append({"settings": settings})

    def _locked(self):
        while True:
            file = self.path.open("a+b", buffering=0)
            held = lock(file)
            if held is False:
                file.close()
                raise ValueError(f"{self.path} is being written by another process: it runs this sweep now")
            with suppress(FileNotFoundError):
                if held is None or os.path.samestat(os.fstat(file.fileno()), os.stat(self.path)):
                    return file
            file.close()  # its sweep ended, and removed it, in the moment before it was locked

    def _read(self, settings: str) -> int:
        """Take over the whole lines; returns how many bytes they are."""
        self._file.seek(0)
        text = self._file.read()
        size = text.rfind(b"\n") + 1
        try:
            lines = [json.loads(line) for line in text[:size].splitlines()]
            theirs = lines[0]["settings"] if lines else settings
            for line in lines[1:]:
                self.done[json.dumps(line["cell"], sort_keys=True)] = dict(line["result"])
                self.wall_s = float(line["wall_s"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{self.path} is damaged ({error!r}); remove it to start again") from error
        if theirs != settings:
            raise ValueError(
                f"{self.path} holds cells of other settings; resume with those, or remove it to start again"
            )
        return size

    def add(self, cell: dict, result: dict, wall_s: float) -> None:
        """Keep a finished cell; ``wall_s`` is how long the sweep has run in all."""
        self._append({"cell": cell, "result": result, "wall_s": wall_s})
        self.done[json.dumps(cell, sort_keys=True)] = result
        self.wall_s = wall_s

    def _append(self, line: dict) -> None:
        size = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            os.fsync(self._file.fileno())
        except BaseException:  # a full disk, an interrupt: what is counted is what stands here
            with suppress(OSError):
                self._file.truncate(size)
            raise

    def close(self, remove: bool) -> None:
        """Let go of the file; ``remove`` it when nothing in it is needed any more."""
        if remove and os.name == "nt":  # there, an open file cannot be removed
            self._file.close()
        if remove:
            self.path.unlink(missing_ok=True)
        self._file.close()
