"""What a training step of a ViT costs on one thread: time, and memory kept for the backward pass."""

from __future__ import annotations

import time
from itertools import accumulate
from typing import Any

import torch

from patch_lab.sweeps.sweep import Sweep

#: name: (configuration, changes, pictures per batch)
SHAPES = {
    "64 tokens": ("small", {"patch_size": 4}, 64),
    "256 tokens": ("small", {"patch_size": 2}, 16),
    "1024 tokens": ("small", {"patch_size": 1}, 8),
    "ViT-tiny/16": ("tiny", {}, 16),
}
_REPEATS = 5


def vit_step(shape: str) -> dict:
    """Forward and backward of both attentions in turn, float32: the least of five.

    Processor seconds of this process, which other programs on the machine hardly change, and the
    bytes that autograd keeps between the passes (parameters left out).
    """
    from patch_association.images.vit import ViT, ViTConfig

    name, changes, batch = SHAPES[shape]
    configs = {kind: ViTConfig.named(name, attention=kind, **changes) for kind in ("vanilla", "positional")}
    models = {kind: ViT(config) for kind, config in configs.items()}
    size = configs["vanilla"].image_size
    pictures = torch.randn(batch, 3, size, size, generator=torch.Generator().manual_seed(0))
    seconds = {kind: [] for kind in models}
    for _ in range(_REPEATS):
        for kind, model in models.items():
            start = time.process_time()
            train_step(model, pictures)
            seconds[kind].append(time.process_time() - start)
    kept = {kind: kept_bytes(model, pictures) for kind, model in models.items()}
    best = {kind: round(min(values), 4) for kind, values in seconds.items()}
    return {"batch": batch, "tokens": configs["vanilla"].num_tokens, "seconds": best, "kept_bytes": kept}


def train_step(model, pictures):
    """Forward and backward, without an update; the gradients of the parameters are dropped."""
    model(pictures).square().mean().backward()
    model.zero_grad(set_to_none=True)


def kept_bytes(model, pictures) -> int:
    """Bytes of the distinct storages that autograd saves in a forward pass, without the parameters."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        # Alive until after the count, so that no address is used twice.
        loss = model(pictures).square().mean()
    total = sum(kept.values())
    del loss
    return total


def peak_bytes(step) -> int:
    """The most memory of the CPU that a call of ``step`` holds beyond what was there before.

    From PyTorch's profiler: each time that its allocator hands out or takes back bytes.
    """
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as seen:
        step()
    events: Any = seen.profiler.kineto_results.events()  # pyright: ignore[reportOptionalMemberAccess]
    changes = sorted((e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]")
    return max(accumulate((change for _, change in changes), initial=0))


SWEEPS = (
    Sweep(
        name="vit_steps",
        summary="Time and memory of a training step of ViTs with either attention, 64 to 1024 tokens.",
        cells=tuple({"shape": shape} for shape in SHAPES),
        run=vit_step,
        config={
            "repeats": _REPEATS,
            "threads": 1,
            "precision": "float32",
            "clock": "processor seconds, least of five",
        },
    ),
)
