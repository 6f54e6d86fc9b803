"""Execute chapters on one thread, again, and on two: their stored outputs must be the same, to the byte.

``tools/determinism.py [book/part/chapter.md ...]``, by default all. It works on a copy of the tree.
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


def main() -> int:
    """Compare three executions of each chapter; 1 if any two differ."""
    names = sys.argv[1:] or [str(path.relative_to(ROOT)) for path in chapters()]
    failed = []
    with tempfile.TemporaryDirectory(prefix="determinism-") as folder:
        tree = copy_of_the_tree(Path(folder))
        for name in names:
            notebook, found = (tree / name).with_suffix(".ipynb"), {}
            for run, threads in (("one thread", "1"), ("one thread, again", "1"), ("two threads", "2")):
                counts = dict.fromkeys(
                    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads
                )
                environment = os.environ | counts | {"PYTHONPATH": str(tree / "src")}
                command = [sys.executable, "tools/execute.py", "--allow-slow", name]
                done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
                found[run] = notebook.read_bytes() if done.returncode == 0 else done.stdout.encode()
            different = [run for run in found if found[run] != found["one thread"]]
            stored = "" if notebook.read_bytes() == (ROOT / name).with_suffix(".ipynb").read_bytes() else (
                "; not what is stored (another machine or other versions made that)"
            )  # fmt: skip
            failed += [name] if different else []
            print(
                f"{name}: {'differs on ' + ', '.join(different) if different else 'the same'}{stored}",
                flush=True,
            )
    print(
        f"{len(failed)} of {len(names)} chapters differ."
        if failed
        else f"{len(names)} chapters are the same."
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
