"""What the parameters of the chapters beyond both theories must be."""

from __future__ import annotations

from patch_lab.kit.ledger.parameters import (
    COUNT,
    DIVIDES,
    POSITIVE,
    Relation,
    one_of,
)

KINDS = {
    "groups": COUNT,
    "keys": COUNT,
    "layers": COUNT,
    "learning_rate": POSITIVE,
    "vit": one_of(True, False),
    "scores": one_of("free", "gram", "positional", "uniform", "vanilla"),
}

ONLY = {"deeper": {"heads": COUNT}}

BETWEEN = {
    "deeper": (
        DIVIDES,
        Relation(
            "vanilla scores are those of a ViT, vit = True",
            lambda x: x["vit"] or x["scores"] != "vanilla",
            {"scores": ("vanilla",), "vit": ()},
        ),
    ),
}
