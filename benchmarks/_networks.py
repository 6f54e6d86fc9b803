"""Whole ViTs of one shape, of this library, of timm and of vit-pytorch: no class token, a mean over tokens.

vit-pytorch's has no biases in queries, keys and values, and two layer norms more, around its embedding.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from patch_association.images.extras import imported
from patch_association.images.vit import ViT, ViTConfig

#: Whom positional attention is compared with, and how the table calls it.
OPPONENTS = {
    "vanilla": "vanilla with PyTorch's fused attention",
    "timm": "timm's ViT",
    "vit-pytorch": "vit-pytorch's ViT",
}


def network_of(kind: str, config: ViTConfig) -> nn.Module:
    """A network of a kind, one of :data:`OPPONENTS`, for inference, with the shape of ``config``.

    Raises
    ------
    ValueError
        For another kind, or where the library cannot be imported.
    """
    if kind == "vanilla":
        return ViT(config).eval()
    c, purpose = config, "the comparison of networks"
    shape: dict[str, Any] = dict(patch_size=c.patch_size, num_classes=c.num_classes, depth=c.depth)
    if kind == "timm":
        of = imported("timm.models.vision_transformer", purpose, "compare").VisionTransformer
        shape |= dict(img_size=c.image_size, embed_dim=c.width, num_heads=c.heads)
        shape |= dict(mlp_ratio=c.mlp_width / c.width, class_token=False, global_pool="avg")
    elif kind == "vit-pytorch":
        of = imported("vit_pytorch.vit", purpose, "compare").ViT
        shape |= dict(image_size=c.image_size, dim=c.width, heads=c.heads, dim_head=c.width // c.heads)
        shape |= dict(mlp_dim=c.mlp_width, pool="mean")
    else:
        raise ValueError(f"kind must be one of {', '.join(OPPONENTS)}, got {kind!r}")
    return of(**shape).eval()
