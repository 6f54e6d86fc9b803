"""A sweep and a claim of one's own: what NumPy makes, and sources of one's own bibliography."""

import numpy as np
import pytest
import torch

from patch_lab.ledger import Ledger, exact
from patch_lab.ledger.table import read_bibliography
from patch_lab.sweeps import CellError, Sweep, grid, run_sweep


@pytest.mark.parametrize("axis", [(1, 2), [1, 2], range(1, 3), np.array([1, 2]), torch.tensor([1, 2])])
def test_what_makes_an_axis(axis):
    cells = grid(k=axis, q=np.float64(0.5), name="ab")
    assert cells == ({"k": 1, "q": 0.5, "name": "ab"}, {"k": 2, "q": 0.5, "name": "ab"})
    assert all(type(cell["k"]) is int and type(cell["q"]) is float for cell in cells)


RESULTS = {
    "a number": (lambda k: k / 2, {"value": 0.5}),
    "NumPy's": (lambda k: np.float32(k / 2), {"value": 0.5}),
    "arrays": (
        lambda k: {"a": np.arange(k + 1), "b": {"c": torch.ones(1)}},
        {"a": [0, 1], "b": {"c": [1.0]}},
    ),
}


@pytest.mark.parametrize(("run", "want"), RESULTS.values(), ids=RESULTS)
def test_results_of_every_kind(run, want, tmp_path):
    sweep = Sweep("mine", "mine", ({"k": np.int64(1)},), run)
    assert run_sweep(sweep, tmp_path / "r.json", progress=False).results == [{"k": 1} | want]
    assert run_sweep(sweep, tmp_path / "r.json", progress=False, resume=True).results == [{"k": 1} | want]


def test_what_is_no_result_and_no_setting(tmp_path):
    for run, said in (
        (lambda k: [k], "its result must be a dict of JSON values, or a number, got list"),
        (lambda k: {"a": {k}}, "its result must hold numbers, texts, lists or dicts, got set"),
    ):
        with pytest.raises(CellError, match=said):
            run_sweep(Sweep("mine", "mine", grid(k=1), run), tmp_path / "r.json", progress=False)
    with pytest.raises(ValueError, match="a cell of sweep 'mine' must hold numbers.*got object"):
        Sweep("mine", "mine", ({"k": object()},), print)
    with pytest.raises(ValueError, match="must be dicts of settings, as grid makes them"):
        Sweep("mine", "mine", (1, 2), print)


BIB = """
% a comment
@article{Doe2024:grid,
  author = {Doe, Jane and Erika M{\\"u}ster},
  year = 2024,
}
@misc{solo, author = "Solo, Han", note = {no year}}
"""
CLAIM = """
bibliography = "papers.bib"
[[claim]]
id = "Doe2024:grid-theorem-1"
source = "Doe2024:grid"
where = "Theorem 1"
chapter = "notes"
statement = "It is two."
verdict = "proved here"
because = "It is {total}."
"""


def test_a_claim_of_ones_own_paper(tmp_path):
    (tmp_path / "papers.bib").write_text(BIB, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(CLAIM, encoding="utf-8")
    mine = Ledger.at(tmp_path / "mine.toml", record=True)
    mine.chapter("notes")
    card = mine.check("Doe2024:grid-theorem-1", {"total": exact("sum", 2)})
    assert 'Theorem 1 (Doe & M\\"uster (2024)): proved here' in repr(card)
    assert [claim.id for claim in mine.select(source="Doe2024:grid")] == ["Doe2024:grid-theorem-1"]
    assert read_bibliography(tmp_path / "papers.bib")["solo"] == "Solo"
    (tmp_path / "mine.toml").write_text(CLAIM.replace('bibliography = "papers.bib"', ""), encoding="utf-8")
    with pytest.raises(ValueError, match="source must be one of .*, got 'Doe2024:grid'; .* bibliography = "):
        Ledger.at(tmp_path / "mine.toml")
    (tmp_path / "mine.toml").write_text(CLAIM.replace("papers.bib", "no.bib"), encoding="utf-8")
    with pytest.raises(ValueError, match="must be a BibTeX file, and there is no"):
        Ledger.at(tmp_path / "mine.toml")
