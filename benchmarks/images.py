"""What the part on images times: positional against vanilla attention, in one interleaved run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import _written_out as written_out
import torch
from timing import close, compare

from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.flops import attention_flops
from patch_lab.images.one_layer import HEADS, KINDS, MLP_WIDTH, WIDTH, layer_of
from patch_lab.images.sweeps.vit_blocks import CPU, kept_bytes, peak_bytes
from patch_lab.images.training.processes import threads

sys.path.append(str(Path(__file__).parents[1] / "tests" / "images"))
from vision_shim import load_torchvision  # pyright: ignore[reportMissingImports]

# The paper's 7 layers cost 7/3 of these and give the same ratio: embedding and head are small.
_DEPTH = 3
_CASES = ((4, 64, 32), (2, 256, 8))  # patch size, tokens, pictures per batch


def _one_thread(function):
    """Run with one thread: on a shared machine a second one measures the neighbors."""

    def run():
        with threads(1):
            yield from function()

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
                partial(written_out.layer, net, heads=HEADS, P=P)
                for net, P in ((ours, ours.positions), (theirs, None))
            )
            with torch.no_grad():
                forward = partial(ours, x), partial(theirs, x)
                fixed = partial(_output, block, x, None, S), forward[1]
                rows = [
                    compare(
                        f"positional layer, {way}, {size}",
                        *pair,
                        f"{kind} layer",
                        _as_written(as_written, partial(other, x)),
                        5,
                    )
                    for way, pair, as_written in (
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
                        partial(written_out.gradients, partial(as_written, grown), _leaves(layer, grown))
                        for layer, as_written in ((ours, own), (theirs, other))
                    )
                ),
                5,
            )
            kept = kept_bytes(ours, grown) / kept_bytes(theirs, grown)
            peak = peak_bytes(_step(ours, grown)) / peak_bytes(_step(theirs, grown))
            rows.append(row | {"memory": kept, "peak": peak})
            yield from (row | {"formula": formula} for row in rows)
