"""Convolutional networks for small images: ResNet-18, VGG-19 and two small ones for a laptop.

Stock ResNet and VGG halve a picture several times before they look at it, which suits 224 pixels
and leaves nothing of 32. Here the stems keep the full resolution, as is usual for CIFAR.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.checks import fits_memory, positive_int, seed_number

# Of airbench: what is added to mean squares before a division by their roots, so that directions that hardly
# occur stay small; the weight of a batch in a norm's statistics; and what logits are divided by.
_LEAST_SQUARE = 5e-4
_FORGETTING = 0.4
_COOLED = 9
_VGG19 = ((2, 64), (2, 128), (4, 256), (4, 512), (4, 512))


def resnet18(num_classes: int = 10, channels: int = 3) -> nn.Module:
    """ResNet-18 whose stem is one 3x3 convolution of stride 1 (11.17 M parameters for 10 classes)."""
    return ResNet((2, 2, 2, 2), (64, 128, 256, 512), num_classes, channels)


def vgg19(num_classes: int = 10, channels: int = 3) -> nn.Module:
    """VGG-19 with batch normalization and one linear layer for a head (20.04 M parameters for 10 classes)."""
    layers: list[nn.Module] = []
    for repeats, width in _VGG19:
        for _ in range(repeats):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            channels = width
        layers.append(nn.MaxPool2d(2))
    head = _head(512, num_classes)
    return _start(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), head))


def small_cnn(num_classes: int = 10, channels: int = 3, seed: int | None = None) -> nn.Module:
    """Three 3x3 convolutions of widths 16, 32, 64 with pooling between: seconds on a laptop.

    With ``seed`` the start depends on it alone, and PyTorch's own generator is left as it was. It is drawn in
    double precision and then rounded: single precision draws differ in the last bit between processors.
    """
    if seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_number("seed", seed))
            return _start(small_cnn(num_classes, channels).double()).float()
    layers: list[nn.Module] = []
    for width in (16, 32, 64):
        layers += [
            nn.Conv2d(channels, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        ]
        channels = width
    head = _head(64, num_classes)
    return _start(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), head))


def residual_cnn(num_classes: int = 10, channels: int = 3, widths=(64, 256, 384)) -> nn.Module:
    """A residual network of three million parameters, for SGD: nine of ten pictures of CIFAR-10 in 12 epochs.

    After K. Jordan's airbench (arXiv:2404.00498): a stem of 2x2 convolutions, which :meth:`QuickNet.whiten`
    fixes before training, and a stage for each width. What is not airbench's: the way around the second
    convolution of a stage, the last width, and the head's bias. An epoch of CIFAR-10 is two minutes of one
    CPU core.
    """
    return QuickNet(widths, num_classes, channels)


class QuickNet(nn.Module):
    """Stages of a convolution with pooling and a residual convolution; maxima go to the head.

    Batch norms shift and do not scale, and forget statistics quickly; convolutions start by handing on what
    they get, as far as their width allows.
    """

    def __init__(self, widths, num_classes: int, channels: int = 3):
        super().__init__()
        self.stem = nn.Conv2d(channels, inside := 8 * channels, 2)
        stages = []
        for width in widths:
            stages.append(QuickStage(inside, width))
            inside = width
        self.stages = nn.Sequential(*stages)
        self.head = _head(inside, num_classes)
        # On a CPU channels last is a third faster than channels first.
        self.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]

    @torch.no_grad()
    def whiten(self, images: torch.Tensor, total: Callable = lambda x: x) -> None:
        """Fix the stem at filters that decorrelate the 2x2 patches of such pictures.

        One half of the filters are the principal directions of the patches, each over the root of its mean
        square plus 0.0005; the other half are their negatives. Training leaves them as they are.

        Parameters
        ----------
        images : (B, channels, H, W) floats
            As the network gets them: normalized.
        total : function
            Sums a tensor over the processes, where each has a share of the pictures.
        """
        moments: Any = 0.0  # (4 c, 4 c)
        for some in images.split(100):  # in double precision all at once may be gigabytes
            patches = some.unfold(2, 2, 1).unfold(3, 2, 1)  # (b, c, H - 1, W - 1, 2, 2)
            rows = patches.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(0, 2).double()  # (places, 4 c)
            moments = moments + rows.T @ rows
        places = len(images) * (images.shape[2] - 1) * (images.shape[3] - 1)
        count = total(moments.new_full((), places))
        squares, directions = torch.linalg.eigh(total(moments) / count)
        filters = (directions / (squares + _LEAST_SQUARE).sqrt()).T.unflatten(1, (-1, 2, 2))  # (4 c, c, 2, 2)
        self.stem.weight.copy_(torch.cat([filters, -filters]))
        self.stem.weight.requires_grad_(False)
        if self.stem.bias is not None:
            self.stem.bias.zero_()

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """(B, channels, H, W) -> (B, num_classes); each stage halves H and W, and a pixel must be left."""
        if min(images.shape[-2:]) <= (least := 2 ** len(self.stages)):
            raise ValueError(f"images must have more than {least} pixels a side, got {tuple(images.shape)}")
        x = F.gelu(self.stem(images.contiguous(memory_format=torch.channels_last)))
        return self.head(self.stages(x).amax(dim=(2, 3))) / _COOLED


class QuickStage(nn.Module):
    """A 3x3 convolution with pooling (four times fewer places), then z + a 3x3 convolution of z."""

    def __init__(self, inside: int, width: int):
        super().__init__()
        self.first = nn.Conv2d(inside, width, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(width, momentum=_FORGETTING)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(width, momentum=_FORGETTING)
        for convolution in (self.first, self.second):
            nn.init.dirac_(convolution.weight.data[: convolution.in_channels])
        for norm in (self.first_norm, self.second_norm):
            norm.weight.requires_grad_(False)

    def forward(self, x):
        z = F.gelu(self.first_norm(F.max_pool2d(self.first(x), 2)))
        return z + F.gelu(self.second_norm(self.second(z)))


class ResNet(nn.Module):
    """A residual network of basic blocks; ``repeats`` and ``widths`` per stage."""

    def __init__(self, repeats, widths, num_classes: int, channels: int = 3):
        super().__init__()
        self.stem = nn.Conv2d(channels, widths[0], 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(widths[0])
        blocks = []
        inside = widths[0]
        for stage, (count, width) in enumerate(zip(repeats, widths)):
            for i in range(count):
                blocks.append(BasicBlock(inside, width, stride=2 if stage > 0 and i == 0 else 1))
                inside = width
        self.blocks = nn.Sequential(*blocks)
        self.head = _head(inside, num_classes)
        _start(self)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """(B, channels, H, W) -> (B, num_classes)."""
        x = F.relu(self.stem_norm(self.stem(images)))
        return self.head(self.blocks(x).mean(dim=(2, 3)))


class BasicBlock(nn.Module):
    """x + two 3x3 convolutions of x; a 1x1 convolution on the way around where shapes change."""

    def __init__(self, inside: int, width: int, stride: int):
        super().__init__()
        self.first = nn.Conv2d(inside, width, 3, stride=stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(width)
        around = inside != width or stride != 1
        self.around = (
            nn.Sequential(nn.Conv2d(inside, width, 1, stride=stride, bias=False), nn.BatchNorm2d(width))
            if around
            else nn.Identity()
        )

    def forward(self, x):
        z = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(z)) + self.around(x))


def _head(width: int, num_classes: int) -> nn.Linear:
    fits_memory(f"a head of {positive_int('num_classes', num_classes):,} classes", width * num_classes, 4)
    return nn.Linear(width, num_classes)


def _start(module: nn.Module) -> nn.Module:
    for part in module.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
            if part.bias is not None:
                nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=0.01)
            nn.init.zeros_(part.bias)
    return module
