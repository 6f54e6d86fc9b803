"""What a layer costs, by formula: floating-point operations, two per multiply-add.

With N tokens of width d and an MLP of width m, per layer and picture (softmax, norms and GELU
are left out):

    vanilla      8 N d^2 (W_Q, W_K, W_V, output) + 4 N^2 d (Q K^T, S V)
    positional   4 N d^2 (W_V, output) + 2 N^2 d (S V), and 4 N d^2 + 2 N^2 d once per batch
    both         4 N d m (MLP)

The attention alone costs exactly half, but for what is done once per batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd
import torch
from torch.utils.flop_counter import FlopCounterMode

from patch_association.checks import fits_memory, positive_int
from patch_association.images.vit import ViT, ViTConfig


@dataclass(frozen=True)
class Cost:
    """Forward FLOPs of a model.

    Attributes
    ----------
    per_image : int
    per_batch : int
        Spent once per batch, whatever its size: the scores of positional attention.
    """

    per_image: int
    per_batch: int

    def forward(self, batch_size: int) -> int:
        """FLOPs of a forward pass over a batch."""
        return self.per_image * positive_int("batch_size", batch_size) + self.per_batch

    def step(self, batch_size: int) -> int:
        """FLOPs of forward and backward: a backward pass costs two forward passes."""
        return 3 * self.forward(batch_size)


def attention_flops(num_tokens: int, width: int, positional: bool) -> Cost:
    """One attention with its projections, forward."""
    N, d = positive_int("num_tokens", num_tokens), positive_int("width", width)
    half = 4 * N * d * d + 2 * N * N * d
    return Cost(half, half) if positional else Cost(2 * half, 0)


def layer_flops(num_tokens: int, width: int, mlp_width: int, positional: bool) -> Cost:
    """One layer, forward: the attention and the MLP."""
    attention = attention_flops(num_tokens, width, positional)
    mlp = 4 * positive_int("num_tokens", num_tokens) * width * positive_int("mlp_width", mlp_width)
    return Cost(attention.per_image + mlp, attention.per_batch)


def vit_flops(config: ViTConfig) -> Cost:
    """A whole ViT, forward: patch embedding, layers and head."""
    c = config
    if c.attention not in ("vanilla", "positional"):
        raise ValueError(f"FLOPs are counted for vanilla and positional attention, got {c.attention!r}")
    layer = layer_flops(c.num_tokens, c.width, c.mlp_width, c.attention == "positional")
    embedding = 2 * c.num_patches * c.channels * c.patch_size**2 * c.width
    head = 2 * c.width * c.num_classes
    return Cost(c.depth * layer.per_image + embedding + head, c.depth * layer.per_batch)


def ratio(config: ViTConfig, batch_size: int) -> float:
    """FLOPs of positional over vanilla for a ViT of this shape at this batch size."""
    positional, vanilla = (vit_flops(replace(config, attention=kind)) for kind in ("positional", "vanilla"))
    return positional.forward(batch_size) / vanilla.forward(batch_size)


def counted_flops(config: ViTConfig, batch_size: int) -> int:
    """What PyTorch's own counter counts in a forward pass over a batch: the check of the formulas.

    The model is asked for its attention too. The fused attention of a vanilla ViT, which may be
    invisible to the counter, then gives way to plain matrix products.
    """
    c = config
    B = positive_int("batch_size", batch_size)
    fits_memory(f"a batch of {B:,} pictures", B * c.channels * c.image_size**2, 4)
    pictures = torch.zeros(B, c.channels, c.image_size, c.image_size)
    model = ViT(c).requires_grad_(False)
    with FlopCounterMode(display=False) as counter:
        model(pictures, return_all=True)
    # Asked for everything, the model also computes P P^T: no part of a step.
    extra = 2 * c.num_patches**2 * c.width * len(model.positions)
    return counter.get_total_flops() - extra


def cost_table(config: ViTConfig, patch_sizes, batch_size: int) -> pd.DataFrame:
    """Forward MFLOP a picture of both attentions with these patches, and their ratio in a batch."""
    rows = []
    for patch_size in patch_sizes:
        shape = replace(config, patch_size=patch_size)
        v, p = (vit_flops(replace(shape, attention=kind)) for kind in ("vanilla", "positional"))
        rows.append({
            "tokens": shape.num_tokens, "vanilla (MFLOP)": v.per_image / 1e6,
            "positional (MFLOP)": p.per_image / 1e6, "once a batch (MFLOP)": p.per_batch / 1e6,
            f"ratio at B = {batch_size}": ratio(shape, batch_size),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("tokens")
