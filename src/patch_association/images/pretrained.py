"""Vision Transformers that others trained: their encodings, their attention, and they themselves as our ViT.

A model may be given as a module of timm (the extra ``compare``), as one of ours, by timm's name (its weights
are fetched the first time), as a dict of tensors under timm's names, or as an npz file of such tensors.
Nothing is unpickled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from patch_association._validate import positive_int
from patch_association.images.vit import ViT, ViTConfig
from patch_association.images.weights import given

_TOKENS = ("cls_token", "dist_token", "reg_token")


def encodings_of(model) -> torch.Tensor:
    """The learned positional encodings of a model's patches, (N, width), row by row of a square grid.

    Rows of class, distillation and register tokens are left out.

    Parameters
    ----------
    model : module, dict of tensors, or str or path
        See the head of this module. An npz may also hold the encodings alone: ``pos`` (tokens, width);
        ``n_prefix``, the number of rows that belong to other tokens, 0 if it is left out; and ``grid``,
        rows and columns of the patches, a square one if it is left out.

    Raises
    ------
    ValueError
        If there are no such encodings, which rows belong to patches is not known, or the patches form
        no square; if a file or a name cannot be used; for NaN or infinite weights.

    Examples
    --------
    >>> encodings_of("vit_small_patch32_224.augreg_in21k_ft_in1k").shape  # doctest: +SKIP
    torch.Size([49, 384])
    """
    model, name = given(model)
    if isinstance(model, ViT):
        return model.positions[0, : model.config.num_patches].detach()
    if isinstance(model, Mapping):
        if "pos" in model:
            return _alone(model, name)
        P, patches = model.get("pos_embed"), None
        before = sum(_shape(model, token, 3)[1] for token in _TOKENS if token in model)
    else:
        P, before = getattr(model, "pos_embed", None), getattr(model, "num_prefix_tokens", 0)
        embed = getattr(model, "patch_embed", None)
        patches, grid = getattr(embed, "num_patches", None), getattr(embed, "grid_size", None)
        if grid is not None:
            _equal(grid[0], grid[1], name)
    if not isinstance(P, torch.Tensor) or P.ndim != 3 or len(P) != 1:
        raise ValueError(f"{name} has no learned positional encodings of shape (1, tokens, width)")
    rows = P.shape[1]
    # Whether other tokens have rows too differs from model to model: the count tells.
    left = {k: rows - k for k in {0, before} if rows >= k}
    fits = [k for k, n in left.items() if n == (patches or math.isqrt(n) ** 2)]
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
        lacks some, or its patches form no square; if ``heads`` is no positive integer; for NaN or
        infinite weights.
    """
    heads = None if heads is None else positive_int("heads", heads)
    model, name = given(model)
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
        If the model is no ViT whose attention can be seen; if the pictures are no finite floating-point
        numbers or of another shape, type or place than the model's; for NaN or infinite weights.
    """
    if not isinstance(images, torch.Tensor) or images.ndim != 4:
        came = tuple(images.shape) if isinstance(images, torch.Tensor) else type(images).__name__
        raise ValueError(f"images must be a (B, c, H, W) tensor, got {came}")
    if not images.is_floating_point():
        raise ValueError(f"images must be floating-point, normalized as for training, got {images.dtype}")
    if bad := int((~torch.isfinite(images)).flatten(1).any(dim=1).sum()):
        raise ValueError(f"images must be finite, got NaN or infinite pixels in {bad} of {len(images)}")
    model, name = given(model)
    if isinstance(model, Mapping):
        model = vit_of(model)
    maps = (_maps_of_ours if isinstance(model, ViT) else _maps_of_timms)(model, images, name)
    for layer, S in enumerate(maps):
        if not torch.isfinite(S).all():
            raise ValueError(f"the attention of layer {layer} of {name} is not finite on these pictures")
    return maps


def _maps_of_ours(model, images, name):
    N, maps = model.config.num_patches, _run(model, images, name, return_all=True)[1]["attention"]
    maps = [S.expand(len(images), *S.shape[-3:]) for S in maps]  # positional attention: one for all
    return torch.stack(maps)[..., :N, :N]


def _maps_of_timms(model, images, name):
    attentions: list[Any] = [getattr(block, "attn", None) for block in getattr(model, "blocks", ())]
    for attention in attentions:
        if not hasattr(attention, "attn_drop") or not hasattr(attention, "fused_attn"):
            raise ValueError(
                f"{name} has a layer without the attention of a ViT: expected timm's, which shows its maps, "
                f"got {type(attention).__name__}"
            )
    seen, shapes, handles = [], [], []
    fused, training = [attention.fused_attn for attention in attentions], model.training
    try:
        for attention in attentions:
            attention.fused_attn = False
            # Unfused, timm passes the attention through its dropout: there it can be read.
            for module, look in (
                (attention, lambda _, args: shapes.append(args[0].shape)),  # (B, tokens, width)
                (attention.attn_drop, lambda _, args: seen.append(args[0])),
            ):
                handles.append(module.register_forward_pre_hook(look))
        _run(model.eval(), images, name)
    finally:
        model.train(training)
        for handle in handles:
            handle.remove()
        for attention, was in zip(attentions, fused):
            attention.fused_attn = was
    before = getattr(model, "num_prefix_tokens", 0)
    if len({S.shape for S in seen}) != 1 or seen[0].shape[2:] != shapes[0][1:2] * 2:
        came = f", got {tuple(seen[0].shape)} for {shapes[0][1]} tokens" if seen else ""
        raise ValueError(f"{name} shows no attention of shape (B, heads, tokens, tokens){came}")
    return torch.stack(seen)[..., before:, before:]


def _run(model, images, name, **how):
    """What the model returns; what it does not take is refused in its own words."""
    try:
        return model(images, **how)
    except torch.OutOfMemoryError:
        raise
    except (AssertionError, RuntimeError) as error:
        came = f"{tuple(images.shape)}, {images.dtype} on {images.device}"
        said = str(error).partition("\n")[0]
        raise ValueError(f"{name} takes other pictures than {came}: {said}") from error


def _alone(held, name):
    """The encodings of an npz that holds nothing else."""
    P, (before,) = held["pos"], _counts(held, "n_prefix", [0], name)
    if "grid" in held:
        height, width = _counts(held, "grid", [0, 0], name)
        _equal(height, width, name)
        if P.ndim and len(P) - before != height * width:
            raise ValueError(
                f"{name} has {len(P)} - {before} encodings of patches, and a grid of {height} x {width}"
            )
    return _square(P[before:] if P.ndim else P, name)


def _counts(held, key, default, name):
    values = held[key].flatten().tolist() if key in held else default
    if len(values) != len(default) or any(value < 0 or value != int(value) for value in values):
        raise ValueError(f"{name} must hold {len(default)} of 0, 1, 2, ... as {key!r}, got {values}")
    return [int(value) for value in values]


def _shape(tensors, key, axes):
    shape = tuple(tensors[key].shape)
    if len(shape) != axes:
        raise ValueError(f"{key!r} must have {axes} axes, got shape {shape}")
    return shape


def _equal(height, width, name):
    if height != width:
        raise ValueError(f"{name} has a grid of {height} x {width} patches, and a square one is needed")


def _square(P, name):
    if P.ndim != 2 or math.isqrt(len(P)) ** 2 != len(P) or len(P) == 0:
        raise ValueError(f"{name} has encodings of shape {tuple(P.shape)}: their patches form no square grid")
    return P.float()


def _config(tensors, P, heads) -> ViTConfig:
    width, channels, p, q = _shape(tensors, "patch_embed.proj.weight", 4)
    if p != q:
        raise ValueError(f"patches must be squares, got {p} x {q} pixels")
    depth = len({key.split(".")[1] for key in tensors if key.startswith("blocks.")})
    return ViTConfig(
        image_size=p * math.isqrt(len(P)), patch_size=p, channels=channels, width=width, depth=depth,
        heads=positive_int("heads", heads or max(1, width // 64)),
        num_classes=_shape(tensors, "head.weight", 2)[0],
        mlp_width=_shape(tensors, "blocks.0.mlp.fc1.weight", 2)[0],
        pooling="cls" if "cls_token" in tensors else "mean",
    )  # fmt: skip


def _renamed(left: dict, config: ViTConfig, P) -> dict:
    """Tensors under our names; what is used is taken out of ``left``."""
    width, parts, ours = config.width, [2 * config.width, config.width], {}
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
