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
        "--set", dest="settings", action="extend", nargs="+", default=[], metavar="KEY=VALUE",
        help="change settings: attention=vanilla, seed=1, tile=8, ...",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=int, nargs="+", metavar="N",
        help="several seeds, one after another, each in DIR/seed-N (batching them into one step is slower for "
        "small models on a CPU: bench_seeds_together in benchmarks/images.py measures it)",
    )  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint in DIR")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run, provenance=provenance)
    return parser


def run(arguments) -> int:
    """Train as the arguments say; 0 when finished, 3 when stopped by ``minutes`` with a checkpoint."""
    from patch_association.images.config import with_settings
    from patch_association.images.presets import preset
    from patch_association.images.seeds import train_seeds
    from patch_association.images.train import RECORD, train

    config = with_settings(preset(arguments.preset), arguments.settings)
    words = ["patch-association", "train", "--preset", arguments.preset, "--out", "DIR"]
    if arguments.settings:
        words += ["--set", *arguments.settings]
    if arguments.seeds:
        words += ["--seeds", *map(str, arguments.seeds)]
    options = dict(resume=arguments.resume, progress=not arguments.quiet, name=arguments.preset)
    options |= dict(command=shlex.join(words), provenance=arguments.provenance)
    try:
        if arguments.seeds:
            results = train_seeds(config, arguments.seeds, arguments.out, **options)
        else:
            results = [train(config, arguments.out, **options)]
    except OSError as error:
        raise ValueError(str(error)) from error  # a full disk, a folder that cannot be written: no traceback
    for result in results:
        if not result.record["finished"]:
            done = len(result.record["metrics"])
            print(f"the time is up after {done} of {config.epochs} epochs: --resume goes on")
            return 3
        test = result.record["test"]
        print(f"test accuracy {test['accuracy']:.2%} of {test['n']} pictures")
    print(f"wrote {arguments.out / RECORD}")
    return 0
