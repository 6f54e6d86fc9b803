"""The ledger: every claim that a chapter examines, with its verdict and its evidence.

``claims.toml`` states each claim in our own words. A chapter calls :func:`record_verdict` with
what it computed; the evidence that was recorded when the book was made lies in ``evidence/``.
Replaying a chapter compares fresh evidence with the recorded one, and a difference beyond the
stated tolerance stops the notebook.
"""

from patch_association.claims.evidence import Number, exact, sampled
from patch_association.claims.ledger import SOURCES, VERDICTS, Claim, ledger, totals
from patch_association.claims.verdict import Verdict, record_verdict

__all__ = [
    "SOURCES",
    "VERDICTS",
    "Claim",
    "Number",
    "Verdict",
    "exact",
    "ledger",
    "record_verdict",
    "sampled",
    "totals",
]
