"""The ledger itself: statements from ``claims.toml``, verdicts from ``evidence/``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.resources import files

from patch_association.claims.evidence import Number

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The verdicts, from the strongest to the open; each with the family that colors its card.
VERDICTS = {
    "proved here": "holds",
    "holds exactly": "holds",
    "holds statistically": "holds",
    "holds only if": "conditional",
    "fails as stated": "fails",
    "not testable": "untested",
    "not run at this size": "untested",
}

#: Who makes the claim.
SOURCES = {
    "jelassi2022": "Jelassi, Sander & Li (2022)",
    "li2023": "Li, Wang, Liu & Chen (2023)",
    "ours": "this book",
}


@dataclass(frozen=True)
class Claim:
    """One line of the ledger.

    Attributes
    ----------
    id : str
    source : str
        A key of :data:`SOURCES`.
    where : str
        Where the source states it; for our own, where the book does.
    statement : str
        In our own words; inline mathematics between dollar signs.
    chapter : str
        The chapter that examines it, as ``part/chapter``.
    verdict : str or None
        A key of :data:`VERDICTS`; None until the chapter was run.
    because : str
        One or two sentences: the condition, the counterexample, what was checked.
    evidence : tuple of Number
    """

    id: str
    source: str
    where: str
    statement: str
    chapter: str
    verdict: str | None = None
    because: str = ""
    evidence: tuple[Number, ...] = ()

    @property
    def family(self) -> str:
        """ "holds", "conditional", "fails" or "untested"."""
        return VERDICTS.get(self.verdict, "untested")

    def as_dict(self) -> dict:
        """The claim with its evidence as JSON values."""
        return {
            "id": self.id,
            "source": self.source,
            "where": self.where,
            "statement": self.statement,
            "chapter": self.chapter,
            "verdict": self.verdict,
            "because": self.because,
            "evidence": [number.as_dict() for number in self.evidence],
        }


def ledger(source: str | None = None, chapter: str | None = None) -> list[Claim]:
    """Every claim in the order of ``claims.toml``, of one source or chapter if asked.

    Raises
    ------
    ValueError
        If ``source`` is unknown.
    """
    if source is not None and source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, got {source!r}")
    return [c for c in _read() if source in (None, c.source) and chapter in (None, c.chapter)]


def find(claim_id: str) -> Claim:
    """The claim of this id."""
    for claim in _read():
        if claim.id == claim_id:
            return claim
    raise ValueError(f"the ledger has no claim {claim_id!r}; it has {', '.join(c.id for c in _read())}")


def totals() -> dict[str, int]:
    """How many claims have each verdict, in the order of :data:`VERDICTS`; zeros are left out."""
    counts = {verdict: sum(c.verdict == verdict for c in _read()) for verdict in VERDICTS}
    return {verdict: count for verdict, count in counts.items() if count}


def evidence_file(claim_id: str):
    """Where the recorded evidence of a claim lies in the package."""
    return files(__package__) / "evidence" / f"{claim_id}.json"


def _read() -> list[Claim]:
    entries = tomllib.loads((files(__package__) / "claims.toml").read_text(encoding="utf-8")).get("claim", [])
    return [_with_evidence(Claim(**entry)) for entry in entries]


def _with_evidence(claim: Claim) -> Claim:
    file = evidence_file(claim.id)
    if not file.is_file():
        return claim
    recorded = json.loads(file.read_text(encoding="utf-8"))
    numbers = tuple(Number(**number) for number in recorded["evidence"])
    return Claim(
        claim.id,
        claim.source,
        claim.where,
        claim.statement,
        claim.chapter,
        recorded["verdict"],
        recorded["because"],
        numbers,
    )
