"""Training: schedule, optimiser, feeds, records, resuming, settings and the command line."""

import itertools
import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from training import TINY, same_model, toy_set

from patch_association.images.data.permutation import GridPermutation
from patch_association.images.locality import locality, similarity
from patch_association.images.models.convolution import residual_cnn
from patch_association.images.training import run as training
from patch_association.images.training.checkpoint import CheckpointWarning, load_checkpoint, save_checkpoint
from patch_association.images.training.feed import ResidentFeed, make_feed
from patch_association.images.training.processes import OneProcess, own_share, processes
from patch_association.images.training.run import train
from patch_association.images.training.step import (
    Lookahead,
    TrainStep,
    evaluate,
    learning_rate,
    make_optimizer,
    precision_type,
)
from patch_association.images.training.trainer import Trainer, first_pictures, make_model

CPU = OneProcess(torch.device("cpu"))


def made(config):
    return training.make_model(config, classes=2, image_size=8, channels=3)


def test_the_schedule():
    rates = [learning_rate(k, 100, 10, 2.0) for k in range(100)]
    assert rates[:10] == pytest.approx([0.2 * (k + 1) for k in range(10)])
    assert rates[10] == 2.0 and rates[55] == pytest.approx(1.0) and 0 < rates[99] < 0.002
    assert all(a >= b for a, b in itertools.pairwise(rates[9:]))
    assert learning_rate(0, 1, 0, 1.0) == 1.0
    sides = [learning_rate(k, 100, 20, 2.0, "triangle") for k in range(100)]
    assert sides[:20] == pytest.approx([0.4 + 1.6 * (k + 1) / 20 for k in range(20)])
    assert sides[20:] == pytest.approx([2.0 - 1.86 * (k - 19) / 80 for k in range(20, 100)])
    assert learning_rate(0, 1, 0, 1.0, "triangle") == pytest.approx(0.07)
    with pytest.raises(ValueError, match="schedule must be one of cosine, triangle, got 'step'"):
        replace(TINY, schedule="step")


@pytest.mark.parametrize("total", [12, 10])
def test_looking_ahead_by_hand(total):
    """Steps of a network that adds one to all its numbers: at 5 and 10 it looks, at the last it goes back."""
    network = residual_cnn(2, widths=(3,))
    begun = network.head.bias.detach().clone()
    ahead, slow, fast = Lookahead(network, total), 0.0, 0.0
    for step in range(1, total + 1):
        with torch.no_grad():
            for each in network.state_dict().values():
                each += 1
        fast += 1
        ahead.after(network, step)
        if step == total:
            fast = slow
        elif step in (5, 10):
            held = 0.95**5 * (step / total) ** 3
            fast = slow = held * slow + (1 - held) * fast
        torch.testing.assert_close(network.head.bias, begun + fast)
        torch.testing.assert_close(network.stages[0].first_norm.running_mean, torch.full((3,), fast))
    assert slow < total - 1 and network.stages[0].first_norm.num_batches_tracked == total


def test_a_run_has_its_schedule_and_looks_ahead():
    """The same steps by hand: batches of the feed, the rates of the triangle, a look after five steps."""
    config = replace(
        TINY, model="residual_cnn", augment="reflect-flip", optimizer="sgd", clip=0.0, val_size=0
    )
    config = replace(config, schedule="triangle", lookahead=True, epochs=2, warmup_epochs=0.5, lr=0.1)
    data = toy_set(140, size=16)
    run = train(config, data=data, progress=False)
    feed = ResidentFeed(data, config, CPU)
    model = make_model(config, 2, 16, 3)
    model.whiten(first_pictures(feed))
    step = TrainStep(model, make_optimizer(model, config), config, *data.statistics())
    ahead, rates = Lookahead(model, 14), []
    pictures = itertools.chain(feed.epoch(0), feed.epoch(1))
    for done, (images, labels) in enumerate(pictures, start=1):
        rates.append(learning_rate(done - 1, 14, 4, 0.1, "triangle"))
        step(images, labels, rates[-1])
        ahead.after(model, done)
    assert done == 14 and same_model(run.model, model)
    assert [row["lr"] for row in run.record["metrics"]] == [rates[6], rates[13]]


@pytest.mark.parametrize("model", ["vit", "small_cnn"])
def test_decay_is_for_matrices(model):
    network = made(replace(TINY, model=model))
    optimizer = make_optimizer(network, TINY)
    decayed, free = ([id(p) for p in group["params"]] for group in optimizer.param_groups)
    assert [group["weight_decay"] for group in optimizer.param_groups] == [TINY.weight_decay, 0]
    for name, parameter in network.named_parameters():
        want = decayed if parameter.ndim >= 2 and name != "positions" else free
        assert id(parameter) in want
    assert len(decayed) + len(free) == len(list(network.parameters()))


def test_a_step_is_adamw_with_clipping_and_smoothing():
    data = toy_set()
    config = replace(TINY, clip=0.5, weight_decay=0.3, label_smoothing=0.2)
    models = [made(config) for _ in range(2)]
    images, labels = data.train_images[:20], data.train_labels[:20]
    mean, std = data.statistics()
    step = TrainStep(models[0], make_optimizer(models[0], config), config, mean, std)
    for _ in range(3):
        step(images, labels, 1e-2)
    named = dict(models[1].named_parameters())
    moments = {n: (torch.zeros_like(p), torch.zeros_like(p)) for n, p in named.items()}
    for t in range(1, 4):
        logits = models[1]((images.float() / 255 - mean[:, None, None]) / std[:, None, None])
        logp = logits.log_softmax(1)
        loss = -(0.8 * logp[torch.arange(20), labels] + 0.2 * logp.mean(1)).mean()
        grads = dict(zip(named, torch.autograd.grad(loss, list(named.values()))))
        norm = math.sqrt(sum(float((g**2).sum()) for g in grads.values()))
        assert norm > 0.5  # so that the clipping acts
        with torch.no_grad():
            for name, p in named.items():
                g, (m, v) = grads[name] * (0.5 / (norm + 1e-6)), moments[name]
                m.mul_(0.9).add_(0.1 * g)
                v.mul_(0.999).add_(0.001 * g**2)
                p.mul_(1 - 1e-2 * (0.3 if p.ndim >= 2 and name != "positions" else 0))
                p.sub_(1e-2 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8))
    for name, p in models[0].named_parameters():
        # No softmax sees a key's bias: its gradient is rounding, which Adam scales up to a step.
        if not name.endswith("query_key.bias"):
            torch.testing.assert_close(p, named[name], atol=2e-5, rtol=1e-4)
    assert step.sums[2] == 60 and step.sums[0] > 0


def test_sgd_has_nesterovs_momentum_and_quick_norms():
    """Three steps by hand, of which the rate changes: p moves by rate (g + 0.85 v), v = 0.85 v + g."""
    data = toy_set(size=10)
    config = replace(TINY, model="residual_cnn", optimizer="sgd", clip=0.0, weight_decay=0.3)
    mean, std = data.statistics()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        models = [residual_cnn(2, widths=(3,)) for _ in range(2)]
        models[1].load_state_dict(models[0].state_dict())
    images, labels = data.train_images[:20], data.train_labels[:20]
    pictures = (images.float() / 255 - mean[:, None, None]) / std[:, None, None]
    for model in models:
        model.whiten(pictures)
    step = TrainStep(models[0], make_optimizer(models[0], config), config, mean, std)
    named = {name: p for name, p in models[1].named_parameters() if p.requires_grad}
    held = {name for name, _ in models[1].named_parameters()} - named.keys()
    norms = {"stages.0.first_norm", "stages.0.second_norm"}
    assert held == {"stem.weight"} | {f"{norm}.weight" for norm in norms}
    moved = {name: torch.zeros_like(p) for name, p in named.items()}
    for rate in (1e-2, 3e-2, 1e-2):
        step(images, labels, rate)
        loss = torch.nn.functional.cross_entropy(models[1](pictures), labels, label_smoothing=0.1)
        grads = torch.autograd.grad(loss, list(named.values()))
        with torch.no_grad():
            for (name, p), g in zip(named.items(), grads):
                times = 64 if name.removesuffix(".bias") in norms else 1
                g = g + 0.3 / times * p
                moved[name] = 0.85 * moved[name] + g
                p -= rate * times * (g + 0.85 * moved[name])
    for name, p in models[0].named_parameters():
        other = dict(models[1].named_parameters())[name]
        torch.testing.assert_close(p, other, atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="optimizer must be one of adamw, sgd, got 'adam'"):
        replace(TINY, optimizer="adam")


def test_both_sides_of_a_picture_are_seen_in_turn():
    """Read from the batches: pictures whose number is in their brightness, and brighter on the right."""
    data = toy_set(40)
    pixels = torch.arange(40)[:, None, None, None] * 6 + torch.arange(8) // 4
    data = replace(data, train_images=pixels.expand(40, 3, 8, 8).byte().contiguous())
    config = replace(TINY, augment="reflect-flip", val_size=8, batch_size=4)

    def sides(epoch, config=config):
        found = {}
        for images, _ in ResidentFeed(data, config, CPU).epoch(epoch):
            for image in images:
                row = image[0, 0].int()
                found[int(row.min()) // 6] = bool(row[0] > row[-1])
        return [found[k] for k in sorted(found)]

    seen = [sides(epoch) for epoch in range(4)]
    assert len(seen[0]) == 32 and 0 < sum(seen[0]) < 32
    assert seen[1] == [not side for side in seen[0]] and seen[2:] == seen[:2]
    assert sides(0, replace(config, seed=1)) != seen[0]


def batches(config, data, epoch=0, start=0, place=CPU):
    return [(x.clone(), y) for x, y in ResidentFeed(data, config, place).epoch(epoch, start)]


def test_an_epoch_shows_every_training_picture_once():
    data, config = toy_set(), replace(TINY, augment="none", val_size=20)
    seen = torch.cat([x for x, _ in batches(config, data)])
    feed = ResidentFeed(data, config, CPU)
    want = {x.numpy().tobytes() for x in data.train_images[feed.train_numbers]}
    assert len(seen) == 60 and {x.numpy().tobytes() for x in seen} == want
    held_out = torch.cat([x for x, _ in feed.evaluation("val")])
    assert torch.equal(held_out, data.train_images[feed.val_numbers])
    assert not {x.numpy().tobytes() for x in held_out} & want
    assert torch.equal(torch.cat([x for x, _ in feed.evaluation("test")]), data.test_images)


@pytest.mark.parametrize("together", [1, 2, 16])
def test_batches_depend_on_seed_and_epoch_alone(together):
    data, config = toy_set(), replace(TINY, augment="shift-flip", val_size=0)
    whole = batches(config, data, epoch=3)
    feed = ResidentFeed(data, config, CPU)
    feed.together = together
    rest = list(feed.epoch(3, start=1))
    assert len(whole) == 4 and len(rest) == 3
    assert all(torch.equal(a, b) and torch.equal(y, z) for (a, y), (b, z) in zip(whole[1:], rest))
    assert not torch.equal(whole[0][0], batches(config, data, epoch=4)[0][0])
    assert not torch.equal(whole[0][0], batches(replace(config, seed=1), data, epoch=3)[0][0])


def test_processes_share_a_batch():
    data, config = toy_set(), replace(TINY, augment="shift-flip", val_size=0)
    places = []
    for rank in range(2):
        place = OneProcess(torch.device("cpu"))
        place.rank, place.world = rank, 2
        places.append(place)
    whole, parts = batches(config, data), [batches(config, data, place=place) for place in places]
    for k, (x, y) in enumerate(whole):
        assert torch.equal(x[0::2], parts[0][k][0]) and torch.equal(x[1::2], parts[1][k][0])
        assert torch.equal(y[0::2], parts[0][k][1])
    with pytest.raises(
        ValueError, match="batch_size must be a multiple of the number of processes, got 21 for 2"
    ):
        own_share(21, places[0])


def test_the_shuffle_comes_after_augmentation():
    data, config = toy_set(), replace(TINY, augment="shift-flip", val_size=0)
    plain, shuffled = batches(config, data), batches(replace(config, tile=2), data)
    permutation = GridPermutation(8, 2, 0)
    assert all(torch.equal(permutation(a), b) for (a, _), (b, _) in zip(plain, shuffled))
    feed = ResidentFeed(data, replace(config, tile=2), CPU)
    assert torch.equal(next(feed.evaluation("test"))[0], permutation(data.test_images))
    mirrored = next(feed.evaluation("test", mirrored=True))[0]
    assert torch.equal(mirrored, permutation(data.test_images.flip(3)))


def test_evaluation_is_the_mean_over_all_pictures():
    data = toy_set()
    model = made(TINY)
    step = TrainStep(model, make_optimizer(model, TINY), TINY, *data.statistics())
    feed = ResidentFeed(data, replace(TINY, val_size=0), CPU)
    found = evaluate(model, feed.evaluation("test"), step, CPU)
    mean, std = data.statistics()
    logits = model((data.test_images.float() / 255 - mean[:, None, None]) / std[:, None, None])
    assert found["loss"] == pytest.approx(
        torch.nn.functional.cross_entropy(logits, data.test_labels).item(), rel=1e-5
    )
    assert found["accuracy"] == (logits.argmax(1) == data.test_labels).sum().item() / 80 and found["n"] == 80


def test_a_test_with_both_sides_of_each_picture_averages_logits():
    data, config = toy_set(), replace(TINY, tile=4, mirrored_test=True, epochs=1)
    run = train(config, data=data, progress=False)
    permutation = GridPermutation(8, 4)
    mean, std = (t[:, None, None] for t in data.statistics())
    with torch.no_grad():
        views = [permutation(x).float() for x in (data.test_images, data.test_images.flip(3))]
        logits = sum(run.model.eval()((x / 255 - mean) / std) for x in views) / 2
    found = run.record["test"]
    want = torch.nn.functional.cross_entropy(logits, data.test_labels).item()
    assert found["mirrored_loss"] == pytest.approx(want, rel=1e-5) and want != found["loss"]
    right = (logits.argmax(1) == data.test_labels).double().mean().item()
    assert found["mirrored_accuracy"] == pytest.approx(right)
    plain = train(replace(config, mirrored_test=False), data=data, progress=False).record["test"]
    assert plain == {name: found[name] for name in ("loss", "accuracy", "n")}


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
    assert record == json.loads(json.dumps(run.record))
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


def test_the_test_pictures_are_looked_at_once(monkeypatch):
    asked = []
    real = ResidentFeed.evaluation
    monkeypatch.setattr(
        ResidentFeed, "evaluation", lambda self, split: asked.append(split) or real(self, split)
    )
    train(TINY, progress=False)
    assert asked == ["val", "val", "val", "test"]


@pytest.mark.parametrize(
    "model",
    [
        dict(),
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


def test_what_is_watched_joins_the_metrics_of_each_epoch(tmp_path):
    """Whether or not the run was interrupted, and without changing it."""

    def watch(model):
        return {"length": float(model.positions.detach().norm())}

    alone, whole = train(TINY, progress=False), train(TINY, progress=False, watch=watch)
    assert same_model(alone.model, whole.model)
    lengths = [row["length"] for row in whole.record["metrics"]]
    assert len(set(lengths)) == 3 and lengths[-1] == watch(whole.model)["length"]
    train(replace(TINY, minutes=1e-9), tmp_path, progress=False, watch=watch)
    resumed = train(TINY, tmp_path, resume=True, progress=False, watch=watch)
    assert resumed.record["metrics"] == whole.record["metrics"]


def test_a_run_from_before_a_setting_was_added_goes_on(tmp_path):
    """It did what the setting's default says, and is refused with another value."""
    train(replace(TINY, minutes=1e-9), tmp_path, progress=False)
    state = load_checkpoint(tmp_path)
    then = json.loads(state["config"])
    assert then.pop("lookahead") is False
    save_checkpoint(tmp_path, state | {"config": json.dumps(then)})
    with pytest.raises(ValueError, match="other settings: lookahead was False and is True"):
        train(replace(TINY, lookahead=True), tmp_path, resume=True, progress=False)
    resumed = train(TINY, tmp_path, resume=True, progress=False)
    assert resumed.record["metrics"] == train(TINY, progress=False).record["metrics"]


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    """As one of an older version would be, where the settings are the same."""
    train(replace(TINY, minutes=1e-9), tmp_path, progress=False)
    state = load_checkpoint(tmp_path)
    state["model"]["head.weight"] = torch.zeros(3, 8)
    save_checkpoint(tmp_path, state)
    message = (
        "the checkpoint holds another network, perhaps of another version: .* size mismatch for head.weight"
    )
    with pytest.raises(ValueError, match=message):
        train(TINY, tmp_path, resume=True, progress=False)
    with pytest.raises(ValueError, match=message):
        training.load_run(tmp_path)


def test_a_finished_run_resumes_to_itself(tmp_path, monkeypatch):
    """And does not look at the test pictures a second time."""
    first = train(TINY, tmp_path, progress=False)
    monkeypatch.setattr(ResidentFeed, "evaluation", lambda self, split: 1 / 0)
    again = train(TINY, tmp_path, resume=True, progress=False)
    assert again.record["metrics"] == first.record["metrics"] and again.record["test"] == first.record["test"]
    assert same_model(first.model, again.model)


def test_minutes_stop_a_run_with_a_checkpoint(tmp_path):
    config = replace(TINY, minutes=1e-9)
    run = train(config, tmp_path, progress=False)
    assert not run.record["finished"] and (tmp_path / "checkpoint.pt").exists()
    done = train(replace(TINY, minutes=0.0), tmp_path, resume=True, progress=False)
    assert done.record["test"] == train(TINY, progress=False).record["test"]


def test_runs_are_neither_overwritten_nor_mixed(tmp_path):
    train(replace(TINY, epochs=1), tmp_path, progress=False)
    with pytest.raises(ValueError, match="holds a training run already: go on with --resume"):
        train(replace(TINY, epochs=1), tmp_path, progress=False)
    with pytest.raises(ValueError, match="holds a run with other settings: lr was 0.003 and is 0.1"):
        train(replace(TINY, epochs=1, lr=0.1), tmp_path, resume=True, progress=False)
    with pytest.raises(ValueError, match="began with other data: sha256"):
        train(replace(TINY, epochs=1), tmp_path, resume=True, progress=False, data=toy_set(200))


def test_a_damaged_checkpoint_costs_only_what_came_after_the_previous_one(tmp_path):
    config = replace(TINY, checkpoint_seconds=0.0)
    whole = train(config, tmp_path, progress=False)
    newest = tmp_path / "checkpoint.pt"
    newest.write_bytes(newest.read_bytes()[:-50])
    with pytest.warns(CheckpointWarning, match="truncated or altered"):
        again = train(config, tmp_path, resume=True, progress=False)
    assert again.record["metrics"] == whole.record["metrics"] and same_model(again.model, whole.model)


def test_a_loss_that_is_not_finite_stops_the_run():
    with pytest.raises(ValueError, match=r"the training loss is (nan|inf) in epoch 1: lower lr"):
        train(replace(TINY, lr=1e30, clip=0.0, warmup_epochs=0.0), progress=False)


def test_a_loss_that_is_lost_in_a_compiled_run_names_the_compiler(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda model, mode=None: model)
    with pytest.raises(ValueError, match=r"lower lr or raise warmup_epochs, or leave compile out"):
        train(replace(TINY, lr=1e30, clip=0.0, warmup_epochs=0.0, compile=True), progress=False)


def test_bfloat16_trains_too():
    run = train(
        replace(TINY, precision="bf16", val_size=0, augment="none", epochs=20, lr=1e-2),
        data=toy_set(),
        progress=False,
    )
    assert run.record["test"]["accuracy"] > 0.95
    assert precision_type(TINY, torch.device("cpu")) == torch.float32


@pytest.mark.parametrize(
    "model", [dict(attention="vanilla"), dict(attention="positional"), dict(model="residual_cnn")]
)
def test_bfloat16_follows_float32(model):
    """Ten steps from one start: losses agree to three digits of bfloat16, and not to the bit."""
    config = replace(TINY, val_size=0, train_size=None, epochs=1, batch_size=20, warmup_epochs=0.0, **model)
    losses = [
        train(replace(config, precision=p), data=toy_set(200, size=16), progress=False).record["metrics"][0][
            "train_loss"
        ]
        for p in ("float32", "bf16")
    ]
    assert losses[0] != losses[1] and losses[0] == pytest.approx(losses[1], rel=2e-2)


def test_devices():
    assert processes("cpu").device.type == "cpu"
    with pytest.raises(ValueError, match="device must be auto, cpu, cuda or the like, got 'fast'"):
        processes("fast")
    absent = ["meta", "mps" if sys.platform == "linux" else "xpu", "vulkan"]
    for name in absent + ([] if torch.cuda.is_available() else ["cuda", "cuda:7"]):
        with pytest.raises(
            ValueError, match=f"device={name} was asked for, and PyTorch cannot use it here: "
        ):
            processes(name)
