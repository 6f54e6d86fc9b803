"""What is done to a batch of pictures before the model sees it, on whatever device it lies.

What is random is drawn for a whole epoch at once from a generator that depends on the run's seed
and the epoch alone, and applied picture by picture. So a run that is resumed in the middle of an
epoch, or split over several processes, sees exactly what one run in one go would see.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional as F

from patch_association.checks import one_of
from patch_lab.images import AUGMENTATIONS
from patch_lab.images.data import policies


@dataclass(frozen=True)
class Draws:
    """What was drawn for n pictures; index it to get those of some of them.

    Attributes
    ----------
    top, left : (n,) integers, or None
        Where the window of the old size sits in the padded picture.
    flipped : (n,) booleans, or None
    operation, value : (n, 2) tensors, or None
        Two operations of a policy and their signed strengths.
    padding : int
    reflected : bool
        Whether reflection continues a picture, and not black.
    """

    top: torch.Tensor | None = None
    left: torch.Tensor | None = None
    flipped: torch.Tensor | None = None
    operation: torch.Tensor | None = None
    value: torch.Tensor | None = None
    padding: int = 0
    reflected: bool = False

    def __getitem__(self, which) -> Draws:
        return self._changed(lambda tensor: tensor[which])

    def to(self, device) -> Draws:
        """The draws on a device."""
        return self._changed(lambda tensor: tensor.to(device))

    def policy_only(self) -> Draws:
        """The draws of the policy alone."""
        return Draws(operation=self.operation, value=self.value)

    def _changed(self, change) -> Draws:
        tensors = (self.top, self.left, self.flipped, self.operation, self.value)
        changed = (None if t is None else change(t) for t in tensors)
        return Draws(*changed, padding=self.padding, reflected=self.reflected)


def draw(choice: str, n: int, size: int, generator: torch.Generator) -> Draws:
    """Draw the augmentation of n pictures of ``size`` pixels.

    ``choice``: "none"; "shift" (a window of the picture padded with black); "shift-flip" (and half
    of them mirrored, the usual recipe for CIFAR); "reflect-flip" (the same, padded by reflection);
    "autoaugment-cifar10", "autoaugment-svhn", "randaugment" (shift, mirror where left and right do not
    matter, then the policy). The padding is an eighth of the side, 4 pixels of 32, and half of that where it
    is by reflection: nothing below 16 pixels.
    """
    one_of("augment", choice, *AUGMENTATIONS)
    if choice == "none":
        return Draws()
    reflected = choice == "reflect-flip"
    p = size // 16 if reflected else size // 8
    top, left = torch.randint(2 * p + 1, (2, n), generator=generator, device=generator.device)
    flipped = operation = value = None
    if choice not in ("shift", "autoaugment-svhn"):  # a mirrored digit is another picture
        flipped = torch.rand(n, generator=generator, device=generator.device) < 0.5
    if choice.startswith("autoaugment-"):
        name = choice.removeprefix("autoaugment-")
        operation, value = policies.draw_auto_augment(n, size, name, generator)
    elif choice == "randaugment":
        operation, value = policies.draw_rand_augment(n, size, generator)
    return Draws(top, left, flipped, operation, value, p, reflected)


def augment(images: torch.Tensor, draws: Draws) -> torch.Tensor:
    """Apply draws to uint8 pictures (B, c, H, W), one draw a picture; uint8 of the same shape.

    The draws lie where the pictures do, or on the CPU: then each operation of a policy is computed for those
    pictures alone that drew it.
    """
    if images.dtype != torch.uint8 or images.ndim != 4:
        raise ValueError(
            f"images must be uint8 of shape (B, c, H, W), got {images.dtype} of {tuple(images.shape)}"
        )
    if draws.top is not None and draws.left is not None:
        images = _shift_flip(images, draws.to(images.device))
    if draws.operation is not None and draws.value is not None:
        values = images.float()
        for i in range(draws.operation.shape[1]):
            values = policies.apply(values, draws.operation[:, i], draws.value[:, i])
        images = values.byte()
    return images


def _shift_flip(images, draws):
    B, _, height, width = images.shape
    device = images.device
    p = draws.padding
    rows = draws.top[:, None] + torch.arange(height, device=device)  # (B, H)
    columns = torch.arange(width, device=device).expand(B, width)
    if draws.flipped is not None:
        columns = torch.where(draws.flipped[:, None], width - 1 - columns, columns)
    columns = columns + draws.left[:, None]  # (B, W)
    if draws.reflected:
        rows, columns = _reflected(rows - p, height), _reflected(columns - p, width)
    else:
        images = F.pad(images, (p, p, p, p))
    picture = torch.arange(B, device=device)[:, None, None]
    # Advanced indices around the slice put the channels last: (B, H, W, c) -> (B, c, H, W).
    return images[picture, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2).contiguous()


def _reflected(place, size: int):
    """A place up to a side beyond an edge of 0, ..., size - 1, reflected in it."""
    last = size - 1
    return last - (last - place.abs()).abs()


def normalize(images: torch.Tensor, mean: torch.Tensor, std: torch.Tensor) -> torch.Tensor:
    """uint8 pictures as floats, (x / 255 - mean) / std per channel."""
    return (images.float() / 255 - mean[:, None, None]) / std[:, None, None]
