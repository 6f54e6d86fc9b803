"""What one layer costs beside the layers of timm and vit-pytorch: time and memory, at equal shapes.

A layer is fed what a layer inside a network gets, tokens that a gradient runs back to; "attention" is its
first half without the residual sum: layer norm and attention with all projections. All have the
same widths. vit-pytorch's attention has no biases in queries, keys and values; the others do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from patch_association._validate import positive_int
from patch_association.images.extras import imported
from patch_association.images.models.layers import Block
from patch_association.sweeps.sweep import Sweep
from patch_association.sweeps.vit_steps import kept_bytes, train_step

KINDS = ("vanilla", "positional", "timm", "vit-pytorch")
PARTS = ("attention", "layer")
WIDTH, HEADS, MLP_WIDTH = 384, 12, 384  # the paper's for small images
_PURPOSE = "the comparison of layers"


class Layer(nn.Module):
    """A layer of some library, or its first half, as a function of the tokens (B, N, width)."""

    whole: Callable[[torch.Tensor], torch.Tensor]
    mixed: Callable[[torch.Tensor], torch.Tensor]

    def __init__(self, part: str):
        super().__init__()
        if part not in PARTS:
            raise ValueError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
        self.part = part

    def forward(self, x):
        """(B, N, width) -> (B, N, width)."""
        return self.whole(x) if self.part == "layer" else self.mixed(x)


class Ours(Layer):
    """Of this library, vanilla or positional; the positions are a parameter."""

    def __init__(self, part, kind, tokens, width, heads, mlp_width):
        super().__init__(part)
        positional = kind == "positional"
        self.block = Block(width, heads, mlp_width, positional)
        self.positions = nn.Parameter(0.02 * torch.randn(tokens, width)) if positional else None

    def mixed(self, x):
        """Norm and attention."""
        return self.block.attention(self.block.attention_norm(x), self.positions)[0]

    def whole(self, x):
        """The layer."""
        return self.block(x, self.positions, None)[0]


class Timm(Layer):
    """Of timm's Vision Transformer."""

    def __init__(self, part, width, heads, mlp_width):
        super().__init__(part)
        theirs = imported("timm.models.vision_transformer", _PURPOSE, "compare")
        norm = partial(nn.LayerNorm, eps=1e-6)
        self.block = theirs.Block(width, heads, mlp_ratio=mlp_width / width, qkv_bias=True, norm_layer=norm)

    def mixed(self, x):
        """Norm and attention."""
        return self.block.attn(self.block.norm1(x))

    def whole(self, x):
        """The layer."""
        return self.block(x)


class VitPytorch(Layer):
    """Of vit-pytorch's ViT, without the norm that follows its last layer."""

    def __init__(self, part, width, heads, mlp_width):
        super().__init__(part)
        theirs = imported("vit_pytorch.vit", _PURPOSE, "compare")
        stack = theirs.Transformer(width, depth=1, heads=heads, dim_head=width // heads, mlp_dim=mlp_width)
        self.mixed, self.mlp = stack.layers[0]  # each with its norm inside

    def whole(self, x):
        """The layer."""
        x = self.mixed(x) + x
        return self.mlp(x) + x


def layer_of(
    kind: str, part: str, tokens: int, width: int = WIDTH, heads: int = HEADS, mlp_width: int = MLP_WIDTH
) -> Layer:
    """A layer of a kind, one of :data:`KINDS`, or its part "attention".

    Raises
    ------
    ValueError
        For another kind or part, or where the library cannot be imported.
    """
    if kind in ("vanilla", "positional"):
        return Ours(part, kind, tokens, width, heads, mlp_width)
    others = {"timm": Timm, "vit-pytorch": VitPytorch}
    if kind not in others:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    return others[kind](part, width, heads, mlp_width)


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
        """For the record."""
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
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layers = {kind: layer_of(kind, part, tokens).to(machine.device) for kind in KINDS}
            x = torch.randn(batch, tokens, WIDTH).to(machine.device).requires_grad_()
        if precision == "bfloat16":
            for layer in layers.values():  # the casts belong to the forward pass alone
                layer.forward = torch.autocast(machine.device, torch.bfloat16)(layer.forward)
        found = {"batch": batch, "seconds": _in_turn(machine, layers, x)}
        found["kept_bytes"] = {kind: kept_bytes(layer, x) for kind, layer in layers.items()}
        if machine.device == "cuda":
            found["peak_bytes"] = {kind: _peak_bytes(layer, x) for kind, layer in layers.items()}
    finally:
        torch.set_num_threads(before)
    return found


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


_CELLS = tuple({"part": part, "tokens": tokens} for part in PARTS for tokens in CPU.batches)

SWEEPS = (
    Sweep(
        name="vit_blocks",
        summary="Time and memory of one layer beside those of timm and vit-pytorch, on one thread of a CPU.",
        cells=_CELLS,
        run=partial(measure_layers, CPU),
        config=CPU.config() | {"precision": "float32"},
        packages=("timm", "vit-pytorch"),
    ),
    Sweep(
        name="vit_blocks_gpu",
        summary="Time and memory of one layer beside those of timm and vit-pytorch, on a GPU.",
        cells=tuple(cell | {"precision": p} for p in ("float32", "bfloat16") for cell in _CELLS),
        run=partial(measure_layers, GPU),
        config=GPU.config(),
        packages=("timm", "vit-pytorch"),
        device="cuda",
    ),
)
