"""Runs side by side: each is what `train` makes of it alone, whatever it is beside."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from training import toy_set

from patch_association.images import layers
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.data import load
from patch_lab.images.data.augment import augment, draw
from patch_lab.images.training import together
from patch_lab.images.training.config import TrainConfig, preset
from patch_lab.images.training.feed import ResidentFeed
from patch_lab.images.training.graphs import NotRecorded, compiled
from patch_lab.images.training.processes import OneProcess
from patch_lab.images.training.run import train
from patch_lab.images.training.together import Together, train_together

DIGITS = TrainConfig(dataset="digits", vit="reader", patch_size=2, batch_size=20, device="cpu",
                     precision="float32", threads=1)  # fmt: skip
SHORT = replace(DIGITS, depth=2, epochs=2, warmup_epochs=0.5, val_size=60)
VITS = {
    "of two starts": dict(attention="vanilla", start="shifts", values="minus"),
    "positional": dict(attention="positional"),
    "with a class token": dict(attention="vanilla", pooling="cls", label_smoothing=0.0),
    "positional with a class token": dict(attention="positional", pooling="cls"),
    "with branches that are missing": dict(attention="positional", drop_path=0.4),
    "vanilla with branches that are missing": dict(attention="vanilla", drop_path=0.4, clip=0.0),
    "with P in front of each layer": dict(attention="vanilla", positions="layers", shared_positions=False),
    "with P at the input": dict(attention="positional", positions="input"),
    "shuffled": dict(attention="vanilla", tile=2, tile_seed=3),
    "of the public recipe": {
        name: getattr(preset("vit-cifar"), name)
        for name in ("attention", "pooling", "position_std", "score_scale", "two_gelus",
                     "optimizer", "lr_last", "weight_decay", "clip")
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return load("digits", train_size=160, test_size=60)


def same_as_alone(runs, configs, data, tolerance=1e-5):
    for run, config in zip(runs, configs, strict=True):
        alone = train(config, progress=False, data=data)
        for row, expected in zip(run.metrics, alone.record["metrics"], strict=True):
            assert row["train_loss"] == pytest.approx(expected["train_loss"], abs=tolerance)
            assert row["val_accuracy"] == pytest.approx(expected["val_accuracy"])
        assert run.test_accuracy == pytest.approx(alone.record["test"]["accuracy"]) and run.failed is None
        for (name, p), q in zip(run.model.named_parameters(), alone.model.parameters()):
            # No softmax sees a key's bias: its gradient is rounding, which Adam scales up to a step.
            if not name.endswith("query_key.bias"):
                torch.testing.assert_close(p, q, atol=50 * tolerance, rtol=1e-3)


@pytest.mark.parametrize("kind", VITS)
def test_a_vit(kind, data):
    config = replace(SHORT, **VITS[kind])
    several = [replace(config, seed=seed, lr=lr) for seed, lr in ((0, 1e-3), (0, 4e-3), (1, 1e-3))]
    if kind == "of two starts":
        several[1] = replace(several[1], start="usual", values="usual")
    same_as_alone(train_together(several, data), several, data)


def test_networks_of_several_kinds_at_once(data):
    """Rows of two tensors, and CNNs between them; every run with a shuffle of its own."""
    kinds = [
        dict(attention="vanilla"), dict(model="small_cnn", lr=1e-2), dict(attention="positional", seed=1),
        dict(attention="vanilla", seed=1, position_std=1.0),
        dict(model="small_cnn", optimizer="sgd", lr=0.1, clip=0.0),
    ]  # fmt: skip
    several = [replace(SHORT, tile=2, tile_seed=k, **kind) for k, kind in enumerate(kinds)]
    with Together(several, data) as runs:
        assert [len(group) for group in runs.groups] == [2, 1, 1, 1] and len(runs.feeds) == 5
        assert runs.seconds() > 0  # and leaves no trace
        same_as_alone(runs.run(), several, data, 2e-5)


@pytest.mark.parametrize("model", ["resnet18", "vgg19"])
def test_a_large_cnn(model):
    data = toy_set(24, size=32)
    config = replace(SHORT, model=model, augment="none", val_size=8, batch_size=8, epochs=1, lr=1e-4)
    same_as_alone(train_together([config], data), [config], data)


def test_in_bfloat16_weights_and_sums_stay_in_single_precision(data):
    config = replace(SHORT, precision="bf16", epochs=4, lr=3e-3)
    several = [replace(config, attention=kind) for kind in ("vanilla", "positional")]
    with Together(several, data) as runs:
        assert all(
            engine.flat.dtype == torch.float32 and engine.sums.dtype == torch.float64
            for engine in runs.engines
        )
        low = runs.run()
    for run, config in zip(low, several):
        alone, single = (
            train(replace(config, precision=how), progress=False, data=data) for how in ("bf16", "float32")
        )
        mine, theirs, exact = (
            row["train_loss"]
            for row in (run.metrics[-1], alone.record["metrics"][-1], single.record["metrics"][-1])
        )
        assert mine != exact and mine == pytest.approx(theirs, abs=0.02)


def test_some_parameters_stay():
    data = load("digits", train_size=100, test_size=20)
    config = replace(DIGITS, epochs=1, warmup_epochs=0, val_size=0)
    models = [ViT(ViTConfig.named("reader", image_size=8, patch_size=2, channels=1)) for _ in range(2)]
    before = {name: p.clone() for name, p in models[0].named_parameters()}
    stay = ["positions", "blocks.0.mlp.0.weight"]
    free, held = (
        dict(run.model.named_parameters()) for run in train_together([config] * 2, data, models, [(), stay])
    )
    assert all(not torch.equal(free[name], before[name]) for name in stay)
    assert {name for name in held if torch.equal(held[name], before[name])} == set(stay)
    with pytest.raises(ValueError, match="must agree in epochs.* got epochs 1 and 2"):
        train_together([config, replace(config, epochs=2)], data)
    with pytest.raises(ValueError, match="frozen must name parameters"):
        train_together([config], data, models[:1], [["mlp"]])
    with pytest.raises(ValueError, match="ema must be 0.0 side by side, got 0.9"):
        train_together([replace(config, ema=0.9)], data)
    with pytest.raises(ValueError, match="attention must learn its scores side by side, got 'uniform'"):
        train_together([replace(config, attention="uniform")], data)


def test_a_run_that_fails_is_named_and_the_others_go_on(data, monkeypatch):
    config = replace(SHORT, attention="vanilla", seed=0, val_size=0)
    several = [config, replace(config, seed=1), replace(config, seed=2)]
    whole = train_together(several, data)
    real, calls = layers.attend, []

    def failing(q, k, v, scale):
        mixed = real(q, k, v, scale)
        if mixed.requires_grad:
            calls.append(0)
            if (
                len(calls) == 2 * 10 + 2
            ):  # the second layer in the eleventh step: the pictures of the second run
                factor = torch.ones(len(mixed), 1, 1, 1)
                factor[len(mixed) // 3] = float("nan")
                mixed.register_hook(lambda gradient: gradient * factor)
        return mixed

    monkeypatch.setattr("patch_lab.images.training.rows.attend", failing)
    said = r"step 11 \(epoch 2\), .*first in blocks\.1\.attention\.value\.bias \(layer 2\)"
    with pytest.raises(ValueError, match=rf"run 2 of 3, with lr 0.001: .*{said}"):
        train_together(several, data)
    calls.clear()
    with Together(several, data) as runs:
        kept = runs.run(keep_failed=True)
    assert [row.failed is None for row in kept] == [True, False, True]
    assert all(np.array_equal(kept[k].right, whole[k].right) for k in (0, 2))


def test_an_epoch_at_once_is_that_of_the_steps():
    data = toy_set(70, size=16)
    config = replace(DIGITS, augment="autoaugment-cifar10", tile=4, val_size=10)
    feed = ResidentFeed(data, config, OneProcess(torch.device("cpu")))
    images, labels = feed.epoch_at_once(3, at_once=17)
    steps = list(feed.epoch(3))
    assert torch.equal(images, torch.cat([x for x, _ in steps])) and torch.equal(
        labels, torch.cat([y for _, y in steps])
    )


def test_operations_are_computed_where_they_were_drawn():
    """By draws that lie on the device, all operations for all pictures; here a device by another name."""
    pictures = toy_set(64, size=16).train_images
    drawn = draw("randaugment", 64, 16, torch.Generator().manual_seed(0))
    meta = augment(pictures.to("meta"), drawn.to("meta"))
    assert meta.shape == pictures.shape and len(drawn.operation.unique()) > 10
    one_by_one = torch.cat([augment(pictures[k : k + 1], drawn[k : k + 1]) for k in range(64)])
    assert torch.equal(augment(pictures, drawn), one_by_one)


def test_evaluation_in_passes_that_are_not_full(data, monkeypatch):
    config = replace(SHORT, epochs=1)
    expected = train_together([config], data)[0]
    monkeypatch.setattr(together, "_EVALUATED", 7)
    found = train_together([config], data)[0]
    assert np.array_equal(found.right, expected.right) and found.metrics == expected.metrics


@pytest.mark.slow
def test_compiled_it_is_the_same(data):
    several = [replace(SHORT, attention=kind) for kind in ("vanilla", "positional")]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotRecorded)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        for config in several:
            one, other = (train_together([replace(config, compile=how)], data)[0] for how in (True, False))
            for a, b in zip(one.metrics, other.metrics):
                assert a["train_loss"] == pytest.approx(b["train_loss"], abs=1e-4)


def test_a_gradient_that_cannot_be_compiled_is_said(data, monkeypatch):
    """The backward pass is compiled when it is first asked for."""

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise RuntimeError("no kernel for the way back")

    def half_a_compiler(function, **options):
        def found(*arguments):
            return function(*arguments)

        if function.__name__ == "_losses":

            def found(*arguments):
                return (Fails.apply(function(*arguments)[0]), function(*arguments)[1])

        return found

    config = replace(SHORT, epochs=1)
    expected = train_together([config], data)[0]
    monkeypatch.setattr(torch, "compile", half_a_compiler)
    with pytest.warns(NotRecorded, match="_losses is not compiled: no kernel for the way back"):
        found = train_together([replace(config, compile=True)], data)[0]
    assert found.metrics == expected.metrics


def test_a_compiler_that_fails_is_said(monkeypatch):
    def no_compiler(function, **options):
        def call(*arguments):
            raise RuntimeError("there is no compiler")

        return call

    monkeypatch.setattr(torch, "compile", no_compiler)
    double = compiled(lambda x: 2 * x, wanted=True)
    with pytest.warns(NotRecorded, match="is not compiled: there is no compiler"):
        assert double(3) == 6
    assert double(4) == 8
