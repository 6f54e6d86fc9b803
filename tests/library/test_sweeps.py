"""Sweeps: interrupted anywhere, resumed, side by side, they end as if nothing had happened."""

import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from small_sweeps import CELLS, kept, measure, run_quietly, sweep

from patch_lab.images.sweeps.side_by_side import SideBySide
from patch_lab.kit.records import read
from patch_lab.kit.sweeps import CellError, Sweep, grid, journal, run_sweep
from patch_lab.kit.sweeps import run as sweeps_engine


@pytest.fixture
def out(tmp_path):
    return tmp_path / "demo.json"


def counting():
    """A cell's function, and the cells that it was asked for."""
    calls = []

    def count(**cell):
        calls.append(cell)
        return measure(**cell)

    return count, calls


def stopped_after(count, one, out, **options):
    """Run a sweep until so many of its cells are made; the next one fails."""
    made = []

    def run(**cell):
        if len(made) == count:
            raise RuntimeError("stopped here")
        made.append(cell)
        return one.run(**cell)

    with pytest.raises(CellError, match="stopped here"):
        run_quietly(replace(one, run=run), out, **options)


def resumed(partial):
    """The journal of a sweep under way, gone on with."""
    one = journal.Journal(partial)
    one.begin(sweep().settings(), resume=True)
    return one


def test_an_uninterrupted_sweep(tmp_path, out):
    record = run_quietly(sweep(draws=1), out)
    assert [(r["seed"], r["q"]) for r in record.results] == [(c["seed"], c["q"]) for c in CELLS]
    assert all(r["error"] == measure(r["seed"], r["q"])["error"] for r in record.results)
    assert record.config == {"draws": 1} and record.command == "patch-association sweep demo"
    assert record.data == {"source": "nothing but its settings", "sha256": None}
    assert read(out) == record and os.listdir(tmp_path) == ["demo.json"]


@pytest.mark.parametrize("k", range(len(CELLS)))
def test_stopped_after_k_cells_and_resumed(tmp_path, out, k):
    whole = run_quietly(sweep(), tmp_path / "whole.json")
    counted, calls = counting()
    stopped_after(k, sweep(counted), out)
    assert not out.exists()
    if k == 0:
        assert not Path(f"{out}.partial").exists()
    else:
        assert kept(out) == list(CELLS[:k])
    second = run_quietly(sweep(counted), out, resume=True)
    assert second.results == whole.results == read(out).results
    assert calls == list(CELLS)  # no cell twice
    assert sorted(os.listdir(tmp_path)) == ["demo.json", "whole.json"]
    assert read(out).provenance.keys() == whole.provenance.keys()


def test_wherever_the_file_of_cells_is_torn_the_sweep_goes_on(tmp_path, out):
    """As after a kill in the middle of a write: every length that the file can have."""
    whole = run_quietly(sweep(), tmp_path / "whole.json").results
    stopped_after(2, sweep(), out)
    partial = Path(f"{out}.partial")
    content, counts = partial.read_bytes(), []
    for length in range(len(content) + 1):
        partial.write_bytes(content[:length])
        torn = resumed(partial)
        counts.append(len(torn.done))
        torn.add({"seed": 9}, {"error": 0.5}, 3.0)
        torn.close(remove=False)
        again = resumed(partial)
        assert again.done == torn.done and again.wall_s == 3.0
        again.close(remove=True)
    assert counts == sorted(counts) and set(counts) == {0, 1, 2}
    partial.write_bytes(content[:-9])
    assert run_quietly(sweep(), out, resume=True).results == whole


def fails(seed, q):
    if seed == 1:
        raise RuntimeError("out of memory")
    return measure(seed, q)


# --- side by side ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_workers_give_the_results_of_one(tmp_path, out):
    whole = run_quietly(sweep(), tmp_path / "whole.json")
    with pytest.raises(CellError, match="out of memory"):
        run_quietly(sweep(fails), out, jobs=2)
    assert run_quietly(sweep(), out, jobs=2, resume=True).results == whole.results


def test_cells_that_are_timed_run_one_after_the_other(out):
    with pytest.raises(ValueError, match="'demo' cannot run side by side: jobs must be 1, got 2"):
        run_quietly(replace(sweep(), parallel=False), out, jobs=2)


# --- nothing is thrown away unasked ------------------------------------------------------------------


def test_a_sweep_that_grows(tmp_path, out):
    """Its record holds what is finished, and is enough to go on with."""
    whole = run_quietly(sweep(), tmp_path / "whole.json")
    counted, calls = counting()
    growing = replace(sweep(counted), grows=True)
    stopped_after(2, growing, out)
    assert read(out).results == whole.results[:2]
    stopped_after(1, growing, out, resume=True)
    assert read(out).results == whole.results[:3]
    Path(f"{out}.partial").unlink()  # another machine has the record alone
    with pytest.raises(ValueError, match="holds a record already"):
        run_quietly(growing, out)
    others = [replace(sweep(draws=2), grows=True), sweep()]
    others += [replace(sweep(cells=cells), grows=True) for cells in (CELLS[1:], CELLS[::-1])]
    for other in others:
        with pytest.raises(ValueError, match="holds a record of other settings"):
            run_quietly(other, out, resume=True)
    assert run_quietly(growing, out, resume=True).results == whole.results == read(out).results
    assert calls == list(CELLS) and sorted(os.listdir(tmp_path)) == ["demo.json", "whole.json"]
    assert run_quietly(growing, out, resume=True) == read(out)


@pytest.mark.parametrize("other", [sweep(draws=2), sweep(cells=CELLS[:-1]), sweep(name="other", draws=1)])
def test_cells_and_records_of_other_settings_are_not_resumed(out, other):
    stopped_after(2, sweep(draws=1), out)
    with pytest.raises(ValueError, match=r"\.partial holds cells of other settings"):
        run_quietly(other, out, resume=True)
    run_quietly(sweep(draws=1), out, resume=True)
    with pytest.raises(
        ValueError, match=rf"holds a record of other settings than sweep '{other.name}' has now"
    ):
        run_quietly(other, out, resume=True)
    assert len(read(out)) == 6


def test_one_process_at_a_time_writes_a_record(out):
    stopped_after(1, sweep(), out)
    other = resumed(Path(f"{out}.partial"))
    with pytest.raises(ValueError, match=r"\.partial is being written by another process"):
        run_quietly(sweep(), out, resume=True)
    other.close(remove=False)
    assert len(run_quietly(sweep(), out, resume=True)) == 6


# --- A sweep of one's own: what NumPy makes


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


# --- as many whole cells as fit


class Ticking:
    """Cells that take their time on a clock of their own: ten seconds to set up, then what was announced."""

    def __init__(self, each=100.0, more=20.0, kinds=("a", "b"), reading=0.0):
        self.now = 0.0
        self.each = each
        self.more = more
        self.begun = []
        self.reading = reading
        cells = grid(kind=kinds, seed=range(3))
        scheduler = SideBySide(lambda one, other: one["kind"] == other["kind"], 3, self.ready)
        self.sweep = Sweep("timed", "Timed.", cells, print, data=self.read, grows=True, scheduler=scheduler)

    def read(self):
        self.now += self.reading
        return {"source": "made up", "sha256": None}

    def clock(self):
        return self.now

    @contextmanager
    def ready(self, cells, done):
        assert len(done) == sum(self.begun) - self.finished
        self.now += 10
        self.cells = cells
        yield self

    def seconds(self):
        kind = 1 if self.cells[0]["kind"] == "a" else 4
        return kind * (self.each + self.more * (len(self.cells) - 1))

    def run(self):
        self.begun.append(len(self.cells))
        self.now += self.seconds()
        return [{"result": cell["seed"]} for cell in self.cells]

    def go(self, out, minutes):
        began, self.finished = self.now, 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sweeps_engine, "monotonic", self.clock)
            record = run_quietly(self.sweep, out, minutes=minutes)
        assert self.now - began <= 60 * minutes + 10
        return [(row["kind"], row["seed"]) for row in record.results]


def test_as_many_whole_cells_as_fit(out):
    """140 s are needed for three at once, 144 believed; 120 (124) for two; 100 (103) for one."""
    ticking = Ticking()
    assert ticking.go(out, 1) == [] and ticking.begun == []  # not one fits
    assert ticking.go(out, 2.5) == [("a", 0), ("a", 1)] and ticking.begun == [2]
    # What is left of the first kind, then nothing of the second, which takes four times as long.
    assert ticking.go(out, 5) == [("a", 0), ("a", 1), ("a", 2)] and ticking.begun == [2, 1]
    Path(f"{out}.partial").unlink()  # another machine has the record alone
    whole = ticking.go(out, 60)
    assert whole == [(kind, seed) for kind in "ab" for seed in range(3)] and ticking.begun == [2, 1, 3]
    assert ticking.go(out, 1) == whole and ticking.begun == [2, 1, 3]


def test_the_minutes_begin_before_the_data_are_read(out):
    """Three cells would fit into 156 s, of which 60 are gone: not two do, 124 s, nor one, 103."""
    assert Ticking(reading=60.0).go(out, 2.6) == []


def test_a_later_cell_that_fits_is_made(out):
    """Those of the second kind, which come first here, take too long."""
    ticking = Ticking(kinds=("b", "a"))
    assert ticking.go(out, 5) == [("a", 0), ("a", 1), ("a", 2)]


def test_minutes_are_for_sweeps_that_know_how_long_they_take(out):
    with pytest.raises(ValueError, match="sweep 'demo' takes no minutes"):
        run_quietly(sweep(), out, minutes=1)
    ticking = Ticking()
    with pytest.raises(ValueError, match="minutes must be"):
        ticking.go(out, -1)


def test_a_failed_cell_of_several_keeps_those_before(out):
    ticking = Ticking(kinds=("a", "b"))
    real = ticking.run
    ticking.run = lambda: real() if ticking.cells[0]["kind"] == "a" else 1 / 0
    with pytest.raises(CellError, match='"kind": "b", "seed": 0.*ZeroDivisionError'):
        ticking.go(out, 60)
    assert len(read(out)) == 3


def test_a_sweep_for_a_gpu_says_so_before_any_cell(out, monkeypatch):
    counted, calls = counting()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="sweep 'demo' runs on a GPU, and PyTorch finds none here"):
        run_quietly(replace(sweep(counted), device="cuda"), out)
    assert calls == [] and os.listdir(out.parent) == []


@pytest.mark.parametrize(
    ("earlier", "here", "named"),
    [("", "EPYC", "EPYC"), ("EPYC", "EPYC", "EPYC"), ("EPYC", "H200", "EPYC and H200")],
)
def test_a_study_that_moves_names_every_machine_once(earlier, here, named):
    assert sweeps_engine._machines(earlier, here) == named
