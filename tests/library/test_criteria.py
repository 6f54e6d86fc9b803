"""The table of one question under different criteria: every number comes from the ledger or a record."""

import re
import sys
from pathlib import Path

from patch_lab import records
from patch_lab.ledger import shipped

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import criteria  # noqa: E402

sys.path.pop(0)


def test_every_answer_names_its_criterion_and_an_existing_chapter():
    page = (ROOT / "book" / "conventions.md").read_text(encoding="utf-8")
    assert "(criteria)=\n## " in page and "```{conventions} criteria\n" in page
    rows = criteria.criteria_table().splitlines()[2:]
    assert len(rows) >= 3 * len(criteria.QUESTIONS)
    for row in rows:
        _, _question, value, criterion, chapter, end = (cell.strip() for cell in row.split("|"))
        assert value and len(criterion) > 15 and not end
        assert "nan" not in value and "inf" not in value
        name = re.fullmatch(r"\{doc\}`/(book/.*)`", chapter)
        assert name and (ROOT / f"{name[1]}.md").exists()
    assert sum(bool(row.split("|")[1].strip()) for row in rows) == len(criteria.QUESTIONS)


def test_the_numbers_are_those_of_the_record_and_the_ledger():
    steps = records.load("realistic").config["settings"]["single-rate"]["steps"]
    first, second, *_ = criteria.single_rate()
    assert first.value == f"{steps:,}"
    assert second.value == shipped()["ours-single-rate-time"].evidence["single_16"].show()
    kept, of = map(int, criteria.longer()[1].value.split(" of "))
    assert 0 < kept <= of <= 10 * len(records.load("transience").where(q=0.05))
