"""What the part on images times: positional against vanilla attention, in one interleaved run."""

from __future__ import annotations

from functools import partial

import torch
from timing import compare
from torch import nn

from patch_association.images.flops import attention_flops
from patch_association.images.models.layers import Block
from patch_association.images.models.vit import ViT, ViTConfig
from patch_association.sweeps.vit_blocks import CPU, HEADS, KINDS, MLP_WIDTH, WIDTH, layer_of

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


@_one_thread
def bench_inference_against_other_libraries() -> list[dict]:
    """A layer with fixed maps, without gradients: against our vanilla one and those of timm and vit-pytorch.

    ``formula`` is the ratio of products to our vanilla layer's. A library that is not installed is named and
    left out.
    """
    results = []
    for tokens, batch in CPU.batches.items():
        x = torch.randn(batch, tokens, WIDTH)
        ours = layer_of("positional", "layer", tokens).eval()
        S = torch.softmax(torch.randn(HEADS, tokens, tokens), dim=-1)  # fixed: nothing is left to compute
        once = attention_flops(tokens, WIDTH, True).per_image
        rest = 4 * tokens * WIDTH * MLP_WIDTH
        formula = (once + rest) / (attention_flops(tokens, WIDTH, False).per_image + rest)
        for kind in (kind for kind in KINDS if kind != "positional"):
            try:
                theirs = layer_of(kind, "layer", tokens).eval()
            except ValueError as error:
                print(f"left out: {error}")
                continue
            with torch.no_grad():
                row = compare(
                    f"layer with fixed maps, inference, {tokens} tokens, {batch} pictures",
                    partial(ours.get_submodule("block"), x, None, S),
                    partial(theirs, x),
                    f"{kind} layer",
                )
            results.append(row | {"formula": formula})
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
