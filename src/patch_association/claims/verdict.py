"""Verdicts: a chapter hands in what it measured and shows the card that the ledger keeps."""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from patch_association._files import write_atomically
from patch_association.claims.evidence import Number
from patch_association.claims.ledger import SOURCES, VERDICTS, Claim, evidence_file, find


@dataclass(frozen=True)
class Verdict:
    """A claim with its verdict, shown as a card in a notebook and as text elsewhere."""

    claim: Claim
    note: str = ""

    def __repr__(self) -> str:
        claim = self.claim
        lines = [f"{claim.where} ({SOURCES[claim.source]}): {claim.verdict}", claim.because]
        lines += [f"  {number.name}: {number.show()} ({number.show_basis()})" for number in claim.evidence]
        return "\n".join(lines + ([self.note] if self.note else []))

    def _repr_markdown_(self) -> str:
        """Markdown, so that the statement's mathematics is typeset wherever the notebook is read."""
        claim = self.claim
        rows = "\n".join(
            f"<tr><td>{html.escape(n.name)}</td><td>{html.escape(n.show())}</td>"
            f"<td>{html.escape(n.show_basis())}</td></tr>"
            for n in claim.evidence
        )
        note = f"\n\n{self.note}" if self.note else ""
        return (
            f'<div class="pa-verdict pa-{claim.family}">\n'
            f'<p class="pa-verdict-head"><strong>{html.escape(claim.verdict)}</strong> · '
            f"{html.escape(claim.where)}, {html.escape(SOURCES[claim.source])}</p>\n\n"
            f"{claim.statement}\n\n{claim.because}{note}\n\n"
            f"<table><thead><tr><th>evidence</th><th>value</th><th>basis</th></tr></thead>"
            f"<tbody>\n{rows}\n</tbody></table>\n</div>"
        )


def record_verdict(claim_id: str, verdict: str, *, because: str, evidence, preset: str = "reader") -> Verdict:
    """Give a claim its verdict, checked against the recorded one.

    Parameters
    ----------
    claim_id : str
        An id of ``claims.toml``.
    verdict : str
        A key of :data:`~patch_association.claims.VERDICTS`.
    because : str
        One or two sentences: the condition, the counterexample, or what was checked.
    evidence : list of Number
        From :func:`~patch_association.claims.exact` and :func:`~patch_association.claims.sampled`.
    preset : str
        Recorded evidence is the "reader" preset's; other sizes are shown without comparing.

    Raises
    ------
    ValueError
        For an unknown claim or verdict, no evidence, or two numbers of one name.
    AssertionError
        If the fresh verdict or evidence contradicts what was recorded.
    """
    claim = find(claim_id)
    evidence = tuple(evidence)
    if verdict not in VERDICTS:
        raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {verdict!r}")
    if not evidence or not all(isinstance(number, Number) for number in evidence):
        raise ValueError(f"claim {claim_id!r} needs at least one Number of evidence, got {evidence!r}")
    if len({number.name for number in evidence}) < len(evidence):
        raise ValueError(f"the evidence of claim {claim_id!r} names one number twice")
    because = " ".join(because.split())
    if not because:
        raise ValueError(f"claim {claim_id!r} needs a sentence that says why its verdict is {verdict!r}")
    fresh = replace(claim, verdict=verdict, because=because, evidence=evidence)
    if preset != "reader":
        return Verdict(fresh, f"Run at preset “{preset}”; the ledger records the preset “reader”.")
    if os.environ.get("PATCH_ASSOCIATION_RECORD") == "1":
        _write(fresh)
    else:
        _compare(fresh, claim)
    return Verdict(fresh)


def _write(claim: Claim) -> None:
    entry = {
        "verdict": claim.verdict,
        "because": claim.because,
        "evidence": [number.as_dict() for number in claim.evidence],
    }
    text = json.dumps(entry, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(Path(str(evidence_file(claim.id))), text)


def _compare(fresh: Claim, recorded: Claim) -> None:
    if recorded.verdict is None:
        raise AssertionError(f"claim {fresh.id!r} has no recorded evidence yet: run `make execute`")
    differences = []
    if fresh.verdict != recorded.verdict:
        differences.append(f"the verdict is {fresh.verdict!r} now and was recorded as {recorded.verdict!r}")
    if len(fresh.evidence) != len(recorded.evidence):
        differences.append(f"{len(fresh.evidence)} numbers now, {len(recorded.evidence)} recorded")
    pairs = zip(fresh.evidence, recorded.evidence)
    differences += filter(None, (new.differs_from(old) for new, old in pairs))
    if differences:
        raise AssertionError(f"claim {fresh.id!r} contradicts the ledger: " + "; ".join(differences))
