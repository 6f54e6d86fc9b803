"""The ledger: every claim that a chapter examines, with its verdict and its evidence.

``claims.toml`` of a part states each claim in our own words, with its verdict and the reason; ``evidence/``
holds what each chapter measured. A chapter says once what its parameters are, then hands in its numbers::

    chapter("setting/structure", PRESET=PRESET)
    check("ours-chance-levels", {"recall": sampled("off-diagonal recall", estimate, n=400)})

At the recorded parameters a number that differs by more than its tolerance stops the notebook; at any others
the card shows yours beside the recorded one.
"""

from patch_lab.kit.ledger.evidence import Number, deterministic, exact, mean_of_runs, off_runs, sampled
from patch_lab.kit.ledger.ledger import Ledger, chapter, check, evidence_file, shipped
from patch_lab.kit.ledger.table import ENGINES, OUTCOMES, SOURCES, VERDICTS, Claim, escaped
from patch_lab.kit.ledger.verdict import Card

__all__ = [
    "ENGINES",
    "OUTCOMES",
    "SOURCES",
    "VERDICTS",
    "Card",
    "Claim",
    "Ledger",
    "Number",
    "chapter",
    "check",
    "deterministic",
    "escaped",
    "evidence_file",
    "exact",
    "mean_of_runs",
    "off_runs",
    "sampled",
    "shipped",
]
