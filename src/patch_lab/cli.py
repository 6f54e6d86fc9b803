"""The command line: ``patch-association`` with ``claims``, ``certify``, ``train``, ``look`` and ``sweep``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from importlib import import_module

#: Where each command's arguments are, and what it does.
COMMANDS = {
    "claims": ("patch_lab.kit.ledger.cli", "the ledger: every claim with its verdict and evidence"),
    "certify": ("patch_lab.certify.cli", "prove the certified statements again"),
    "train": ("patch_lab.images.training.cli", "train a ViT or a CNN on images"),
    "look": ("patch_lab.images.looking_cli", "what a trained ViT knows of the grid of its patches"),
    "sweep": ("patch_lab.kit.sweeps.cli", "make a recorded sweep again"),
}


class Terminated(KeyboardInterrupt):
    """SIGTERM: what a machine that is about to stop sends."""


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status.

    1 for a sweep's cell that failed or a statement that is not proved again; 2 for arguments or files that
    cannot be used; 3 where the time is up: no cell of a sweep fits into its minutes, or a training has
    epochs left; 130 and 143 when stopped by Ctrl-C or SIGTERM.
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
