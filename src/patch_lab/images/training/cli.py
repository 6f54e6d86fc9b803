"""``patch-association train``."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any


class Help(argparse.Action):
    """``--help`` with every setting and its default, which only asking for it makes worth an import."""

    def __init__(self, option_strings, dest):
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="show this and exit")

    def __call__(self, parser, namespace, values, option_string=None):
        """Print and exit."""
        from dataclasses import fields

        from patch_lab.images.training import TrainConfig

        settings = [f"  {field.name}={field.default}" for field in fields(TrainConfig)]
        parser.epilog = "settings and their defaults, of which a preset changes some:\n" + "\n".join(settings)
        parser.print_help()
        parser.exit()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``train`` takes; its ``run`` takes the parsed arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("-h", "--help", action=Help)
    parser.add_argument(
        "--preset",
        required=True,
        metavar="NAME",
        help="smoke, cifar10, cifar10-cnn, cifar100, svhn or imagenet",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="for the record and the checkpoints"
    )
    parser.add_argument(
        "--set", dest="settings", action="extend", nargs="+", default=[], metavar="KEY=VALUE",
        help="change settings: attention=vanilla, seed=1, tile=8, ...",
    )  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint in DIR")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Train as the arguments say; 0 when finished, 3 when stopped by ``minutes``, 128 + n by signal n."""
    from patch_lab.images.training import preset, train, with_settings
    from patch_lab.images.training.checkpoint import NEWEST
    from patch_lab.images.training.trainer import RECORD
    from patch_lab.records import provenance

    config = with_settings(preset(arguments.preset), arguments.settings)
    words = ["patch-association", "train", "--preset", arguments.preset, "--out", "DIR"]
    if arguments.settings:
        words += ["--set", *arguments.settings]
    options: dict[str, Any] = dict(
        resume=arguments.resume, progress=not arguments.quiet, name=arguments.preset
    )
    options |= dict(command=shlex.join(words), provenance=provenance)
    try:
        result = train(config, arguments.out, **options)
    except OSError as error:
        raise ValueError(str(error)) from error  # a full disk, a folder that cannot be written: no traceback
    except KeyboardInterrupt as stop:  # the second one, or one that came before the run began
        there = (arguments.out / NEWEST).exists()
        said = "--resume goes on from the last checkpoint" if there else "there is no checkpoint yet"
        raise type(stop)(f"stopped at once; {said} in {arguments.out}") from None
    if not result.record["finished"]:
        why = "stopped" if result.stopped_by else "the time is up"
        done = f"after {len(result.record['metrics'])} of {config.epochs} epochs"
        print(f"{why} {done}, with a checkpoint: --resume goes on")
        return 128 + result.stopped_by if result.stopped_by else 3
    test = result.record["test"]
    print(f"test accuracy {test['accuracy']:.2%} of {test['n']} pictures")
    print(f"the record is {arguments.out / RECORD}")
    return 0
