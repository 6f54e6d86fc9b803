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
    one.bench_pair = lambda: [kept["setting"][0]]
    one.bench_more = lambda: [kept["growth"][0], kept["images"][5]]
    monkeypatch.setitem(sys.modules, "one", one)
    (tmp_path / "one.py").touch()
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "one"])
    assert run.main() == 0
    table = json.loads((tmp_path / "latest.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in table] == [kept["setting"][0]["name"], kept["images"][5]["name"]]
    for row in table:
        assert {"name", "ours_s", "theirs_s", "theirs", "ratio"} <= set(row)
        assert row["low"] <= row["ratio"] <= row["high"] and row["rounds"] >= 5
        assert {"processor", "threads", "load", "versions"} <= set(row["machine"])
    (line, _, _) = capsys.readouterr().out.splitlines()[:3]
    first = kept["setting"][0]
    assert f"{first['ratio']:.3g} x [{first['low']:.3g}, {first['high']:.3g}]" in line
    assert not (tmp_path / "kept.json").exists()


def test_the_table_of_the_book_is_whole():
    kept = json.loads((ROOT / "benchmarks" / "kept.json").read_text(encoding="utf-8"))
    modules = {p.stem for p in (ROOT / "benchmarks").glob("[!_]*.py")} - {"run", "timing", "book"}
    assert set(kept["results"]) == modules
    assert kept["machine"]["load"] <= 0.5
    for rows in kept["results"].values():
        assert rows
        for row in rows:
            assert row["rounds"] >= 5
            assert row["low"] <= row.get("ratio", row.get("exponent")) <= row["high"]


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.00014, "140\N{NO-BREAK SPACE}µs"),
        (3.24, "3.2\N{NO-BREAK SPACE}s"),
        (2.5e-8, "25\N{NO-BREAK SPACE}ns"),
        (40_000, "11\N{NO-BREAK SPACE}h"),
        (185.0, "180\N{NO-BREAK SPACE}s"),
    ],
)
def test_a_time_has_two_digits_and_its_unit(monkeypatch, x, text):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import speed

    assert speed.seconds(x) == text


def test_what_was_measured_of_the_book_is_shown_part_by_part(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import speed

    row = {"name": "a page", "unit": "MB", "value": 1.26, "low": 1.26, "high": 1.26, "rounds": 1}
    more = {"name": "a formula", "unit": "s", "value": 0.24, "low": 0.2, "high": 0.31, "rounds": 5}
    parts = {"pages": {"machine": {"date": "2026-11-22"}, "rows": [row, more]}}
    lines = [line.replace("\N{NO-BREAK SPACE}", "~") for line in speed.measured(parts).splitlines()[2:]]
    assert lines == [
        "| a page | 1.3~MB |  | 1 | 2026-11-22 |",
        "| a formula | 240~ms | 200~ms to 310~ms | 5 | 2026-11-22 |",
    ]
    assert "make bench-book" in speed.measured({})


def test_the_kept_table_of_the_book_has_every_row(monkeypatch):
    """Where one was kept: each part by itself, on a quiet machine."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    book = importlib.import_module("book")
    try:
        kept = json.loads(book.KEPT.read_text(encoding="utf-8")) if book.KEPT.exists() else {}
        assert set(kept) <= set(book.PARTS)
        for part in kept.values():
            assert part["machine"]["load"] <= sys.modules["timing"].QUIET
            assert all(row["low"] <= row["value"] <= row["high"] for row in part["rows"])
    finally:
        del sys.modules["book"], sys.modules["timing"]


def test_only_what_was_measured_is_replaced(monkeypatch, tmp_path):
    """One part after the other; a busy machine keeps nothing."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    book = importlib.import_module("book")
    try:
        monkeypatch.setattr(book, "KEPT", tmp_path / "kept_book.json")
        monkeypatch.setattr(sys.modules["timing"], "machine", lambda: {"load": 0.1, "date": "2026-11-22"})
        monkeypatch.setattr(book, "PARTS", {"a": lambda: [book._row("x", "s", [1.0, 3.0, 2.0])], "b": list})
        for arguments in (["a", "--keep"], ["b", "--keep"]):
            monkeypatch.setattr(sys, "argv", ["book.py", *arguments])
            assert book.main() == 0
        kept = json.loads(book.KEPT.read_text(encoding="utf-8"))
        assert set(kept) == {"a", "b"}
        assert kept["a"]["rows"] == [
            {"name": "x", "unit": "s", "value": 2.0, "rounds": 3, "low": 1.0, "high": 3.0}
        ]
        monkeypatch.setattr(sys.modules["timing"], "machine", lambda: {"load": 3.0, "date": "2026-11-22"})
        with pytest.raises(SystemExit):
            book.main()
    finally:
        del sys.modules["book"], sys.modules["timing"]


def test_the_cost_of_a_frame_is_what_its_thread_did_until_the_next(monkeypatch):
    """Tasks between frames count, another thread and a frame that has no end do not."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    frames = importlib.import_module("_frames")
    try:

        def event(name, at, cost, thread=1):
            return {"ph": "X", "name": name, "ts": at, "tdur": cost, "pid": 7, "tid": thread}

        task, frame = "ThreadControllerImpl::RunTask", "FireAnimationFrame"
        trace = [
            event(task, at, cost) for at, cost in ((0, 900), (100, 4000), (200, 500), (300, 3000), (400, 1))
        ]
        trace += [event(frame, 110, 9), event(frame, 120, 9), event(frame, 310, 9), event(task, 150, 8000, 2)]
        assert frames.frames(trace) == [4.5]
        with pytest.raises(ValueError, match="no animation frame"):
            frames.frames(trace[:5])
    finally:
        del sys.modules["_frames"]
