"""What the parameters of the chapters on transfer must be."""

from __future__ import annotations

import math

from patch_lab.kit.ledger.parameters import (
    CHANCE,
    COUNT,
    IMAGE,
    INSIDE,
    POSITIVE,
    Relation,
    integer_from,
    tuple_of,
)

KINDS = {
    "moved": CHANCE,
    "target": INSIDE,
    "chi": POSITIVE,
    "samples": COUNT,
    "pretraining": COUNT,
    "first": COUNT,
    "image": IMAGE,
    "corner": tuple_of(
        "D, C and N, whole numbers: two sets or more of C patches, and inputs", (COUNT,) * 3,
        lambda D, C, N: D % C == 0 and D >= 2 * C, (17, 4, 4), (16, 4, 0), (16, 4),
    ),
}  # fmt: skip

ONLY = {"fine_tuning": {"seeds": integer_from(48)}}

BETWEEN = {
    "fine_tuning": (
        Relation(
            "q = chi * C^2 / D of the image is a chance",
            lambda x: x["chi"] * math.prod(x["image"][2:]) ** 2 <= math.prod(x["image"][:2]),
            {"chi": (3.0,), "image": ((6, 6, 3, 6),)},
        ),
    ),
}
