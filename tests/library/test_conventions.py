"""The one default setting: what it is, that code takes it from there, and that the page shows it."""

import re
from pathlib import Path

import conventions
import pytest

from patch_association.defaults import DEFAULT, initial_alpha
from patch_lab.conventions import SINGLE_RATE

ROOT = Path(__file__).resolve().parents[2]


def test_the_default_setting():
    assert (DEFAULT.degree, DEFAULT.linear, DEFAULT.set_size, DEFAULT.diagonal) == (3, 0.01, 4, 1.0)
    assert DEFAULT.alpha == pytest.approx(0.1) and initial_alpha(5, 16.0) == pytest.approx(2)
    assert DEFAULT.score_rate(16) == pytest.approx(256 * DEFAULT.rate)
    assert DEFAULT.score_rate(16, rate=0.1) == pytest.approx(25.6)
    assert SINGLE_RATE.score_rate(16, 0.1) == pytest.approx(0.1)


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
