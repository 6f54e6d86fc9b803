"""A record: what a run was, what came out, and where it came from."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from patch_association.checks import readable
from patch_lab.kit.files import write_atomically
from patch_lab.kit.records.table import Cells

if TYPE_CHECKING:
    from importlib.abc import Traversable

_PACKAGES = ("patch-association", "numpy", "scipy", "torch")


@dataclass
class Record(Cells):
    """One recorded run or sweep.

    Attributes
    ----------
    name : str
        What ``patch-association sweep NAME`` or the run is called.
    command : str
        The command that reproduces it.
    config : dict
        Every setting that the results depend on, seeds included.
    results : list of dict
        One object per cell of a sweep or per epoch of a run.
    provenance : dict
        Commit, versions, hardware, time and wall seconds; see :func:`provenance`.
    data : dict
        What the results were made from: ``source`` in words and ``sha256``, which is None where there is
        nothing to hash or where it is not known; the source says which.
    """

    name: str
    command: str
    config: dict
    results: list[dict]
    provenance: dict = field(default_factory=dict)
    data: dict = field(default_factory=dict)

    def __post_init__(self):
        self._all_rows = self

    def _view(self, results: list[dict]) -> Record:
        view = replace(self, results=results)
        view._all_rows = self._all_rows
        return view

    def origin(self) -> str:
        """Two sentences: made when, in how long, on what, from which data; and the command.

        Of a view they are the sentences of its record.
        """
        p = self.provenance
        took = f"{p['wall_s']:.0f} seconds" if p["wall_s"] < 90 else f"{p['wall_s'] / 60:.0f} minutes"
        data = ""
        if self.data:
            sha = self.data["sha256"]
            data = f", from {self.data['source']}" + (f" (sha256 {sha[:12]}…)" if sha else "")
        return (
            f"Recorded run “{self.name}”: {len(self._all_rows)} results, made on {p['date']} in {took}, "
            f"on {p['hardware']} (PyTorch {p['versions']['torch']}){data}. "
            f"The command “{self.command}” reproduces it."
        )

    def to_json(self) -> str:
        """The record as text; keys sorted within each object, so that two equal records are equal files."""
        text = json.dumps(asdict(self), indent=1, sort_keys=True, allow_nan=False) + "\n"
        # A list without lists or objects inside stands on one line. (No text holds a line break in JSON.)
        return re.sub(r"\[\n([^\[\]{}]*?)\n *\]", lambda match: f"[{_joined(match[1])}]", text)

    def save(self, path) -> None:
        """Write the record to ``path`` in one step (never half a file)."""
        write_atomically(Path(path), self.to_json())


def _joined(lines: str) -> str:
    return " ".join(line.strip() for line in lines.split("\n"))


def load(name: str) -> Record:
    """A record that ships with the package.

    Raises
    ------
    ValueError
        If there is none of this name; the message lists those there are.
    """
    shipped = _shipped()
    if name not in shipped:
        there = ", ".join(record_names()) or "none"
        raise ValueError(f"there is no recorded run {name!r}; the package ships {there}")
    return parse(shipped[name].read_text(encoding="utf-8"), origin=f"{name}.json")


def read(path) -> Record:
    """A record from a file of your own."""
    content = Path(path).read_bytes()
    with readable(f"{path} is not a whole record"):
        text = content.decode()
    return parse(text, origin=str(path))


def parse(text: str, origin: str) -> Record:
    """A record from its JSON text; ``origin`` names it in the error when it is damaged."""
    kinds = {"name": str, "command": str, "config": dict, "results": list, "provenance": dict, "data": dict}
    with readable(f"{origin} is not a whole record"):
        record = Record(**json.loads(text, parse_constant=_refuse))
        wrong = [key for key, kind in kinds.items() if not isinstance(getattr(record, key), kind)]
        if wrong or not all(isinstance(row, dict) for row in record.results):
            raise ValueError(f"{', '.join(wrong) or 'a result'} has another type than a record's")
        return record


def _refuse(constant: str):
    raise ValueError(f"{constant} is no number of JSON")


def record_names() -> list[str]:
    """The records that ship with the package."""
    return sorted(_shipped())


def _shipped() -> dict[str, Traversable]:
    """The file of each record: it lies in the folder ``records`` of a part's room."""
    folders = (room / "records" for room in files("patch_lab").iterdir())
    entries = (entry for folder in folders if folder.is_dir() for entry in folder.iterdir())
    return {entry.name.removesuffix(".json"): entry for entry in entries if entry.name.endswith(".json")}


def provenance(wall_s: float, device: str = "cpu", packages: tuple[str, ...] = ()) -> dict:
    """Where a run came from: commit, versions (of ``packages`` too), hardware, date and wall seconds."""
    return {
        "commit": _commit(),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "hardware": hardware(device),
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in (*_PACKAGES, *packages)},
        "wall_s": round(wall_s, 1),
    }


def hardware(device: str = "cpu") -> str:
    """The machine in words: processor and cores in use, and the accelerator when one is used."""
    import torch

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cpu = f"{usable} cores of {processor()}"
    if device.startswith("cuda"):
        return f"{torch.cuda.get_device_name(device)} with {cpu}"
    return cpu


def processor() -> str:
    """The name of the machine's processor."""
    if sys.platform.startswith("linux"):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """The commit of the source tree, with a mark when it was changed; "installed" outside one.

    An installed package may lie inside another project's repository: only a tree that tracks this
    file is ours.
    """
    here = Path(__file__).resolve()

    def git(*words: str) -> str:
        run = subprocess.run(["git", *words], cwd=here.parents[2], capture_output=True, text=True, check=True)
        return run.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "--", str(here))
        head = git("rev-parse", "--short=12", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "*.py")  # of the whole package
    except (OSError, subprocess.CalledProcessError):
        return "installed"
    return head + ("+changes" if changed else "")
