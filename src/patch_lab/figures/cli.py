"""``patch-association look``."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``look`` takes; its ``run`` takes the parsed arguments."""
    add = parser.add_argument
    add(
        "model", metavar="PATH", help="weights (.npz, .safetensors, .pth, ...), a folder of them, timm's name"
    )
    add("--pictures", type=Path, metavar="DIR", help="a folder of pictures; without it, encodings alone")
    add("--out", type=Path, default=Path("report.html"), metavar="FILE", help="(default: report.html)")
    add("--limit", type=int, default=200, metavar="N", help="so many of the pictures (default: 200)")
    add("--grid", type=int, nargs=2, metavar=("ROWS", "COLUMNS"), help="of patches, where it is not told")
    add("--heads", type=int, metavar="H", help="of a layer, which weights do not tell (default: width / 64)")
    of = "of the model's training pictures, one or one a color (default: 0.5)"
    for name in ("mean", "std"):
        add(f"--{name}", type=float, nargs="+", default=[0.5], metavar="X", help=of)
    add("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Write the page; 0."""
    # Imported here: --help needs none of it, and PyTorch and Matplotlib take seconds.
    from patch_association.images.looking import look_at
    from patch_association.images.weights import given
    from patch_lab._files import write_atomically
    from patch_lab.figures.report import picture_size, read_pictures, report

    out = arguments.out
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(f"out must be a file in a folder that exists, got {out}")
    model, name = given(arguments.model)
    pictures = None
    if arguments.pictures is not None:
        size = picture_size(model, name, arguments.grid)
        pictures = read_pictures(arguments.pictures, size, arguments.limit, not arguments.quiet)
    bar = None if not arguments.quiet else False
    options = dict(grid=arguments.grid, heads=arguments.heads, mean=arguments.mean, std=arguments.std)
    seen = look_at((model, name), pictures, **options, progress=bar)
    write_atomically(out, report(seen, arguments.mean, arguments.std))
    print(f"{seen}\nthe page is {out}")
    return 0
