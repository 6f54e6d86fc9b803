"""``patch-association sweep``: make a recorded sweep again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``sweep`` takes; its ``run`` takes the parsed arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the sweep; without it, the list of sweeps")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the record (default: runs/NAME.json)")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with an interrupted sweep")
    again.add_argument("--overwrite", action="store_true", help="start again, whatever record there is")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cells side by side (default: 1)")
    parser.add_argument(
        "--minutes", type=float, metavar="M",
        help="make as many whole cells as fit into M minutes, going on with the record; never half a cell; "
        "exit status 3 if not one fits",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """List the sweeps, or run one; the exit status."""
    # Imported here: --help needs none of it.
    from patch_association.checks import positive_int
    from patch_lab.kit.sweeps import CellError, registry, run_sweep

    sweeps = registry()
    positive_int("jobs", arguments.jobs)
    if arguments.name is None:
        if arguments.out or arguments.resume or arguments.overwrite or arguments.minutes is not None:
            raise ValueError(
                "name a sweep: without a name they are listed, and --out, --resume and such say nothing"
            )
        for sweep in sweeps.values():
            print(f"{sweep.name}  ({_size(sweep)})\n    {sweep.summary}")
        return 0
    if arguments.name not in sweeps:
        raise ValueError(f"there is no sweep {arguments.name!r}; there are {', '.join(sweeps)}")
    sweep = sweeps[arguments.name]
    out = arguments.out or Path("runs") / f"{sweep.name}.json"
    begun = sweep.grows or Path(f"{out}.partial").exists()
    if arguments.resume and out.is_file() and not begun:
        record = run_sweep(sweep, out, resume=True)
        print(f"{out} is finished: {len(record)} results; --overwrite makes it again")
        return 0
    print(f"{sweep.name}: {_size(sweep)}", flush=True)
    options = {key: getattr(arguments, key) for key in ("resume", "overwrite", "jobs", "minutes")}
    try:
        record = run_sweep(sweep, out, **options, progress=not arguments.quiet)
    except CellError as error:
        print(f"patch-association: {error}", file=sys.stderr)
        return 1
    if not len(record):
        print(f"no cell fits into {arguments.minutes:g} minutes here, and none was begun")
        return 3
    print(f"wrote {out}: {len(record)} results in {record.provenance['wall_s']:.0f} s")
    return 0


def _size(sweep) -> str:
    """How many cells, and how long the record took that ships."""
    from patch_lab.kit.records import load

    minutes = sweep.minutes
    if minutes is None:
        return f"{len(sweep.cells)} cells, no record yet"
    took = f"{minutes:.0f} minutes" if minutes >= 1 else "under a minute"
    if sweep.grows:
        took = f"{len(load(sweep.name))} of them recorded in {took}"
    return f"{len(sweep.cells)} cells, {took}"
