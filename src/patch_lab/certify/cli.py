"""``patch-association certify``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from patch_lab.certify.descent import Undecided
from patch_lab.certify.runs import ARITHMETICS, Options
from patch_lab.certify.statements import STATEMENTS, prove, quick
from patch_lab.kit.prose import without_markup


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``certify`` takes; its ``run`` takes the parsed arguments."""
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="one statement (default: list all, prove the quick ones)"
    )
    parser.add_argument("--all", action="store_true", help="prove the long ones too")
    parser.add_argument("--list", action="store_true", help="list the statements and prove nothing")
    parser.add_argument(
        "--arithmetic",
        choices=tuple(ARITHMETICS),
        default="double",
        help="what sums over the inputs: doubles with error bounds (default), or Arb, several times slower",
    )
    parser.add_argument(
        "--checkpoints",
        type=Path,
        metavar="DIR",
        help="keep the boxes that are left here, and go on from them",
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """List, print and prove; 1 if a statement cannot be certified."""
    if arguments.name is not None and arguments.name not in STATEMENTS:
        raise ValueError(
            f"there is no certified statement {arguments.name!r}; there are {', '.join(STATEMENTS)}"
        )
    if arguments.checkpoints is not None and arguments.checkpoints.is_file():
        raise ValueError(f"checkpoints must be a folder, got the file {arguments.checkpoints}")
    chosen = [arguments.name] if arguments.name else list(STATEMENTS)
    status = 0
    fast = quick()
    for name in chosen:
        statement = STATEMENTS[name]
        print(f"{name}{'' if name in fast else '  (long)'}\n    {without_markup(statement.text)}", flush=True)
        if arguments.list or not (arguments.name or arguments.all or name in fast):
            continue
        options = Options(
            arguments.arithmetic, arguments.checkpoints, _tell if sys.stderr.isatty() else Options.tell
        )
        try:
            certificate = prove(name, options)
        except Undecided as reason:
            print(f"    NOT certified: {reason}", flush=True)
            status = 1
            continue
        for key, value in certificate.items():
            if not isinstance(value, dict):
                print(f"    {key}: {value}")
        print("    certified", flush=True)
    return status


def _tell(text: str) -> None:
    print(f"    ... {text}", file=sys.stderr)
