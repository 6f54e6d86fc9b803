"""Time the book itself: set-up, builds, tests, pages. ``book.py [--keep] [PART ...]``

The parts are ``clone`` (set-up and builds in a fresh clone: minutes, and the network for what pip has not
in its cache), ``tests`` (all of them: fifteen minutes) and ``pages`` (the built pages of this checkout, in
Chromium). With ``--keep`` what was measured replaces
these parts in ``benchmarks/kept_book.json``, which ``benchmarks/README.md`` shows, and a machine that is
busy with something else is refused.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from timing import asked

from patch_lab.kit.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "kept_book.json"
_OPENED = ("book/index", "book/setting/structure", "book/dynamics/realistic")
_ROUNDS = 5
# Whether a page has such a thing at the top: what stands further down comes to life when it is scrolled to.
_AT_ONCE = """awaited => {
  const first = document.querySelector(awaited);
  return first !== null && first.getBoundingClientRect().top < innerHeight;
}"""
_SHOWN = {
    "paragraph": "first readable paragraph",
    "formula": "first typeset formula",
    "largest": "largest content",
    "picture": "picture that moves",
}
# The frames, since navigation, in which the first paragraph is laid out and the first formula typeset.
_WATCH = """(() => {
  const seen = window.paSeen = {};
  const look = () => {
    const shown = e => e && e.textContent.trim() && e.getBoundingClientRect().height > 0;
    if (!seen.paragraph && [...document.querySelectorAll('article.bd-article p')].some(shown))
      seen.paragraph = performance.now();
    if (!seen.formula && [...document.querySelectorAll('.math[data-typeset]')].some(shown))
      seen.formula = performance.now();
    if (!seen.picture && document.querySelector('.pa-explorable[data-live]'))
      seen.picture = performance.now();
    if (!seen.paragraph || !seen.formula || !seen.picture) requestAnimationFrame(look);
  };
  new PerformanceObserver(list => { seen.largest = list.getEntries().at(-1).startTime; })
    .observe({type: 'largest-contentful-paint', buffered: true});
  requestAnimationFrame(look);
})()"""


def clone() -> list[dict]:
    """Set-up and three builds, one after the other, in a fresh clone."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(fresh)], check=True)
        steps = [("set-up in a fresh clone", ["make", "set-up"])]
        build = [".venv/bin/python", "tools/build_book.py"]
        steps += [("the first build", build), ("a build with nothing changed", build)]
        rows = [_row(name, "s", [_seconds(command, fresh)]) for name, command in steps]
        with (fresh / "book" / "why.md").open("a", encoding="utf-8") as page:
            page.write("\nOne more line.\n")
        return [*rows, _row("a build with one page changed", "s", [_seconds(build, fresh)])]


def tests() -> list[dict]:
    """Every test of this checkout."""
    return [_row("all tests", "s", [_seconds([sys.executable, "tools/test_all.py"], ROOT)])]


def pages() -> list[dict]:
    """What a browser reads for a page, and when it shows something; each time with an empty cache."""
    sys.path.append(str(ROOT / "tools"))
    from browser import SITE, built_pages, bytes_of, chromium

    if not (built := built_pages()):
        raise SystemExit("the book is not built: make book")
    rows = []
    with chromium() as browser:
        weights = sorted(bytes_of(browser, page) / 1e6 for page in built)
        rows.append(
            _row("what a page loads, uncompressed: the median page", "MB", [statistics.median(weights)])
        )
        rows.append(_row("the heaviest page", "MB", weights[-1:]))
        for name in _OPENED:
            seen = [_opened(browser, (SITE / name).with_suffix(".html")) for _ in range(_ROUNDS)]
            for what, shown in _SHOWN.items():
                if what in seen[0]:
                    rows.append(_row(f"{name}: {shown}", "s", [each[what] / 1000 for each in seen]))
    return rows


def _opened(browser, page: Path) -> dict[str, float]:
    """Milliseconds from navigation to each of what is shown, where the page has it."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        tab = context.new_page()
        tab.add_init_script(_WATCH)
        tab.goto(page.as_uri())
        tab.wait_for_function("() => window.paSeen.paragraph && window.paSeen.largest")
        for awaited, what in ((".math", "formula"), (".pa-explorable", "picture")):
            if tab.evaluate(_AT_ONCE, awaited):
                tab.wait_for_function(f"() => window.paSeen.{what}")
        return tab.evaluate("() => window.paSeen")
    finally:
        context.close()


def _seconds(command: list[str], folder: Path) -> float:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def _row(name: str, unit: str, values: list[float]) -> dict:
    found = {"name": name, "unit": unit, "value": statistics.median(values), "rounds": len(values)}
    print(f"{found['value']:8.3g} {unit}  {name}", flush=True)
    return found | {"low": min(values), "high": max(values)}


PARTS = {"clone": clone, "tests": tests, "pages": pages}


def main() -> int:
    """Measure the parts named on the command line, or all."""
    parts, keep, about = asked(__doc__, "part", PARTS)
    found = {part: {"machine": about, "rows": PARTS[part]()} for part in parts or PARTS}
    if keep:
        kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        write_atomically(KEPT, json.dumps(kept | found, indent=1) + "\n")
        print(f"wrote {os.path.relpath(KEPT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
