"""Execute chapters on one thread and on two: their notebooks must be the same, to the byte.

``tools/determinism.py [book/part/chapter.md ...]``, by default all. It works on a copy of the tree. Where the
two differ, a second execution on one thread says whether the threads are the reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kills import ROOT, copy_of_the_tree
from notebooks import chapters

POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main() -> int:
    """Compare the executions of each chapter; 1 if any two differ or a chapter fails."""
    names = sys.argv[1:] or [str(path.relative_to(ROOT)) for path in chapters()]
    failed = []
    with tempfile.TemporaryDirectory(prefix="determinism-") as folder:
        tree = copy_of_the_tree(Path(folder))
        for name in names:
            good, text = compare(tree, name)
            failed += [] if good else [name]
            print(f"{name}: {text}", flush=True)
    print(
        f"{len(failed)} of {len(names)} chapters differ."
        if failed
        else f"{len(names)} chapters are the same."
    )
    return 1 if failed else 0


def compare(tree: Path, name: str) -> tuple[bool, str]:
    """Whether a chapter gives the same twice, and what is to be said of it."""
    try:
        one, two = execute(tree, name, 1), execute(tree, name, 2)
        if one != two:
            same = execute(tree, name, 1) == one
            return False, "differs on two threads" if same else "differs from one execution to the next"
    except RuntimeError as error:
        return False, f"fails: {error}"
    stored = (ROOT / name).with_suffix(".ipynb").read_bytes()
    other = "" if one == stored else "; not what is stored (another machine or other versions made that)"
    return True, f"the same{other}"


def execute(tree: Path, name: str, threads: int) -> bytes:
    """The notebook of a chapter, executed on so many threads."""
    environment = os.environ | dict.fromkeys(POOLS, str(threads)) | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "tools/execute.py", "--allow-slow", name]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr)[-1000:])
    return (tree / name).with_suffix(".ipynb").read_bytes()


if __name__ == "__main__":
    sys.exit(main())
