"""Pictures with labels, as uint8 tensors with a training and a test split."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from patch_association._validate import positive_int

ENVIRONMENT = "PATCH_ASSOCIATION_DATA"
NAMES = ("photographs", "digits", "cifar10", "cifar100", "svhn")


@dataclass(frozen=True)
class ImageSet:
    """A data set that fits in memory.

    Attributes
    ----------
    name : str
    origin : str
        Where the pictures come from, in words; it belongs beside every accuracy.
    classes : tuple of str
    train_images, test_images : (n, c, H, W) uint8 tensors
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
        """Colours."""
        return self.train_images.shape[1]

    def statistics(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and standard deviation per channel of the training pictures, on a scale of 0 to 1.

        Exact: from the counts of the 256 levels. A running float32 sum over millions of pixels
        loses digits.
        """
        levels = torch.arange(256, dtype=torch.float64) / 255
        mean, std = [], []
        for channel in range(self.channels):
            counts = torch.bincount(self.train_images[:, channel].flatten(), minlength=256).double()
            weights = counts / counts.sum()
            m = (weights * levels).sum()
            mean.append(m)
            std.append(((weights * (levels - m) ** 2).sum()).sqrt().clamp(min=1e-6))
        return torch.stack(mean).float(), torch.stack(std).float()

    def digest(self) -> str:
        """sha256 over all pictures and labels: which data a run has seen."""
        sha = hashlib.sha256()
        for tensor in (self.train_images, self.train_labels, self.test_images, self.test_labels):
            sha.update(str(tuple(tensor.shape)).encode())
            sha.update(np.ascontiguousarray(tensor.numpy()).data)
        return sha.hexdigest()

    def validation_split(self, size: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Numbers of training pictures to train on and ``size`` to validate on, drawn at random."""
        size, n = positive_int("size", size, minimum=0), len(self.train_labels)
        if size >= n:
            raise ValueError(f"a validation split must leave pictures to train on, got {size} of {n}")
        order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
        return order[size:].sort().values, order[:size].sort().values

    def limited(self, train_size: int | None, test_size: int | None) -> ImageSet:
        """The first pictures of each split; None keeps all."""
        changes = {}
        for split, size in (("train", train_size), ("test", test_size)):
            if size is not None:
                size = positive_int(f"{split}_size", size)
                if size > len(getattr(self, f"{split}_labels")):
                    raise ValueError(
                        f"{split}_size must be at most {len(getattr(self, f'{split}_labels'))} "
                        f"for {self.name}, got {size}"
                    )
                changes[f"{split}_images"] = getattr(self, f"{split}_images")[:size]
                changes[f"{split}_labels"] = getattr(self, f"{split}_labels")[:size]
        return replace(self, **changes)


def load(
    name: str, root=None, train_size: int | None = None, test_size: int | None = None, download: bool = False
) -> ImageSet:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        "photographs" and "digits" ship with dependencies and need no download. "cifar10",
        "cifar100" and "svhn" are the official files in ``root``, read by torchvision (the extra
        ``vision``). "cifar10" may also be one packed file: see ``root``.
    root : path, optional
        The folder of the official files, or the packed CIFAR-10 file itself; by default what the
        environment variable PATCH_ASSOCIATION_DATA says, else the user's cache folder.
    train_size, test_size : int, optional
        Keep only the first so many. The packed file and the embedded sets are interleaved by
        class, so that their prefixes are balanced.
    download : bool
        Fetch official files that are missing.

    Raises
    ------
    ValueError
        If the name is unknown, or a file is missing, truncated or altered; the message names it.
    """
    if name not in NAMES:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(NAMES)}")
    if name in ("photographs", "digits"):
        from patch_association.images import embedded

        return getattr(embedded, name)().limited(train_size, test_size)
    folder = data_root(root)
    if folder.is_file():
        from patch_association.images.packed import load_packed

        if name != "cifar10":
            raise ValueError(
                f"{folder} is a packed CIFAR-10 file, and {name} was asked for: "
                f"give the folder of its official files as root or in {ENVIRONMENT}"
            )
        return load_packed(folder, train_size, test_size)
    from patch_association.images.official import load_official

    return load_official(name, folder, download).limited(train_size, test_size)


def data_root(root=None) -> Path:
    """Where the data sets lie: ``root``, else PATCH_ASSOCIATION_DATA, else the user's cache folder."""
    if root is not None:
        return Path(root)
    if os.environ.get(ENVIRONMENT):
        return Path(os.environ[ENVIRONMENT])
    from platformdirs import user_cache_path

    return user_cache_path("patch-association")


def interleaved(images: np.ndarray, labels: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures (n, H, W, c) reordered so that the classes take turns, as tensors (n, c, H, W)."""
    place = np.empty(len(labels), dtype=np.int64)  # the how-manieth of its class each picture is
    for label in np.unique(labels):
        of_class = np.flatnonzero(labels == label)
        place[of_class] = np.arange(len(of_class))
    order = np.lexsort((labels, place))
    pictures = torch.from_numpy(np.ascontiguousarray(images[order].transpose(0, 3, 1, 2)))
    return pictures, torch.from_numpy(labels[order].astype(np.int64))
