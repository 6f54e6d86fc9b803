"""The command line: ``patch-association`` with ``claims``, ``certify``, ``train``, ``look`` and ``sweep``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path

#: Where each command's arguments are, and what it does.
COMMANDS = {
    "claims": ("patch_lab.kit.ledger.cli", "the ledger: every claim with its verdict and evidence"),
    "certify": ("patch_lab.certify.cli", "prove the certified statements again"),
    "train": ("patch_lab.images.training.cli", "train a ViT or a CNN on images"),
    "look": ("patch_lab.images.looking_cli", "what a trained ViT knows of the grid of its patches"),
    "sweep": (__name__, "make a recorded sweep again"),
}


class Terminated(KeyboardInterrupt):
    """SIGTERM: what a machine that is about to stop sends."""


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status.

    1 for a sweep's cell that failed, 2 for arguments or files that cannot be used, 130 and 143 when stopped
    by Ctrl-C or SIGTERM.
    """
    here = threading.current_thread() is threading.main_thread()  # only there may a signal be handled
    before = signal.signal(signal.SIGTERM, _terminate) if here else None
    try:
        arguments = _parser().parse_args(argv)
        status = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read our output (head, a pager) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        message = " ".join(str(error).split())  # one line, whatever stands in a damaged file
        print(f"patch-association: {message}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"patch-association: not enough memory: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(f"patch-association: {str(stop) or 'stopped'}", file=sys.stderr)
        return 143 if isinstance(stop, Terminated) else 130
    finally:
        if here:
            signal.signal(signal.SIGTERM, before)


def _terminate(number, frame):
    raise Terminated


class _Command(argparse.ArgumentParser):
    """A command, which gets its arguments when it is asked for: importing what they need takes seconds."""

    room = ""

    def parse_known_args(self, args=None, namespace=None):
        import_module(self.room).add_arguments(self)
        return super().parse_known_args(args, namespace)


def _parser() -> argparse.ArgumentParser:
    from patch_association import __version__

    parser = argparse.ArgumentParser(
        prog="patch-association",
        description="The library of an executable book on how Vision Transformers learn spatial structure.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Command)
    for name, (room, about) in COMMANDS.items():
        commands.add_parser(name, help=about, conflict_handler="resolve").room = room
    return parser


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
        help="make as many whole cells as fit into M minutes, going on with the record; never half a cell",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=_sweep)


def _sweep(arguments) -> int:
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


if __name__ == "__main__":
    sys.exit(main())
