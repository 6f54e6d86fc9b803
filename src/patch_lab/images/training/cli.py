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

        from patch_lab.images.training.config import TrainConfig

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
        metavar="NAME",
        help="smoke, cifar10, cifar10-cnn, cifar100, svhn, vit-cifar, imagenet; without it, those below",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="for the record and the checkpoints")
    parser.add_argument(
        "--epochs", type=int, metavar="N",
        help="as --set epochs=N; a warm-up that would be longer shrinks by the same factor",
    )  # fmt: skip
    parser.add_argument(
        "--set", dest="settings", action="extend", nargs="+", default=[], metavar="KEY=VALUE",
        help="change settings: attention=vanilla, seed=1, tile=8, ...",
    )  # fmt: skip
    parser.add_argument(
        "--resume", nargs="?", const=True, default=False, metavar="DIR",
        help="go on from the newest checkpoint; --resume DIR needs nothing else",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Train as the arguments say; 0 when finished, 3 when stopped by ``minutes``, 128 + n by signal n."""
    from patch_lab.images.training import train
    from patch_lab.images.training.checkpoint import NEWEST
    from patch_lab.images.training.trainer import RECORD
    from patch_lab.kit.records import provenance

    config, about = _asked(arguments)
    options: dict[str, Any] = about | dict(resume=bool(arguments.resume), progress=not arguments.quiet)
    try:
        result = train(config, arguments.out, provenance=provenance, **options)
    except OSError as error:
        raise ValueError(str(error)) from error  # a full disk, a folder that cannot be written: no traceback
    except KeyboardInterrupt as stop:  # the second one, or one that came before the run began
        there = (arguments.out / NEWEST).exists()
        hint = "--resume goes on from the last checkpoint" if there else "there is no checkpoint yet"
        raise type(stop)(f"stopped at once; {hint} in {arguments.out}") from None
    if not result.record["finished"]:
        why = "stopped" if result.stopped_by else "the time is up"
        done = f"after {len(result.record['metrics'])} of {config.epochs} epochs"
        print(f"{why} {done}, with a checkpoint: --resume goes on")
        return 128 + result.stopped_by if result.stopped_by else 3
    test = result.record["test"]
    print(f"test accuracy {test['accuracy']:.2%} of {test['n']} pictures")
    print(f"the record is {arguments.out / RECORD}")
    return 0


def _asked(arguments):
    """The settings of the run, and its name and command for the record; --resume DIR sets ``out``."""
    from patch_lab.images.training.config import TrainConfig, preset
    from patch_lab.images.training.run import begun

    name = arguments.preset
    words = ["patch-association", "train"]
    if isinstance(arguments.resume, str):
        if name is not None or arguments.out is not None:
            raise ValueError("--resume DIR knows its preset and its folder: leave --preset and --out away")
        arguments.out = Path(arguments.resume)
        config, about = begun(arguments.out)
        return _changed(config, arguments), about
    # a wrong word is told first
    config = _changed(TrainConfig() if name is None else preset(name), arguments)
    if arguments.out is None or (name is None and not arguments.settings):
        raise ValueError(
            "train needs --out DIR, and --preset NAME or --set KEY=VALUE; or, to go on with a run, "
            "--resume DIR alone"
        )
    words += ["--preset", name] if name is not None else []
    words += ["--out", "DIR"]
    words += ["--epochs", str(arguments.epochs)] if arguments.epochs is not None else []
    words += ["--set", *arguments.settings] if arguments.settings else []
    return config, dict(name=name or "train", command=shlex.join(words))


def _changed(config, arguments):
    """The settings with what ``--epochs`` and ``--set`` change."""
    from patch_lab.images.training.config import with_settings

    settings = []
    if arguments.epochs is not None:
        settings.append(f"epochs={arguments.epochs}")
        if config.warmup_epochs > arguments.epochs > 0:
            settings.append(f"warmup_epochs={config.warmup_epochs * arguments.epochs / config.epochs!r}")
    return with_settings(config, [*settings, *arguments.settings])
