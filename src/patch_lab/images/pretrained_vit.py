"""A plain ViT that others trained, as one of the library's: for whoever takes it apart."""

from __future__ import annotations

import math

import torch
from torch import nn

from patch_association.images.families import (
    encodings_in,
    how_many_heads,
    in_evaluation,
    timms_names,
    where_norms_stand,
)
from patch_association.images.vit import ViT, ViTConfig
from patch_association.images.weights import given
from patch_association.streams import Stream, generator


def vit_of(model, heads: int | None = None, norm: str | None = None) -> ViT:
    """A pretrained ViT as one of ours, with the same logits.

    The layers must be timm's plain ones: pre-norm, with or without layer scale (which is folded into the
    weights) and biases of queries, keys and values; a class token, or the mean over patches.

    Parameters
    ----------
    model : module, dict of tensors, or str or path
    heads : int, optional
        Where only tensors are given, which do not tell, and no ``config.json`` beside their file does.
    norm : "before", optional
        That tensors are of layers which norm what goes into attention and MLP; without it they are taken to
        be, with a warning. A module is asked for its logits on noise.

    Raises
    ------
    ValueError
        If the model has parts that ours has not (registers, norms of queries and keys, other pooling),
        lacks some, has equal tensors and other logits, or its patches form no square; if ``heads`` is no
        positive integer; for NaN or infinite weights.
    """
    model, name, about = given(model)
    if isinstance(model, ViT):
        return model
    P = encodings_in(model, name, about=about).P
    if math.isqrt(len(P)) ** 2 != len(P):
        raise ValueError(f"{name} has {len(P)} patches, and a square of them is needed")
    theirs = model if isinstance(model, nn.Module) else None
    if isinstance(model, nn.Module):
        attention = getattr(next(iter(getattr(model, "blocks", ())), None), "attn", None)
        heads = heads if heads is not None else getattr(attention, "num_heads", None)
        model = model.state_dict()
    elif where_norms_stand(model, name, norm, about) == "after":
        raise ValueError(f"{name} has layers that norm what comes out of their parts, as ours do not")
    left = {key: value.detach().float() for key, value in timms_names(model).items()}
    try:
        config = _config(left, P, lambda width: how_many_heads(name, width, heads, about))
        vit = ViT(config)
        vit.load_state_dict(_renamed(left, vit.config, P))
    except KeyError as error:
        raise ValueError(f"{name} is no plain ViT: it has no tensor {error.args[0]!r}") from error
    except RuntimeError as error:
        raise ValueError(f"{name} is no plain ViT: {str(error).splitlines()[-1].strip()}") from error
    if left:
        raise ValueError(f"{name} has parts that this library's ViT has not: {', '.join(sorted(left)[:4])}")
    vit = vit.eval().requires_grad_(False)
    if theirs is not None:
        _check_logits(theirs, vit, name)
    return vit


def _check_logits(theirs, vit: ViT, name: str) -> None:
    """Refuse a module that does something else with its tensors than ours with the same."""
    shape = (2, vit.config.channels, vit.config.image_size, vit.config.image_size)
    noise = torch.from_numpy(generator(0, Stream.NO_PICTURE).standard_normal(shape))
    with torch.no_grad(), in_evaluation(theirs):
        out = theirs(noise.to(next(theirs.parameters())))
        logits = getattr(out, "logits", out).float()
        ours = vit(noise.float()).to(logits)
    if not torch.allclose(ours, logits, atol=1e-3 * float(logits.abs().max()), rtol=0):
        raise ValueError(f"{name} is no plain ViT: its tensors in this library's ViT give other logits")


def _shape(tensors, key, axes):
    shape = tuple(tensors[key].shape)
    if len(shape) != axes:
        raise ValueError(f"{key!r} must have {axes} axes, got shape {shape}")
    return shape


def _config(tensors, P, heads) -> ViTConfig:
    width, channels, p, q = _shape(tensors, "patch_embed.proj.weight", 4)
    if p != q:
        raise ValueError(f"patches must be squares, got {p} x {q} pixels")
    depth = len({key.split(".")[1] for key in tensors if key.startswith("blocks.")})
    return ViTConfig(
        image_size=p * math.isqrt(len(P)), patch_size=p, channels=channels, width=width, depth=depth,
        heads=heads(width),
        num_classes=_shape(tensors, "head.weight", 2)[0],
        mlp_width=_shape(tensors, "blocks.0.mlp.fc1.weight", 2)[0],
        pooling="cls" if "cls_token" in tensors else "mean",
    )  # fmt: skip


def _renamed(left: dict, config: ViTConfig, P) -> dict:
    """Tensors under our names; what is used is taken out of ``left``."""
    width = config.width
    parts = [2 * config.width, config.width]
    ours = {}
    rows = left.pop("pos_embed")[0]
    if config.pooling == "cls":
        row_of_token = rows[:1] if len(rows) > len(P) else torch.zeros(1, width)
        ours["class_token"] = left.pop("cls_token").reshape(-1)
        P = torch.cat([P, row_of_token])  # our class token comes last
    ours["positions"] = P[None]
    ours["embed.weight"] = left.pop("patch_embed.proj.weight").flatten(1)  # (width, c, p, p)
    ours["embed.bias"] = left.pop("patch_embed.proj.bias")
    for layer in range(config.depth):
        theirs, our = f"blocks.{layer}.", f"blocks.{layer}."
        qkv = left.pop(theirs + "attn.qkv.weight")
        bias = left.pop(theirs + "attn.qkv.bias", torch.zeros(3 * width))
        ours[our + "attention.query_key.weight"], ours[our + "attention.value.weight"] = qkv.split(parts)
        ours[our + "attention.query_key.bias"], ours[our + "attention.value.bias"] = bias.split(parts)
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
