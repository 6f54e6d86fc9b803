"""What the part on images times: positional against vanilla attention, in one interleaved run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import _training_loops as training_loops
import _written_out as written_out
import torch
from _networks import OPPONENTS, network_of
from timing import close, compare
from torch import nn

from patch_association.images.layers import Block
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.flops import attention_flops
from patch_lab.images.one_layer import HEADS, KINDS, MLP_WIDTH, WIDTH, layer_of
from patch_lab.sweeps.vit_blocks import CPU
from patch_lab.sweeps.vit_steps import kept_bytes, peak_bytes

sys.path.append(str(Path(__file__).parents[1] / "tests" / "images"))
from vision_shim import load_torchvision  # pyright: ignore[reportMissingImports]

# The paper's 7 layers cost 7/3 of these and give the same ratio: embedding and head are small.
_DEPTH = 3
_CASES = ((4, 64, 32), (2, 256, 8))  # patch size, tokens, pictures per batch


def _one_thread(function):
    """Run with one thread: on a shared machine a second one measures the neighbors."""

    def run():
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield from function()
        finally:
            torch.set_num_threads(before)

    return run


def _leaves(model, *inputs):
    return [*model.parameters(), *(x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad)]


def _output(model, *inputs):
    out = model(*inputs)
    return out[0] if isinstance(out, tuple) else out


def _step(model, *inputs):
    """Forward and backward: the gradient by the parameters and by those inputs that need one."""
    return partial(written_out.gradients, partial(_output, model, *inputs), _leaves(model, *inputs))


def _as_written(ours, theirs):
    """A check: each side returns what the functions given compute, its layers written out head by head."""

    def same(found, their_found):
        close(1e-3)(found, ours())
        close(1e-3)(their_found, theirs())

    return same


@_one_thread
def bench_positional_attention() -> Iterator[dict]:
    """Forward and backward of the paper's ViT with either attention; the claim is a ratio of at most 0.70."""
    for patch_size, tokens, batch in _CASES:
        models = [
            ViT(ViTConfig.named("small", patch_size=patch_size, attention=attention, depth=_DEPTH))
            for attention in ("positional", "vanilla")
        ]
        pictures = torch.randn(batch, 3, 32, 32)
        written = (
            partial(written_out.gradients, partial(written_out.vit, model, pictures), _leaves(model))
            for model in models
        )
        yield compare(
            f"positional ViT, forward and backward, {tokens} tokens, {batch} pictures",
            _step(models[0], pictures),
            _step(models[1], pictures),
            "vanilla with PyTorch's fused attention",
            _as_written(*written),
        )


def _torchvision_or_not() -> None:
    """timm and vit-pytorch import torchvision; some of its builds need help beside a CPU torch."""
    try:
        load_torchvision()
    except (ImportError, OSError) as error:
        print(f"torchvision: {error}")


@_one_thread
def bench_positional_inference() -> Iterator[dict]:
    """Forward passes of whole networks: positional with its maps kept, our vanilla, timm's and vit-pytorch's.

    A library that is not installed is named and left out.
    """
    _torchvision_or_not()
    for patch_size, tokens, batch in _CASES:
        vanilla = ViTConfig.named("small", patch_size=patch_size, depth=_DEPTH)
        ours = ViT(replace(vanilla, attention="positional")).eval()
        pictures = torch.randn(batch, 3, 32, 32)
        for kind, name in OPPONENTS.items():
            try:
                theirs = network_of(kind, vanilla)
            except ValueError as error:
                print(f"left out: {error}")
                continue
            with torch.no_grad(), ours.cached_attention():
                row = compare(
                    f"positional ViT, inference with cached attention, {tokens} tokens, {batch} pictures",
                    partial(ours, pictures),
                    partial(theirs, pictures),
                    name,
                    _as_written(*(partial(written_out.vit, model, pictures) for model in (ours, theirs))),
                )
            yield row


@_one_thread
def bench_layer_against_other_libraries() -> Iterator[dict]:
    """A positional layer beside our vanilla one and those of timm and vit-pytorch, three ways.

    Forward with the maps computed, inference with the maps kept, forward and backward; at the last also
    ``memory``, the ratio of the bytes that autograd keeps, and ``peak``, that of the most bytes held at
    once. ``formula`` is the ratio of products to our vanilla layer's. A library that is not installed is
    named and left out.
    """
    _torchvision_or_not()
    for tokens, batch in CPU.batches.items():
        x = torch.randn(batch, tokens, WIDTH)
        ours = layer_of("positional", "layer", tokens)
        block = ours.get_submodule("block")
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
            own, other = (
                partial(written_out.layer, each, heads=HEADS, P=P)
                for each, P in ((ours, ours.positions), (theirs, None))
            )
            with torch.no_grad():
                forward = partial(ours, x), partial(theirs, x)
                fixed = partial(_output, block, x, None, S), forward[1]
                rows = [
                    compare(
                        f"positional layer, {way}, {size}",
                        *pair,
                        f"{kind} layer",
                        _as_written(plain, partial(other, x)),
                        5,
                    )
                    for way, pair, plain in (
                        ("forward", forward, partial(own, x)),
                        ("inference with its maps kept", fixed, partial(own, x, P=None, S=S)),
                    )
                ]
            grown = x.clone().requires_grad_()
            row = compare(
                f"positional layer, forward and backward, {size}",
                _step(ours, grown),
                _step(theirs, grown),
                f"{kind} layer",
                _as_written(
                    *(
                        partial(written_out.gradients, partial(plain, grown), _leaves(layer, grown))
                        for layer, plain in ((ours, own), (theirs, other))
                    )
                ),
                5,
            )
            kept = kept_bytes(ours, grown) / kept_bytes(theirs, grown)
            peak = peak_bytes(_step(ours, grown)) / peak_bytes(_step(theirs, grown))
            rows.append(row | {"memory": kept, "peak": peak})
            yield from (row | {"formula": formula} for row in rows)


@_one_thread
def bench_training_throughput() -> Iterator[dict]:
    """An epoch by this library's loop, against a DataLoader and the same model."""
    for vit, number in (("reader", 2000), ("small", 200)):
        ours, theirs = training_loops.loops(vit, number)
        pair = partial(ours, ours.batches), partial(theirs, theirs.batches)
        # In an epoch each side draws crops and mirrors of its own; on a batch as it is, both must agree.
        row = compare(
            f'training the ViT "{vit}", {number:,} pictures',
            *pair,
            "a DataLoader loop",
            training_loops.same(vit),
            5,
        )
        yield row | {"a_second": number / row["ours_s"]}


@_one_thread
def bench_block_against_pytorch() -> Iterator[dict]:
    """One layer against PyTorch's own, which also shows that our vanilla layer is no easy opponent."""
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
            written = (
                partial(
                    written_out.gradients,
                    partial(written_out.layer, layer, x, 12, encodings),
                    _leaves(layer, x, encodings),
                )
                for layer, encodings in ((block, P if positional else None), (stock, None))
            )
            yield compare(
                f"{kind} layer, forward and backward, {tokens} tokens, {batch} inputs",
                _step(block, *inputs),
                _step(stock, x),
                "torch.nn.TransformerEncoderLayer",
                _as_written(*written),
            )


@_one_thread
def bench_mixing() -> Iterator[dict]:
    """S V for a whole batch: one matrix product per head against one that copies S for every picture."""
    for _, tokens, batch in _CASES:
        S = torch.softmax(torch.randn(12, tokens, tokens), dim=-1).requires_grad_()
        channels_first = torch.randn(12, 32 * 4 * batch, tokens, requires_grad=True)  # (H, d_h B, N)
        unfolded = channels_first.detach().view(12, 32, 4 * batch, tokens)
        pictures_first = unfolded.permute(2, 0, 3, 1).contiguous().requires_grad_()  # (B, H, N, d_h)

        def ours(S=S, v=channels_first):
            mixed = v @ S.transpose(1, 2)
            return [mixed, *torch.autograd.grad(mixed.square().sum(), (v, S))]

        def theirs(S=S, v=pictures_first):
            mixed = S @ v
            return [mixed, *torch.autograd.grad(mixed.square().sum(), (v, S))]

        def same(a, b):
            in_order = [x.permute(1, 3, 0, 2) for x in b[:2]]  # (B, H, N, d_h) -> (H, d_h, B, N)
            close(1e-3)(a, [*in_order, b[2]])

        yield compare(
            f"S V, forward and backward, {tokens} tokens, {4 * batch} pictures",
            ours,
            theirs,
            "broadcasting S over the batch",
            same,
        )
