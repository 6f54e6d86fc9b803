"""Run every benchmark: what is timed, against whom. ``run.py [--keep] [MODULE ...]``

Each module beside this file defines functions ``bench_*`` that yield results of :mod:`timing`; before a pair
is timed, both sides are checked. A ratio is ours over theirs, below 1 where ours is faster. The pairs are
written to ``benchmarks/latest.json``, a list of ``{name, ours_s, theirs_s, theirs, ratio, low, high, rounds,
machine}``: median ratio and its quartiles over so many rounds. With ``--keep`` all rows and the machine are
also written to ``benchmarks/kept.json``, the table of ``benchmarks/README.md``, and a machine that is busy
with something else is refused.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

from timing import asked

from patch_lab.kit.files import write_atomically

HERE = Path(__file__).parent
_PAIR = ("name", "ours_s", "theirs_s", "theirs", "ratio", "low", "high", "rounds")


def main() -> int:
    """Run the benchmarks of the modules named on the command line, or of all."""
    every = sorted(p.stem for p in HERE.glob("[!_]*.py") if p.stem not in ("run", "timing", "tables", "gpu"))
    modules, keep, about = asked(__doc__, "module", every)
    if keep and modules:
        sys.exit("--keep is for all modules together: a table has one machine and one date")
    results = {module: _results(importlib.import_module(module)) for module in modules or every}
    tables: dict[str, object] = {"latest.json": pairs(results, about)}
    if keep:
        tables["kept.json"] = {"machine": about, "results": results}
    for name, table in tables.items():
        write_atomically(HERE / name, json.dumps(table, indent=1) + "\n")
        print(f"wrote {os.path.relpath(HERE / name)}")
    return 0


def pairs(results: dict[str, list[dict]], machine: dict) -> list[dict]:
    """What was timed against something else, and where: for programs that read the newest table."""
    return [
        {key: row[key] for key in _PAIR} | {"machine": machine} for rows in results.values() for row in rows
    ]


def _results(module) -> list[dict]:
    """What the functions ``bench_*`` of a module yield, printed as it comes."""
    rows = []
    for name, function in list(vars(module).items()):
        if name.startswith("bench_"):
            for row in function():
                rows.append(row)
                print(_line(row), flush=True)
    return rows


def _line(row: dict) -> str:
    times = f"{row['ours_s']:.3g} s against {row['theirs_s']:.3g} s ({row['theirs']})"
    return f"{row['ratio']:8.3g} x [{row['low']:.3g}, {row['high']:.3g}]  {row['name']}: {times}"


if __name__ == "__main__":
    sys.exit(main())
