"""Short runs in double precision, the recorded training steps, and the arrangement of Figure 1a."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from training import toy_set

from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.data.augment import augment, draw
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.data.sets import ImageSet
from patch_lab.images.maps import AttentionMaps, attention_maps
from patch_lab.images.training.short import coupled_runs, guess, in_double, train_short


@pytest.fixture(scope="module")
def data():
    g = torch.Generator().manual_seed(0)
    images = torch.randint(256, (60, 3, 16, 16), generator=g, dtype=torch.uint8)
    labels = torch.arange(60) % 3
    return ImageSet("noise", "noise", ("a", "b", "c"), images[:40], labels[:40], images[40:], labels[40:])


def with_norms():
    """Batch norms compute otherwise in evaluation, and dead units would hide what a step does."""
    torch.manual_seed(5)
    layers = [nn.Conv2d(3, 8, 4, stride=4), nn.BatchNorm2d(8), nn.GELU(), nn.Flatten(), nn.Linear(128, 3)]
    return nn.Sequential(*layers)


def by_hand(model, data, steps, batch_size, lr, permutation, seed):
    """The docstring of train_short, spelled out: every loss, and which test pictures are right."""
    model.double().train()
    mean, std = (x.double().view(1, 3, 1, 1) for x in data.statistics())
    generator = torch.Generator().manual_seed(seed)
    parameters = list(model.parameters())
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    warmup, losses = max(1, steps // 10), []
    for t in range(steps):
        chosen = torch.randint(len(data.train_labels), (batch_size,), generator=generator)
        draws = draw("shift-flip", batch_size, 16, generator)
        seen = permutation(augment(data.train_images[chosen], draws))
        logp = model((seen.double() / 255 - mean) / std).log_softmax(dim=1)
        loss = -logp[torch.arange(batch_size), data.train_labels[chosen]].mean()
        losses.append(loss.item())
        rising, falling = (t + 1) / warmup, 0.5 + 0.5 * math.cos(math.pi * (t - warmup) / (steps - warmup))
        rate = lr * (rising if t < warmup else falling)
        with torch.no_grad():
            for p, g, (m, v) in zip(parameters, torch.autograd.grad(loss, parameters), moments):
                m.mul_(0.9).add_(0.1 * g)
                v.mul_(0.999).add_(0.001 * g**2)
                p.sub_(rate * (m / (1 - 0.9 ** (t + 1))) / ((v / (1 - 0.999 ** (t + 1))).sqrt() + 1e-8))
    model.eval()
    with torch.no_grad():
        logits = model((permutation(data.test_images).double() / 255 - mean) / std)
    return losses, (logits.argmax(dim=1) == data.test_labels).tolist()


@pytest.mark.parametrize(("steps", "seed"), [(25, 0), (7, 3)])
def test_a_short_run_is_what_its_docstring_says(data, steps, seed):
    """Warm-up, cosine, AdamW without decay, shifts and mirrors before the shuffle, tests in evaluation."""
    settings = dict(steps=steps, batch_size=8, lr=1e-2, permutation=GridPermutation(16, 2), seed=seed)
    losses, right = by_hand(with_norms(), data, **settings)
    model = with_norms().eval()  # training is its own affair
    run = train_short(model, data, **settings)
    assert np.abs(run.losses - losses).max() < 1e-9 and run.losses.shape == (steps,)
    assert run.right.tolist() == right and not model.training


def test_a_shuffle_at_the_test_alone(data):
    """A model trained on whole pictures and asked about shuffled ones."""
    model, shuffle = with_norms(), GridPermutation(16, 2)
    run = train_short(model, data, 3, batch_size=8)
    whole, shuffled = guess(model.train().float(), data), guess(model, data, shuffle)
    assert ((whole == data.test_labels.numpy()) == run.right).all() and not model.training
    logits = model(in_double(data)(shuffle(data.test_images)))
    assert (shuffled == logits.argmax(dim=1).numpy()).all() and (shuffled != whole).any()


# --- What the chapters ask of short runs: coupled pairs, attention maps


DATA = toy_set(60, size=16)


def shape(attention, **changes):
    return ViTConfig.named(
        "reader",
        attention=attention,
        image_size=16,
        num_classes=2,
        width=16,
        heads=2,
        mlp_width=16,
        **changes,
    )


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_coupled_runs_agree_and_move(attention, pooling):
    shuffle = GridPermutation(16, 8, seed=4)  # tiles of four whole patches; its square moves tiles too
    found = coupled_runs(shape(attention, pooling=pooling), DATA, shuffle, steps=5, seed=2, batch_size=8)
    assert found.gap == max(found.losses_apart, found.positions_apart) < 1e-12
    assert found.moved > 1e-3 and found.differ == 0
    model = ViT(shape(attention, pooling=pooling), seed=2)
    alone = train_short(model, DATA, steps=5, batch_size=8, seed=2)
    assert np.array_equal(found.original.losses, alone.losses)
    start = ViT(model.config, seed=2).positions
    assert found.moved == (model.positions - start).detach().abs().max().item()


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
def test_attention_maps_are_means_of_the_models_attention(attention):
    model = ViT(shape(attention, depth=2), seed=4)
    with torch.no_grad():
        model.positions.mul_(30)  # so that positional attention is far from uniform
    found = attention_maps(model, DATA, pictures=3, layer=1)
    assert isinstance(found, AttentionMaps) and found.maps.shape == (2, 16, 16)
    assert np.abs(found.maps.sum(axis=-1) - 1).max() < 1e-12
    each, entropies = [], []
    for picture in DATA.test_images[:3]:
        with torch.no_grad():
            S = model(in_double(DATA)(picture[None]), return_all=True)[1]["attention"][1].numpy()
        S = S.reshape(2, 16, 16)
        each.append(S)
        entropies.append(-(S * np.log(S)).sum(axis=-1).mean() / np.log(16))
    assert np.abs(found.maps - np.mean(each, axis=0)).max() < 1e-12
    assert found.entropy == pytest.approx(np.mean(entropies), rel=1e-10) and found.entropy < 0.999
