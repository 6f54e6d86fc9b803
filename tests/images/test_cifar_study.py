"""The study on CIFAR-10: its cells, one cell on made-up pictures, interrupted and not, and its record."""

import numpy as np
import pytest
from training import toy_set

from patch_association.images.locality import encoding_locality
from patch_association.images.permutation import GridPermutation
from patch_lab.cli import main
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.trainer import Trainer
from patch_lab.records import decode, load
from patch_lab.sweeps import registry, study


@pytest.fixture
def small(tmp_path, monkeypatch):
    """The study on eighty made-up pictures of 32 pixels, with checkpoints in a folder of the test."""
    monkeypatch.setattr(study, "pictures", lambda: toy_set(80, size=32))
    monkeypatch.setattr(study, "COMMON", study.COMMON | dict(val_size=16))
    monkeypatch.setattr(study, "VIT", study.VIT | dict(batch_size=16, depth=2))
    monkeypatch.setattr(study, "_WATCHED", 8)
    monkeypatch.setattr(study, "FOLDER", tmp_path / "study")
    return tmp_path / "study"


def test_the_cells():
    cells = [dict(cell) for cell in registry()["cifar10_study"].cells]
    assert all(TrainConfig(**study.settings(**cell)).precision == "bf16" for cell in cells)
    for one, other in zip(cells[::2], cells[1::2]):  # pairs, side by side
        assert one | {"model": "positional"} == other and one["model"] == "vanilla"
    held = {(c["width"], c["epochs"], c["tile"], c["seed"]) for c in cells}
    whole = {(w, e, 32) for w in (64, 128) for e in (10, 40)}
    shuffled = {(64, e, s) for e in (10, 40) for s in (4, 2)}
    assert held == {(*run, seed) for run in whole | shuffled for seed in (0, 1, 2)}


def test_the_record_that_ships(capsys):
    record = load("cifar10_study")
    for row in record:
        assert len(row["metrics"]) == row["epochs"] and row["test_n"] == 10_000
        assert 0.1 < row["val_accuracy"] == row["metrics"][-1]["val_accuracy"] < 1
        assert row["test_accuracy"] == pytest.approx(row["val_accuracy"], abs=0.04)
    assert main(["sweep"]) == 0
    assert f"cifar10_study  (48 cells, {len(record)} of them recorded in " in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["vanilla", "positional"])
def test_a_cell_of_a_vit_stopped_after_an_epoch_goes_on(small, monkeypatch, kind):
    cell = dict(model=kind, epochs=2, tile=8, seed=0, width=64)
    whole = study.train_cell(**cell)
    small.rename(small.with_name("whole"))
    real = Trainer._stop_or_save

    def stop(self, at_epoch_end=False):
        self.asked.append(15) if at_epoch_end else None
        return real(self, at_epoch_end)

    monkeypatch.setattr(Trainer, "_stop_or_save", stop)
    with pytest.raises(KeyboardInterrupt, match=rf"{kind}-64-2-8-0 was stopped by signal 15 and keeps its"):
        study.train_cell(**cell)
    monkeypatch.setattr(Trainer, "_stop_or_save", real)
    again = study.train_cell(**cell)
    assert again == whole
    with monkeypatch.context() as never:
        never.setattr(Trainer, "_one_epoch", lambda *a: 1 / 0)  # a finished one is not run again
        assert study.train_cell(**cell) == again
    P = decode(again["positions"])
    assert P.shape == (2, 64, 64) and np.abs(P[1] - P[0]).max() > 1e-3
    shuffle = GridPermutation(32, 8)
    for epoch, row in enumerate(again["metrics"]):
        assert row["recall"] == pytest.approx(encoding_locality(P[epoch], shuffle).recall, abs=0.02)
        assert np.shape(row["attention"]) == (2, 2)
    assert "positions" not in study.train_cell(**cell | {"seed": 1})
