"""Vision Transformers that others trained: their encodings, their attention, and they themselves as our ViT.

A model may be given as a module of timm (the extra ``compare``), as one of ours, by timm's name (its weights
are fetched the first time), as a dict of tensors under timm's names, or as an npz file of such tensors.
Nothing is unpickled.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

from patch_association._validate import positive_int
from patch_association.images.extras import imported
from patch_association.images.models.vit import ViT, ViTConfig

_TOKENS = ("cls_token", "dist_token", "reg_token")


def encodings_of(model) -> torch.Tensor:
    """The learned positional encodings of a model's patches, (N, width), row by row of a square grid.

    Rows of class, distillation and register tokens are left out.

    Parameters
    ----------
    model : module, dict of tensors, or str or path
        See the head of this module. An npz may also hold the encodings alone: ``pos`` (tokens, width)
        and ``n_prefix``, the number of rows that belong to other tokens.

    Raises
    ------
    ValueError
        If there are no such encodings, which rows belong to patches is not known, or the patches form
        no square; if a file or a name cannot be used.

    Examples
    --------
    >>> encodings_of("vit_small_patch32_224.augreg_in21k_ft_in1k").shape  # doctest: +SKIP
    torch.Size([49, 384])
    """
    model, name = _source(model)
    if isinstance(model, ViT):
        return model.positions[0, : model.config.num_patches].detach()
    if isinstance(model, Mapping):
        if "pos" in model:
            before = int(model.get("n_prefix", torch.tensor(0)))
            return _square(model["pos"][before:], name)
        P, patches = model.get("pos_embed"), None
        before = sum(model[token].shape[-2] for token in _TOKENS if token in model)
    else:
        P, before = getattr(model, "pos_embed", None), getattr(model, "num_prefix_tokens", 0)
        embed = getattr(model, "patch_embed", None)
        patches, grid = getattr(embed, "num_patches", None), getattr(embed, "grid_size", None)
        if grid is not None and grid[0] != grid[1]:
            raise ValueError(
                f"{name} has a grid of {grid[0]} x {grid[1]} patches, and a square one is needed"
            )
    if not isinstance(P, torch.Tensor) or P.ndim != 3:
        raise ValueError(f"{name} has no learned positional encodings of shape (1, tokens, width)")
    rows = P.shape[1]
    # Whether other tokens have rows too differs from model to model: the count tells.
    fits = [
        k for k in {0, before} if (rows - k == patches if patches else math.isqrt(rows - k) ** 2 == rows - k)
    ]
    if len(fits) != 1:
        raise ValueError(
            f"{name} has {rows} positional encodings for {patches or 'unknown'} patches and {before} other "
            "tokens: which of them belong to the patches of a square is not known"
        )
    return _square(P[0, fits[0] :].detach(), name)  # (1, rows, width) -> (N, width)


def vit_of(model, heads: int | None = None) -> ViT:
    """A pretrained ViT as one of ours, with the same logits.

    The layers must be timm's plain ones: pre-norm, with or without layer scale (which is folded into the
    weights) and biases of queries, keys and values; a class token, or the mean over patches.

    Parameters
    ----------
    model : module, dict of tensors, or str or path
    heads : int, optional
        Where only tensors are given, which do not tell; by default width / 64, as ViTs have it.

    Raises
    ------
    ValueError
        If the model has parts that ours has not (registers, norms of queries and keys, other pooling),
        lacks some, or its patches form no square; if ``heads`` is no positive integer.
    """
    heads = None if heads is None else positive_int("heads", heads)
    model, name = _source(model)
    if isinstance(model, ViT):
        return model
    P = encodings_of(model)
    if isinstance(model, nn.Module):
        heads = heads or getattr(
            getattr(next(iter(getattr(model, "blocks", ())), None), "attn", None), "num_heads", None
        )
        model = model.state_dict()
    left = {key: value.detach().float() for key, value in model.items()}
    try:
        config = _config(left, P, heads)
        vit = ViT(config)
        vit.load_state_dict(_renamed(left, vit.config, P))
    except KeyError as error:
        raise ValueError(f"{name} is no plain ViT: it has no tensor {error.args[0]!r}") from error
    except RuntimeError as error:
        raise ValueError(f"{name} is no plain ViT: {str(error).splitlines()[-1].strip()}") from error
    if left:
        raise ValueError(f"{name} has parts that this library's ViT has not: {', '.join(sorted(left)[:4])}")
    return vit.eval().requires_grad_(False)


@torch.no_grad()
def attention_of(model, images: torch.Tensor) -> torch.Tensor:
    """How much each patch attends to each, (layers, B, heads, N, N), on pictures.

    Rows sum to one minus what goes to other tokens, such as the class token.

    Parameters
    ----------
    model : ViT, module of timm, or whatever :func:`vit_of` takes
    images : (B, c, H, W) tensor
        Normalized as the model was trained.

    Raises
    ------
    ValueError
        If the model is no ViT whose attention can be seen, or the pictures have another shape.
    """
    if not isinstance(images, torch.Tensor) or images.ndim != 4:
        came = tuple(images.shape) if isinstance(images, torch.Tensor) else type(images).__name__
        raise ValueError(f"images must be a (B, c, H, W) tensor, got {came}")
    model, name = _source(model)
    if isinstance(model, Mapping):
        model = vit_of(model)
    if isinstance(model, ViT):
        c, maps = model.config, model(images, return_all=True)[1]["attention"]
        maps = [S.expand(len(images), *S.shape[-3:]) for S in maps]  # positional attention: one for all
        return torch.stack(maps)[..., : c.num_patches, : c.num_patches]
    seen, handles, fused = [], [], []
    for block in getattr(model, "blocks", ()):
        drop = getattr(getattr(block, "attn", None), "attn_drop", None)
        if drop is None:
            raise ValueError(f"{name} has a layer without the attention of a ViT")
        fused.append((block.attn, block.attn.fused_attn))
        # Unfused, timm passes the attention through its dropout: there it can be read.
        handles.append(drop.register_forward_hook(lambda module, args, out: seen.append(args[0].detach())))
    training = model.training
    try:
        for attention, _ in fused:
            attention.fused_attn = False
        model.eval()(images)
    finally:
        model.train(training)
        for handle in handles:
            handle.remove()
        for attention, was in fused:
            attention.fused_attn = was
    before = getattr(model, "num_prefix_tokens", 0)
    if not seen or seen[0].ndim != 4:
        raise ValueError(f"{name} shows no attention of shape (B, heads, tokens, tokens)")
    return torch.stack(seen)[..., before:, before:]


def read_weights(path) -> dict[str, torch.Tensor]:
    """The tensors of an npz file by name.

    Raises
    ------
    ValueError
        If it is no whole npz, or holds anything but arrays of numbers.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no whole npz file of arrays: {error}") from error
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise ValueError(f"{path} holds {name!r}, which is no array of finite numbers: {array.dtype}")
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def fetched(name: str) -> nn.Module:
    """A model of timm with its public weights: from the network the first time, then from timm's cache.

    Without either it takes up to a minute until timm gives up.

    Raises
    ------
    ValueError
        If timm cannot be imported or has no model of this name, or the weights cannot be had.
    """
    timm = imported("timm", f"fetching {name}", "compare")
    try:
        timm.create_model(name, pretrained=False)
    except RuntimeError as error:
        raise ValueError(f"timm cannot build a model called {name!r}: {error}") from error
    try:
        return timm.create_model(name, pretrained=True)
    except Exception as error:  # of the network, the hub, the file or the disk: each library has its own
        raise ValueError(
            f"the weights of {name} could not be fetched, and timm's cache has none: the first time "
            f"this needs the network ({type(error).__name__}: {error})"
        ) from error


def _source(model):
    """A module or a dict of tensors, and what to call it."""
    if isinstance(model, (str, Path)):
        return (read_weights(model) if str(model).endswith(".npz") else fetched(str(model))), str(model)
    if isinstance(model, Mapping):
        wrong = [key for key, value in model.items() if not isinstance(value, torch.Tensor)]
        if wrong or not model:
            raise ValueError(f"weights must be tensors by name, got {wrong[:3] or 'none at all'}")
        return model, "this dict of weights"
    if not isinstance(model, nn.Module):
        raise ValueError(f"a model must be a module, weights, a file or a name, got {type(model).__name__}")
    return model, type(model).__name__


def _square(P, name):
    if P.ndim != 2 or math.isqrt(len(P)) ** 2 != len(P) or len(P) == 0:
        raise ValueError(f"{name} has encodings of shape {tuple(P.shape)}: their patches form no square grid")
    return P.float()


def _config(tensors, P, heads) -> ViTConfig:
    width, channels, p, q = tensors["patch_embed.proj.weight"].shape
    if p != q:
        raise ValueError(f"patches must be squares, got {p} x {q} pixels")
    depth = len({key.split(".")[1] for key in tensors if key.startswith("blocks.")})
    return ViTConfig(
        image_size=p * math.isqrt(len(P)), patch_size=p, channels=channels, width=width, depth=depth,
        heads=positive_int("heads", heads or max(1, width // 64)), num_classes=len(tensors["head.weight"]),
        mlp_width=len(tensors["blocks.0.mlp.fc1.weight"]),
        pooling="cls" if "cls_token" in tensors else "mean",
    )  # fmt: skip


def _renamed(left: dict, config: ViTConfig, P) -> dict:
    """Tensors under our names; what is used is taken out of ``left``."""
    width, ours = config.width, {}
    rows = left.pop("pos_embed")[0]
    if config.pooling == "cls":
        own = rows[:1] if len(rows) > len(P) else torch.zeros(1, width)
        ours["class_token"] = left.pop("cls_token").reshape(-1)
        P = torch.cat([P, own])  # our class token comes last
    ours["positions"] = P[None]
    ours["embed.weight"] = left.pop("patch_embed.proj.weight").flatten(1)  # (width, c, p, p)
    ours["embed.bias"] = left.pop("patch_embed.proj.bias")
    for layer in range(config.depth):
        theirs, our = f"blocks.{layer}.", f"blocks.{layer}."
        qkv = left.pop(theirs + "attn.qkv.weight")
        bias = left.pop(theirs + "attn.qkv.bias", torch.zeros(3 * width))
        ours[our + "attention.query_key.weight"], ours[our + "attention.value.weight"] = qkv.split(
            [2 * width, width]
        )
        ours[our + "attention.query_key.bias"], ours[our + "attention.value.bias"] = bias.split(
            [2 * width, width]
        )
        for their_part, our_part, scale in (
            ("attn.proj", "attention.output", "ls1.gamma"), ("mlp.fc2", "mlp.2", "ls2.gamma"),
            ("mlp.fc1", "mlp.0", None), ("norm1", "attention_norm", None), ("norm2", "mlp_norm", None),
        ):  # fmt: skip
            gamma = left.pop(theirs + scale, torch.ones(1)) if scale else torch.ones(1)
            weight = left.pop(f"{theirs}{their_part}.weight")
            ours[f"{our}{our_part}.weight"] = weight * (gamma[:, None] if weight.ndim == 2 else 1)
            ours[f"{our}{our_part}.bias"] = left.pop(f"{theirs}{their_part}.bias") * gamma
    norm = "norm" if "norm.weight" in left else "fc_norm"
    for part in ("weight", "bias"):
        ours[f"norm.{part}"] = left.pop(f"{norm}.{part}")
        ours[f"head.{part}"] = left.pop(f"head.{part}")
    return ours
