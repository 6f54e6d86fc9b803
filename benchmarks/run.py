"""Run every benchmark and write benchmarks/latest.json: what is timed, against whom.

Each module beside this file defines functions ``bench_*`` that return one result or a list of
them: {"name", "ours_s", "theirs_s", "theirs", "ratio"}. The ratio is ours over theirs, below 1
where ours is faster.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE / "latest.json"


def main() -> None:
    """Run the benchmarks of the modules named on the command line, or of all."""
    modules = sys.argv[1:] or sorted(p.stem for p in HERE.glob("*.py") if p.stem not in ("run", "timing"))
    results = []
    for module in map(importlib.import_module, modules):
        for name, function in vars(module).items():
            if not name.startswith("bench_"):
                continue
            returned = function()
            for result in returned if isinstance(returned, list) else [returned]:
                results.append(result)
                print(
                    f"{result['ratio']:8.3g} x  {result['name']}: {result['ours_s']:.3g} s "
                    f"against {result['theirs_s']:.3g} s ({result['theirs']})",
                    flush=True,
                )
    OUT.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(
        f"wrote {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}: "
        f"{len(results)} results"
    )


if __name__ == "__main__":
    main()
