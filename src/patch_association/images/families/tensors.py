"""The attention of a plain ViT from its tensors alone."""

from __future__ import annotations

import re
import warnings

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.checks import positive_int
from patch_association.images.families.encodings import encodings_in
from patch_association.images.families.naming import BEHIND_THE_LAYERS, OF_THE_LAYERS, grid_on, timms_names
from patch_association.images.families.watching import READABLE

#: What is said with ``heads`` is which function of its tensors a network is, too.
_NO_HEADS = (
    "does not tell how many heads a layer has: say heads= if its layers are timm's plain pre-norm ones, "
    "else give the model itself"
)
#: Names that only layers have that norm what goes into attention and MLP.
_NORMS_BEFORE = re.compile(
    r"\.(layernorm_before|layernorm_after|ln_1|ln_2)\.|\.(ls\d\.gamma|layer_scale\d\.lambda1)$"
)
#: What to do where tensors do not tell.
_GIVE = f"give the model itself; {READABLE}"
#: What ``config.json`` may call a plain pre-norm ViT.
_PLAIN = {None, "vit", "deit", "dinov2", "dinov2_with_registers", "vit_mae", "vit_msn"}


def how_many_heads(name: str, width: int, heads=None, about=None) -> int:
    """How many heads a layer has: as was said, or as stands beside the weights, which do not tell.

    Raises
    ------
    ValueError
        If nothing tells, or the number does not divide the width.
    """
    heads = heads if heads is not None else _said_heads(about)
    if heads is None:
        raise ValueError(f"{name} {_NO_HEADS}")
    if width % positive_int("heads", heads):
        raise ValueError(f"heads must divide the width {width} of {name}, got {heads}")
    return int(heads)


def where_norms_stand(tensors, name: str, norm=None, about=None) -> str:
    """Whether layers norm what goes into attention and MLP, "before", or what comes out of them, "after".

    Of two networks with equal tensors one may do this and one that: names and the file beside the weights
    tell, or ``norm``. Else timm's plain layers are assumed, with a warning.

    Raises
    ------
    ValueError
        For another ``norm``, and for one that contradicts what is told.
    """
    if norm not in ("before", "after", None):
        raise ValueError(f"norm must be 'before' or 'after', got {norm!r}")
    about = about or {}
    if about.get("model_type") or any(_NORMS_BEFORE.search(key) for key in tensors):
        if norm == "after":
            raise ValueError(f"{name} has layers that norm before attention and MLP, got norm='after'")
        return "before"
    if norm is None:
        warnings.warn(
            f"{name} does not tell where its layers norm: taken is before attention and MLP, as timm's plain "
            "layers do; say norm='before' or norm='after', or give the model itself",
            stacklevel=2,
        )
    return norm or "before"


def not_told(model, name: str, heads=None, about=None) -> str | None:
    """What is missing for the attention of tensors, as a sentence; None for a module, and if nothing is."""
    if isinstance(model, nn.Module):
        return None
    if "positions" in model and "embed.weight" in model:
        return (
            f"{name} is of this library's ViT and does not tell its heads and patches: give the model, "
            "ViT(config) with these weights, or a training run's load_run(folder).model"
        )
    if heads is None and _said_heads(about) is None:
        return f"{name} {_NO_HEADS}"


def _said_heads(about) -> int | None:
    about = about or {}
    return about.get("vision_config", about).get("num_attention_heads")


def maps_of_tensors(tensors, images, name, heads, grid, about, norm):
    """The attention of a plain ViT, from its tensors alone: (B, H, T, T) by layer; and its grid."""
    if missing := not_told(tensors, name, heads, about):
        raise ValueError(missing)
    about = about.get("vision_config", about)
    if about.get("hidden_act", "gelu") != "gelu":
        raise ValueError(f"{name} is no plain ViT (its activation is {about['hidden_act']}): {_GIVE}")
    if (kind := about.get("model_type", about.get("architecture"))) not in _PLAIN:
        raise ValueError(f"{name} is of the architecture {kind}, which may be no plain ViT: {_GIVE}")
    left = {key: value.detach().float() for key, value in timms_names(tensors).items()}
    encodings = encodings_in(tensors, name, grid, about, images, grid_on(tensors, images))
    try:
        weight = left.pop("patch_embed.proj.weight")
        heads = how_many_heads(name, len(weight), heads, about)
        named = (OF_THE_LAYERS, BEHIND_THE_LAYERS)
        if parts := sorted(key for key in left if not any(pattern.match(key) for pattern in named)):
            raise ValueError(f"{name} has parts that a plain ViT has not, {', '.join(parts[:4])}: {_GIVE}")
        height, width = weight.shape[2:]
        if (images.shape[2] / height, images.shape[3] / width) != encodings.grid:
            sizes = f"{encodings.grid[0] * height} x {encodings.grid[1] * width} pixels"
            raise ValueError(f"{name} takes pictures of {sizes}, got {tuple(images.shape[2:])}")
        x = F.conv2d(images.float(), weight, left.pop("patch_embed.proj.bias", None), stride=(height, width))
        x = x.flatten(2).mT + encodings.P  # (B, width, rows, columns) -> (B, N, width)
        first = []
        for key in ("cls_token", "dist_token", "reg_token"):
            if key in left:
                first.append(left.pop(key).reshape(-1, x.shape[2]))
        if first:
            own = torch.cat(first)
            own[: encodings.before] += left["pos_embed"].reshape(-1, x.shape[2])[: encodings.before]
            x = torch.cat([own.expand(len(x), -1, -1), x], dim=1)
        left.pop("pos_embed")
        seen = []
        before = where_norms_stand(tensors, name, norm, about) == "before"
        how = (left, heads, about.get("layer_norm_eps", 1e-6), before)
        for layer in range(len({key.split(".")[1] for key in left if key.startswith("blocks.")})):
            x = _layer(x, f"blocks.{layer}.", *how, seen)
    except (KeyError, RuntimeError) as error:
        message = (
            f"it has no tensor {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        )
        raise ValueError(f"{name} is no plain ViT ({message}): {_GIVE}") from error
    rows = slice(-len(encodings.P), None)
    return [S[..., rows, rows] for S in seen], encodings.grid


def _layer(x, at: str, left: dict, heads: int, eps: float, before: bool, seen: list):
    """One layer of timm's; its tensors are taken out of ``left``, its attention goes to ``seen``."""

    def linear(z, part):
        return F.linear(z, left.pop(f"{at}{part}.weight"), left.pop(f"{at}{part}.bias", None))

    def attention(z):
        q, k, v = linear(z, "attn.qkv").unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        seen.append(torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1))  # each (B, H, T, d_h)
        return linear((seen[-1] @ v).transpose(1, 2).flatten(2), "attn.proj")

    def mlp(z):
        return linear(F.gelu(linear(z, "mlp.fc1")), "mlp.fc2")

    for part, which in ((attention, "1"), (mlp, "2")):
        weight = left.pop(f"{at}norm{which}.weight")
        bias = left.pop(f"{at}norm{which}.bias")
        scale = left.pop(f"{at}ls{which}.gamma", x.new_ones(1))
        if before:
            x = x + scale * part(F.layer_norm(x, x.shape[2:], weight, bias, eps))
        else:
            x = x + scale * F.layer_norm(part(x), x.shape[2:], weight, bias, eps)
    return x
