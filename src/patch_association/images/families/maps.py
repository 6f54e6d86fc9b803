"""The attention between patches of any model that is known here, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from patch_association.images.families.naming import EMBEDS, grid_of, patch_key, tensors_of
from patch_association.images.families.tensors import maps_of_tensors
from patch_association.images.families.watching import (
    READABLE,
    attention_seen,
    in_evaluation,
    run_model,
    tokens_that_differ,
)
from patch_association.images.locality import grid_sides
from patch_association.images.vit import ViT


def maps_between_patches(
    model, images: torch.Tensor, name: str, heads=None, grid=None, about=None, norm=None
):
    """The attention of each layer between patches, (B, H, N, N) each, and their grid; see `attention_of`.

    Parameters
    ----------
    model : module, or tensors by name
    images : (B, c, H, W) tensor
    name : str (what errors call it)
    heads : int, optional (where tensors do not tell)
    grid : pair of int, optional (where nothing tells)
    about : dict, optional (what the file beside the weights says of them)
    norm : "before" or "after", optional (where tensors do not tell)

    Returns
    -------
    list of (B, H, N, N) tensors, pair of int or None
    """
    if isinstance(model, ViT):
        own = model.config
        with in_evaluation(model):
            shown = run_model(model, images, name, return_all=True)[1]["attention"]
        N = own.num_patches
        # positional attention has one map for all pictures: (1, H, T, T) -> (B, H, N, N)
        maps = [S.expand(len(images), *S.shape[-3:])[..., :N, :N] for S in shown]
        return maps, (own.grid, own.grid)
    if isinstance(model, Mapping):
        return maps_of_tensors(model, images, name, heads, grid, about or {}, norm)
    configs = [getattr(part, "config", None) for part in model.modules()]
    if any(getattr(config, "mask_ratio", None) is not None for config in configs):
        raise ValueError(f"{name} shuffles its patches (mask_ratio): give the masked autoencoder inside it")
    tensors = tensors_of(model)
    key = patch_key(tensors_of(model)) or ""
    parts = key.split(".")
    at = next((k for k, part in enumerate(parts) if any(word in part for word in EMBEDS)), 0)
    last = ".".join(parts[at:])
    for other, x in tensors.items() if key else ():
        if other != key and other.endswith(f".{last}") and x.shape == tensors[key].shape:
            raise ValueError(f"{name} holds two networks, of {key!r} and of {other!r}: give one of them")
    layers, sizes, first = attention_seen(model, images, name)
    layers = [S for S in layers if S.ndim != 4 or S.shape[2] > 1]  # not what pools the tokens at the end
    tokens = layers[0].shape[-1] if layers else 0
    if not layers or any(
        S.ndim != 4 or (len(S), *S.shape[2:]) != (len(images) + 1, tokens, tokens) for S in layers
    ):
        came = f", got {[tuple(S.shape[1:]) for S in layers[:3]]} a picture" if layers else ""
        raise ValueError(f"{name} shows no attention of shape (B, heads, tokens, tokens){came}: {READABLE}")
    layers = [S[:-1] for S in layers]
    if any((S < 0).any() or ((S.float().sum(dim=-1) - 1).abs() > 0.02).any() for S in layers):
        raise ValueError(f"{name} shows no attention: what passes through attn_drop does not sum to one")
    if tokens not in first:
        raise ValueError(
            f"{name} has attention between {tokens} tokens, which none of its parts takes as "
            "(B, tokens, width): which are its patches is not known"
        )
    rows = tokens_that_differ(first[tokens])
    N = int(rows.sum())
    said = {sides for sides in (grid and grid_sides(grid, 1), grid_of(model)) if sides}
    known = {sides for sides in sizes or said if math.prod(sides) == N}
    known = known & said if len(known) > 1 and known & said else known
    if not N or len(known) > 1 or (sizes and not known):
        grids = " or ".join(f"{r} x {c}" for r, c in sorted(known or sizes or said)[:4])
        raise ValueError(
            f"{name} has {tokens} tokens on these pictures, and {N} of them change with the picture: which "
            f"are its patches is not known{f', whose grid may be {grids}' if grids else ''}"
        )
    return [S[..., rows, :][..., rows] for S in layers], next(iter(known), None)
