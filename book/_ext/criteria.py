"""The same question under different criteria: one table of numbers that seem to contradict each other.

The rows stand in ``book/criteria.toml``. Every number is read from the ledger's evidence or computed from a
record while the book is built.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from patch_lab.certify.runs import RUNS
from patch_lab.images.flops import attention_flops
from patch_lab.kit import records
from patch_lab.kit.ledger import shipped
from patch_lab.kit.ledger.table import tomllib
from patch_lab.kit.prose import number, percent
from patch_lab.setting.costs import positional_attention_flops, self_attention_flops
from patch_lab.transfer.complexity import sample_complexity
from patch_lab.transfer.recorded import averaged_by_patches, errors_by_patches

SOURCE = Path(__file__).resolve().parent.parent / "criteria.toml"


class Shown(dict):
    """The evidence of each claim as its card shows it, looked up where a row asks."""

    def __missing__(self, claim: str) -> dict[str, str]:
        return {key: evidence.show() for key, evidence in shipped()[claim].evidence.items()}


def computed() -> dict[str, object]:
    """What the rows name beside the ledger's numbers."""
    tries = records.load("transience")
    pretrained = records.load("transfer-pretrained")
    held = {}
    for q in (0.05, 0.4):
        margins = np.concatenate([cell["margin"] for cell in tries.where(q=q)])  # (runs, records)
        had = margins[(margins > 0).any(axis=1)]
        held[str(q)] = f"{int((had[:, -1] > 0).sum())} of {len(had)}"
    after = {n: averaged_by_patches(pretrained.where(steps=n), "pretraining") for n in (250, 1000)}
    sizes, brief = after[250][400]
    layer = 32, 197, 192  # inputs, patches, dimension
    positional, vanilla = (attention_flops(64, 64, kind).forward(128) for kind in (True, False))
    return {
        "realistic": records.load("realistic").config["settings"]["single-rate"],
        "slow": records.load("idealized").one(part="single rate", diagonal=1.0),
        "certified_rate": float(RUNS["single-rate"].rate),
        "thrice": number(sample_complexity(*after[250][36]).value, 2),
        "tuned": number(sample_complexity(*errors_by_patches(records.load("transfer-scratch"))[36]).value),
        "one_layer": number(positional_attention_flops(*layer) / self_attention_flops(*layer), 2),
        "attention_alone": number(positional / vanilla, 2),
        "held": held,
        "transience_steps": tries.config["steps"],
        "brief_error": percent(float(brief[:, -1].mean()), 0),
        "brief_samples": sizes[-1],
        "long_samples": str(sample_complexity(*after[1000][400])).split(" ")[0],
    }


def criteria_table() -> str:
    """The table of questions, answers and criteria, in MyST."""
    rows = ["| question | answer | under which criterion | chapter |", "|---|---|---|---|"]
    names = computed() | {"ledger": Shown()}
    for question in tomllib.loads(SOURCE.read_text(encoding="utf-8"))["question"]:
        for place, (value, criterion, chapter) in enumerate(question["answers"]):
            asks = question["asks"] if place == 0 else ""
            answer = value.format(**names)
            rows.append(f"| {asks} | {answer} | {criterion.format(**names)} | {{doc}}`/book/{chapter}` |")
    return "\n".join(rows)
