"""What must hold of the whole ledger, as a function: so that the test of the real one is itself tested."""

from __future__ import annotations

import re
from collections.abc import Iterable

from patch_association.claims import SOURCES, VERDICTS, Claim


def defects(claims: Iterable[Claim], evidence_files: Iterable[str], chapters: Iterable[str]) -> list[str]:
    """A sentence for everything that is wrong with a ledger; none for a whole one."""
    claims, chapters, found = list(claims), set(chapters), []
    ids = [claim.id for claim in claims]
    found += [f"{id_} is stated twice" for id_ in sorted({id_ for id_ in ids if ids.count(id_) > 1})]
    for claim in claims:
        if claim.source not in SOURCES:
            found.append(f"{claim.id} has the unknown source {claim.source}")
        if not re.fullmatch(rf"{re.escape(claim.source)}-[a-z0-9.-]+", claim.id):
            found.append(f"{claim.id} is not named source-place")
        if claim.chapter not in chapters:
            found.append(f"{claim.id} has no chapter {claim.chapter}")
        if not (claim.where.strip() and claim.statement.strip()) or claim.statement.count("$") % 2:
            found.append(f"{claim.id} has no whole statement")
        if claim.verdict is None or not claim.evidence:
            found.append(f"{claim.id} has no evidence")
        elif claim.verdict not in VERDICTS or not claim.because:
            found.append(f"{claim.id} has no whole verdict")
        if len({number.name for number in claim.evidence}) < len(claim.evidence):
            found.append(f"{claim.id} names one number twice")
    found += [
        f"{name} is evidence of no claim"
        for name in sorted(set(evidence_files) - {f"{id_}.json" for id_ in ids})
    ]
    return found
