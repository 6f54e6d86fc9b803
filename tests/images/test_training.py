"""Training runs: records, resuming, folders, settings, precision and devices."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from training import TINY, same_model, toy_set

from patch_association.images import layers
from patch_association.images.locality import locality, similarity
from patch_lab.images.training import run as training
from patch_lab.images.training.checkpoint import load_checkpoint
from patch_lab.images.training.feed import make_feed
from patch_lab.images.training.processes import OneProcess
from patch_lab.images.training.run import train
from patch_lab.images.training.trainer import Trainer

CPU = OneProcess(torch.device("cpu"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        dict(attention="positional"),
        dict(attention="vanilla"),
        dict(model="small_cnn"),
        dict(model="residual_cnn"),
        dict(model="residual_cnn", optimizer="sgd"),
    ],
)
def test_every_model_learns(model):
    """Which half is brighter: from chance to over 95%, a gap of more than 8 standard errors."""
    run = train(
        replace(TINY, **model, val_size=0, augment="none", epochs=20, lr=1e-2),
        data=toy_set(size=16),
        progress=False,
    )
    assert run.record["test"]["accuracy"] > 0.95
    assert run.record["metrics"][-1]["train_loss"] < run.record["metrics"][0]["train_loss"]


def test_the_record(tmp_path):
    run = train(
        TINY,
        tmp_path,
        progress=False,
        name="digits",
        command="the command",
        provenance=lambda s, d: {"on": d},
    )
    record = json.loads((tmp_path / "record.json").read_text())
    assert record == json.loads(json.dumps(run.record)) == training.load_run(tmp_path).record
    with pytest.raises(ValueError, match="holds no training run: there is no record.json"):
        training.load_run(tmp_path / "elsewhere")
    assert [row["epoch"] for row in record["metrics"]] == [1, 2, 3]
    assert {"train_loss", "train_accuracy", "val_loss", "val_accuracy", "lr"} < set(record["metrics"][0])
    assert record["finished"] and record["test"]["n"] == 60 and record["command"] == "the command"
    assert (
        record["config"] == TINY.as_dict() and record["data"]["sha256"] == training.load_data(TINY).digest()
    )
    assert (record["data"]["train"], record["data"]["val"]) == (120, 40)
    assert record["provenance"] == {"on": "cpu", "processes": 1}
    P = np.load(tmp_path / "positions.npz")["positions"]
    assert np.array_equal(P, run.model.positions.detach().numpy())
    want = locality(similarity(P[0], centered=True, cosine=True), 4)
    assert record["locality"]["as_seen"] == vars(want)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        dict(),
        dict(ema=0.9, mixup=0.4, drop_path=0.3),
        dict(model="small_cnn", augment="randaugment", dataset="toy", val_size=20),
        dict(
            model="residual_cnn",
            augment="reflect-flip",
            optimizer="sgd",
            schedule="triangle",
            lookahead=True,
            clip=0.0,
            dataset="toy",
            val_size=20,
        ),
    ],
)
@pytest.mark.parametrize("stop", [1, 6, 7, 8, 13, 17])
def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path, monkeypatch, model, stop):
    """Stopped after any step: in the first epoch, at its end (6 steps), in the last."""
    data = toy_set(140, size=16) if "dataset" in model else None  # wide enough to be shifted
    config = replace(TINY, **model)
    whole = train(config, data=data, progress=False)
    real, count = Trainer._stop_or_save, []

    def stop_here(self, at_epoch_end=False):
        if not at_epoch_end:
            count.append(0)
            if self.epoch * self.feed.steps + self.step_number >= stop:
                self.save()
                return True
        return real(self, at_epoch_end)

    monkeypatch.setattr(Trainer, "_stop_or_save", stop_here)
    first = train(config, tmp_path, data=data, progress=False)
    assert not first.record["finished"] and first.record["test"] is None
    monkeypatch.undo()
    second = train(config, tmp_path, resume=True, data=data, progress=False)
    assert (
        second.record["metrics"] == whole.record["metrics"] and second.record["test"] == whole.record["test"]
    )
    assert same_model(second.model, whole.model)


@pytest.mark.parametrize("choice", ["none", "randaugment"])
def test_a_folder_of_pictures_trains_and_resumes(tmp_path, choice):
    """Pictures from the disk: every epoch from any step on, in any process, and a stopped run's result."""
    data = toy_set(60, size=24)
    for split, images in (("train", data.train_images), ("val", data.test_images)):
        for k, image in enumerate(images[: 40 if split == "train" else 20]):
            folder = tmp_path / "pictures" / split / data.classes[k % 2 if split == "train" else 1 - k % 2]
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image.permute(1, 2, 0).numpy()).save(folder / f"{k}.png")
    config = replace(
        TINY, dataset="folder", root=str(tmp_path / "pictures"), image_size=16, patch_size=4, workers=0,
        augment=choice, val_size=8, batch_size=8, epochs=2, train_size=None, test_size=None, lr=1e-2,
    )  # fmt: skip
    found = training.load_data(config)
    feed = make_feed(found, config, CPU)
    whole, rest = list(feed.epoch(1)), list(feed.epoch(1, start=2))
    assert len(whole) == 4 and all(torch.equal(a, b) for (a, _), (b, _) in zip(whole[2:], rest))
    assert len(torch.cat([y for _, y in feed.evaluation("test")])) == 20
    pairs = zip(feed.evaluation("test"), feed.evaluation("test", mirrored=True))
    assert all(torch.equal(x.flip(3), other) and torch.equal(y, same) for (x, y), (other, same) in pairs)
    with pytest.raises(ValueError, match="augment must be another one for pictures in a folder, got 'refl"):
        make_feed(found, replace(config, augment="reflect-flip"), CPU)
    share = OneProcess(torch.device("cpu"))
    share.rank, share.world = 1, 2
    part = next(make_feed(found, config, share).epoch(1))
    assert torch.equal(part[0], whole[0][0][1::2])
    straight = train(config, progress=False)
    train(replace(config, minutes=1e-9), tmp_path / "out", progress=False)
    resumed = train(config, tmp_path / "out", resume=True, progress=False)
    assert same_model(straight.model, resumed.model) and straight.record["test"] == resumed.record["test"]


def test_a_loss_that_is_not_finite_stops_the_run():
    hot = replace(TINY, lr=1e30, clip=0.0, warmup_epochs=0.0)
    with pytest.raises(
        ValueError, match=r"loss is (nan|inf) in step 2 \(epoch 1\), and all was finite before: lower lr"
    ):
        train(hot, progress=False)


@pytest.mark.parametrize(
    ("precision", "advice"), [("float32", "lower lr"), ("bf16", "try precision=float32$")]
)
def test_a_gradient_that_is_not_finite_names_its_step_and_parameter(tmp_path, monkeypatch, precision, advice):
    """The backward pass of one layer's attention fails once, as that of a fused kernel has."""
    real, calls = layers.attend, []

    def failing(q, k, v, scale):
        mixed = real(q, k, v, scale)
        if mixed.requires_grad:
            calls.append(0)
            if len(calls) == 2 * 7 + 1:  # two layers: the first one in the eighth step
                mixed.register_hook(lambda gradient: gradient * float("nan"))
        return mixed

    monkeypatch.setattr(layers, "attend", failing)
    config = replace(TINY, attention="vanilla", depth=2, precision=precision, checkpoint_seconds=0.0)
    said = rf"step 8 \(epoch 2\), .*first in blocks\.0\.attention\.value\.bias \(layer 1\), in .*{advice}"
    with pytest.raises(ValueError, match=said):
        train(config, tmp_path, progress=False)
    monkeypatch.undo()
    kept = load_checkpoint(tmp_path)  # the newest is from before
    assert kept is not None and all(weight.isfinite().all() for weight in kept["model"].values())
