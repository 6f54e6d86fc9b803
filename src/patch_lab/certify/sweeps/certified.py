"""The sweep ``certified``: every certified statement, proved once more, with what its proof found.

``patch-association certify`` proves without recording.
"""

from __future__ import annotations

from patch_lab.certify.runs import PRECISION, Options
from patch_lab.certify.statements import STATEMENTS, prove
from patch_lab.kit.sweeps.sweep import Sweep


def certified_cell(statement: str, arithmetic: str) -> dict:
    """Prove one statement; enclosures are texts such as "[0.64431 +/- 3e-6]"."""
    return {"text": STATEMENTS[statement].text, **prove(statement, Options(arithmetic))}


SWEEPS = (
    Sweep(
        name="certified",
        summary="The certified statements: runs in ball arithmetic and covered regions, proved again.",
        cells=(
            *({"statement": name, "arithmetic": "double"} for name in STATEMENTS),
            {"statement": "association-lost", "arithmetic": "arb"},
            {"statement": "quadrant-keeps", "arithmetic": "arb"},
        ),
        run=certified_cell,
        config={"bits": PRECISION},
        data="nothing but its settings: every proof is a finite computation",
        packages=("python-flint",),
        grows=True,
    ),
)
