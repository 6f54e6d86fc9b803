"""What a training step of a ViT costs, and a layer beside those of timm and vit-pytorch: time and memory."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

import torch

from patch_association.checks import positive_int
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.one_layer import HEADS, KINDS, MLP_WIDTH, SCOPES, WIDTH, layer_of
from patch_lab.kit.sweeps.sweep import Sweep, grid

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
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
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


@dataclass(frozen=True)
class Machine:
    """Where and how often the layers are timed.

    Attributes
    ----------
    device : "cpu" or "cuda"
        On a CPU one thread, and the clock is this process's processor time, which other programs
        hardly change. On a GPU the clock is wall time between two moments when it has nothing to do.
    batches : dict
        Pictures in a batch, by the number of tokens.
    rounds, steps : int
        In each round every kind is timed once, another one first; a timing is the mean of ``steps`` passes.
    """

    device: str
    batches: dict[int, int]
    rounds: int
    steps: int

    def config(self) -> dict:
        """The shape of the layers, the clock and the batches, for the record."""
        clock = "processor seconds, one thread" if self.device == "cpu" else "wall seconds, synchronized"
        shape = {"width": WIDTH, "heads": HEADS, "mlp_width": MLP_WIDTH}
        how = {"clock": clock, "rounds": self.rounds, "steps": self.steps, "device": self.device}
        return {**shape, **how, "batches": {str(n): b for n, b in self.batches.items()}}


CPU = Machine("cpu", {64: 64, 256: 16, 1024: 8}, rounds=9, steps=1)
GPU = Machine("cuda", {64: 1024, 256: 256, 1024: 64}, rounds=20, steps=20)


def measure_layers(machine: Machine, part: str, tokens: int, precision: str = "float32") -> dict:
    """Forward and backward of every kind in turn.

    Parameters
    ----------
    machine : Machine
    part : "attention" or "layer"
    tokens : int
        N, a key of ``machine.batches``.
    precision : "float32" or "bfloat16"
        bfloat16 by automatic casts, parameters in float32.

    Returns
    -------
    dict
        ``seconds``: by kind, one number per round. ``kept_bytes``: by kind, what autograd keeps between the
        passes, parameters left out. On a GPU also ``peak_bytes``: by kind, the most that a step
        takes beyond what was there before it.

    Raises
    ------
    ValueError
        If a library is missing, or a GPU is asked for and there is none.
    """
    if machine.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("this sweep times a GPU, and PyTorch sees none here")
    batch = machine.batches[positive_int("tokens", tokens)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = {kind: layer_of(kind, part, tokens).to(machine.device) for kind in KINDS}
        x = torch.randn(batch, tokens, WIDTH).to(machine.device).requires_grad_()
    if precision == "bfloat16":
        for layer in layers.values():  # the casts belong to the forward pass alone
            layer.forward = torch.autocast(machine.device, torch.bfloat16)(layer.forward)
    result = {"batch": batch, "seconds": _in_turn(machine, layers, x)}
    result["kept_bytes"] = {kind: kept_bytes(layer, x) for kind, layer in layers.items()}
    if machine.device == "cuda":
        result["peak_bytes"] = {kind: _peak_bytes(layer, x) for kind, layer in layers.items()}
    return result


def _in_turn(machine, layers, x) -> dict[str, list[float]]:
    seconds = {kind: [] for kind in layers}
    kinds = list(layers)
    for kind in kinds:
        _timed(machine, layers[kind], x)  # warm-up, not counted
    for number in range(machine.rounds):
        first = number % len(kinds)
        for kind in kinds[first:] + kinds[:first]:
            seconds[kind].append(float(f"{_timed(machine, layers[kind], x):.4g}"))
    return seconds


def _timed(machine, layer, x) -> float:
    on_gpu = machine.device == "cuda"
    clock = time.perf_counter if on_gpu else time.process_time
    if on_gpu:
        torch.cuda.synchronize()
    start = clock()
    for _ in range(machine.steps):
        train_step(layer, x)
        x.grad = None
    if on_gpu:
        torch.cuda.synchronize()
    return (clock() - start) / machine.steps


def _peak_bytes(layer, x) -> int:
    """The most memory that a step takes on the GPU, less what was there before."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    train_step(layer, x)
    x.grad = None
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


_LAYERS = dict(part=SCOPES, tokens=tuple(CPU.batches))

SWEEPS = (
    Sweep(
        name="vit_steps",
        summary="Time and memory of a training step of ViTs with either attention, 64 to 1024 tokens.",
        cells=grid(shape=tuple(SHAPES)),
        run=vit_step,
        config={
            "repeats": _REPEATS,
            "threads": 1,
            "precision": "float32",
            "clock": "processor seconds, least of five",
        },
    ),
    Sweep(
        name="vit_blocks",
        summary="Time and memory of one layer beside those of timm and vit-pytorch, on one thread of a CPU.",
        cells=grid(**_LAYERS),
        run=partial(measure_layers, CPU),
        config=CPU.config() | {"precision": "float32"},
        packages=("timm", "vit-pytorch"),
    ),
    Sweep(
        name="vit_blocks_gpu",
        summary="Time and memory of one layer beside those of timm and vit-pytorch, on a GPU.",
        cells=grid(precision=("float32", "bfloat16"), **_LAYERS),
        run=partial(measure_layers, GPU),
        config=GPU.config(),
        packages=("timm", "vit-pytorch"),
        device="cuda",
    ),
)
