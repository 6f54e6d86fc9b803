"""Claims that an attack by recomputing broke: what each says since, and rules that hold for every number.

Each row of the tables fails on the ledger as it was before.
"""

import math
import re

import pytest

from patch_lab.kit.ledger import shipped
from patch_lab.kit.ledger.requires import holds

#: Claim, its verdict now, and what its evidence must show.
MENDED = [
    ("ours-linear-unequal", "proved here", "middle > equal and threshold > 0"),
    ("jelassi2022-theorem-3.1", "fails as stated", "tied > 1 / 8"),
    ("ours-block-optimal", "proved here", "beaten > 0.01 and nine > 0.001"),
    ("ours-large-gain", "proved here", "flips == 1"),
    ("jelassi2022-theorem-4.1", "held in every run within its hypotheses", "within == 24 and outside == 12"),
    ("jelassi2022-any-time", "holds only if", "starts_behind == starts and low_starts_behind == 0"),
    ("jelassi2022-event-3", "fails as stated", "left_36 < left_24 and left_24 < left_16 and left_16 > 0.6"),
    ("jelassi2022-figure-4", "held in every run within its hypotheses", "exact_runs == 40"),
    ("jelassi2022-competitive", "not run at this size", "tuned_all.low > 0 and held_most < 0"),
    ("jelassi2022-figure-1a", "not run at this size", "cosine_near_deit < cosine_deit / 2"),
    ("ours-start-gains", "held in every run within its hypotheses", "vanilla_shifts_tuned < vanilla_shifts"),
    ("ours-start-elsewhere", "held in every run within its hypotheses",
     "all_leader.low > 0 and all_positional_leader.high > 0 and edge > arms / 4"),
    ("ours-function-knows", "held in every run within its hypotheses", "found > 0.95 * learned"),
    ("li2023-proposition-2", "fails as stated", "clear < 0.9"),
    ("li2023-lemma-3", "holds only if", "nearest > bound and share < 0.000001"),
    ("li2023-lemma-4", "holds only if", "stay > 0.9 and left == 0"),
    ("li2023-figure-4", "holds only if", "own_heads > 0.85 and best < ceiling"),
    ("li2023-figure-6c", "not run at this size", "reach > 5"),
    ("li2023-remark-1", "not testable", "last > first"),
    ("li2023-figure-1a", "undecided", "slow_near > 0.5 and near < 0.5"),
    ("li2023-figure-3", "held in every run within its hypotheses", "settings > 40 and frozen_most > 0"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "verdict", "shown"), MENDED, ids=[row[0] for row in MENDED])
def test_a_claim_that_fell_stands_as_it_was_mended(claim, verdict, shown):
    entry = shipped()[claim]
    assert entry.current_verdict == verdict
    for condition in shown.split(" and "):
        assert holds(condition, entry.evidence, entry.parameters), condition


#: A measured error or share, and the number of the same claim that is proved to bound it from below.
FLOORS = [
    ("ours-ends-separate", "wrong_place", "blind"),
    ("ours-ends-separate", "wrong_content", "blind"),
    ("li2023-remark-2", "uneven", "floor"),
    ("ours-removal-price", "random", "floor"),
]


@pytest.mark.parametrize(("claim", "key", "floor"), FLOORS)
def test_no_interval_lies_below_what_is_proved(claim, key, floor):
    evidence = shipped()[claim].evidence
    high = evidence[key].high
    assert high is not None and high >= evidence[floor].value


OBSERVATIONS = 20
TRAINED = re.compile(
    r"\b(networks?|trials?|trainings?|seeds|runs? of|three runs|of (two|three|four) runs|pairs in which)\b"
)


def test_one_liners_and_textbook_facts_are_no_theorems():
    words = [claim.current_verdict for claim in shipped()]
    assert words.count("observation") == OBSERVATIONS and words.count("proved here") > 50


def test_exact_means_computed():
    """What is counted over networks, or averaged over trainings, has a word of its own."""
    taken = [
        (claim.id, key)
        for claim in shipped()
        for key, number in claim.evidence.items()
        if number.kind == "exact" and claim.measured and TRAINED.search(number.name)
    ]
    assert taken == []
    kinds = [number.kind for claim in shipped() for number in claim.evidence.values()]
    assert min(map(kinds.count, ("deterministic run", "mean of runs", "read off runs"))) > 20


def test_an_error_over_seeds_and_shared_inputs_names_both():
    """An interval of a share over seeds says how many inputs it is for, and is as wide as these ask."""
    for claim in ("ours-ends-separate", "ours-crossed-needs-both", "ours-identity-beside"):
        for number in shipped()[claim].evidence.values():
            if number.kind == "sampled":
                assert number.n is not None and number.low is not None and number.high is not None
                inputs = 1.96 * math.sqrt(number.value * (1 - number.value) / number.n)
                assert (number.high - number.low) / 2 >= 0.999 * inputs


def test_a_card_that_judges_an_appendix_unseen_says_so():
    for claim in ("jelassi2022-lemma-4.3", "jelassi2022-event-3"):
        assert "appendix that we do not have" in shipped()[claim].reason
