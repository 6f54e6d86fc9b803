"""CIFAR-10 as one file of 18 MB: JPEGs whose common header is stored once.

The file is an npz with ``header`` and ``scan`` (uint8), ``length`` (uint16, bytes of each scan),
``label`` (uint8) and ``n_train``; JPEG number k is header + its part of scan + FF D9. These JPEGs
are lossy: say "JPEG re-encoded CIFAR-10" beside every accuracy.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path

import numpy as np
import torch

from patch_association.images.data.sets import ImageSet, prefix

_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def load_packed(path, train_size: int | None = None, test_size: int | None = None) -> ImageSet:
    """Read the packed file; only the pictures asked for are decoded.

    Raises
    ------
    ValueError
        If the file is truncated, altered or something else; the message names it.
    """
    path = Path(path)
    names = ("header", "scan", "length", "label", "n_train")
    header, scan, length, label, n_train = _arrays(path, names, "packed CIFAR-10 file")
    n_train = int(n_train)
    n, ends = len(label), np.cumsum(length, dtype=np.int64)
    whole = 0 < n_train < n == len(length) and ends[-1] == scan.size and label.max() < len(_CLASSES)
    if not whole:
        raise ValueError(
            f"{path} contradicts itself: {n} labels, {len(length)} lengths of {int(length.sum())} bytes "
            f"in all for {scan.size} bytes, {n_train} training pictures"
        )
    head, body = header.tobytes(), scan.tobytes()

    def decode(first, count):
        images = np.empty((count, 32, 32, 3), dtype=np.uint8)
        for k in range(first, first + count):
            jpeg = head + body[ends[k] - int(length[k]) : ends[k]] + b"\xff\xd9"
            images[k - first] = _decoded(jpeg, (32, 32), f"{path}: picture {k}")
        pictures = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        return pictures, torch.from_numpy(label[first : first + count].astype(np.int64))

    train = decode(0, prefix("train_size", train_size, n_train, path.name))
    test = decode(n_train, prefix("test_size", test_size, n - n_train, path.name))
    return ImageSet("cifar10", "JPEG re-encoded CIFAR-10", _CLASSES, *train, *test)


def load_crops(path, count: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures of one size from an npz of JPEGs, (n, 3, H, W) uint8, and their labels (n,).

    The file holds ``jpeg`` (uint8, all JPEGs one after another), ``length`` (bytes of each) and ``label``.

    Parameters
    ----------
    path : path
    count : int, optional
        Only the first so many.

    Raises
    ------
    ValueError
        If the file is no such one; the message names it, and the picture that is at fault.
    """
    path = Path(path)
    jpeg, length, label = _arrays(path, ("jpeg", "length", "label"), "file of crops")
    ends = np.cumsum(length, dtype=np.int64)
    if len(length) != len(label) or len(label) == 0 or ends[-1] != jpeg.size:
        raise ValueError(f"{path} contradicts itself: {len(label)} labels, {len(length)} lengths")
    n = prefix("count", count, len(label), path.name)
    body, pictures, size = jpeg.tobytes(), [], None
    for k in range(n):
        size = size or _size(body[: ends[0]], path)
        pictures.append(_decoded(body[ends[k] - int(length[k]) : ends[k]], size, f"{path}: picture {k}"))
    images = np.stack(pictures).transpose(0, 3, 1, 2)  # (n, H, W, 3) -> (n, 3, H, W)
    return torch.from_numpy(np.ascontiguousarray(images)), torch.from_numpy(label[:n].astype(np.int64))


def _size(jpeg, path):
    from PIL import Image

    try:
        return Image.open(io.BytesIO(jpeg)).size
    except OSError as error:
        raise ValueError(f"{path}: picture 0 cannot be decoded: {error}") from error


def _arrays(path, names, kind):
    try:
        with path.open("rb") as file, np.load(file) as archive:  # reading a member checks its checksum
            return [archive[name] for name in names]
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is not a whole {kind}: {error}") from error


def _decoded(jpeg, size, name):
    from PIL import Image

    try:
        with Image.open(io.BytesIO(jpeg)) as picture:
            if picture.size != size or picture.mode != "RGB":  # known before it is decoded
                raise ValueError(f"it has {picture.size} pixels in mode {picture.mode}")
            return np.asarray(picture)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{name} cannot be decoded: {error}") from error
