"""Positional encodings of public models, through the library timm (the extra ``compare``)."""

from __future__ import annotations

import torch

from patch_association.images.extras import imported


def pretrained_positions(name: str = "vit_small_patch32_224.augreg_in21k_ft_in1k") -> torch.Tensor:
    """P of a pretrained ViT, (N, width), patches row by row; what belongs to other tokens is left out.

    Needs the network the first time, when timm fetches the weights, and its cache afterwards.
    Without either it takes up to a minute until timm gives up.

    Parameters
    ----------
    name : str
        One of ``timm.list_models("vit*", pretrained=True)``. By default the ViT-small with patches
        of 32 pixels, trained on ImageNet-21k and then on ImageNet: 49 encodings of width 384.

    Raises
    ------
    ValueError
        If timm cannot be imported or has no model of this name, the model has no encoding of its
        own for every patch, or its weights cannot be fetched.
    """
    timm = imported("timm", "fetching pretrained encodings", "compare")
    try:
        untrained = timm.create_model(name, pretrained=False)
    except RuntimeError as error:
        raise ValueError(f"timm cannot build a model called {name!r}: {error}") from error
    patch_rows(untrained, name)  # a model without them is refused before anything is fetched
    try:
        model = timm.create_model(name, pretrained=True)
    except Exception as error:  # of the network, the hub, the file or the disk: each library has its own
        raise ValueError(
            f"the weights of {name} could not be fetched, and timm's cache has none: the first time "
            f"this needs the network ({type(error).__name__}: {error})"
        ) from error
    return patch_rows(model, name)


def patch_rows(model, name: str) -> torch.Tensor:
    """The rows of a timm model's learned positional encodings that belong to patches, (N, width).

    Raises
    ------
    ValueError
        If the model has no such encodings, or has other rows than patches and tokens before them.
    """
    P = getattr(model, "pos_embed", None)
    if not isinstance(P, torch.Tensor) or P.ndim != 3:
        raise ValueError(f"{name} has no learned positional encodings of shape (1, N, width)")
    # Whether class and register tokens have rows too differs from model to model: the count tells.
    patches = getattr(getattr(model, "patch_embed", None), "num_patches", None)
    rows, before = P.shape[1], getattr(model, "num_prefix_tokens", 0)
    if patches is None or rows - patches not in (0, before):
        raise ValueError(
            f"{name} has {rows} positional encodings for {patches} patches and {before} other tokens: "
            "which of them belong to patches is not known"
        )
    return P[0, rows - patches :].detach()  # (1, N', width) -> (N, width)
