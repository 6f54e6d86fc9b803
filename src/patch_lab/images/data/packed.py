"""Data sets as one npz file of JPEGs, read without unpickling anything.

Small pictures whose JPEGs begin alike keep their headers once: JPEG number k is its header, its part of
``scan`` (``length`` bytes) and FF D9. ``header`` is the only one, or ``header0``, ``header1``, ... are
several, and ``header_id`` says which. Then there are ``label``, ``n_train`` (the first so many are for
training), for ImageNet's classes ``wnid`` and ``name``, for CIFAR-100's ``name`` alone.
Larger pictures come as whole JPEGs, one after another, in ``jpeg``. Such JPEGs are lossy copies: say so
beside every accuracy.
"""

from __future__ import annotations

import io
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from patch_association.checks import fits_memory, readable
from patch_association.images.weights import read_arrays
from patch_lab.images.data.sets import ImageSet, prefix

_CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_AT_ONCE = 500  # pictures that a thread decodes before it asks for more
#: What each array is: kinds of NumPy's types, and axes.
_FORMS = {
    **dict.fromkeys(("scan", "jpeg", "header"), ("u", 1)),
    **dict.fromkeys(("length", "label", "header_id"), ("iu", 1)),
    "n_train": ("iu", 0),
    **dict.fromkeys(("wnid", "name"), ("S", 1)),
}


def load_packed(path, train_size: int | None = None, test_size: int | None = None) -> ImageSet:
    """Read a packed set: "tiny-imagenet" has ``wnid``, "cifar100" a ``name``, "cifar10" neither.

    What is asked for is decoded, on all cores.

    Raises
    ------
    ValueError
        If the file is truncated, altered or something else; the message names it.
    """
    path = Path(path)
    arrays = _arrays(path, ("scan", "length", "label", "n_train"))
    n = len(arrays["label"])
    n_train = int(arrays["n_train"])
    heads = _headers(arrays, path)
    which = arrays.get("header_id", np.zeros(n, dtype=np.uint8))
    imagenet = "wnid" in arrays
    hundred = "name" in arrays
    with readable(f"{path} is not a whole packed file"):
        named = arrays["wnid"] if imagenet else arrays.get("name", [])
        classes = tuple(name.decode() for name in named) if hundred or imagenet else _CIFAR10
    _consistent(arrays, path, "scan")
    if (
        not 0 < n_train < n == len(which)
        or arrays["label"].max() >= len(classes)
        or which.max() >= len(heads)
    ):
        raise ValueError(
            f"{path} contradicts itself: {n_train} training pictures of {n}, labels to "
            f"{arrays['label'].max()} for {len(classes)} classes, headers to {which.max()} of {len(heads)}"
        )

    def jpeg(k, scan):
        return heads[which[k]] + scan + b"\xff\xd9"

    a = prefix("train_size", train_size, n_train, path.name)
    b = prefix("test_size", test_size, n - n_train, path.name)
    train, test = (_decoded(arrays, "scan", path, first, n_, jpeg) for first, n_ in ((0, a), (n_train, b)))
    if imagenet:
        name = "tiny-imagenet"
    else:
        name = "cifar100" if hundred else "cifar10"
    origin = {
        "tiny-imagenet": f"100 classes of Tiny ImageNet ({path.name})",
        "cifar100": "JPEG re-encoded CIFAR-100",
        "cifar10": "JPEG re-encoded CIFAR-10",
    }[name]
    return ImageSet(name, origin, classes, *train, *test)


def load_crops(path) -> tuple[torch.Tensor, torch.Tensor]:
    """The pictures of a file of whole JPEGs, (n, 3, H, H) uint8, and their labels (n,).

    Raises
    ------
    ValueError
        If the file is no such one; the message names it, and the picture that is at fault.
    """
    path = Path(path)
    arrays = _arrays(path, ("jpeg", "length", "label"))
    _consistent(arrays, path, "jpeg")
    return _decoded(arrays, "jpeg", path, 0, len(arrays["label"]), lambda k, content: content)


def _arrays(path, needed) -> dict[str, np.ndarray]:
    """The file's arrays, each of the type and the number of axes that it must have."""
    message = f"{path} is not a whole packed file"
    arrays = read_arrays(path, message)
    if missing := set(needed) - set(arrays):
        raise ValueError(f"{message}: it has no {', '.join(sorted(missing))}")
    for name, array in arrays.items():
        kind, axes = _FORMS.get(name.rstrip("0123456789"), (array.dtype.kind, array.ndim))
        if array.dtype.kind not in kind or array.ndim != axes or (kind == "iu" and (array < 0).any()):
            raise ValueError(
                f"{message}: {name!r} must have {axes} axes and be of kind {kind!r}, nothing below 0, "
                f"got {array.dtype} of shape {array.shape}"
            )
    return arrays


def _headers(arrays, path) -> list[bytes]:
    if "header" in arrays:
        return [arrays["header"].tobytes()]
    several = sorted(name for name in arrays if name.startswith("header") and name[6:].isdigit())
    if not several:
        raise ValueError(f"{path} is not a whole packed file: it has no header")
    return [arrays[name].tobytes() for name in several]


def _consistent(arrays, path, content) -> None:
    n = len(arrays["label"])
    length = arrays["length"]
    total = sum(length.tolist())  # in Python's integers: no claim wraps around
    if len(length) != n or n == 0 or total != arrays[content].size:
        raise ValueError(
            f"{path} contradicts itself: {n} labels, {len(length)} lengths of {total} bytes "
            f"in all for {arrays[content].size} bytes"
        )


def _decoded(arrays, content, path, first, n, jpeg) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures first, ..., first + n - 1, all of the first one's size, and their labels."""
    from PIL import Image

    lengths = arrays["length"].tolist()
    body = arrays[content].tobytes()
    starts = [0, *itertools.accumulate(lengths)]

    @contextmanager
    def opened(k):
        file = io.BytesIO(jpeg(k, body[starts[k] : starts[k + 1]]))
        with (
            readable(f"{path}: picture {k} cannot be decoded"),
            Image.open(file, formats=["JPEG"]) as picture,
        ):
            yield picture

    with opened(first) as picture:
        size = picture.size
        # Known before anything is decoded: no file makes us decode more than a small square.
        if size[0] != size[1] or size[0] > 1024:
            raise ValueError(f"it has {size} pixels")
        fits_memory(f"{n:,} such pictures", 6 * n * size[0] ** 2, 1)
    images = np.empty((n, 3, size[1], size[0]), dtype=np.uint8)

    def decode(part):
        for k in part:
            with opened(k) as picture:
                if picture.size != size:
                    raise ValueError(f"it has {picture.size} pixels")
                images[k - first] = np.asarray(picture.convert("RGB")).transpose(2, 0, 1)  # (H, W, 3)

    every = range(first, first + n)
    with ThreadPoolExecutor(min(32, os.cpu_count() or 1)) as pool:  # a decoder lets go of the interpreter
        for _ in pool.map(decode, (every[k : k + _AT_ONCE] for k in range(0, n, _AT_ONCE))):
            pass
    return torch.from_numpy(images), torch.from_numpy(arrays["label"][first : first + n].astype(np.int64))
