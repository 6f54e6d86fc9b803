"""What must hold of the whole ledger, as a function: so that the test of the real one is itself tested."""

from __future__ import annotations

import re
from collections.abc import Iterable

from patch_lab.ledger import Claim

#: What may hold a digit without being a measured number.
NAMES = re.compile(
    r"\b(?:Algorithm|Equation|Definition|Assumption|Theorem|Lemma|Figure"
    r"|Simplification|Parametrization|[Ss]ection)s? "
    r"[\d.]+[a-z]?"
    r"|\bCIFAR-100?|\bResNet-\d+|\bVGG-\d+"
)


def typed_numbers(text: str) -> list[str]:
    """Numbers of a reason that no evidence fills: any outside mathematics, and decimals inside it."""
    pieces = re.split(r"\$([^$]*)\$", NAMES.sub("", text))
    outside = [
        number
        for piece in pieces[::2]
        for number in re.findall(r"\d[\d.,]*", re.sub(r"\{[^}]*\}", "", piece))
    ]
    return outside + [number for piece in pieces[1::2] for number in re.findall(r"\d+\.\d+|\d{3,}", piece)]


def defects(
    claims: Iterable[Claim], evidence: Iterable[tuple[str, str]], chapters: Iterable[str]
) -> list[str]:
    """A sentence for everything that is wrong with a ledger; none for a whole one.

    ``evidence``: (chapter, claim) for all that the files of evidence hold.
    """
    claims, chapters, found = list(claims), set(chapters), []
    for claim in claims:
        if claim.chapter not in chapters:
            found.append(f"{claim.id} has no chapter {claim.chapter}")
        if claim.kind == "claim" and not claim.evidence:
            found.append(f"{claim.id} has no evidence")
        elif claim.kind == "claim" and not claim.requires:
            found.append(f"{claim.id} requires nothing of its evidence")
        elif claim.measured and not claim.knobs:
            found.append(f"{claim.id} was measured and names no knob that was turned")
        found += [
            f"{claim.id} types the number {number}"
            for number in typed_numbers(f"{claim.because} {claim.reading} {claim.condition}")
        ]
        if claim.evidence:
            _ = claim.reason, claim.heading  # every placeholder is filled
            found += [f"{claim.id} requires {text}" for text in claim.unmet(claim.evidence, claim.parameters)]
    stated = {(claim.chapter, claim.id) for claim in claims}
    return found + [
        f"{chapter} has evidence of no claim {name}"
        for chapter, name in evidence
        if (chapter, name) not in stated
    ]
