"""What is timed: the clock's arithmetic on functions of known cost, and the table that the book shows."""

import importlib
import json
import sys
import time
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def timing(monkeypatch):
    """The module ``benchmarks/timing.py`` with a clock that only the functions under it move."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import timing

    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    timing.wait = lambda seconds: now.__setitem__(0, now[0] + seconds)
    yield timing
    del sys.modules["timing"]


def right(ours, theirs):
    """These functions return nothing that could differ."""


def test_a_ratio_is_ours_over_theirs_with_its_quartiles(timing):
    row = timing.compare("n", lambda: timing.wait(0.01), lambda: timing.wait(0.04), "t", right, rounds=5)
    assert (row["ratio"], row["low"], row["high"]) == pytest.approx((0.25, 0.25, 0.25))
    assert (row["ours_s"], row["theirs_s"], row["rounds"]) == pytest.approx((0.01, 0.04, 5))


def test_a_short_call_is_repeated_and_its_time_is_that_of_one(timing):
    calls = []
    row = timing.compare(
        "n", lambda: (calls.append(1), timing.wait(1e-5)), lambda: timing.wait(1.0), "t", right, 2
    )
    assert row["ours_s"] == pytest.approx(1e-5)
    assert len(calls) == 3 + 2 * 500  # one call for the check, two before the clock runs


def test_the_exponent_is_that_of_the_cost(timing):
    row = timing.growth("n", lambda size: lambda: timing.wait(1e-4 * size**1.5), (100, 200, 400), "1.5")
    assert (row["exponent"], row["low"], row["high"]) == pytest.approx((1.5, 1.5, 1.5))
    assert row["seconds"] == pytest.approx([0.1, 0.1 * 2**1.5, 0.8])


@pytest.fixture
def run(monkeypatch):
    """The module ``benchmarks/run.py``."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("run")
    del sys.modules["run"], sys.modules["timing"]


def test_the_newest_table_is_a_flat_list_of_pairs(run, monkeypatch, tmp_path, capsys):
    kept = json.loads((ROOT / "benchmarks" / "kept.json").read_text(encoding="utf-8"))["results"]
    one = types.ModuleType("one")
    one.bench_pair = lambda: kept["setting"][0]
    one.bench_more = lambda: [kept["growth"][0], kept["images"][5]]
    monkeypatch.setitem(sys.modules, "one", one)
    (tmp_path / "one.py").touch()
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "one"])
    assert run.main() == 0
    table = json.loads((tmp_path / "latest.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in table] == [kept["setting"][0]["name"], kept["images"][5]["name"]]
    for row in table:
        assert set(row) == {"name", "ours_s", "theirs_s", "theirs", "ratio"}
    assert not (tmp_path / "kept.json").exists()


def test_the_table_of_the_book_is_whole():
    kept = json.loads((ROOT / "benchmarks" / "kept.json").read_text(encoding="utf-8"))
    modules = {p.stem for p in (ROOT / "benchmarks").glob("[!_]*.py")} - {"run", "timing"}
    assert set(kept["results"]) == modules
    assert kept["machine"]["load"] <= 0.5
    for rows in kept["results"].values():
        assert rows
        for row in rows:
            assert row["rounds"] >= 5
            assert row["low"] <= row.get("ratio", row.get("exponent")) <= row["high"]


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.00014, "140 µs"), (3.24, "3.2 s"), (2.5e-8, "25 ns"), (40_000, "11 h"), (185.0, "180 s")],
)
def test_a_time_has_two_digits_and_its_unit(monkeypatch, x, text):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import speed

    assert speed.seconds(x) == text
