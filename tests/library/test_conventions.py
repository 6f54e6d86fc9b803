"""The one default setting: what it is, that code takes it from there, and that the page shows it."""

import re
from pathlib import Path

import conventions
import pytest

from patch_association.defaults import DEFAULT

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "chapter", sorted({*(ROOT / "book").glob("setting/*.md"), *(ROOT / "book").glob("[dt][yr]*/*.md")})
)
def test_a_chapter_whose_parameters_differ_is_listed(chapter):
    """What a reader may change is the default setting at first, or the page lists the chapter."""
    cell = re.search(r":tags: \[parameters\]\n(.*?)```", chapter.read_text(encoding="utf-8"), re.DOTALL)
    assert cell is not None, chapter
    values = {}
    exec(cell[1], values)
    mine = {"degree": "degree", "linear": "linear", "set_size": "set_size", "diagonal": "diagonal",
            "rate": "rate", "init_std": "init_std", "omega": "init_std"}  # fmt: skip
    differ = [
        name
        for name, field in mine.items()
        if values.get(name, getattr(DEFAULT, field)) != getattr(DEFAULT, field)
    ]
    listed = {name for departure in conventions.load()["departure"] for name in departure["chapters"]}
    assert not differ or f"{chapter.parent.name}/{chapter.stem}" in listed, differ
