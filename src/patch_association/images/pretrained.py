"""Positional encodings of public models, through the library timm (an optional extra of the reader's own)."""

from __future__ import annotations

import torch


def pretrained_positions(name: str = "vit_small_patch32_224.augreg_in21k_ft_in1k") -> torch.Tensor:
    """P of a pretrained ViT, (N, width), patches row by row; what belongs to class tokens is left out.

    Needs the network the first time, when timm fetches the weights, and its cache afterwards.

    Parameters
    ----------
    name : str
        One of ``timm.list_models("vit*", pretrained=True)``. By default the ViT-small with patches
        of 32 pixels, trained on ImageNet-21k and then on ImageNet: 49 encodings of width 384.

    Raises
    ------
    ValueError
        If timm is not installed, or the model has no encodings of its own for every patch.
    """
    try:
        import timm
    except ImportError as error:
        raise ValueError("pretrained encodings are fetched by timm: pip install timm") from error
    model = timm.create_model(name, pretrained=True)
    P = getattr(model, "pos_embed", None)
    if not isinstance(P, torch.Tensor) or P.ndim != 3:
        raise ValueError(f"{name} has no learned positional encodings of shape (1, N, width)")
    # Some models add P before the class token joins: then all of its rows are patches.
    before = 0 if getattr(model, "no_embed_class", False) else model.num_prefix_tokens
    return P[0, before:].detach()  # (1, N', width) -> (N, width)
