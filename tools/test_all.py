"""Every test of the project, in four stages: ``tools/test_all.py [library notebooks book pages]``.

A stage that fails does not stop the ones after it, so that one run tells all; the last line says how
it ended, and the exit status is non-zero when any stage failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from replay import WORKERS

ROOT = Path(__file__).resolve().parent.parent
#: A worker for each core; one that has nothing left to do takes tests of the other.
PYTEST = [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), "--dist", "worksteal"]

#: Stage, what it shows, its command.
STAGES = {
    "library": ("the library and the chapters' pairs", [*PYTEST, "tests", "--ignore=tests/pages"]),
    "notebooks": ("every notebook, alone and strictly", [sys.executable, "tools/replay.py"]),
    "book": ("the book, warnings as errors", [sys.executable, "tools/build_book.py"]),
    "pages": ("the built pages in a browser", [*PYTEST, "tests/pages"]),
}


def main() -> int:
    """Run the stages that were named, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=", ".join(STAGES))
    names = parser.parse_args().stages or list(STAGES)
    if unknown := set(names) - set(STAGES):
        parser.error(f"no such stage: {', '.join(sorted(unknown))}; there are {', '.join(STAGES)}")
    results = []
    for number, name in enumerate(names, start=1):
        title, command = STAGES[name]
        print(f"\n=== {number}/{len(names)} {name}: {title}", flush=True)
        start = time.monotonic()
        status = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode
        results.append((name, time.monotonic() - start, status))
        print(f"=== {name}: {'passed' if status == 0 else 'FAILED'} in {results[-1][1]:.0f} s", flush=True)
    return _report(results)


def _report(results: list[tuple[str, float, int]]) -> int:
    print("\nstage        wall time   result")
    for name, seconds, status in results:
        print(f"{name:<12} {seconds:>7.0f} s   {'passed' if status == 0 else 'FAILED'}")
    failed = [name for name, _, status in results if status]
    total = sum(seconds for _, seconds, _ in results)
    if failed:
        print(f"Tests FAILED after {total:.0f} s: {', '.join(failed)}. Their output is above.")
    else:
        print(f"All tests passed in {total:.0f} s: {', '.join(name for name, _, _ in results)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
