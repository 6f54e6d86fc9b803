"""Pictures: where they come from, and what is done to them before a model sees them.

``sets``                                pictures in memory, and the validation split
``folder``                              pictures read as training goes on
``embedded``, ``packed``, ``official``  where sets come from
``augment``, ``policies``               augmentation
``permutation``                         grid shuffles
"""

from __future__ import annotations

import os
from pathlib import Path

from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.data.sets import ImageSet

__all__ = ["ENVIRONMENT", "NAMES", "GridPermutation", "ImageSet", "data_root", "load"]

ENVIRONMENT = "PATCH_ASSOCIATION_DATA"
NAMES = ("photographs", "digits", "cifar10", "cifar100", "svhn", "tiny-imagenet")


def load(
    name: str, root=None, train_size: int | None = None, test_size: int | None = None, download: bool = False
) -> ImageSet:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        "photographs" and "digits" ship with dependencies and need no download. "cifar10",
        "cifar100" and "svhn" are the official files in ``root``. "cifar10" and "cifar100" may be, and
        "tiny-imagenet" is, one packed file (:mod:`patch_lab.images.data.packed`): then ``root`` is that
        file, or the folder with ``cifar10*.npz``, ``cifar100*.npz`` or ``tiny_imagenet*.npz``.
    root : path, optional
        The folder of the official files, or a packed file; by default what the
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

    Examples
    --------
    >>> load("digits", train_size=100).train_images.shape
    torch.Size([100, 1, 8, 8])
    """
    # Each source is imported where it is asked for: most runs need one, and none needs all.
    if name not in NAMES:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(NAMES)}")
    if name in ("photographs", "digits"):
        from patch_lab.images.data import embedded

        return getattr(embedded, name)().limited(train_size, test_size)
    folder = data_root(root)
    # "cifar10" is no beginning of "cifar100": a file's name goes on with something else than a digit.
    pattern = f"{name.replace('-', '_')}[!0-9]*npz"
    packed = sorted(folder.glob(pattern)) if folder.is_dir() else []
    if len(packed) > 1:
        raise ValueError(
            f"{folder} holds several packed files ({', '.join(p.name for p in packed)}): name one"
        )
    folder = packed[0] if packed else folder
    if folder.is_file():
        from patch_lab.images.data.packed import load_packed

        data = load_packed(folder, train_size, test_size)
        if data.name != name:
            raise ValueError(f"{folder} is a packed {data.name} file, and {name} was asked for")
        return data
    if name == "tiny-imagenet":
        raise ValueError(f"{folder} is no packed file: tiny-imagenet is read from one")
    from patch_lab.images.data.official import load_official

    return load_official(name, folder, download).limited(train_size, test_size)


def data_root(root=None) -> Path:
    """Where the data sets lie: ``root``, else PATCH_ASSOCIATION_DATA, else the user's cache folder."""
    if root is not None:
        return Path(root)
    if os.environ.get(ENVIRONMENT):
        return Path(os.environ[ENVIRONMENT])
    from platformdirs import user_cache_path

    return user_cache_path("patch-association")
