"""``patch-association train``."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path


def add_parser(commands, provenance=None) -> argparse.ArgumentParser:
    """Register ``train`` with the subparsers ``commands``; its ``run`` takes the parsed arguments.

    ``provenance(wall_s, device)`` -> dict says in the record where the run came from.
    """
    parser = commands.add_parser("train", help="train a ViT or a CNN on images")
    parser.add_argument(
        "--preset", required=True, metavar="NAME", help="smoke, cifar10, cifar100, svhn or imagenet"
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="for the record and the checkpoints"
    )
    parser.add_argument(
        "--set",
        dest="settings",
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="change settings: attention=vanilla, seed=1, tile=8, ...",
    )
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint in DIR")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run, provenance=provenance)
    return parser


def run(arguments) -> int:
    """Train as the arguments say; 0 when finished, 3 when stopped by ``minutes`` with a checkpoint."""
    from patch_association.images.config import with_settings
    from patch_association.images.presets import preset
    from patch_association.images.train import RECORD, train

    config = with_settings(preset(arguments.preset), arguments.settings)
    words = ["patch-association", "train", "--preset", arguments.preset, "--out", "DIR"]
    if arguments.settings:
        words += ["--set", *arguments.settings]
    try:
        result = train(
            config,
            arguments.out,
            resume=arguments.resume,
            progress=not arguments.quiet,
            name=arguments.preset,
            command=shlex.join(words),
            provenance=arguments.provenance,
        )
    except OSError as error:
        raise ValueError(str(error)) from error  # a full disk, a folder that cannot be written: no traceback
    if result.record["finished"]:
        test = result.record["test"]
        print(f"test accuracy {test['accuracy']:.2%} of {test['n']} pictures; wrote {arguments.out / RECORD}")
        return 0
    done = len(result.record["metrics"])
    print(f"the time is up after {done} of {config.epochs} epochs: --resume goes on")
    return 3
