"""Execute chapters on one thread and on two: their notebooks must be the same, to the byte.

``tools/determinism.py [book/part/chapter.md ...]``, by default all. It works on a copy of the tree. Where the
two differ, a second execution on one thread says whether the threads are the reason. Outputs that differ
from the stored ones are counted too; they are a fault only where machine and versions are the stored ones'.
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

SAME = "the same, as stored"
NEW = "the same, but not what is stored (another machine or other versions made that)"
POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main() -> int:
    """Compare the executions of each chapter; 1 if any two differ or a chapter fails."""
    names = sys.argv[1:] or [str(path.relative_to(ROOT)) for path in chapters()]
    said = {}
    with tempfile.TemporaryDirectory(prefix="determinism-") as folder:
        tree = copy_of_the_tree(Path(folder))
        for name in names:
            said[name] = compare(tree, name)
            print(f"{name}: {said[name]}", flush=True)
    same, new = (sum(text == wanted for text in said.values()) for wanted in (SAME, NEW))
    print(f"Of {len(said)} chapters {same + new} are the same on one thread and on two, {same} as stored.")
    return 0 if same + new == len(said) else 1


def compare(tree: Path, name: str) -> str:
    """What is to be said of a chapter: :data:`SAME`, :data:`NEW`, or how it differs."""
    try:
        one, two = execute(tree, name, 1), execute(tree, name, 2)
        if one != two:
            again = execute(tree, name, 1) == one
            return "differs on two threads" if again else "differs from one execution to the next"
    except RuntimeError as error:
        return f"fails: {error}"
    return SAME if one == (ROOT / name).with_suffix(".ipynb").read_bytes() else NEW


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
