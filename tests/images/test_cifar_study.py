"""The study on CIFAR-10: its cells, one cell on made-up pictures, interrupted and not, and its record."""

import json

import numpy as np
import pytest
import torch
from training import toy_set

from patch_association.images.locality import encoding_locality
from patch_lab.images.convolution import QuickNet
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.sweeps import images, study, study_larger
from patch_lab.images.training.run import load_run
from patch_lab.images.training.trainer import Trainer
from patch_lab.kit.records import decode


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["vanilla", "positional"])
def test_a_cell_of_a_vit_stopped_after_an_epoch_goes_on(small_study, monkeypatch, kind):
    cell = dict(model=kind, epochs=2, tile=8, seed=0, width=64)
    whole = study.train_cell(**cell)
    small_study.rename(small_study.with_name("whole"))
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
        assert np.shape(row["attention"]) == (3, 2)
    assert "positions" not in study.train_cell(**cell | {"seed": 1})


@pytest.mark.slow
def test_a_cell(small_study):
    found = study_larger.cnn_cell(tile=4, seed=1)
    assert json.loads(json.dumps(found)) == found and found["test_n"] == 96
    assert len(found["metrics"]) == 2 and "val_accuracy" not in found
    assert 0 <= found["test_mirrored_accuracy"] <= 1
    run = load_run(small_study.parent / "cifar10_study_cnn" / "4-1")
    assert isinstance(run.model, QuickNet) and run.record["config"]["tile"] == 4
    stem = run.model.stem.weight  # still as whitening left it
    assert torch.equal(stem[:12], -stem[12:])


def test_a_cell_of_a_hundred_classes(small_study, monkeypatch):
    asked, real = [], study.trained
    monkeypatch.setattr(study, "trained", lambda own, *rest: asked.append(own) or real(own, *rest))
    found = study_larger.tiny_cell("positional", epochs=1, seed=2)
    assert json.loads(json.dumps(found)) == found and "positions" not in found
    assert len(found["metrics"]) == 1 and found["test_n"] == 96
    usual = study.settings("positional", 1, 32, 2, 64)
    assert {key for key in usual if usual[key] != asked[0][key]} == {"dataset"}
    assert [path.name for path in (small_study.parent / "tiny_imagenet_study").iterdir()] == [
        "positional-1-2"
    ]


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


def test_random_labels_keep_the_pictures_and_how_often_each_label_occurs():
    data = toy_set(40)
    first = study_larger.relabeled(data, 0)
    assert torch.equal(first.train_images, data.train_images)
    assert torch.equal(first.test_labels, data.test_labels)
    assert torch.equal(first.train_labels.sort().values, data.train_labels.sort().values)
    assert not torch.equal(first.train_labels, data.train_labels)
    assert torch.equal(study_larger.relabeled(data, 0).train_labels, first.train_labels)
    assert not torch.equal(study_larger.relabeled(data, 1).train_labels, first.train_labels)


def test_a_changed_cell_changes_what_it_names_and_nothing_else(monkeypatch):
    data = toy_set(40)
    seen = {}
    monkeypatch.setattr(study_larger.study, "pictures", lambda: data)
    monkeypatch.setattr(study_larger, "SHORTER_PICTURES", 40)
    monkeypatch.setattr(study_larger, "SHORTER_TESTED", 8)
    monkeypatch.setattr(
        study_larger.study,
        "trained",
        lambda options, shown, folder: seen.update({folder.name: (options, shown)}),
    )
    for change in study_larger.CHANGES:
        study_larger.changed_cell("vanilla", change, 3)
    options, shown = seen["vanilla-nothing-3"]
    assert options == {**study_larger.SHORTER, "attention": "vanilla", "seed": 3}
    assert torch.equal(shown.train_labels, study_larger.relabeled(data, 3).train_labels)
    assert torch.equal(seen["vanilla-true-labels-3"][1].train_labels, data.train_labels)
    assert not seen["vanilla-equal-labels-3"][1].train_labels.any()
    noise = seen["vanilla-noise-3"][1]
    assert torch.equal(noise.train_labels, shown.train_labels)
    assert noise.train_images.dtype == torch.uint8 and not torch.equal(noise.train_images, data.train_images)
    changed = {
        name: {k for k, v in found.items() if options.get(k) != v} for name, (found, _) in seen.items()
    }
    assert changed["vanilla-a-tenth-of-the-rate-3"] == {"lr"}
    assert changed["vanilla-P-from-N(0,-1)-3"] == {"position_std"}
    assert changed["vanilla-one-fixed-order-3"] == {"tile"}
    assert all(torch.equal(found.test_images, data.test_images[:8]) for _, found in seen.values())
