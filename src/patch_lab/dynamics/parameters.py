"""What the parameters of the chapters on the dynamics must be."""

from __future__ import annotations

from patch_lab.kit.ledger.parameters import (
    CHANCE,
    COUNT,
    FROM_0,
    POSITIVE,
    SOME_CHANCE,
    Relation,
    fraction,
    multiple,
    number,
    positive_numbers,
    sizes,
    tuple_of,
)

KINDS = {
    "D": multiple(4, 8),
    "N": COUNT,
    "size": sizes(2),
    "small": sizes(2),
    "side": multiple(2, 4),
    "crowd": tuple_of("C and q: a whole number and a chance", (COUNT, CHANCE), None, (0, 0.1), (4, 2.0)),
    "hard": CHANCE,
    "edge": CHANCE,
    "alpha": POSITIVE,
    "omega": POSITIVE,
    "init_std": FROM_0,
    "duration": POSITIVE,
    "horizon": POSITIVE,
    "late": number("a number above 10", lambda x: x > 10, 10.0),
    "diagonals": positive_numbers("one or more numbers above 0", bool),
    "ratios": positive_numbers(
        "two or more falling numbers above 0", lambda x: len(x) > 1 and x == sorted(set(x), reverse=True),
        (16,), (16, 64), (16, 16),
    ),
}  # fmt: skip

ONLY = {
    "certified": {
        "q": fraction("a chance from 0 to 1", lambda x: 0 <= x <= 1, "2", "-1/2"),
        "rate": fraction("a fraction above 0", lambda x: x > 0, "0", "-1/200"),
        "diagonal": fraction("a fraction", lambda x: True),
    },
    "companions": {"size": sizes(3, 2), "q": SOME_CHANCE, "diagonal": POSITIVE},
    "idealized": {
        "linear": POSITIVE,
        "diagonals": positive_numbers(
            "two rising numbers above 0", lambda x: len(x) == 2 and x[0] < x[1], (1.0, 2.0, 3.0), (4.0, 1.0)
        ),
    },
    "longer": {"q": SOME_CHANCE, "hard": SOME_CHANCE, "edge": SOME_CHANCE},
}

BETWEEN = {
    "longer": (
        Relation(
            "q < edge <= hard", lambda x: x["q"] < x["edge"] <= x["hard"],
            {"q": (0.8,), "edge": (0.3, 0.9), "hard": (0.1,)},
        ),
    ),
}  # fmt: skip
