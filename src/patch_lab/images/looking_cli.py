"""``patch-association look``: what a trained ViT knows of the grid of its patches, in tables."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``look`` takes; its ``run`` takes the parsed arguments."""
    add = parser.add_argument
    add("model", metavar="PATH", help="weights (.npz, .safetensors, .pth, ...), a run's folder, timm's name")
    add("--pictures", type=Path, metavar="DIR", help="a folder of pictures; without it, encodings alone")
    add("--out", type=Path, metavar="FILE", help="the tables as a page of HTML, too")
    add("--limit", type=int, default=200, metavar="N", help="so many of the pictures (default: 200)")
    add("--grid", type=int, nargs=2, metavar=("ROWS", "COLUMNS"), help="of patches, where it is not told")
    add(
        "--heads",
        type=int,
        metavar="H",
        help="of a layer, if weights alone are given, of plain layers",
    )
    add("--norm", choices=("before", "after"), help="attention and MLP, where weights alone do not tell")
    of = "of the model's training pictures, one or one a color (default: 0.5)"
    for name in ("mean", "std"):
        add(f"--{name}", type=float, nargs="+", default=[0.5], metavar="X", help=of)
    add("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Print the tables, and write them where that is asked; 0."""
    # Imported here: --help needs none of it, and PyTorch takes seconds.
    from patch_association.images import families
    from patch_association.images.looking import look_at
    from patch_lab.images.looking import model_at, page, picture_size, read_pictures, tables
    from patch_lab.kit.files import write_atomically

    out = arguments.out
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise ValueError(f"out must be a file in a folder that exists, got {out}")
    read = model_at(arguments.model)
    pictures = None
    if arguments.pictures is not None:
        if (missing := families.not_told(read.model, read.name, arguments.heads, read.about)) is None:
            size = picture_size(read.model, read.name, arguments.grid, read.about)
            channels = families.channels_of(read.model)
            pictures = read_pictures(arguments.pictures, size, channels, arguments.limit, not arguments.quiet)
        else:
            print(f"The attention is left out: {missing}")
    bar = None if not arguments.quiet else False
    names = ("grid", "heads", "norm", "mean", "std")
    options = {name: getattr(arguments, name) for name in names}
    seen = look_at(read, pictures, **options, progress=bar)
    print(seen)
    for title, frame in tables(seen).items():
        print(f"\n{title}\n{frame.to_string(float_format='{:.3f}'.format)}")
    if out is not None:
        write_atomically(out, page(seen))
        print(f"\nthe page is {out}")
    return 0
