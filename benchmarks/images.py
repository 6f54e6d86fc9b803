"""What the part on images times: positional against vanilla attention, in one interleaved run."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import torch
from timing import compare
from torch import nn

from patch_association.images.data.sets import ImageSet
from patch_association.images.flops import attention_flops
from patch_association.images.models.layers import Block
from patch_association.images.models.vit import ViT, ViTConfig
from patch_association.images.training.config import TrainConfig
from patch_association.images.training.feed import make_feed
from patch_association.images.training.processes import OneProcess
from patch_association.images.training.step import TrainStep, make_optimizer
from patch_association.images.training.trainer import make_model
from patch_association.sweeps.vit_blocks import CPU, HEADS, KINDS, MLP_WIDTH, WIDTH, layer_of
from patch_association.sweeps.vit_steps import kept_bytes

sys.path.append(str(Path(__file__).parents[1] / "tests" / "images"))
from vision_shim import load_torchvision  # pyright: ignore[reportMissingImports]

# The paper's 7 layers cost 7/3 of these and give the same ratio: embedding and head are small.
_DEPTH = 3
_CASES = ((4, 64, 32), (2, 256, 8))  # patch size, tokens, pictures per batch


def _one_thread(function):
    """Run with one thread: on a shared machine a second one measures the neighbors."""

    def run(*args):
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return function(*args)
        finally:
            torch.set_num_threads(before)

    return run


def _step(model, *inputs):
    def step():
        out = model(*inputs)
        (out[0] if isinstance(out, tuple) else out).square().mean().backward()
        for parameter in model.parameters():
            parameter.grad = None

    return step


@_one_thread
def bench_positional_attention() -> list[dict]:
    """Forward and backward of the paper's ViT with either attention; the claim is a ratio of at most 0.70."""
    results = []
    for patch_size, tokens, batch in _CASES:
        models = [
            ViT(ViTConfig.named("small", patch_size=patch_size, attention=attention, depth=_DEPTH))
            for attention in ("positional", "vanilla")
        ]
        pictures = torch.randn(batch, 3, 32, 32)
        results.append(
            compare(
                f"positional ViT, forward and backward, {tokens} tokens, {batch} pictures",
                _step(models[0], pictures),
                _step(models[1], pictures),
                "vanilla with PyTorch's fused attention",
            )
        )
    return results


@_one_thread
def bench_positional_inference() -> list[dict]:
    """Forward passes with the attention cached."""
    results = []
    for patch_size, tokens, batch in _CASES:
        ours, theirs = (
            ViT(ViTConfig.named("small", patch_size=patch_size, attention=attention, depth=_DEPTH)).eval()
            for attention in ("positional", "vanilla")
        )
        pictures = torch.randn(batch, 3, 32, 32)
        with torch.no_grad(), ours.cached_attention():
            results.append(
                compare(
                    f"positional ViT, inference with cached attention, {tokens} tokens, {batch} pictures",
                    partial(ours, pictures),
                    partial(theirs, pictures),
                    "vanilla with PyTorch's fused attention",
                )
            )
    return results


def _torchvision_or_not() -> None:
    """timm and vit-pytorch import torchvision; some of its builds need help beside a CPU torch."""
    try:
        load_torchvision()
    except (ImportError, OSError) as error:
        print(f"torchvision: {error}")


@_one_thread
def bench_layer_against_other_libraries() -> list[dict]:
    """A positional layer beside our vanilla one and those of timm and vit-pytorch, three ways.

    Forward with the maps computed, inference with the maps kept, forward and backward; at the last also
    ``memory``, the ratio of the bytes that autograd keeps. ``formula`` is the ratio of products to our
    vanilla layer's. A library that is not installed is named and left out.
    """
    _torchvision_or_not()
    results = []
    for tokens, batch in CPU.batches.items():
        x = torch.randn(batch, tokens, WIDTH)
        ours = layer_of("positional", "layer", tokens)
        S = torch.softmax(torch.randn(HEADS, tokens, tokens), dim=-1)  # fixed: nothing is left to compute
        once = attention_flops(tokens, WIDTH, True).per_image
        rest = 4 * tokens * WIDTH * MLP_WIDTH
        formula = (once + rest) / (attention_flops(tokens, WIDTH, False).per_image + rest)
        for kind in (kind for kind in KINDS if kind != "positional"):
            try:
                theirs = layer_of(kind, "layer", tokens)
            except ValueError as error:
                print(f"left out: {error}")
                continue
            size = f"{tokens} tokens, {batch} pictures"
            with torch.no_grad():
                forward = partial(ours, x), partial(theirs, x)
                fixed = partial(ours.get_submodule("block"), x, None, S), forward[1]
                rows = [
                    compare(f"positional layer, {way}, {size}", *pair, f"{kind} layer", 5)
                    for way, pair in (("forward", forward), ("inference with its maps kept", fixed))
                ]
            grown = x.clone().requires_grad_()
            both = _step(ours, grown), _step(theirs, grown)
            row = compare(f"positional layer, forward and backward, {size}", *both, f"{kind} layer", 5)
            rows.append(row | {"memory": kept_bytes(ours, grown) / kept_bytes(theirs, grown)})
            results += [row | {"formula": formula} for row in rows]
    return results


class _OneByOne(torch.utils.data.Dataset):
    """Pictures augmented as a data loader does it: each by itself, when it is asked for."""

    def __init__(self, data: ImageSet):
        self.data, (mean, std) = data, data.statistics()
        self.mean, self.std = mean.view(-1, 1, 1), std.view(-1, 1, 1)

    def __len__(self):
        return len(self.data.train_labels)

    def __getitem__(self, i):
        picture = nn.functional.pad(self.data.train_images[i], (4, 4, 4, 4))
        top, left = torch.randint(9, (2,)).tolist()
        picture = picture[:, top : top + 32, left : left + 32]
        picture = picture.flip(-1) if torch.rand(()) < 0.5 else picture
        return (picture / 255 - self.mean) / self.std, self.data.train_labels[i]


@_one_thread
def bench_training_throughput() -> list[dict]:
    """An epoch by this library's loop, against a DataLoader and the same model."""
    results = []
    for vit, number in (("reader", 2000), ("small", 200)):
        generator = torch.Generator().manual_seed(0)
        pictures = torch.randint(256, (number, 3, 32, 32), dtype=torch.uint8, generator=generator)
        labels = torch.arange(number) % 10
        data = ImageSet("noise", "drawn", tuple("abcdefghij"), pictures, labels, pictures[:10], labels[:10])
        config = TrainConfig(
            dataset="cifar10", vit=vit, patch_size=4, batch_size=100, augment="shift-flip", val_size=0,
            epochs=1, warmup_epochs=0, device="cpu",
        )  # fmt: skip
        place = OneProcess(torch.device("cpu"))
        ours, theirs = (make_model(config, 10, 32, 3) for _ in range(2))
        feed = make_feed(data, config, place)
        step = TrainStep(ours, make_optimizer(ours, config), config, feed.mean, feed.std)
        optimizer = make_optimizer(theirs, config)
        loader = torch.utils.data.DataLoader(_OneByOne(data), batch_size=100, shuffle=True)

        def epoch(step=step, feed=feed):
            for images, targets in feed.epoch(0, 0):
                step(images, targets, 1e-3)

        def plain(model=theirs, optimizer=optimizer, loader=loader):
            for images, targets in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(images), targets).backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()

        row = compare(f'training the ViT "{vit}", {number:,} pictures', epoch, plain, "a DataLoader loop", 5)
        results.append(row | {"a_second": number / row["ours_s"]})
    return results


@_one_thread
def bench_block_against_pytorch() -> list[dict]:
    """One layer against PyTorch's own, which also shows that our vanilla layer is no easy opponent."""
    results = []
    for _, tokens, batch in _CASES:
        x, P = (
            torch.randn(batch, tokens, 384, requires_grad=True),
            torch.randn(tokens, 384, requires_grad=True),
        )
        stock = nn.TransformerEncoderLayer(
            384, 12, 384, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        for kind, positional in (("positional", True), ("vanilla", False)):
            block = Block(384, 12, 384, positional=positional)
            inputs = (x, P, None) if positional else (x, None, False)
            results.append(
                compare(
                    f"{kind} layer, forward and backward, {tokens} tokens, {batch} inputs",
                    _step(block, *inputs),
                    _step(stock, x),
                    "torch.nn.TransformerEncoderLayer",
                )
            )
    return results


@_one_thread
def bench_mixing() -> list[dict]:
    """S V for a whole batch: one matrix product per head against one that copies S for every picture."""
    results = []
    for _, tokens, batch in _CASES:
        S = torch.softmax(torch.randn(12, tokens, tokens), dim=-1).requires_grad_()
        channels_first = torch.randn(12, 32 * 4 * batch, tokens, requires_grad=True)  # (H, d_h B, N)
        pictures_first = torch.randn(4 * batch, 12, tokens, 32, requires_grad=True)  # (B, H, N, d_h)

        def ours(S=S, v=channels_first):
            (v @ S.transpose(1, 2)).sum().backward()

        def theirs(S=S, v=pictures_first):
            (S @ v).sum().backward()

        results.append(
            compare(
                f"S V, forward and backward, {tokens} tokens, {4 * batch} pictures",
                ours,
                theirs,
                "broadcasting S over the batch",
            )
        )
    return results
