"""The study on CIFAR-10: its cells, one cell on made-up pictures, interrupted and not, and its record."""

import json

import numpy as np
import pytest
import torch
from training import toy_set

from patch_association.images.locality import encoding_locality, locality, similarity
from patch_association.images.vit import ViTConfig
from patch_lab.cli import main
from patch_lab.images.convolution import QuickNet
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.training.config import TrainConfig, preset
from patch_lab.images.training.run import load_run
from patch_lab.images.training.trainer import Trainer
from patch_lab.records import decode, load
from patch_lab.sweeps import images, registry, study, study_larger


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


# --- The residual CNN of the study: its cells, one cell on made-up pictures, and its record


@pytest.fixture
def small_cnn(tmp_path, monkeypatch):
    """The sweep on eighty made-up pictures of 32 pixels, two epochs, checkpoints in a folder."""
    monkeypatch.setattr(study, "pictures", lambda: toy_set(80, size=32))
    few = dict(batch_size=16, epochs=2, warmup_epochs=1.0)
    monkeypatch.setattr(study_larger, "CNN", study_larger.CNN | few)
    monkeypatch.setattr(study, "FOLDER", tmp_path / "study")
    return tmp_path


def test_the_cells_are_those_of_the_figure():
    cells = {(cell["tile"], cell["seed"]) for cell in registry()["cifar10_study_cnn"].cells}
    assert cells == {(s, k) for s in (32, 16, 8, 4, 2) for k in (0, 1, 2)}
    config, recipe = TrainConfig(**study_larger.CNN).as_dict(), preset("cifar10-cnn").as_dict()
    differ = {name: config[name] for name in config if config[name] != recipe[name]}
    assert differ == dict(val_size=0, mirrored_test=True, device="cpu", precision="bf16", threads=1)


@pytest.mark.slow
def test_a_cell(small_cnn):
    found = study_larger.cnn_cell(tile=4, seed=1)
    assert json.loads(json.dumps(found)) == found and found["test_n"] == 80
    assert len(found["metrics"]) == 2 and "val_accuracy" not in found
    assert 0 <= found["test_mirrored_accuracy"] <= 1
    run = load_run(small_cnn / "cifar10_study_cnn" / "4-1")
    assert isinstance(run.model, QuickNet) and run.record["config"]["tile"] == 4
    stem = run.model.stem.weight  # still as whitening left it
    assert torch.equal(stem[:12], -stem[12:])


def test_the_record_that_ships_of_cnn():
    record = load("cifar10_study_cnn")
    right = [row["test_accuracy"] for row in record.where(tile=32)]
    assert len(record) == 15 and sum(right) / len(right) > 0.9
    for row in record:
        assert len(row["metrics"]) == record.config["epochs"] and row["test_n"] == 10_000
        assert row["test_accuracy"] < row["metrics"][-1]["train_accuracy"]
        assert row["test_mirrored_accuracy"] == pytest.approx(row["test_accuracy"], abs=0.03)


# --- A hundred classes and the paper's ViT, on made-up pictures: what is trained, and how a step is timed


@pytest.fixture
def small_larger(tmp_path, monkeypatch):
    """Both sweeps on eighty made-up pictures of 32 pixels, with checkpoints in a folder of the test."""
    monkeypatch.setattr(study, "pictures", lambda: toy_set(80, size=32))
    monkeypatch.setattr(study_larger, "tiny", lambda: toy_set(80, size=32))
    monkeypatch.setattr(study, "COMMON", study.COMMON | dict(val_size=16))
    monkeypatch.setattr(study, "VIT", study.VIT | dict(batch_size=16, depth=2))
    monkeypatch.setattr(study, "_WATCHED", 8)
    monkeypatch.setattr(study, "FOLDER", tmp_path / "study")
    few = dict(batch_size=8, depth=1, width=24, heads=2, mlp_width=24, epochs=1, warmup_epochs=0.1)
    monkeypatch.setattr(study_larger, "PAPER", study_larger.PAPER | few)
    return tmp_path


def test_the_cells_of_larger():
    tiny = [dict(cell) for cell in registry()["tiny_imagenet_study"].cells]
    for one, other in zip(tiny[::2], tiny[1::2]):  # pairs, side by side
        assert one | {"model": "positional"} == other and one["model"] == "vanilla"
    assert {(c["epochs"], c["seed"]) for c in tiny} == {(e, k) for e in (10, 40) for k in (0, 1, 2)}
    paper = ViTConfig.named("small")
    config = TrainConfig(**study.COMMON | study_larger.PAPER)
    assert (paper.depth, paper.heads, paper.width, paper.mlp_width, paper.patch_size) == (7, 12, 384, 384, 4)
    assert config.vit == "small" and set(config.vit_changes()) == {"attention", "patch_size"}


def test_a_cell_of_a_hundred_classes(small_larger, monkeypatch):
    asked, real = [], study.trained
    monkeypatch.setattr(study, "trained", lambda own, *rest: asked.append(own) or real(own, *rest))
    found = study_larger.tiny_cell("positional", epochs=1, seed=2)
    assert json.loads(json.dumps(found)) == found and "positions" not in found
    assert len(found["metrics"]) == 1 and found["test_n"] == 80
    usual = study.settings("positional", 1, 32, 2, 64)
    assert {key for key in usual if usual[key] != asked[0][key]} == {"dataset"}
    assert [path.name for path in (small_larger / "tiny_imagenet_study").iterdir()] == ["positional-1-2"]


# --- The sweep on permuted CIFAR-10, and the record that ships


def test_the_sweep_is_registered_with_every_cell():
    sweep = registry()["cifar10_permuted"]
    cells = [tuple(cell.values()) for cell in sweep.cells]
    assert len(set(cells)) == len(cells) == 65
    assert {tile for model, tile, _ in cells if model == "small_cnn"} == {2, 4, 8, 16, 32}
    # A ViT is shown with the tiles that it can follow, and with one that cuts its patches.
    assert {tile for model, tile, _ in cells if model == "positional"} == {2, 4, 8, 32}


@pytest.mark.parametrize("model", ["positional", "vanilla", "small_cnn"])
def test_a_cell_of_sweep(model, monkeypatch):
    """On small made-up pictures: the keys, what depends on the tile, and that JSON holds it."""
    data = toy_set(200, size=32)
    monkeypatch.setattr(images, "_data", lambda: data)
    monkeypatch.setattr(images, "_COMMON", images._COMMON | dict(val_size=40, epochs=1, batch_size=40))
    found = images.permuted_cifar10(model, tile=4, seed=0)
    assert json.loads(json.dumps(found)) == found and found["test_n"] == 200
    if model == "small_cnn":
        assert "locality" not in found
        return
    assert set(found["locality"]) == set(found["attention"]) == {"as_seen", "undone"}
    assert decode(found["positions"]).shape == (64, 64)
    cut = images.permuted_cifar10(model, tile=2, seed=1)
    assert set(cut["locality"]) == {"as_seen"} and "positions" not in cut


def test_the_record_that_ships_of_sweep():
    """Every cell of the sweep, its settings, and numbers that follow from the P that it holds."""
    record, sweep = load("cifar10_permuted"), registry()["cifar10_permuted"]
    assert record.config == json.loads(json.dumps(dict(sweep.config)))
    assert [{key: row[key] for key in ("model", "tile", "seed")} for row in record.results] == list(
        sweep.cells
    )
    held = [row for row in record.results if "positions" in row]
    assert len(held) == 8
    for row in held:
        P = decode(row["positions"])
        A = similarity(P, centered=True, cosine=True)
        # Half precision keeps three digits of P; a rank may change here and there.
        assert locality(A, 8).correlation == pytest.approx(
            row["locality"]["as_seen"]["correlation"], abs=2e-3
        )
        assert locality(A, 8).recall == pytest.approx(row["locality"]["as_seen"]["recall"], abs=1e-2)
        if row["tile"] != 2:
            undone = GridPermutation(32, row["tile"]).undo(A, 4)
            assert locality(undone, 8).recall == pytest.approx(row["locality"]["undone"]["recall"], abs=1e-2)
