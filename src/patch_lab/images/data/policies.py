"""AutoAugment and RandAugment for a whole batch at once, on whatever device it lies.

Libraries apply these policies picture by picture, which keeps a GPU waiting. Here every picture
of a batch gets its own operation and strength in a fixed number of tensor operations. The
operations, strengths and policies are those of AutoAugment (Cubuk et al., 2018, the paper's
reference [18]) and RandAugment (Cubuk et al., 2019) as torchvision implements them.

Pictures are (B, 3, H, W) float tensors of whole numbers from 0 to 255.
"""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

OPERATIONS = (
    "Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color",
    "Contrast", "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize", "Invert",
)  # fmt: skip
_SIGNED = 9  # operations 1 to 9 are as likely to act in either direction
_NUMBER = {name: i for i, name in enumerate(OPERATIONS)}

# Each line is one sub-policy: two operations, each with its chance in tenths and its level of 0 to 9.
_CIFAR10 = """
Invert 1 0 Contrast 2 6; Rotate 7 2 TranslateX 3 9;
Sharpness 8 1 Sharpness 9 3; ShearY 5 8 TranslateY 7 9
AutoContrast 5 0 Equalize 9 0; ShearY 2 7 Posterize 3 7;
Color 4 3 Brightness 6 7; Sharpness 3 9 Brightness 7 9
Equalize 6 0 Equalize 5 0; Contrast 6 7 Sharpness 6 5;
Color 7 7 TranslateX 5 8; Equalize 3 0 AutoContrast 4 0
TranslateY 4 3 Sharpness 2 6; Brightness 9 6 Color 2 8;
Solarize 5 2 Invert 0 0; Equalize 2 0 AutoContrast 6 0
Equalize 2 0 Equalize 6 0; Color 9 9 Equalize 6 0;
AutoContrast 8 0 Solarize 2 8; Brightness 1 3 Color 7 0
Solarize 4 5 AutoContrast 9 0; TranslateY 9 9 TranslateY 7 9;
AutoContrast 9 0 Solarize 8 3; Equalize 8 0 Invert 1 0
TranslateY 7 9 AutoContrast 9 0
"""
_SVHN = """
ShearX 9 4 Invert 2 0; ShearY 9 8 Invert 7 0;
Equalize 6 0 Solarize 6 6; Invert 9 0 Equalize 6 0
Equalize 6 0 Rotate 9 3; ShearX 9 4 AutoContrast 8 0;
ShearY 9 8 Invert 4 0; ShearY 9 5 Solarize 2 6
Invert 9 0 AutoContrast 8 0; Equalize 6 0 Rotate 9 3;
ShearX 9 4 Solarize 3 3; ShearY 8 8 Invert 7 0
Equalize 9 0 TranslateY 6 6; Invert 9 0 Equalize 6 0;
Contrast 3 3 Rotate 8 4; Invert 8 0 TranslateY 0 2
ShearY 7 6 Solarize 4 8; Invert 6 0 Rotate 8 4;
ShearY 3 7 TranslateX 9 3; ShearX 1 6 Invert 6 0
Solarize 7 2 TranslateY 6 7; ShearY 8 4 Invert 8 0;
ShearX 7 9 TranslateY 8 3; ShearY 8 5 AutoContrast 7 0
ShearX 7 2 Invert 1 0
"""


def policy(name: str) -> torch.Tensor:
    """(25, 2, 3) AutoAugment's "cifar10" or "svhn": per sub-policy operation, chance, level of 0 to 9."""
    text = {"cifar10": _CIFAR10, "svhn": _SVHN}
    if name not in text:
        raise ValueError(f"there is no AutoAugment policy {name!r}; there are {', '.join(text)}")
    rows = []
    for sub in text[name].replace("\n", ";").split(";"):
        if words := sub.split():
            rows.append([[_NUMBER[words[k]], int(words[k + 1]) / 10, int(words[k + 2])] for k in (0, 3)])
    return torch.tensor(rows)


def strength(operation: torch.Tensor, level: torch.Tensor, size: int) -> torch.Tensor:
    """The strength of each operation at ``level`` in [0, 1], for pictures of ``size`` pixels.

    Shear: slope up to 0.3; translation: whole pixels up to 150/331 of the side; rotation: degrees
    up to 30; brightness, color, contrast, sharpness: change of the factor up to 0.9; posterize: bits
    kept, 8 down to 4; solarize: the value from which pictures are inverted, 255 down to 0.
    """
    top = [0.0, 0.3, 0.3, 0.0, 0.0, 30.0, 0.9, 0.9, 0.9, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0]
    value = torch.tensor(top, device=operation.device)[operation] * level
    moved = (operation == _NUMBER["TranslateX"]) | (operation == _NUMBER["TranslateY"])
    value = torch.where(moved, torch.floor(150.0 / 331.0 * size * level), value)
    value = torch.where(operation == _NUMBER["Posterize"], 8 - torch.round(4 * level), value)
    return torch.where(operation == _NUMBER["Solarize"], 255 * (1 - level), value)


def draw_auto_augment(n: int, size: int, name: str, generator: torch.Generator):
    """One sub-policy of AutoAugment for each of n pictures: operations and signed strengths, both (n, 2)."""
    device = generator.device
    table = policy(name).to(device)
    chosen = table[torch.randint(len(table), (n,), generator=generator, device=device)]  # (n, 2, 3)
    acts = torch.rand(n, 2, generator=generator, device=device) < chosen[..., 1]
    operation = torch.where(acts, chosen[..., 0].long(), _NUMBER["Identity"])
    return operation, _signed(operation, strength(operation, chosen[..., 2] / 9, size), generator)


def draw_rand_augment(n: int, size: int, generator: torch.Generator):
    """Two operations for each of n pictures, uniform among all but Invert, at magnitude 9 of 0 to 30."""
    device = generator.device
    operation = torch.randint(_NUMBER["Invert"], (n, 2), generator=generator, device=device)
    level = torch.full((n, 2), 9 / 30, device=device)
    return operation, _signed(operation, strength(operation, level, size), generator)


def _signed(operation, value, generator):
    sign = torch.randint(2, operation.shape, generator=generator, device=operation.device) * 2 - 1
    return torch.where((operation >= 1) & (operation <= _SIGNED), sign * value, value)


def apply(images: torch.Tensor, operation: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Apply to each picture its own operation (a place in ``OPERATIONS``) with its own signed strength.

    Draws that lie on the CPU say who drew what without waiting for a device: an operation is then computed
    for those pictures alone. Elsewhere it is computed for all pictures and kept for those that drew it.
    """
    colors = OPERATIONS[_NUMBER["Brightness"] :]
    if operation.device.type == "cpu":
        out = images.clone()
        moving = (operation >= _NUMBER["ShearX"]) & (operation <= _NUMBER["Rotate"])
        for name, chosen in [("", moving), *((name, operation == _NUMBER[name]) for name in colors)]:
            places = chosen.nonzero()[:, 0]
            if not len(places):
                continue
            there = places.to(images.device)
            drawn = value[places].to(images.device)
            few = images[there]
            made = (
                _COLORS[name](few, drawn[:, None, None, None])
                if name
                else _move(few, operation[places].to(images.device), drawn)
            )
            out[there] = made
        return out
    out = _move(images, operation, value)
    number = operation[:, None, None, None]
    for name in colors:
        out = torch.where(number == _NUMBER[name], _COLORS[name](out, value[:, None, None, None]), out)
    return out


def _move(images, operation, value):
    """Shear, shift, rotation: pixel u shows the input at M u + t, nearest neighbor, black outside."""
    B, _, height, width = images.shape
    zero, one = torch.zeros_like(value), torch.ones_like(value)

    def when(name, x, otherwise=zero):
        return torch.where(operation == _NUMBER[name], x, otherwise)

    angle = when("Rotate", value * (math.pi / 180))
    cos, sin = torch.cos(angle), torch.sin(angle)
    xx, xy = cos, when("ShearX", value, -sin)
    yx, yy = when("ShearY", value, sin), cos
    x = torch.arange(width, device=images.device) + 0.5
    y = torch.arange(height, device=images.device) + 0.5
    # Rotation turns about the middle, shears hold the upper left corner.
    turns = operation == _NUMBER["Rotate"]
    cx, cy = torch.where(turns, width / 2 * one, zero), torch.where(turns, height / 2 * one, zero)
    # (B, 1, W), (B, H, 1)
    dx, dy = (
        x[None, None, :] - cx[:, None, None],
        y[None, :, None] - cy[:, None, None],
    )
    tx, ty = cx - when("TranslateX", value), cy - when("TranslateY", value)
    from_x = xx[:, None, None] * dx + xy[:, None, None] * dy + tx[:, None, None]  # (B, H, W)
    from_y = yx[:, None, None] * dx + yy[:, None, None] * dy + ty[:, None, None]
    column, row = from_x.floor().long(), from_y.floor().long()
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    place = (row.clamp(0, height - 1) * width + column.clamp(0, width - 1)).reshape(B, 1, -1)
    moved = images.flatten(2).gather(2, place.expand(-1, images.shape[1], -1)).view_as(images)
    return moved * inside[:, None]


def _gray(x):
    weights = torch.tensor([0.2989, 0.587, 0.114], device=x.device, dtype=x.dtype)
    return (x * weights[:, None, None]).sum(dim=1, keepdim=True).floor()


def _blend(x, other, value):
    return ((1 + value) * x - value * other).clamp(0, 255).floor()


def _sharpness(x, value):
    rows = [[1.0, 1.0, 1.0], [1.0, 5.0, 1.0], [1.0, 1.0, 1.0]]
    kernel = torch.tensor(rows, device=x.device, dtype=x.dtype) / 13
    channels = x.shape[1]
    smooth = x.clone()  # the border stays as it is
    smooth[..., 1:-1, 1:-1] = F.conv2d(x, kernel.expand(channels, 1, 3, 3), groups=channels).round()
    return _blend(x, smooth, value)


def _posterize(x, value):
    step = 2 ** (8 - value.clamp(1, 8))
    return (x / step).floor() * step


def _auto_contrast(x, value):
    low, high = x.amin(dim=(2, 3), keepdim=True), x.amax(dim=(2, 3), keepdim=True)
    stretched = ((x - low) * (255 / (high - low).clamp(min=1))).clamp(0, 255).floor()
    return torch.where(high > low, stretched, x)


def _equalize(x, value):
    """Each channel's cumulated histogram as its own look-up table, as in PIL's ImageOps.equalize."""
    levels = x.flatten(2).long()  # (B, 3, H W)
    histogram = torch.zeros(*levels.shape[:2], 256, device=x.device, dtype=x.dtype)
    histogram.scatter_add_(2, levels, torch.ones_like(levels, dtype=x.dtype))
    last = histogram.gather(2, levels.amax(dim=2, keepdim=True))  # pixels of the brightest level
    step = ((histogram.sum(dim=2, keepdim=True) - last) / 255).floor()
    below = histogram.cumsum(dim=2) - histogram
    table = ((below + (step / 2).floor()) / step.clamp(min=1)).floor().clamp(0, 255)
    return torch.where(step[..., None] > 0, table.gather(2, levels).view_as(x), x)


_COLORS = {
    "Brightness": lambda x, v: _blend(x, torch.zeros_like(x), v),
    "Color": lambda x, v: _blend(x, _gray(x), v),
    "Contrast": lambda x, v: _blend(x, _gray(x).mean(dim=(1, 2, 3), keepdim=True), v),
    "Sharpness": _sharpness,
    "Posterize": _posterize,
    "Solarize": lambda x, v: torch.where(x >= v, 255 - x, x),
    "AutoContrast": _auto_contrast,
    "Equalize": _equalize,
    "Invert": lambda x, v: 255 - x,
}
