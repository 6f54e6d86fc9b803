"""What the parameters of the chapters on images must be."""

from __future__ import annotations

from patch_lab.kit.ledger.parameters import (
    COUNT,
    FROM_0,
    INSIDE,
    POSITIVE,
    Kind,
    integer_from,
    is_among,
    one_of,
)

KINDS = {
    "shuffle_seed": integer_from(0),
    "share": INSIDE,
    "threshold": INSIDE,
    "depth": COUNT,
    "margin": FROM_0,
    "teraflops": POSITIVE,
    "kind": one_of("vanilla", "positional"),
    "positions": one_of("paper", "input", "layers"),
    "tile": Kind(
        "4, 8 or 16, whole patches and more than one", lambda x: is_among(x, (4, 8, 16)), (5, 32, "some")
    ),
    "patch": integer_from(1, 64),
    "nearest": integer_from(1, 195),
}

ONLY = {"pretrained": {"patch": integer_from(1, 9)}}
