"""The tests in four stages: ``tools/test_all.py [--all] [library notebooks book pages]``.

Without ``--all`` what guards a change: tests not marked ``slow``, and of the notebooks the canaries and those
whose chapter differs from the last commit or from the branch ``origin/main``. A stage that fails does not
stop the ones after it. Where there is no browser for the pages, one is brought if that can be. The end says
what ran and how long each took, its last line what was left out. The exit status is 1 when any stage failed,
else 0, also where the pages were left out for want of a browser.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from browser import BrowserMissing, bring_chromium, chromium
from notebooks import ROOT, chapters, name_of
from replay import WORKERS

#: One chapter of exact sums, one of training, one of the second theory.
CANARIES = ("setting/spatial_data", "dynamics/three_scalars", "shallow_vit/setting")
#: A worker for each core; one that has nothing left to do takes tests of the other.
PYTEST = [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), "--dist", "worksteal"]
STAGES = {
    "library": "library, laboratory and the chapters' pairs",
    "notebooks": "notebooks, alone and strictly",
    "book": "the book, warnings as errors",
    "pages": "the built pages in a browser",
}


def main() -> int:
    """Run the stages that were named, by default each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=", ".join(STAGES))
    parser.add_argument("--all", action="store_true", help="slow tests and every notebook, too")
    arguments = parser.parse_args()
    names = arguments.stages or list(STAGES)
    if unknown := set(names) - set(STAGES):
        parser.error(f"no such stage: {', '.join(sorted(unknown))}; there are {', '.join(STAGES)}")
    replayed = chapters() if arguments.all else _canaries_and_changed()
    slow = ["-m", "slow or not slow"] if arguments.all else []
    commands = {
        "library": [*PYTEST, *slow, "tests", "--ignore=tests/pages"],
        "notebooks": [sys.executable, "tools/replay.py", *map(str, replayed)],
        "book": [sys.executable, "tools/build_book.py"],
        "pages": [*PYTEST, *slow, "tests/pages"],
    }
    left_out = []
    if "pages" in names and (missing := _no_browser()):
        names.remove("pages")
        print(missing)
        left_out.append("THE PAGES, for want of a browser (above: how to get one)")
    results = []
    for number, name in enumerate(names, start=1):
        print(f"\n=== {number}/{len(names)} {name}: {STAGES[name]}", flush=True)
        start = time.monotonic()
        status = subprocess.run(commands[name], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
        results.append((name, time.monotonic() - start, status))
        print(f"=== {name}: {'passed' if status == 0 else 'FAILED'} in {results[-1][1]:.0f} s", flush=True)
    if not arguments.all:
        print(f"\nNotebooks that were replayed: {', '.join(map(name_of, replayed))}.")
        rest = len(chapters()) - len(replayed)
        left_out.append(f"slow tests and {rest} of {len(chapters())} notebooks, which `make test-all` runs")
    return _report(results, left_out)


def _no_browser() -> str:
    """What to do where no browser can be started, or brought; nothing where one can."""
    missing = ""
    for bring in (lambda: None, bring_chromium):
        bring()
        try:
            with chromium():
                return ""
        except BrowserMissing as error:
            missing = str(error)
    return missing


def _canaries_and_changed() -> list[Path]:
    """The chapters to replay; without git or without a history that is the canaries."""
    changed = set()
    for since in ("HEAD", "origin/main"):
        command = ["git", "diff", "--name-only", since, "--", "book"]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        except FileNotFoundError:
            break
        changed |= {line.removeprefix("book/").rpartition(".")[0] for line in done.stdout.splitlines()}
    return [path for path in chapters() if name_of(path) in changed | set(CANARIES)]


def _report(results: list[tuple[str, float, int]], left_out: list[str]) -> int:
    print("\nstage        wall time   result")
    for name, seconds, status in results:
        print(f"{name:<12} {seconds:>7.0f} s   {'passed' if status == 0 else 'FAILED'}")
    failed = [name for name, _, status in results if status]
    total = sum(seconds for _, seconds, _ in results)
    without = f" Not run: {'; '.join(left_out)}." if left_out else ""
    if failed:
        print(f"Tests FAILED after {total:.0f} s: {', '.join(failed)}. Their output is above.{without}")
    else:
        names = ", ".join(name for name, _, _ in results)
        print(f"All of these tests passed in {total:.0f} s: {names}.{without}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
