"""What families of ViTs call their parts, and the sizes that names and shapes tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from patch_association.images.locality import grid_sides
from patch_association.images.vit import ViT

#: Tokens that are no patches, and encodings, by the ends of their names. Detection tokens alone stand behind.
TOKEN = re.compile(
    r"(?:^|[./])(cls|cls_token|class_token|class_embedding|dist_token|distillation_token"
    r"|reg_token|register_tokens|storage_tokens|detection_tokens)$"
)
BEHIND = "detection_tokens"
#: Parts behind the layers, whose tokens are not among those of the layers.
_POOLS = re.compile(r"(?:^|[./])(head|attn_pool|pool|pooler|decoder)[./]")
#: What embeds words, and encodings that are of words, of frames or of what asks.
WORDS = re.compile(r"(?:^|[./])(token_embedding|word_embeddings|embed_tokens|wte)\b")
OF_OTHERS = re.compile(r"(?:^|[._/])(query|queries|decoder|text|temporal|time)[._/]")
#: Whose models are known to have them so; the tokens of others are looked at.
KNOWN = ("timm", "transformers", "torchvision", "open_clip")
#: The part that takes pictures, of a network that takes texts as well; and what a module may be inside of.
_TOWERS = ("vision_model", "visual", "vision_tower", "image_encoder", "img")
_PICTURES = re.compile(rf"(?:^|[./])(?:{'|'.join(_TOWERS)})[./]")
_AROUND = ("_orig_mod", "module", "timm_model")
POSITIONS = re.compile(
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
BEHIND_THE_LAYERS = re.compile(
    r"^(norm|fc_norm|head|head_dist|pooler|pre_logits|cls_classifier|mask_token|n_averaged)\b"
)
OF_THE_LAYERS = re.compile(
    r"^(cls_token|dist_token|reg_token|pos_embed|patch_embed\.proj\.(weight|bias)"
    r"|blocks\.\d+\.((norm[12]|attn\.qkv|attn\.proj|mlp\.fc[12])\.(weight|bias)|ls[12]\.gamma))$"
)
#: What embeds patches is called.
EMBEDS = ("patch", "conv_proj", "conv1")


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


def other_tokens(tensors: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """How many class, distillation and register tokens there are, by the ends of their names."""
    matched = {TOKEN.search(key): x for key, x in tensors.items() if not _POOLS.search(key)}
    return {match[1]: x.numel() // x.shape[-1] for match, x in matched.items() if match and x.numel()}


def has_positions(tensors) -> bool:
    """Whether a tensor is called as encodings are, so that not to find them is an error."""
    return any(POSITIONS.search(key) for key in tensors)


def patch_projection(tensors) -> tuple[int, int, int] | None:
    """(width, height, width of a patch in pixels) of the convolution that embeds patches; None without."""
    key = patch_key(tensors)
    return None if key is None else (len(tensors[key]), *tensors[key].shape[2:])


def patch_key(tensors) -> str | None:
    """The name of the convolution's weight that embeds patches; None without one."""
    fits = [key for key, x in tensors.items() if x.ndim == 4 and max(x.shape[2:]) > 1]
    for key in fits:
        if any(part in key for part in EMBEDS):
            return key
    if len(fits) == 1 and fits[0].endswith("weight"):
        return fits[0]
    return None


def channels_of(model) -> int | None:
    """How many colors a model's pictures have; None where no convolution embeds patches."""
    if isinstance(model, ViT):
        return model.config.channels
    key = patch_key(tensors_of(model))
    return None if key is None else tensors_of(model)[key].shape[1]


def grid_on(model, images) -> tuple[int, int] | None:
    """Rows and columns of patches side by side on pictures; None where the size of a patch is not known."""
    shape = patch_projection(tensors_of(model))
    return None if shape is None else (images.shape[2] // shape[1], images.shape[3] // shape[2])


def grid_of(model, about=None) -> tuple[int, int] | None:
    """Rows and columns of patches, where a module, or the file beside weights, says them."""
    if (grid := getattr(getattr(model, "patch_embed", None), "grid_size", None)) is not None:
        return grid_sides(grid, 1)
    size, patch = (_setting(model, about, key) for key in ("image_size", "patch_size"))
    if size is None or patch is None:
        return None
    height, width = grid_sides(size, 1)
    p, q = grid_sides(patch, 1)
    return height // p, width // q


def size_of(model, sides: tuple[int, int], name: str) -> tuple[int, int]:
    """Height and width in pixels of pictures of so many rows and columns of patches."""
    said = getattr(getattr(model, "patch_embed", None), "img_size", None)
    if (said := said or _setting(model, None, "image_size")) is not None and grid_of(model) == sides:
        return grid_sides(said, 1)
    key = patch_key(tensors_of(model))
    if key is None:
        raise ValueError(f"{name} has no convolution that embeds patches: their size is not known")
    kernel = tensors_of(model)[key].shape[2:]
    layer = dict(model.named_modules()).get(key.rpartition(".")[0]) if isinstance(model, nn.Module) else None
    if not isinstance(layer, nn.Conv2d) or isinstance(layer.padding, str):
        return sides[0] * kernel[0], sides[1] * kernel[1]
    height, width = ((sides[k] - 1) * layer.stride[k] + kernel[k] - 2 * layer.padding[k] for k in (0, 1))
    return int(height), int(width)


def _setting(model, about, key: str):
    """What a configuration, a module, or the file beside weights says of the size of pictures or patches."""
    of = about or getattr(model, "config", model)
    for one in (of.get("vision_config"), of) if isinstance(of, dict) else (getattr(of, "vision_config", of),):
        said = one.get(key) if isinstance(one, dict) else getattr(one, key, None)
        if isinstance(said, (int, list, tuple)):
            return said
