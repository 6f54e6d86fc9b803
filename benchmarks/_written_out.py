"""Layers of any library and our ViTs, written out head by head: what both sides must compute."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.images.vit import ViT, patches


def parts(layer: Any):
    """(norm, weight and bias of W_Q W_K W_V, output, norm, first and last of the MLP) of a pre-norm layer."""
    block = getattr(layer, "block", layer)
    if hasattr(block, "attention_norm"):  # this library
        a = block.attention
        stacked = torch.cat([a.query_key.weight, a.value.weight]), torch.cat([a.query_key.bias, a.value.bias])
        return block.attention_norm, stacked, a.output, block.mlp_norm, block.mlp[0], block.mlp[2]
    if hasattr(block, "attn"):  # timm
        a = block.attn
        return block.norm1, (a.qkv.weight, a.qkv.bias), a.proj, block.norm2, block.mlp.fc1, block.mlp.fc2
    a = block.mixed  # vit-pytorch, whose norms are inside
    linear = [module for module in block.mlp.modules() if isinstance(module, nn.Linear)]
    norm = next(module for module in block.mlp.modules() if isinstance(module, nn.LayerNorm))
    return a.norm, (a.to_qkv.weight, torch.zeros(())), a.to_out[0], norm, *linear


def layer(layer: Any, x, heads: int, P=None, S=None):
    """(B, N, width) -> (B, N, width): the scores from P (N, width), or from the tokens where there is none.

    With the maps ``S`` (H, N, N) given, those are used.
    """
    norm, (weight, bias), output, mlp_norm, first, last = parts(layer)
    z = norm(x)
    width = z.shape[-1]
    stacked = weight.split(width), bias.expand(3 * width).split(width)
    seen = z if P is None else P
    Q, K = ((seen @ W.T + b) for W, b in zip(*(s[:2] for s in stacked)))
    V = z @ stacked[0][2].T + stacked[1][2]
    mixed = []
    d = width // heads
    for h, part in enumerate(slice(k, k + d) for k in range(0, width, d)):
        own = torch.softmax(Q[..., part] @ K[..., part].mT / d**0.5, dim=-1) if S is None else S[h]
        mixed.append(own @ V[..., part])
    x = x + output(torch.cat(mixed, dim=-1))
    return x + last(F.gelu(first(mlp_norm(x))))


def vit(model: ViT, pictures):
    """The logits of a ViT without class token, with the default choices of this library."""
    c = model.config
    P = model.positions[0]
    positional = c.attention == "positional"
    x = model.embed(patches(pictures, c.patch_size))
    x = x if positional else x + P
    for block in model.blocks:
        x = layer(block, x, c.heads, P if positional else None)
    return model.head(model.norm(x.mean(dim=1)))


def gradients(function, leaves) -> list[torch.Tensor]:
    """Of the mean square of ``function()`` by ``leaves``."""
    return list(torch.autograd.grad(function().square().mean(), leaves))
