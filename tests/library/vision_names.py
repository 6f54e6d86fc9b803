"""A small plain ViT under the names that transformers gives its parts."""

import torch


def huggingface(width=16, depth=2, patches=16):
    """Its tensors, drawn: a class token, 4 x 4 patches of 8 pixels."""
    shapes = {
        "vit.embeddings.cls_token": (1, 1, width),
        "vit.embeddings.position_embeddings": (1, 1 + patches, width),
        "vit.embeddings.patch_embeddings.projection.weight": (width, 3, 8, 8),
        "vit.embeddings.patch_embeddings.projection.bias": (width,),
        "vit.layernorm.weight": (width,),
        "vit.layernorm.bias": (width,),
        "classifier.weight": (3, width),
        "classifier.bias": (3,),
    }
    square = [f"attention.attention.{name}" for name in ("query", "key", "value")] + [
        "attention.output.dense"
    ]
    parts = dict.fromkeys(square, (width, width)) | {"intermediate.dense": (32, width)}
    parts |= {"output.dense": (width, 32), "layernorm_before": (width,), "layernorm_after": (width,)}
    for layer in range(depth):
        for name, shape in parts.items():
            at = f"vit.encoder.layer.{layer}.{name}"
            shapes |= {f"{at}.weight": shape, f"{at}.bias": shape[:1]}
    generator = torch.Generator().manual_seed(0)
    return {name: 0.3 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}
