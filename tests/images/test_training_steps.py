"""Steps and batches of training: schedules, optimizers, lookahead, feeds and evaluation, each by hand."""

import itertools
import math
from dataclasses import replace

import pytest
import torch
from training import TINY, toy_set

from patch_association.images.layers import Block
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.convolution import residual_cnn
from patch_lab.images.data.augment import normalize
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.training.config import learning_rate
from patch_lab.images.training.feed import ResidentFeed
from patch_lab.images.training.processes import OneProcess, own_share
from patch_lab.images.training.step import (
    RunningAverage,
    TrainStep,
    evaluate,
    make_optimizer,
    mixing_share,
)
from patch_lab.images.training.trainer import make_model

CPU = OneProcess(torch.device("cpu"))


def made(config):
    return make_model(config, classes=2, image_size=8, channels=3)


def test_the_schedule():
    rates = [learning_rate(k, 100, 10, 2.0) for k in range(100)]
    assert rates[:10] == pytest.approx([0.2 * (k + 1) for k in range(10)])
    assert rates[10] == 2.0 and rates[55] == pytest.approx(1.0) and 0 < rates[99] < 0.002
    assert all(a >= b for a, b in itertools.pairwise(rates[9:]))
    assert learning_rate(0, 1, 0, 1.0) == 1.0
    down = [learning_rate(k, 100, 10, 2.0, last=0.5) for k in range(100)]
    assert down[:10] == rates[:10] and down[55] == pytest.approx(1.25) and 0.5 < down[99] < 0.502
    sides = [learning_rate(k, 100, 20, 2.0, "triangle") for k in range(100)]
    assert sides[:20] == pytest.approx([0.4 + 1.6 * (k + 1) / 20 for k in range(20)])
    assert sides[20:] == pytest.approx([2.0 - 1.86 * (k - 19) / 80 for k in range(20, 100)])
    assert learning_rate(0, 1, 0, 1.0, "triangle") == pytest.approx(0.07)
    with pytest.raises(ValueError, match="schedule must be one of cosine, triangle, got 'step'"):
        replace(TINY, schedule="step")


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


def test_adam_decays_every_parameter_by_its_gradient():
    data, config = toy_set(), replace(TINY, optimizer="adam", clip=0.0, weight_decay=0.3, label_smoothing=0.0)
    models = [made(config) for _ in range(2)]
    images, labels = data.train_images[:20], data.train_labels[:20]
    mean, std = data.statistics()
    TrainStep(models[0], make_optimizer(models[0], config), config, mean, std)(images, labels, 1e-2)
    pictures = (images.float() / 255 - mean[:, None, None]) / std[:, None, None]
    loss = torch.nn.functional.cross_entropy(models[1](pictures), labels)
    parameters = list(models[1].parameters())
    for p, moved, g in zip(parameters, models[0].parameters(), torch.autograd.grad(loss, parameters)):
        g = g + 0.3 * p  # the first step is its sign times the rate
        torch.testing.assert_close(moved, p - 1e-2 * g / (g.abs() + 1e-8), atol=2e-4, rtol=0)


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
    with pytest.raises(ValueError, match="optimizer must be one of adamw, adam, sgd, got 'lion'"):
        replace(TINY, optimizer="lion")


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


def test_the_running_average_is_evaluated_and_kept():
    model = torch.nn.Linear(1, 1, bias=False)
    seen = [1.0, 2.0, 5.0, -3.0]
    with torch.no_grad():
        model.weight.fill_(seen[0])
        average = RunningAverage(model, total=3, decay=0.2)
        expected = seen[0]
        for done, value in enumerate(seen[1:], start=1):
            model.weight.fill_(value)
            average.after(model, done)
            decay = min(0.2, (1 + done) / (10 + done))
            expected = decay * expected + (1 - decay) * value
            if done < 3:
                with average.instead(model):
                    assert model.weight.item() == pytest.approx(expected)
                assert model.weight.item() == value
                with pytest.raises(KeyError), average.instead(model):
                    raise KeyError
                assert model.weight.item() == value
    assert model.weight.item() == pytest.approx(expected)  # after the last step the model is the average


def test_mixed_pictures_have_the_mixed_loss():
    config = replace(TINY, label_smoothing=0.1, clip=0.0)
    data, model = toy_set(4), made(config)
    mean, std = data.statistics()
    x, y = normalize(data.train_images, mean, std), data.train_labels
    with torch.no_grad():
        logits = model(0.7 * x + 0.3 * x.flip(0))

        def of(labels):
            return torch.nn.functional.cross_entropy(logits, labels, label_smoothing=0.1)

        expected = 4 * (0.7 * of(y) + 0.3 * of(y.flip(0)))
    step = TrainStep(model, make_optimizer(model, config), config, mean, std)
    step(data.train_images, y, 1e-3, share=0.7)
    assert float(step.sums[0]) == pytest.approx(float(expected), rel=1e-5)
    shares = [mixing_share(0.4, 0, 0, k) for k in range(50)]
    assert all(0.5 <= share < 1 for share in shares) and len(set(shares)) == 50
    assert mixing_share(0.0, 0, 0, 1) == 1.0 and mixing_share(0.4, 0, 0, 7) == shares[7]


def test_a_branch_that_is_sometimes_missing_is_right_on_average():
    torch.manual_seed(0)
    block = Block(8, 2, 16, positional=False, drop=0.4)
    branch = torch.ones(20_000, 3, 8)
    kept = block.train()._kept(branch)
    assert set(kept.flatten().unique().tolist()) == {0.0, float(torch.ones(1) / (1 - 0.4))}
    assert (kept == kept[:, :1, :1]).all()  # a picture misses all of it
    # The mean of 20,000 draws of 0 or 1/.6: six standard deviations are .035.
    assert float(kept[:, 0, 0].mean()) == pytest.approx(1.0, abs=0.035)
    assert torch.equal(block.eval()._kept(branch), branch)
    rates = [part.drop for part in ViT(ViTConfig.named("reader", depth=4, drop_path=0.2)).blocks]
    assert rates == pytest.approx([0.05, 0.1, 0.15, 0.2])
