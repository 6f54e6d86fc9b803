"""One layer of this library, of timm and of vit-pytorch under one call, to be compared at equal shapes.

A layer is fed what a layer inside a network gets, tokens that a gradient runs back to; "attention" is its
first half without the residual sum: layer norm and attention with all projections. All have the
same widths. vit-pytorch's attention has no biases in queries, keys and values; the others do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from patch_association.checks import one_of
from patch_association.images.extras import imported
from patch_association.images.layers import Block

KINDS = ("vanilla", "positional", "timm", "vit-pytorch")
SCOPES = ("attention", "layer")
#: The paper's for small images.
WIDTH = 384
HEADS = 12
MLP_WIDTH = 384
_PURPOSE = "the comparison of layers"


class Layer(nn.Module):
    """A layer of some library, or its first half, as a function of the tokens (B, N, width)."""

    layer: Callable[[torch.Tensor], torch.Tensor]
    mixed: Callable[[torch.Tensor], torch.Tensor]

    def __init__(self, part: str):
        super().__init__()
        one_of("part", part, *SCOPES)
        self.part = part

    def forward(self, x):
        """(B, N, width) -> (B, N, width)."""
        return self.layer(x) if self.part == "layer" else self.mixed(x)


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

    def layer(self, x):
        """The layer."""
        return self.block(x, self.positions, None)[0]


class Timm(Layer):
    """Of timm's Vision Transformer."""

    def __init__(self, part, width, heads, mlp_width):
        super().__init__(part)
        theirs = imported("timm.models.vision_transformer", _PURPOSE)
        norm = partial(nn.LayerNorm, eps=1e-6)
        self.block = theirs.Block(width, heads, mlp_ratio=mlp_width / width, qkv_bias=True, norm_layer=norm)

    def mixed(self, x):
        """Norm and attention."""
        return self.block.attn(self.block.norm1(x))

    def layer(self, x):
        """The layer."""
        return self.block(x)


class VitPytorch(Layer):
    """Of vit-pytorch's ViT, without the norm that follows its last layer."""

    def __init__(self, part, width, heads, mlp_width):
        super().__init__(part)
        theirs = imported("vit_pytorch.vit", _PURPOSE)
        stack = theirs.Transformer(width, depth=1, heads=heads, dim_head=width // heads, mlp_dim=mlp_width)
        self.mixed, self.mlp = stack.layers[0]  # each with its norm inside

    def layer(self, x):
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
    one_of("kind", kind, *KINDS)
    return others[kind](part, width, heads, mlp_width)
