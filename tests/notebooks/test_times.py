"""How long the chapters run is measured, for each of them, and the front page counts each of them once."""

from __future__ import annotations

import json
import re

import execute
import times
from notebooks import chapters, name_of

MEASURED = json.loads(times.TIMES.read_text(encoding="utf-8"))


def test_every_chapter_was_measured_and_none_takes_longer_than_a_reader_waits():
    assert set(MEASURED) == {name_of(path) for path in chapters()}
    for name, entry in MEASURED.items():
        assert 0 < entry["seconds"] <= execute.LIMIT_S, name
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", entry["date"]) and "one thread" in entry["machine"]
