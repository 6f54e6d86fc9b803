"""What the part on images times: positional against vanilla attention, in one interleaved run."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial

import torch
from timing import compare
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional as F

from patch_association.images.augment import normalise
from patch_association.images.layers import Block
from patch_association.images.presets import preset
from patch_association.images.step import TrainStep, make_optimizer
from patch_association.images.vit import ViT, ViTConfig

# The paper's 7 layers cost 7/3 of these and give the same ratio: embedding and head are small.
_DEPTH = 3
_CASES = ((4, 64, 32), (2, 256, 8))  # patch size, tokens, pictures per batch


def _one_thread(function):
    """Run with one thread: on a shared machine a second one measures the neighbours."""

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
                *(_step(model, pictures) for model in models),
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


def _seeds_together(models, config, mean, std):
    """One training step of all models at once: a function of (S, B, c, H, W) and (S, B).

    Parameters are stacked, the gradient of one model is mapped over them, and one AdamW steps all
    of them, since it acts on each number alone. Each model's gradient is clipped by its own norm.
    """
    stacked, _ = stack_module_state(models)
    stacked = {name: values.detach().requires_grad_() for name, values in stacked.items()}
    named = dict(models[0].named_parameters())
    groups = [
        {"params": [v for k, v in stacked.items() if (named[k].ndim >= 2 and k != "positions") == decays],
         "weight_decay": config.weight_decay if decays else 0.0}
        for decays in (True, False)
    ]  # fmt: skip
    optimizer = torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, config.beta2), fused=True)

    def loss(parameters, images, labels):
        logits = functional_call(models[0], parameters, (normalise(images, mean, std),))
        return F.cross_entropy(logits, labels, label_smoothing=config.label_smoothing)

    gradients = vmap(grad(loss))

    def step(images, labels):
        with warnings.catch_warnings():
            # The fused attention has no batching rule on a CPU: PyTorch warns and calls it seed by seed,
            # which is still faster than plain matrix products for all seeds.
            warnings.filterwarnings("ignore", message="There is a performance drop")
            found = gradients({k: v.detach() for k, v in stacked.items()}, images, labels)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in found.values()]).norm(dim=0)  # (S,)
        scale = (config.clip / (norms + 1e-6)).clamp(max=1.0)
        for name, g in found.items():
            stacked[name].grad = g * scale.view(-1, *[1] * (g.ndim - 1))
        optimizer.step()

    return step, stacked


def seeds_together(size: str, batch: int, attention: str, seeds: int = 4, rounds: int = 9) -> dict:
    """A training step of the reader's ViT for several seeds at once against one step after another.

    Both ways have made two steps to the same parameters, up to rounding, before they are timed.
    """
    config = replace(preset("smoke"), attention=attention, batch_size=batch)
    models = [ViT(ViTConfig.named(config.vit, attention=attention), seed=seed) for seed in range(seeds)]
    mean, std = torch.full((3,), 0.5), torch.full((3,), 0.25)
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (seeds, batch, 3, 32, 32), generator=generator, dtype=torch.uint8)
    labels = torch.randint(10, (seeds, batch), generator=generator)
    together, stacked = _seeds_together(models, config, mean, std)
    steps = [
        TrainStep(model, model, make_optimizer(model, config, False), config, mean, std) for model in models
    ]

    def one_after_another():
        for step, x, y in zip(steps, images, labels):
            step(x, y, config.lr)

    for _ in range(2):
        together(images, labels)
        one_after_another()
    for k, model in enumerate(models):
        for name, parameter in model.named_parameters():
            if not name.endswith("query_key.bias"):  # Adam scales up the rounding of a key's zero gradient
                torch.testing.assert_close(stacked[name][k], parameter, atol=1e-4, rtol=1e-3)
    name = f"training step of {seeds} seeds, {attention} ViT, {size}, {batch} pictures each"
    return compare(
        name, partial(together, images, labels), one_after_another, f"{seeds} steps in turn", rounds
    )


@_one_thread
def bench_seeds_together() -> list[dict]:
    """What batching four seeds would bring on a CPU, at the smallest preset and the CIFAR-10 study's size."""
    return [
        seeds_together(size, batch, attention)
        for size, batch in (("preset smoke", 80), ("sweep cifar10_permuted", 128))
        for attention in ("positional", "vanilla")
    ]
