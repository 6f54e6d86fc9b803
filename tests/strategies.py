"""Strategies of hypothesis that several test files draw from, a small law and small pictures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from patch_association.data import SpatialData, random_feature
from patch_association.structure import Partition

#: What is no integer at all: for sizes, degrees and seeds.
not_integers = st.one_of(
    st.floats(),
    st.booleans(),
    st.text(max_size=3),
    st.none(),
    st.just([3]),
    st.just(np.array([3])),
    st.just(2 + 0j),
)

#: What is no real number at all.
not_numbers = st.one_of(st.booleans(), st.text(max_size=3), st.none(), st.just([0.5]), st.just(1j))

#: Numbers, but not finite ones.
not_finite = st.sampled_from([math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")])

#: What is no probability.
not_probabilities = st.one_of(
    not_numbers, not_finite, st.floats(max_value=-1e-300), st.floats(min_value=np.nextafter(1, 2))
)

#: What is no odd degree of at least 3.
not_degrees = st.one_of(not_integers, st.integers(max_value=2), st.integers(2, 50).map(lambda n: 2 * n))

#: (number of sets L, set size C) with at most 12 patches.
sizes = st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda size: size[0] * size[1] <= 12)


@st.composite
def partitions(draw, min_sets: int = 1, min_size: int = 1) -> Partition:
    """Partitions of at most 12 patches, the sets scattered and named by any integers."""
    L, C = draw(sizes.filter(lambda size: size[0] >= min_sets and size[1] >= min_size))
    names = draw(st.lists(st.integers(-50, 50), min_size=L, max_size=L, unique=True))
    return Partition(draw(st.permutations(np.repeat(names, C).tolist())))


@st.composite
def scored_partitions(draw, elements=None, **options):
    """(scores, partition): by default small integers, so that rows are full of ties."""
    partition = draw(partitions(**options))
    D = partition.num_patches
    elements = st.integers(-2, 2).map(float) if elements is None else elements
    return draw(hnp.arrays(np.float64, (D, D), elements=elements)), partition


def small_law(d=5, q=0.4, D=6, C=2) -> SpatialData:
    """Sets of two among six patches, scattered, with a feature off the axes."""
    return SpatialData(Partition.random(D, C, seed=3), d, q, feature=random_feature(d, seed=4))


def write_pictures(root: Path, **splits: int) -> None:
    """So many pictures of each split and class, one bright and one dark, of odd sizes."""
    rng = np.random.default_rng(0)
    for split, count in (splits or {"train": 20, "test": 3}).items():
        for name, light in (("day", 200), ("night", 40)):
            (folder := root / split / name).mkdir(parents=True)
            for k in range(count):
                pixels = np.clip(rng.normal(light, 20, size=(40 + k, 50, 3)), 0, 255).astype(np.uint8)
                Image.fromarray(pixels).save(folder / f"{k}.png")
