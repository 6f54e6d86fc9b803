"""Families of ViTs: what they call their parts, which rows are those of patches, and what their maps are.

Known are timm's plain ViTs, those of transformers and of torchvision, whatever attends through
``nn.MultiheadAttention``, and this library's own; as modules or, where the layers are plain, as tensors.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.checks import positive_int
from patch_association.images.locality import grid_sides
from patch_association.images.vit import ViT
from patch_association.streams import Stream, generator

#: Tokens that are no patches, and encodings, by the ends of their names. Detection tokens alone stand behind.
_TOKEN = re.compile(
    r"(?:^|[./])(cls|cls_token|class_token|class_embedding|dist_token|distillation_token"
    r"|reg_token|register_tokens|storage_tokens|detection_tokens)$"
)
_BEHIND = "detection_tokens"
#: Parts behind the layers, whose tokens are not among those of the layers.
_POOLS = re.compile(r"(?:^|[./])(head|attn_pool|pool|pooler|decoder)[./]")
#: What embeds words, and encodings that are of words, of frames or of what asks.
_WORDS = re.compile(r"(?:^|[./])(token_embedding|word_embeddings|embed_tokens|wte)\b")
_OF_OTHERS = re.compile(r"(?:^|[._/])(query|queries|decoder|text|temporal|time)[._/]")
#: Whose models are known to have them so; the tokens of others are looked at.
_KNOWN = ("timm", "transformers", "torchvision", "open_clip")
#: The part that takes pictures, of a network that takes texts as well; and what a module may be inside of.
_TOWERS = ("vision_model", "visual", "vision_tower", "image_encoder", "img")
_PICTURES = re.compile(rf"(?:^|[./])(?:{'|'.join(_TOWERS)})[./]")
_AROUND = ("_orig_mod", "module", "timm_model")
_POSITIONS = re.compile(
    r"(?:^|\.)(pos_embed|positions|position_embeddings|pos_embedding|positional_embedding"
    r"|position_embedding\.weight)$"
)
#: From the names of transformers (older and newer) and of torchvision to timm's, one after another.
_RENAMED = (
    (r"(^|\.)(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.", r"\1"),
    (r"^(?:(?:module|model|timm_model|backbone|vit|deit|dinov2|dinov2_with_registers)\.)+", ""),
    (r"^embeddings\.(?=cls_token|mask_token|register_tokens)", ""),
    (r"^class_token$", "cls_token"),
    (r"^embeddings\.distillation_token$", "dist_token"),
    (r"^register_tokens$", "reg_token"),
    (r"^(?:embeddings\.position_embeddings|encoder\.pos_embedding)$", "pos_embed"),
    (r"^(?:embeddings\.patch_embeddings\.projection|conv_proj)\.", "patch_embed.proj."),
    (r"^(?:encoder\.)?layers?\.(?:encoder_layer_)?(\d+)\.", r"blocks.\1."),
    (r"^(blocks\.\d+)\.(?:layernorm_before|ln_1)\.", r"\1.norm1."),
    (r"^(blocks\.\d+)\.(?:layernorm_after|ln_2)\.", r"\1.norm2."),
    (r"^(blocks\.\d+)\.attention\.(?:attention\.)?(q|k|v)(?:uery|ey|alue|_proj)\.", r"\1.attn.\2."),
    (r"^(blocks\.\d+)\.(?:attention\.(?:output\.dense|o_proj)|self_attention\.out_proj)\.", r"\1.attn.proj."),
    (r"^(blocks\.\d+)\.self_attention\.in_proj_", r"\1.attn.qkv."),
    (r"^(blocks\.\d+)\.(?:intermediate\.dense|mlp\.0|mlp\.linear_1)\.", r"\1.mlp.fc1."),
    (r"^(blocks\.\d+)\.(?:output\.dense|mlp\.3|mlp\.linear_2)\.", r"\1.mlp.fc2."),
    (r"^(blocks\.\d+)\.layer_scale(\d)\.lambda1$", r"\1.ls\2.gamma"),
    (r"^(?:layernorm|encoder\.ln)\.", "norm."),
    (r"^(?:classifier|heads\.head)\.", "head."),
)
_BEHIND_THE_LAYERS = re.compile(
    r"^(norm|fc_norm|head|head_dist|pooler|pre_logits|cls_classifier|mask_token|n_averaged)\b"
)
_OF_THE_LAYERS = re.compile(
    r"^(cls_token|dist_token|reg_token|pos_embed|patch_embed\.proj\.(weight|bias)"
    r"|blocks\.\d+\.((norm[12]|attn\.qkv|attn\.proj|mlp\.fc[12])\.(weight|bias)|ls[12]\.gamma))$"
)


@dataclass(frozen=True)
class Encodings:
    """Learned positional encodings of the patches, (N, width), row by row of a grid.

    Attributes
    ----------
    P : (N, width) tensor
    grid : pair of int (rows and columns)
    called : str (the tensor that holds them)
    tokens : dict (how many tokens that are no patches, by name)
    before : int (how many of these have encodings, in the rows before the patches')
    """

    P: torch.Tensor
    grid: tuple[int, int]
    called: str
    tokens: dict[str, int]
    before: int


def encodings_in(model, name: str, grid: Any = None, about=None, images=None, seen=None) -> Encodings:
    """Find the encodings of a module or of tensors; a ValueError says what was found instead.

    Parameters
    ----------
    model : module, or tensors by name
    name : str (what errors call it)
    grid : pair of int, optional (rows and columns)
    about : dict, optional (what the file beside the weights says of them)
    images : (B, c, H, W) tensor, optional (that the model takes)
    seen : pair of int, optional (rows and columns of the patches on these)

    Raises
    ------
    ValueError
        If there are none, or which rows belong to patches is not known.
    """
    if isinstance(model, ViT):
        side = model.config.grid
        tensors = tensors_of(model)
        P = model.positions[0, : side**2].detach().float()
        return Encodings(P, (side, side), "positions", other_tokens(tensors), 0)
    tensors = tensors_of(model)
    if "pos" in tensors:
        P = tensors["pos"]
        called = "pos"
        (before,) = _counts(tensors, "n_prefix", [0], name)
        own = tuple(_counts(tensors, "grid", [0, 0], name)) if "grid" in tensors else None
        P = P[None] if P.ndim == 3 and len(P) > 1 else P
        tokens = {"n_prefix": before} if before else {}
        cuts = {(before, 0)}
    else:
        if patch_projection(tensors) is None and any(_WORDS.search(key) for key in tensors):
            raise ValueError(f"{name} embeds words and no patches: its encodings are of places in a text")
        if patch_projection(tensors) is None and grid is None and any(x.ndim == 5 for x in tensors.values()):
            raise ValueError(
                f"{name} embeds pieces of films, and its encodings may be of frames, too: say "
                "grid=(rows, columns) if they are of one picture"
            )
        P, called = _positions(tensors, name)
        own = grid_of(model, about)
        tokens = other_tokens(tensors)
        ahead = {token: count for token, count in tokens.items() if token != _BEHIND}
        first = sum(count for token, count in ahead.items() if not token.startswith(("reg", "storage")))
        behind = {0, tokens.get(_BEHIND, 0)}
        cuts = {(k, e) for k in (0, first, sum(ahead.values())) for e in behind}
    if P.ndim == 4:  # (1, rows, columns, width)
        width = (patch_projection(tensors) or P.shape[3:])[0]
        if P.shape[3] != width == P.shape[1]:
            came = f"{called!r} of shape {tuple(P.shape)}"
            raise ValueError(f"{name} has encodings {came}, not (1, rows, columns, {width}) as its patches")
        own = (P.shape[1], P.shape[2])
        P = P.flatten(1, 2)
    P = P.detach()[0] if P.ndim == 3 else P.detach()
    if P.ndim != 2 or not P.numel():
        raise ValueError(f"{name} has encodings {called!r} of shape {tuple(P.shape)}, not (tokens, width)")
    said = None if grid is None else grid_sides(grid, 1)
    if said and own and said != own and images is None:
        raise ValueError(f"{name} says that its patches are {own[0]} x {own[1]}, got grid={said}")
    fits = []
    for sides in [known for known in (own, said, seen) if known] + [None] * (not own and not said):
        left = {cut: len(P) - sum(cut) for cut in cuts if len(P) > sum(cut)}
        fits += [
            (cut, sides or (math.isqrt(n), math.isqrt(n)))
            for cut, n in left.items()
            if n == (math.prod(sides) if sides else math.isqrt(n) ** 2)
        ]
        if fits:
            break
    if len(fits) != 1:
        sides = own or said or seen
        patches = f"{sides[0]} x {sides[1]} patches" if sides else "the patches of a square"
        others = ", ".join(f"{count} {token}" for token, count in tokens.items()) or "no other tokens"
        raise ValueError(
            f"{name} has {len(P)} encodings in {called!r}, and {others}: which of them belong to {patches} "
            f"is not known{'' if own or said else '; say grid=(rows, columns)'}"
        )
    (((before, behind), sides),) = fits
    if (
        isinstance(model, nn.Module)
        and before + behind
        and type(model).__module__.split(".")[0] not in _KNOWN
    ):
        before = _ahead(model, P, before + behind, sides, images, name)
    N = math.prod(sides)
    return Encodings(P[before : before + N].float(), sides, called, tokens, before)


def _ahead(model, P, others: int, sides, images, name: str) -> int:
    """How many of the encodings that are of no patches stand before these, as a module has its tokens."""
    if images is None:
        images = torch.zeros(1, channels_of(model) or 3, *size_of(model, sides, name)).to(P)
    first: dict[int, torch.Tensor] = {}
    with torch.no_grad(), in_evaluation(model), _tokens_watched(model, first):
        _run(model, images[:1], name, noise=True)
    for x in first.values():
        at = _patches(x).nonzero().flatten().tolist() if x.shape[2] == P.shape[1] else []
        if not at or at[-1] - at[0] + 1 != len(at):
            continue
        before, behind = at[0], x.shape[1] - 1 - at[-1]
        if before >= others and not behind:
            return others
        if behind >= others and not before:
            return 0
        if before and behind and before + behind == others:
            return before
    raise ValueError(
        f"{name} has {others} encodings more than patches, and which rows these are its tokens do not tell"
    )


def unwrapped(model: Any) -> Any:
    """The module that takes pictures, inside of what compiles or averages it, or takes texts as well."""
    while isinstance(model, nn.Module):
        inside = [getattr(model, name, None) for name in _AROUND]
        if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
            inside.append(getattr(model, "encoder", None))
        inside += [part for name, part in model.named_modules() if name.rpartition(".")[2] in _TOWERS]
        inside = [part for part in inside if isinstance(part, nn.Module)]
        if not inside:
            break
        model = inside[0]
    return model


def tensors_of(model) -> Mapping[str, torch.Tensor]:
    """The tensors by name of the part that takes pictures, where another takes texts."""
    tensors = model.state_dict() if isinstance(model, nn.Module) else model
    # A quantized module holds types and shapes beside its tensors.
    tensors = {key: x for key, x in tensors.items() if isinstance(x, torch.Tensor)}
    return {key: x for key, x in tensors.items() if _PICTURES.search(key)} or tensors


def grid_on(model, images) -> tuple[int, int] | None:
    """Rows and columns of patches side by side on pictures; None where the size of a patch is not known."""
    shape = patch_projection(tensors_of(model))
    return None if shape is None else (images.shape[2] // shape[1], images.shape[3] // shape[2])


def other_tokens(tensors: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """How many class, distillation and register tokens there are, by the ends of their names."""
    matched = {_TOKEN.search(key): x for key, x in tensors.items() if not _POOLS.search(key)}
    return {match[1]: x.numel() // x.shape[-1] for match, x in matched.items() if match and x.numel()}


def _positions(tensors, name) -> tuple[torch.Tensor, str]:
    """The encodings by name, and by shape: of the width of the embedded patches."""
    width, *_ = patch_projection(tensors) or (None,)
    shaped = [
        key
        for key, x in tensors.items()
        if x.ndim in (2, 3, 4) and (x.ndim == 2 or len(x) == 1 or key == "positions")
        and x.is_floating_point() and x.shape[-2] > 1 and not _OF_OTHERS.search(key)
    ]  # fmt: skip
    fits = [key for key in shaped if tensors[key].shape[-1] == (width or tensors[key].shape[-1])]
    named = (
        [key for key in fits if _POSITIONS.search(key)]
        or [key for key in shaped if _POSITIONS.search(key)]
        or [key for key in fits if "pos" in key.lower() and "bias" not in key]
        or [key for key in fits if tensors[key].ndim == 3 and width and not _TOKEN.search(key)]
    )
    if len(named) != 1:
        candidates = f": {', '.join(named[:4])} may be" if named else ""
        raise ValueError(
            f"{name} has no learned positional encodings that can be told from its names{candidates}"
        )
    return tensors[named[0]], named[0]


def has_positions(tensors) -> bool:
    """Whether a tensor is called as encodings are, so that not to find them is an error."""
    return any(_POSITIONS.search(key) for key in tensors)


def patch_projection(tensors) -> tuple[int, int, int] | None:
    """(width, height, width of a patch in pixels) of the convolution that embeds patches; None without."""
    key = _patch_key(tensors)
    return None if key is None else (len(tensors[key]), *tensors[key].shape[2:])


#: What embeds patches is called.
_EMBEDS = ("patch", "conv_proj", "conv1")


def _patch_key(tensors) -> str | None:
    fits = [key for key, x in tensors.items() if x.ndim == 4 and max(x.shape[2:]) > 1]
    return next(
        (
            key
            for key in fits
            if any(part in key for part in _EMBEDS) or (fits == [key] and key.endswith("weight"))
        ),
        None,
    )


def channels_of(model) -> int | None:
    """How many colors a model's pictures have; None where no convolution embeds patches."""
    if isinstance(model, ViT):
        return model.config.channels
    key = _patch_key(tensors_of(model))
    return None if key is None else tensors_of(model)[key].shape[1]


def grid_of(model, about=None) -> tuple[int, int] | None:
    """Rows and columns of patches, where a module, or the file beside weights, says them."""
    if (grid := getattr(getattr(model, "patch_embed", None), "grid_size", None)) is not None:
        return grid_sides(grid, 1)
    size, patch = (_said(model, about, key) for key in ("image_size", "patch_size"))
    if size is None or patch is None:
        return None
    height, width = grid_sides(size, 1)
    p, q = grid_sides(patch, 1)
    return height // p, width // q


def _said(model, about, key: str):
    """What a configuration, a module, or the file beside weights says of the size of pictures or patches."""
    of = about or getattr(model, "config", model)
    for one in (of.get("vision_config"), of) if isinstance(of, dict) else (getattr(of, "vision_config", of),):
        said = one.get(key) if isinstance(one, dict) else getattr(one, key, None)
        if isinstance(said, (int, list, tuple)):
            return said


def size_of(model, sides: tuple[int, int], name: str) -> tuple[int, int]:
    """Height and width in pixels of pictures of so many rows and columns of patches."""
    said = getattr(getattr(model, "patch_embed", None), "img_size", None)
    if (said := said or _said(model, None, "image_size")) is not None and grid_of(model) == sides:
        return grid_sides(said, 1)
    key = _patch_key(tensors_of(model))
    if key is None:
        raise ValueError(f"{name} has no convolution that embeds patches: their size is not known")
    kernel = tensors_of(model)[key].shape[2:]
    layer = dict(model.named_modules()).get(key.rpartition(".")[0]) if isinstance(model, nn.Module) else None
    if not isinstance(layer, nn.Conv2d) or isinstance(layer.padding, str):
        return sides[0] * kernel[0], sides[1] * kernel[1]
    height, width = ((sides[k] - 1) * layer.stride[k] + kernel[k] - 2 * layer.padding[k] for k in (0, 1))
    return int(height), int(width)


def _counts(held, key, default, name):
    values = held[key].flatten().tolist() if key in held else default
    if len(values) != len(default) or any(value < 0 or value != int(value) for value in values):
        raise ValueError(f"{name} must hold {len(default)} of 0, 1, 2, ... as {key!r}, got {values}")
    return [int(value) for value in values]


def timms_names(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors under timm's names, where they are those of a plain ViT; others as they are."""
    renamed = {}
    for key, value in tensors.items():
        for pattern, name in _RENAMED:
            key = re.sub(pattern, name, key)
        renamed[key] = value
    for key in [key for key in renamed if ".attn.q." in key]:
        parts = [key.replace(".q.", f".{part}.") for part in "qkv"]
        if all(part in renamed for part in parts):
            renamed[key.replace(".q.", ".qkv.")] = torch.cat([renamed.pop(part) for part in parts])
    return renamed


def maps(model, images: torch.Tensor, name: str, heads=None, grid=None, about=None, norm=None):
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
            shown = _run(model, images, name, return_all=True)[1]["attention"]
        N = own.num_patches
        # positional attention has one map for all pictures: (1, H, T, T) -> (B, H, N, N)
        maps = [S.expand(len(images), *S.shape[-3:])[..., :N, :N] for S in shown]
        return maps, (own.grid, own.grid)
    if isinstance(model, Mapping):
        return _maps_of_weights(model, images, name, heads, grid, about or {}, norm)
    if any(
        getattr(getattr(part, "config", None), "mask_ratio", None) is not None for part in model.modules()
    ):
        raise ValueError(f"{name} shuffles its patches (mask_ratio): give the masked autoencoder inside it")
    tensors = tensors_of(model)
    key = _patch_key(tensors_of(model)) or ""
    parts = key.split(".")
    at = next((k for k, part in enumerate(parts) if any(one in part for one in _EMBEDS)), 0)
    last = ".".join(parts[at:])
    if two := [
        other
        for other, x in tensors.items()
        if key and other != key and other.endswith(f".{last}") and x.shape == tensors[key].shape
    ]:
        raise ValueError(f"{name} holds two networks, of {key!r} and of {two[0]!r}: give one of them")
    layers, sizes, first = _seen(model, images, name)
    layers = [S for S in layers if S.ndim != 4 or S.shape[2] > 1]  # not what pools the tokens at the end
    tokens = layers[0].shape[-1] if layers else 0
    if not layers or any(
        S.ndim != 4 or (len(S), *S.shape[2:]) != (len(images) + 1, tokens, tokens) for S in layers
    ):
        came = f", got {[tuple(S.shape[1:]) for S in layers[:3]]} a picture" if layers else ""
        raise ValueError(f"{name} shows no attention of shape (B, heads, tokens, tokens){came}: {_READ}")
    layers = [S[:-1] for S in layers]
    if any((S < 0).any() or ((S.float().sum(dim=-1) - 1).abs() > 0.02).any() for S in layers):
        raise ValueError(f"{name} shows no attention: what passes through attn_drop does not sum to one")
    if tokens not in first:
        raise ValueError(
            f"{name} has attention between {tokens} tokens, which none of its parts takes as "
            "(B, tokens, width): which are its patches is not known"
        )
    rows = _patches(first[tokens])
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


#: How attention can be read.
_READ = (
    "it is read of timm's, transformers' and torchvision's ViTs, and where it passes through "
    "nn.MultiheadAttention or through a layer that is called attn_drop"
)


def _patches(x) -> torch.Tensor:
    """Which tokens of a picture and of noise, (2, T, width), are patches, (T,): those that differ."""
    apart = (x[0] - x[1]).float().abs().amax(dim=1)
    return apart > 1e-5 * apart.max()


@contextmanager
def _tokens_watched(model, first: dict) -> Iterator[None]:
    """Let tokens of the first and last picture be seen, by their number, where a part first takes them."""

    def keep(_, args):
        x = args[0] if args else None
        if isinstance(x, torch.Tensor) and x.ndim == 3 and len(x) > 1 and x.is_floating_point():
            first.setdefault(x.shape[1], x[[0, -1]].detach())

    handles = [part.register_forward_pre_hook(keep) for part in model.modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _seen(model: Any, images, name) -> tuple[list[torch.Tensor], set, dict]:
    """What a module's attention shows of pictures and of noise; the sizes of convolutions; the tokens."""
    seen: list[torch.Tensor] = []
    sizes: set[tuple[int, int]] = set()
    first: dict[int, torch.Tensor] = {}
    wrong: list[str] = []
    with in_evaluation(model), _watched(model, seen, sizes, wrong), _tokens_watched(model, first):
        _run(model, images, name, noise=True)
    if wrong:
        raise ValueError(f"{name} shows no attention of tokens to tokens: {wrong[0]}")
    return seen, sizes, first


@contextmanager
def _watched(model: Any, seen: list, sizes: set, wrong: list) -> Iterator[None]:
    """Let attention be seen, and restore the model."""
    handles = []
    fused = []
    read = set()
    fast = torch.backends.mha.get_fastpath_enabled()
    theirs = [layer for layer in model.modules() if hasattr(layer, "set_attn_implementation")]  # transformers
    inner = {id(layer) for one in theirs for layer in one.modules() if layer is not one}
    theirs = [(one, one.config._attn_implementation) for one in theirs if id(one) not in inner]
    inside = {id(layer) for one, _ in theirs for layer in one.modules()}

    def ask(_, args, how):
        return args, how | {"need_weights": True, "average_attn_weights": False}

    def of_pytorch(layer, args, how, out):
        q, k = (args[i] if len(args) > i else how[key] for i, key in enumerate(("query", "key")))
        if q is k or (q.shape == k.shape and torch.equal(q, k)):  # else it asks tokens for something else
            seen.append(out[1])

    for one, _ in theirs:
        one.set_attn_implementation("eager")
        if one.config._attn_implementation != "eager":
            wrong.append("load it with attn_implementation='eager', which cannot be set afterwards")

        def all_of_them(_, args, how):
            return args, how | {"output_attentions": True, "return_dict": True}

        handles.append(one.register_forward_pre_hook(all_of_them, with_kwargs=True))
        handles.append(
            one.register_forward_hook(
                lambda _, args, out: seen.extend(
                    S for S in getattr(out, "attentions", None) or () if S is not None
                )
            )
        )
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            handles.append(layer.register_forward_hook(lambda _, args, out: sizes.add(tuple(out.shape[-2:]))))
        if id(layer) in inside:
            continue
        if isinstance(layer, nn.MultiheadAttention):
            handles.append(layer.register_forward_pre_hook(ask, with_kwargs=True))
            handles.append(layer.register_forward_hook(of_pytorch, with_kwargs=True))
        elif isinstance(drop := getattr(layer, "attn_drop", None), nn.Module):
            # Unfused, timm passes the attention through its dropout, as DINO and DeiT do: there it is read.
            if hasattr(layer, "fused_attn"):
                fused.append((layer, layer.fused_attn))
                setattr(layer, "fused_attn", False)  # noqa: B010  (a type checker takes it for a tensor)
            if id(drop) not in read:  # two layers, or a layer and what wraps it, may share one
                read.add(id(drop))
                handles.append(drop.register_forward_pre_hook(lambda _, args: seen.append(args[0])))
            handles.append(layer.register_forward_hook(_asked(seen, wrong), with_kwargs=True))
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for handle in handles:
            handle.remove()
        for layer, was in fused:
            layer.fused_attn = was
        for one, before in theirs:
            one.set_attn_implementation(before)


def _asked(seen: list, wrong: list):
    """A hook that asks a layer whether what passed through its dropout is attention between its tokens."""
    asking = []

    def ask(layer, args, how, _):
        if asking or not seen or seen[-1].ndim != 4:
            return
        S, x = seen[-1], args[0] if args else None
        heads = getattr(layer, "num_heads", S.shape[1])
        if heads != S.shape[1]:
            wrong.append(
                f"{S.shape[1]} maps pass through attn_drop in {type(layer).__name__}, of {heads} heads"
            )
        if not isinstance(x, torch.Tensor) or x.ndim != 3 or S.shape[2] == 1:
            return
        if S.shape[2] == x.shape[2] // S.shape[1]:  # as many tokens as a head is wide: between either
            other = x.clone()
            other[:, -1] = 1 - x[:, -1]
            asking.append(layer)
            layer(other, *args[1:], **how)
            asking.clear()
            before, after = (A[..., :-1, :-1].float() for A in (S, seen.pop()))
            share = [A / A.sum(dim=-1, keepdim=True) for A in (before, after)]
            between = torch.allclose(*share, rtol=1e-2, atol=1e-6)  # a token is nothing to two others
        else:
            between = S.shape[-1] == x.shape[1]
        if not between:
            wrong.append(f"what passes through attn_drop in {type(layer).__name__} is not between its tokens")

    return ask


@contextmanager
def in_evaluation(model):
    """Every part in evaluation mode, and then in its own again: some may be frozen."""
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _run(model, images, name, noise=False, **how):
    """What the model returns, with noise behind pictures; what it does not take is refused in its words."""
    behind = generator(0, Stream.NO_PICTURE).standard_normal((int(noise), *images.shape[1:]))
    try:
        return model(torch.cat([images, torch.from_numpy(behind).to(images)]), **how)
    except torch.OutOfMemoryError:
        raise
    except (AssertionError, RuntimeError, ValueError, TypeError) as error:
        came = f"{tuple(images.shape)}, {images.dtype} on {images.device}"
        said = str(error).partition("\n")[0][:200]
        raise ValueError(f"{name} takes other pictures than {came}: {said}") from error


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


#: What is said with ``heads`` is which function of its tensors a network is, too.
_NO_HEADS = (
    "does not tell how many heads a layer has: say heads= if its layers are timm's plain pre-norm ones, "
    "else give the model itself"
)
#: Names that only layers have that norm what goes into attention and MLP.
_NORMS_BEFORE = re.compile(
    r"\.(layernorm_before|layernorm_after|ln_1|ln_2)\.|\.(ls\d\.gamma|layer_scale\d\.lambda1)$"
)


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


def _maps_of_weights(tensors, images, name, heads, grid, about, norm):
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
        named = (_OF_THE_LAYERS, _BEHIND_THE_LAYERS)
        if parts := sorted(key for key in left if not any(each.match(key) for each in named)):
            raise ValueError(f"{name} has parts that a plain ViT has not, {', '.join(parts[:4])}: {_GIVE}")
        height, width = weight.shape[2:]
        if (images.shape[2] / height, images.shape[3] / width) != encodings.grid:
            sizes = f"{encodings.grid[0] * height} x {encodings.grid[1] * width} pixels"
            raise ValueError(f"{name} takes pictures of {sizes}, got {tuple(images.shape[2:])}")
        x = F.conv2d(images.float(), weight, left.pop("patch_embed.proj.bias", None), stride=(height, width))
        x = x.flatten(2).mT + encodings.P  # (B, width, rows, columns) -> (B, N, width)
        first = [
            left.pop(key).reshape(-1, x.shape[2])
            for key in ("cls_token", "dist_token", "reg_token")
            if key in left
        ]
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
        said = f"it has no tensor {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        raise ValueError(f"{name} is no plain ViT ({said}): {_GIVE}") from error
    rows = slice(-len(encodings.P), None)
    return [S[..., rows, rows] for S in seen], encodings.grid


#: What to do where tensors do not tell.
_GIVE = f"give the model itself; {_READ}"
#: What ``config.json`` may call a plain pre-norm ViT.
_PLAIN = {None, "vit", "deit", "dinov2", "dinov2_with_registers", "vit_mae", "vit_msn"}


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
