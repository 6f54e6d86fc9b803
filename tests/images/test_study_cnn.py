"""The residual CNN of the study: its cells, one cell on made-up pictures, and its record."""

import json

import pytest
import torch
from training import toy_set

from patch_lab.images.convolution import QuickNet
from patch_lab.images.training.config import TrainConfig, preset
from patch_lab.images.training.run import load_run
from patch_lab.records import load
from patch_lab.sweeps import registry, study, study_cnn


@pytest.fixture
def small(tmp_path, monkeypatch):
    """The sweep on eighty made-up pictures of 32 pixels, two epochs, checkpoints in a folder."""
    monkeypatch.setattr(study, "pictures", lambda: toy_set(80, size=32))
    few = dict(batch_size=16, epochs=2, warmup_epochs=1.0)
    monkeypatch.setattr(study_cnn, "CNN", study_cnn.CNN | few)
    monkeypatch.setattr(study, "FOLDER", tmp_path / "study")
    return tmp_path


def test_the_cells_are_those_of_the_figure():
    cells = {(cell["tile"], cell["seed"]) for cell in registry()["cifar10_study_cnn"].cells}
    assert cells == {(s, k) for s in (32, 16, 8, 4, 2) for k in (0, 1, 2)}
    config, recipe = TrainConfig(**study_cnn.CNN).as_dict(), preset("cifar10-cnn").as_dict()
    differ = {name: config[name] for name in config if config[name] != recipe[name]}
    assert differ == dict(val_size=0, mirrored_test=True, device="cpu", precision="bf16", threads=1)


@pytest.mark.slow
def test_a_cell(small):
    found = study_cnn.cnn_cell(tile=4, seed=1)
    assert json.loads(json.dumps(found)) == found and found["test_n"] == 80
    assert len(found["metrics"]) == 2 and "val_accuracy" not in found
    assert 0 <= found["test_mirrored_accuracy"] <= 1
    run = load_run(small / "cifar10_study_cnn" / "4-1")
    assert isinstance(run.model, QuickNet) and run.record["config"]["tile"] == 4
    stem = run.model.stem.weight  # still as whitening left it
    assert torch.equal(stem[:12], -stem[12:])


def test_the_record_that_ships():
    record = load("cifar10_study_cnn")
    right = [row["test_accuracy"] for row in record.where(tile=32)]
    assert len(record) == 15 and sum(right) / len(right) > 0.9
    for row in record:
        assert len(row["metrics"]) == record.config["epochs"] and row["test_n"] == 10_000
        assert row["test_accuracy"] < row["metrics"][-1]["train_accuracy"]
        assert row["test_mirrored_accuracy"] == pytest.approx(row["test_accuracy"], abs=0.03)
