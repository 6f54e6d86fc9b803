"""A build that fails on what an earlier one kept starts once more from nothing."""

from __future__ import annotations

import build_book
import pytest


@pytest.fixture
def builds(tmp_path, monkeypatch):
    """Exit statuses that the builds are to have, and for each that ran whether something was kept."""
    statuses, seen = [], []
    monkeypatch.setattr(build_book, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(build_book, "write_edition", lambda folder: seen.append("edition"))

    def run(command, lock):
        assert command[1:] == ["build", ".", "-W", "-n", "--keep-going"]
        seen.append(build_book.KEPT.exists())
        build_book.KEPT.mkdir(exist_ok=True)
        return statuses[len(seen) - 1]

    monkeypatch.setattr(build_book, "run", run)
    return statuses, seen


@pytest.mark.parametrize(
    ("kept", "given", "ran", "status"),
    [
        (False, [0], [False, "edition"], 0),
        (True, [0], [True, "edition"], 0),
        (True, [1, 0], [True, False, "edition"], 0),
        (True, [1, 2], [True, False], 2),
        (False, [1], [False], 1),  # nothing was kept: a second time would say the same
    ],
)
def test_a_second_build_starts_from_nothing(builds, capsys, kept, given, ran, status):
    statuses, seen = builds
    statuses.extend(given)
    if kept:
        build_book.KEPT.mkdir()
    assert build_book.main() == status and seen == ran
    said = capsys.readouterr().out
    assert ("Once more, from nothing" in said) is (kept and given[0] != 0)
    assert ("The book is built" in said, "was NOT built" in said) == (status == 0, status != 0)
