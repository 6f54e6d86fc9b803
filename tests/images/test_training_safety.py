"""Training keeps what it promises: records, signals, folders that cannot be written, runs read back."""

import os
import signal
import time
from dataclasses import replace
from multiprocessing import get_context

import pytest
import torch
from training import TINY, same_model

from patch_lab.images.training import run as training
from patch_lab.images.training.checkpoint import load_checkpoint, save_checkpoint
from patch_lab.images.training.run import train
from patch_lab.images.training.trainer import Trainer


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal: where the tests themselves run in the background, it would be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


EVERY_STEP = replace(TINY, epochs=2, checkpoint_seconds=0.0, augment="randaugment")


def killed(folder, after):
    """Train, and kill -9 this very process behind so many of the steps, each of which saves."""
    real, done = Trainer._stop_or_save, []

    def then_killed(self, at_epoch_end=False):
        stop = real(self, at_epoch_end)
        done.append(stop)
        if len(done) > after:
            os.kill(os.getpid(), signal.SIGKILL)
        return stop

    Trainer._stop_or_save = then_killed
    train(EVERY_STEP, folder, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 8])
def test_killed_outright_and_resumed_it_gives_the_same_bits(tmp_path, after):
    """In the middle of the first epoch and of the second."""
    whole = train(replace(EVERY_STEP, checkpoint_seconds=1e9), tmp_path / "whole", progress=False)
    life = get_context("spawn").Process(target=killed, args=(tmp_path / "killed", after))
    life.start()
    life.join()
    assert life.exitcode == -signal.SIGKILL
    last = train(EVERY_STEP, tmp_path / "killed", resume=True, progress=False)
    assert last.record["metrics"] == whole.record["metrics"] and last.record["test"] == whole.record["test"]
    assert same_model(last.model, whole.model)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_with_a_checkpoint(tmp_path, monkeypatch, number, ctrl_c):
    """Ctrl-C before the first checkpoint is due: the step is finished, saved, and the run goes on later."""
    real, calls = Trainer._stop_or_save, []

    def raise_once(self, at_epoch_end=False):
        calls.append(0)
        if len(calls) == 3:
            signal.raise_signal(number)
        return real(self, at_epoch_end)

    before = signal.getsignal(number)
    monkeypatch.setattr(Trainer, "_stop_or_save", raise_once)
    run = train(TINY, tmp_path, progress=False)
    assert not run.record["finished"] and run.stopped_by == number and len(calls) == 3
    assert signal.getsignal(number) == before
    monkeypatch.undo()
    again = train(TINY, tmp_path, resume=True, progress=False)
    straight = train(TINY, progress=False)
    assert again.record["metrics"] == straight.record["metrics"] and same_model(again.model, straight.model)


def test_one_process_at_a_time_trains_into_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_PATIENCE_S", 0.2)
    other = os.open(tmp_path, os.O_RDONLY)
    (tmp_path / ".record.json.ab12").write_text("what the other is writing")
    try:
        assert training.lock(other)
        started = time.monotonic()
        with pytest.raises(ValueError, match="is held by another process: it trains into this folder now"):
            train(replace(TINY, epochs=1), tmp_path, progress=False)
        assert time.monotonic() - started >= 0.2  # a killed run's readers have that long to end
        assert [path.name for path in tmp_path.iterdir()] == [".record.json.ab12"]
    finally:
        os.close(other)
    assert train(replace(TINY, epochs=1), tmp_path, progress=False).record["finished"]


# --- Checkpoints: whole or absent, and the one before where a write fails


def state(k):
    return {"k": k, "tensor": torch.arange(1000) + k, "list": [{"a": None, "b": 1.5}]}


def test_what_was_saved_is_loaded_and_a_failed_write_keeps_the_one_before(tmp_path, monkeypatch):
    assert load_checkpoint(tmp_path) is None
    save_checkpoint(tmp_path, state(1))
    save_checkpoint(tmp_path, state(2))

    def full(source, target):
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left; the one before is kept"):
        save_checkpoint(tmp_path, state(3))
    found = load_checkpoint(tmp_path)
    assert torch.equal(found["tensor"], torch.arange(1000) + 2) and found["list"] == state(2)["list"]
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint.pt"]


@pytest.mark.parametrize("damage", [lambda c: c[:-100], lambda c: b"", lambda c: b"PK\x03\x04 and more"])
def test_a_damaged_checkpoint_is_refused_by_name(tmp_path, damage):
    save_checkpoint(tmp_path, state(1))
    newest = tmp_path / "checkpoint.pt"
    newest.write_bytes(damage(newest.read_bytes()))
    with pytest.raises(ValueError, match="checkpoint.pt is damaged, or of another version of PyTorch"):
        load_checkpoint(tmp_path)
