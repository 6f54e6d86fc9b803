"""Sweeps: interrupted anywhere and resumed, they end as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from patch_association.records import read
from patch_association.sweeps import Sweep, registry, run_sweep

CELLS = tuple({"seed": seed, "q": q} for seed in range(3) for q in (0.25, 0.5))


def measure(seed, q):
    return {"error": float(np.random.default_rng(seed).random() * q), "pair": (seed, q)}


def sweep(run=measure, cells=CELLS, **config):
    return Sweep("demo", "A demonstration.", 0.1, cells, run, config)


def test_an_uninterrupted_sweep(tmp_path):
    record = run_sweep(sweep(draws=1), tmp_path / "demo.json", progress=False)
    assert [(r["seed"], r["q"]) for r in record.results] == [(c["seed"], c["q"]) for c in CELLS]
    assert all(r["error"] == measure(r["seed"], r["q"])["error"] for r in record.results)
    assert record.config == {"draws": 1} and record.command == "patch-association sweep demo"
    assert read(tmp_path / "demo.json") == record and os.listdir(tmp_path) == ["demo.json"]


@pytest.mark.parametrize("k", range(len(CELLS) + 1))
def test_stopped_after_k_cells_and_resumed(tmp_path, k):
    whole = run_sweep(sweep(), tmp_path / "whole.json", progress=False)
    out, calls = tmp_path / "demo.json", []

    def counted(**cell):
        calls.append(cell)
        return measure(**cell)

    first = run_sweep(sweep(counted), out, progress=False, limit=k)
    assert first.results == whole.results[:k] and out.exists() == (k == len(CELLS))
    second = run_sweep(sweep(counted), out, resume=True, progress=False)
    assert second.results == whole.results == read(out).results
    assert calls == list(CELLS) or k == len(CELLS)  # no cell twice: a finished sweep runs anew
    assert not out.with_name("demo.json.partial").exists()
    assert read(out).provenance.keys() == whole.provenance.keys()


def test_wall_time_adds_up_over_interruptions(tmp_path, monkeypatch):
    clock = iter(np.arange(0, 1000, 10.0))
    monkeypatch.setattr("patch_association.sweeps.time.perf_counter", lambda: float(next(clock)))
    out = tmp_path / "demo.json"
    for _ in CELLS:
        record = run_sweep(sweep(), out, resume=True, progress=False, limit=1)
    # Each start reads the clock when it begins and when its cell is done: 10 s; the last once more.
    assert record.provenance["wall_s"] == 10 * len(CELLS) + 10


def test_an_error_in_a_cell_keeps_the_cells_before_it(tmp_path):
    def fails(seed, q):
        if seed == 1:
            raise RuntimeError("out of memory")
        return measure(seed, q)

    out = tmp_path / "demo.json"
    with pytest.raises(RuntimeError, match="out of memory"):
        run_sweep(sweep(fails), out, progress=False)
    assert len(json.loads((tmp_path / "demo.json.partial").read_text())["done"]) == 2 and not out.exists()
    assert (
        run_sweep(sweep(), out, resume=True, progress=False).results[0]["error"] == measure(0, 0.25)["error"]
    )


def test_finished_cells_are_not_thrown_away_unasked(tmp_path):
    out = tmp_path / "demo.json"
    run_sweep(sweep(), out, progress=False, limit=2)
    with pytest.raises(ValueError, match="holds an interrupted sweep: resume it, or remove it"):
        run_sweep(sweep(), out, progress=False)
    assert len(json.loads((tmp_path / "demo.json.partial").read_text())["done"]) == 2


@pytest.mark.parametrize(
    "other", [sweep(draws=2), sweep(cells=CELLS[:-1]), Sweep("other", "", 0.1, CELLS, measure, {"draws": 1})]
)
def test_cells_of_other_settings_are_refused(tmp_path, other):
    out = tmp_path / "demo.json"
    run_sweep(sweep(draws=1), out, progress=False, limit=2)
    with pytest.raises(ValueError, match=f"belongs to other settings of sweep '{other.name}'"):
        run_sweep(other, out, resume=True, progress=False)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"identity": 1}'])
def test_a_damaged_file_of_cells_is_refused(tmp_path, text):
    (tmp_path / "demo.json.partial").write_text(text)
    with pytest.raises(ValueError, match=r"demo\.json\.partial is damaged \(.*\); remove it to start again"):
        run_sweep(sweep(), tmp_path / "demo.json", resume=True, progress=False)


def test_other_refusals(tmp_path):
    with pytest.raises(ValueError, match="got the folder"):
        run_sweep(sweep(), tmp_path, progress=False)
    with pytest.raises(ValueError, match="limit must be at least 0, got -1"):
        run_sweep(sweep(), tmp_path / "a", progress=False, limit=-1)
    with pytest.raises(ValueError, match='must differ, got {"q": 0.25, "seed": 0} twice'):
        run_sweep(sweep(cells=(*CELLS, CELLS[0])), tmp_path / "a", progress=False)
    assert os.listdir(tmp_path) == []


SLOW = """
import sys, time
from patch_association.sweeps import Sweep, run_sweep

resume = "--resume" in sys.argv

def measure(seed):
    if not resume:
        time.sleep(0.01 if seed < 8 else 600)
    return {"square": seed**2}

sweep = Sweep("slow", "", 0.1, tuple({"seed": seed} for seed in range(40)), measure)
run_sweep(sweep, sys.argv[1], resume=resume, progress=False)
"""


def test_killed_outright_and_resumed(tmp_path):
    """SIGKILL at an arbitrary moment from the third cell on: the finished cells lie there whole."""
    out, partial = tmp_path / "slow.json", tmp_path / "slow.json.partial"
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(out)])
    try:
        patience = time.monotonic() + 300
        while not partial.exists() or len(json.loads(partial.read_text())["done"]) < 3:
            assert process.poll() is None and time.monotonic() < patience
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    finished = json.loads(partial.read_text())["done"]
    assert 3 <= len(finished) <= 8 and not out.exists()
    subprocess.run([sys.executable, "-c", SLOW, str(out), "--resume"], check=True)
    assert read(out).results == [{"seed": seed, "square": seed**2} for seed in range(40)]
    assert not partial.exists()


def test_every_registered_sweep_can_be_run_and_recorded():
    for name, entry in registry().items():
        assert (
            entry.name == name and entry.summary.endswith(".") and entry.minutes > 0 and callable(entry.run)
        )
        keys = [json.dumps(dict(cell), sort_keys=True) for cell in entry.cells]
        assert len(set(keys)) == len(keys) > 0
        json.dumps(dict(entry.config))
