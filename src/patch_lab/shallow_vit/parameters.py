"""What the parameters of the chapters on the second theory must be."""

from __future__ import annotations

from pathlib import Path

from patch_lab.kit.ledger.parameters import (
    CHANCE,
    COUNT,
    INSIDE,
    Kind,
    Relation,
    integer_from,
)

KINDS = {
    "num_patterns": integer_from(3),
    "num_tokens": COUNT,
    "num_neurons": COUNT,
    "relevant": CHANCE,
    "confusion": CHANCE,
    "rare": INSIDE,
    "behind": Kind(
        "'plants', 'noise', 'clean' or a folder of pictures",
        lambda x: isinstance(x, str) and (x in ("plants", "noise", "clean") or Path(x).is_dir()),
        ("no such folder", 7),
    ),
    "kept": integer_from(1, 64),
    "pictures": integer_from(2),
}

ONLY = {"attention_map": {"confusion": INSIDE}, "setting": {"relevant": INSIDE}}

_FEWER = Relation(
    "confusion < relevant and relevant + confusion <= 1",
    lambda x: x["confusion"] < x["relevant"] and x["relevant"] + x["confusion"] <= 1 + 1e-12,
    {"relevant": (0.01, 0.99), "confusion": (0.6,)},
)


def _are_counts(parameters) -> bool:
    counts = [parameters["num_tokens"] * parameters[name] for name in ("relevant", "confusion")]
    return all(abs(count - round(count)) < 1e-9 for count in counts)


BETWEEN = {
    "attention_map": (_FEWER,),
    "learning": (_FEWER,),
    "setting": (
        _FEWER,
        Relation(
            "the tokens relevant * num_tokens and confusion * num_tokens are whole numbers",
            _are_counts,
            {"num_tokens": (3, 30), "relevant": (0.33,), "confusion": (0.33,)},
        ),
    ),
    "sparsification": (_FEWER,),
}
