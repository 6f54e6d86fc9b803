"""What the parameters of the chapters on the setting must be."""

from __future__ import annotations

from patch_lab.kit.ledger.parameters import (
    CHANCE,
    COUNT,
    DIVIDES,
    IMAGE,
    LAW,
    POSITIVE,
    Relation,
    integer_from,
    multiple,
    tuple_of,
)

SIDES = tuple_of("two whole numbers of at least 1, rows and columns", (COUNT, COUNT), None, (0, 4), (4,))
#: A set in which each patch has a companion.
COMPANIONS = tuple_of(
    "rows and columns of a set of two patches or more", (COUNT, COUNT), lambda h, w: h * w > 1,
    (1, 1), (0, 4), (4,),
)  # fmt: skip
#: L, C and q.
SETS = tuple_of(
    "L, C and q: two or more sets, their patches, a chance", (integer_from(2), COUNT, CHANCE), None,
    (1, 4, 0.3), (4, 2.5, 0.3), (4, 2, 2.0), (4, 2),
)  # fmt: skip

KINDS = {
    "sides": SIDES,
    "block": SIDES,
    "images": COUNT,
    "large_sides": SIDES,
    "dim": COUNT,
    "grid_q": CHANCE,
    "grid_sets": multiple(2, 2, 12),  # |p|^2 grows 4.5 times a set: doubles have no more digits
    "score_rate": POSITIVE,
    "strength": POSITIVE,
    "wide": LAW,
    "read": SETS,
    "tiny": SETS,
}

ONLY = {
    "attention": {"block": COMPANIONS},
    "spatial_data": {"large": LAW, "dim": integer_from(2)},
    "structure": {"block": COMPANIONS},
}

_BLOCK = Relation(
    "block is smaller than sides, whose rows and columns are multiples of its own",
    lambda x: IMAGE.holds((*x["sides"], *x["block"])), {"sides": ((5, 5),), "block": ((4, 5), (8, 8))},
)  # fmt: skip
_LARGE_BLOCK = Relation(
    "block is smaller than large_sides, whose rows and columns are multiples of its own",
    lambda x: IMAGE.holds((*x["large_sides"], *x["block"])), {"large_sides": ((5, 5), (2, 2)), "block": ()},
)  # fmt: skip

BETWEEN = {
    "attention": (_BLOCK,),
    "linear_models": (DIVIDES,),
    "spatial_data": (_BLOCK,),
    "structure": (_BLOCK, _LARGE_BLOCK),
}
