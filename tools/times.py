"""Measure how long each chapter takes to run: ``tools/times.py [book/part/chapter.md ...]``.

A chapter runs in a fresh kernel, in an empty folder, on one thread; what counts is the processor time of
that kernel, which another program on the machine hardly changes. The times go into ``book/times.json``,
with the machine and the date, and the front page adds them up. Chapters not named keep their times.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import nbformat
from notebooks import ROOT, chapters, name_of, notebook_from_text
from play import run

from patch_lab.kit.files import write_atomically
from patch_lab.kit.records.record import processor

TIMES = ROOT / "book" / "times.json"
#: The kernel says what it used, its children included.
CLOCK = "import os\nprint('processor seconds', sum(os.times()[:4]))"


def measure(path: Path) -> float:
    """Processor seconds of one run of a chapter.

    Raises
    ------
    RuntimeError
        If a cell fails.
    """
    notebook = notebook_from_text(path)
    notebook.cells.append(nbformat.v4.new_code_cell(CLOCK))
    if trouble := run(notebook):
        raise RuntimeError(f"{name_of(path)} does not run: {trouble}")
    printed = "".join(output.get("text", "") for output in notebook.cells[-1].outputs)
    return float(printed.rpartition(" ")[2])


def machine() -> str:
    """The processor and the versions that matter."""
    return f"{processor()}, one thread, Python {platform.python_version()}, PyTorch {version('torch')}"


def main() -> int:
    """Measure the chapters that were named, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", type=Path, metavar="book/PART/CHAPTER.md")
    named = parser.parse_args().chapters
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    there = {name_of(path) for path in chapters()}
    kept = json.loads(TIMES.read_text("utf-8")) if TIMES.exists() else {}
    for path in [path.resolve().with_suffix(".md") for path in named] or chapters():
        seconds = measure(path)
        print(f"{name_of(path)}: {seconds:.1f} s", flush=True)
        entry = {
            "seconds": round(seconds, 1),
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
        }
        kept = {name: kept[name] for name in sorted(kept) if name in there} | {name_of(path): entry}
        write_atomically(TIMES, json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
