"""The book's own ledger: every claim with its chapter and its evidence, and no evidence without a claim."""

import json
import math
import re
from pathlib import Path

import pytest

import patch_lab
from patch_lab.kit.ledger import Claim, chapter, exact, shipped

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = {path.relative_to(BOOK).with_suffix("").as_posix() for path in BOOK.glob("*/*.ipynb")}
LABORATORY = Path(patch_lab.__file__).parent


def recorded():
    """(chapter, claim) for all that the files of evidence hold."""
    for path in sorted(LABORATORY.glob("*/evidence/*.json")):
        chapter = f"{path.parents[1].name}/{path.stem}"
        for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]:
            yield chapter, claim


#: What may hold a digit without being a measured number.
NAMES = re.compile(
    r"\b(?:Algorithm|Equation|Definition|Assumption|Theorem|Lemma|Figure"
    r"|Simplification|Parametrization|[Ss]ection)s? [\d.]+[a-z]?"
    r"|\bCIFAR-100?|\bResNet-\d+|\bVGG-\d+"
)


def typed_numbers(text: str) -> list[str]:
    """Numbers of a reason that no evidence fills: any outside mathematics, and decimals inside it."""
    pieces = re.split(r"\$([^$]*)\$", NAMES.sub("", text))
    outside = re.findall(r"\d[\d.,]*", re.sub(r"\{[^}]*\}", "", " ".join(pieces[::2])))
    return outside + re.findall(r"\d+\.\d+|\d{3,}", " ".join(pieces[1::2]))


@pytest.mark.parametrize("claim", list(shipped()), ids=lambda claim: claim.id)
def test_a_claim_is_whole(claim):
    """It has its chapter and evidence that fills every placeholder and meets what the claim requires."""
    assert claim.chapter in CHAPTERS
    if claim.kind == "claim":
        assert claim.evidence and claim.requires and (claim.knobs or not claim.measured)
        assert (
            claim.reason
            and claim.heading
            and claim.unmet_requirements(claim.evidence, claim.parameters) == []
        )
    assert typed_numbers(f"{claim.because} {claim.reading} {claim.condition}") == []


def test_no_evidence_is_of_a_claim_that_is_not_there_and_totals_add_up():
    ledger = shipped()
    assert set(recorded()) <= {(claim.chapter, claim.id) for claim in ledger}
    assert sum(ledger.totals().values()) == len(ledger) > 0
    assert all(
        count == sum(c.current_verdict == word for c in ledger) for word, count in ledger.totals().items()
    )


def test_a_placeholder_that_nothing_fills_fails():
    claim = Claim(
        "ours-a", "ours", "Prop. 1", "It is $1$.", "a/b", verdict="undecided", because="{y}",
        evidence={"x": exact("x", 1)},
    )  # fmt: skip
    with pytest.raises(ValueError, match="'ours-a' says {y} and its evidence has x"):
        _ = claim.reason


def test_numbers_of_mathematics_and_names_are_not_typed_numbers():
    assert typed_numbers("Theorem 3.1 on $C \\le 10$, Figure 1a and ResNet-18: {x:.1%}") == []
    assert typed_numbers("16 at $q = 0.3$") == ["16", "0.3"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sides": (4, 4), "block": (3, 1)}, r"block must .* got \(3, 1\) beside sides = \(4, 4\)"),
        ({"block": (2, 2), "sides": (5, 5)}, r"sides must .* got \(5, 5\) beside block = \(2, 2\)"),
        ({"nobody_said": 1}, "nobody_said of setting/structure must be declared"),
    ],
)
def test_a_chapter_refuses_what_a_parameter_can_never_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        chapter("setting/structure", **parameters)


TRAINED = re.compile(
    r"\b(networks?|trials?|trainings?|seeds|runs? of|three runs|of (two|three|four) runs|pairs in which)\b"
)


def test_exact_means_computed():
    """What is counted over networks, or averaged over trainings, has a word of its own."""
    taken = [
        (claim.id, key)
        for claim in shipped()
        for key, number in claim.evidence.items()
        if number.kind == "exact" and claim.measured and TRAINED.search(number.name)
    ]
    assert taken == []


def test_an_error_over_seeds_and_shared_inputs_names_both():
    """An interval of a share over seeds says how many inputs it is for, and is as wide as these ask."""
    for claim in ("ours-ends-separate", "ours-crossed-needs-both", "ours-identity-beside"):
        for number in shipped()[claim].evidence.values():
            if number.kind == "sampled":
                assert number.n is not None and number.low is not None and number.high is not None
                inputs = 1.96 * math.sqrt(number.value * (1 - number.value) / number.n)
                assert (number.high - number.low) / 2 >= 0.999 * inputs
