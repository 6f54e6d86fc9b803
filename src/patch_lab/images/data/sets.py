"""Pictures with labels in memory, and the one way in which validation pictures are held out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from patch_association.checks import positive_int, seed_number


@dataclass(frozen=True)
class ImageSet:
    """A data set that fits in memory.

    Attributes
    ----------
    name : str
    origin : str
        Where the pictures come from, in words; it belongs beside every accuracy.
    classes : tuple of str
    train_images, test_images : (n, c, H, H) uint8 tensors
    train_labels, test_labels : (n,) int64 tensors
    """

    name: str
    origin: str
    classes: tuple[str, ...]
    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor

    def __post_init__(self):
        for split in ("train", "test"):
            x, y = getattr(self, f"{split}_images"), getattr(self, f"{split}_labels")
            if x.dtype != torch.uint8 or x.ndim != 4 or x.shape[2] != x.shape[3] or len(x) == 0:
                raise ValueError(
                    f"{split} images must be uint8 of shape (n, c, H, H) with n > 0, "
                    f"got {x.dtype} of {tuple(x.shape)}"
                )
            if y.dtype != torch.int64 or tuple(y.shape) != (len(x),):
                raise ValueError(
                    f"{split} labels must be {len(x)} int64 numbers, got {y.dtype} of {tuple(y.shape)}"
                )
            if y.min() < 0 or y.max() >= len(self.classes):
                raise ValueError(
                    f"{split} labels must lie in 0..{len(self.classes) - 1}, "
                    f"got {int(y.min())}..{int(y.max())}"
                )
        if self.train_images.shape[1:] != self.test_images.shape[1:]:
            raise ValueError(
                "training and test pictures must have one shape, got "
                f"{tuple(self.train_images.shape[1:])} and {tuple(self.test_images.shape[1:])}"
            )

    @property
    def image_size(self) -> int:
        """The side of a picture in pixels."""
        return self.train_images.shape[-1]

    @property
    def channels(self) -> int:
        """The number of color channels."""
        return self.train_images.shape[1]

    @property
    def num_train(self) -> int:
        """Training pictures, before any are held out."""
        return len(self.train_labels)

    def statistics(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and standard deviation per channel of the training pictures, on a scale of 0 to 1.

        Exact: from the counts of the 256 levels. A running float32 sum over millions of pixels
        loses digits. Computed once: several runs side by side ask for them.
        """
        return self._statistics

    @cached_property
    def _statistics(self) -> tuple[torch.Tensor, torch.Tensor]:
        levels = torch.arange(256, dtype=torch.float64) / 255
        channels = self.train_images.transpose(0, 1).flatten(1)  # (n, c, H, W) -> (c, n H W)
        weights = torch.stack([torch.bincount(c, minlength=256).double() for c in channels])
        weights /= weights.sum(dim=1, keepdim=True)
        mean = weights @ levels
        variance = (weights * (levels - mean[:, None]) ** 2).sum(dim=1)
        return mean.float(), variance.sqrt().clamp(min=1e-6).float()

    def digest(self) -> str:
        """sha256 over all pictures and labels: which data a run has seen."""
        sha = hashlib.sha256()
        for tensor in (self.train_images, self.train_labels, self.test_images, self.test_labels):
            sha.update(str(tuple(tensor.shape)).encode())
            sha.update(np.ascontiguousarray(tensor.numpy()).data)
        return sha.hexdigest()

    def limited(self, train_size: int | None, test_size: int | None) -> ImageSet:
        """The first pictures of each split; None keeps all."""
        a = prefix("train_size", train_size, len(self.train_labels), self.name)
        b = prefix("test_size", test_size, len(self.test_labels), self.name)
        kept = [self.train_images[:a], self.train_labels[:a], self.test_images[:b], self.test_labels[:b]]
        names = ("train_images", "train_labels", "test_images", "test_labels")
        return replace(self, **dict(zip(names, kept)))


def prefix(name: str, size: int | None, available: int, where: str) -> int:
    """``size`` if there are so many, all for None; refuses more than there are."""
    if size is None:
        return available
    if positive_int(name, size) > available:
        raise ValueError(f"{name} must be at most {available} for {where}, got {size}")
    return size


def validation_split(n: int, size: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """The numbers 0, ..., n - 1 as those to train on and ``size`` to validate on, drawn at random."""
    if positive_int("size", size, minimum=0) >= n:
        raise ValueError(f"a validation split must leave pictures to train on, got {size} of {n}")
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed_number("seed", seed)))
    return order[size:].sort().values, order[:size].sort().values


def turns(labels) -> np.ndarray:
    """An order in which the classes take turns, so that every prefix is about balanced."""
    labels = np.asarray(labels)
    place = np.empty(len(labels), dtype=np.int64)  # the how-manieth of its class each picture is
    for label in np.unique(labels):
        of_class = np.flatnonzero(labels == label)
        place[of_class] = np.arange(len(of_class))
    return np.lexsort((labels, place))


def interleaved(images: np.ndarray, labels: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures (n, H, W, c) reordered so that the classes take turns, as tensors (n, c, H, W)."""
    order = turns(labels)
    pictures = torch.from_numpy(np.ascontiguousarray(images[order].transpose(0, 3, 1, 2)))
    return pictures, torch.from_numpy(labels[order].astype(np.int64))
