"""The page on what changed: every correction of the book has its row, by the page's own numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"
ROW = re.compile(r"\| \$(\d+)\$ \| \{doc\}`([a-z_]+/[a-z_]+)` \| (.+?) \| (.+?) \|")
ROWS = [
    (int(row[1]), row[2], row[3], row[4])
    for row in map(ROW.fullmatch, (BOOK / "changes.md").read_text(encoding="utf-8").splitlines())
    if row
]

#: What was corrected: number -> (chapter, words of what was said, words of what is said now).
CORRECTIONS = {
    1: ("dynamics/longer", "number of iterations", "A map over"),
    2: ("dynamics/idealized", "conserved", "D^{1/p}"),
    3: ("dynamics/companions", "wrong inputs are rare", "diagonal that is not small"),
    4: ("setting/gaussian_patches", "Every run below the linear error", "another rate"),
    5: ("transfer/sample_complexity", "plain sum transfers", "second condition"),
    6: ("transfer/fine_tuning", "True", "interval"),
    7: ("setting/without_structure", "diagonal held fixed", "differ by a patch"),
    8: ("setting/structure", "parity of two patches", "sets of one patch"),
    9: ("setting/structure", "hardly notices", "Both suffer"),
    10: ("setting/gaussian_patches", "random to the eye", "trace"),
    11: ("setting/linear_models", "fails everywhere", "rarely zero"),
    12: ("setting/without_structure", "corrected Theorem 3.2", "d \\ge D"),
    13: ("setting/attention", "reversible", "positive semidefinite"),
    14: ("dynamics/three_scalars", "one property of the noise", "exchangeable"),
    15: ("dynamics/limits", "One gradient", "all but one"),
    16: ("dynamics/coupling", "Lipschitz", "convex set"),
    17: ("dynamics/idealized", "holds only if $q$ is small", "within its hypotheses"),
    18: ("dynamics/limits", "single rate takes", "was not run"),
    19: ("transfer/sample_complexity", "from scratch", "upper estimate"),
    22: ("shallow_vit/learning", "not run at its size", "follow the margin"),
    23: ("shallow_vit/sparsification", "training faster", "Remark 3"),
    24: ("beyond/deeper", "no exact $p$-value", "shuffled"),
    25: ("images/pretrained", "four neighbors", "either side"),
    26: ("images/permuted", "pass the residual CNN", "stays above"),
}


@pytest.mark.parametrize("number", CORRECTIONS)
def test_every_correction_has_its_row(number):
    chapter, before, after = CORRECTIONS[number]
    mine = [row[2:] for row in ROWS if row[0] == number and row[1] == chapter]
    # Rows with one number belong together: before and after may stand in two of them.
    assert any(before in said for said, _ in mine), f"{number}: no row of {chapter} says {before!r}"
    assert any(after in now for _, now in mine), f"{number}: no row of {chapter} says {after!r}"


def test_the_rows_are_in_order_and_of_chapters():
    text = (BOOK / "changes.md").read_text(encoding="utf-8")
    assert len(ROWS) == len(re.findall(r"^\| \$\d", text, re.MULTILINE)) > len(CORRECTIONS)
    numbers = [row[0] for row in ROWS]
    assert numbers == sorted(numbers) and set(numbers) == set(range(1, numbers[-1] + 1))
    for _, chapter, said, now in ROWS:
        assert (BOOK / f"{chapter}.md").exists() and said != now
