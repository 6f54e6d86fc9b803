"""Pictures that ship with dependencies, so that everything runs without a download.

Neither stands in for CIFAR: "photographs" asks which of seven photographs a window was cut from,
and its test windows come from parts that training never saw; "digits" are 8 x 8 pixels.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from patch_lab.images.data.sets import ImageSet, interleaved

_SIDE = 32
_ZOOMS = (1, 2, 3, 4)
_TRAIN = 8000
_TEST = 2000
_SEEN = 0.7  # training windows come from the upper 70% of each photograph, test windows from the rest


@lru_cache(maxsize=1)
def photographs() -> ImageSet:
    """32 x 32 windows of seven photographs at four zooms, half of them mirrored; 8000 and 2000.

    The photographs ship with scikit-learn (china, flower) and scikit-image (astronaut, cat,
    coffee, motorcycle, rocket).

    Raises
    ------
    ValueError
        If one of the two packages is missing.
    """
    try:
        from skimage import data
        from sklearn.datasets import load_sample_images
    except ImportError as error:
        raise ValueError(
            "the embedded photographs ship with scikit-learn and scikit-image, of which "
            f"{error.name} is missing: pip install scikit-learn scikit-image"
        ) from error
    samples = load_sample_images()
    pictures = {Path(name).stem: image for name, image in zip(samples.filenames, samples.images)}
    pictures |= {
        "astronaut": data.astronaut(),
        "cat": data.chelsea(),
        "coffee": data.coffee(),
        "motorcycle": data.stereo_motorcycle()[0],
        "rocket": data.rocket(),
    }
    names = tuple(sorted(pictures))
    generator = np.random.default_rng(0)
    train = _windows([pictures[name] for name in names], _TRAIN, generator, seen=True)
    test = _windows([pictures[name] for name in names], _TEST, generator, seen=False)
    return ImageSet(
        "photographs",
        "windows of seven photographs of scikit-learn and scikit-image",
        names,
        *interleaved(*train),
        *interleaved(*test),
    )


def _windows(photographs, n, generator, seen):
    labels = np.arange(n) % len(photographs)
    images = np.empty((n, _SIDE, _SIDE, 3), dtype=np.uint8)
    zoomed = [[_shrunk(photograph, zoom) for zoom in _ZOOMS] for photograph in photographs]
    for i, label in enumerate(labels):
        picture = zoomed[label][generator.integers(len(_ZOOMS))]
        height, width, _ = picture.shape
        cut = int(height * _SEEN)
        low, high = (0, cut) if seen else (cut, height)
        top = generator.integers(low, high - _SIDE + 1)
        left = generator.integers(width - _SIDE + 1)
        window = picture[top : top + _SIDE, left : left + _SIDE]
        images[i] = window[:, ::-1] if generator.random() < 0.5 else window
    return images, labels


def _shrunk(picture, zoom):
    """The picture at 1 / zoom of its size, each pixel a mean; less where a part would get too small."""
    zoom = min(zoom, int((1 - _SEEN) * picture.shape[0] / (_SIDE + 2)))
    height = picture.shape[0] // zoom * zoom
    width = picture.shape[1] // zoom * zoom
    blocks = picture[:height, :width].reshape(height // zoom, zoom, width // zoom, zoom, 3)
    return blocks.mean(axis=(1, 3)).astype(np.uint8)  # (h, z, w, z, 3) -> (h, w, 3)


@lru_cache(maxsize=1)
def digits() -> ImageSet:
    """The 1797 handwritten digits of scikit-learn, 8 x 8 pixels, one channel; 1437 and 360."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ValueError(
            "the embedded digits ship with scikit-learn, which is missing: pip install scikit-learn"
        ) from error
    source: Any = load_digits()
    images = np.clip(source.images * 16, 0, 255).astype(np.uint8)[..., None]  # 0..16 -> 0..255
    order = np.random.default_rng(0).permutation(len(images))
    train = order[:1437]
    test = order[1437:]
    return ImageSet(
        "digits",
        "handwritten digits of scikit-learn, 8 x 8 pixels",
        tuple(map(str, range(10))),
        *interleaved(images[train], source.target[train]),
        *interleaved(images[test], source.target[test]),
    )
