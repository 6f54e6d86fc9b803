"""The command line: ``patch-association`` with ``claims``, ``train`` and ``sweep NAME``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status (2 for arguments that cannot be used)."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        status = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read our output (head, a pager) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        print(f"patch-association: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("patch-association: stopped; finished work is kept, --resume goes on", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    from patch_association import __version__
    from patch_association.claims.cli import add_parser as add_claims
    from patch_association.images.training.cli import add_parser as add_train
    from patch_association.records import provenance

    parser = argparse.ArgumentParser(
        prog="patch-association",
        description="The library of an executable book on how Vision Transformers learn spatial structure.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    add_claims(commands)
    add_train(commands, provenance)

    sweep = commands.add_parser("sweep", help="make a recorded sweep again")
    sweep.add_argument("name", metavar="NAME", nargs="?", help="the sweep; without it, the list of sweeps")
    sweep.add_argument("--out", type=Path, metavar="FILE", help="the record (default: runs/NAME.json)")
    sweep.add_argument("--resume", action="store_true", help="go on with an interrupted sweep")
    sweep.add_argument("--quiet", action="store_true", help="no progress bar")
    sweep.set_defaults(run=_sweep)
    return parser


def _sweep(arguments) -> int:
    from patch_association.sweeps import registry, run_sweep

    sweeps = registry()
    if arguments.name is None:
        for sweep in sweeps.values():
            print(f"{sweep.name}  ({len(sweep.cells)} cells, about {sweep.minutes:g} min)")
            print(f"    {sweep.summary}")
        return 0
    if arguments.name not in sweeps:
        raise ValueError(f"there is no sweep {arguments.name!r}; there are {', '.join(sweeps)}")
    sweep = sweeps[arguments.name]
    out = arguments.out or Path("runs") / f"{sweep.name}.json"
    size = f"{len(sweep.cells)} cells, about {sweep.minutes:g} minutes on two CPU cores"
    print(f"{sweep.name}: {size}", flush=True)
    record = run_sweep(sweep, out, resume=arguments.resume, progress=not arguments.quiet)
    print(f"wrote {out}: {len(record.results)} results in {record.provenance['wall_s']:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
