"""Random streams: a number for each kind of draw, so that one seed may name them all.

``generator(seed, Stream.X)`` is independent for each X. A new kind of draw takes a number that is free;
numbers stay as they are, since recorded runs come from them. 0 is not for use: NumPy pads seeds with
zeros, so that [seed, 0] is the plain seed, from which ``Partition.random`` and ``random_feature`` draw.

Some rooms draw one kind of thing from a plain seed, or from PyTorch's generator, and records came from
them. What is new takes a stream.
"""

from __future__ import annotations

from enum import IntEnum, unique

import numpy as np

from patch_association.checks import positive_int


@unique
class Stream(IntEnum):
    """What is drawn from a seed: each kind of draw has a generator of its own."""

    NOISE = 1  # of the patches of SpatialData
    GAUSSIAN_PATCHES = 2
    COEFFICIENTS = 3  # labels, signal sets and coefficients of SpatialData; the seeds of its blocks
    TEST_NOISE = 4  # while model (T) is trained
    SHAPES = 5  # of the answers of many sets to a cubic label
    SET_BLIND = 6  # of answers without their mean, and of partitions
    PERTURBED_START = 7
    READ_NOISE = 20  # of what fixed attention reads
    FINE_TUNING_START = 21
    FIXED_TEST_NOISE = 22  # under fixed attention
    SCRATCH_START = 23  # of model (T) on downstream samples
    SEVERAL_COEFFICIENTS = 24  # of data with several features
    SEVERAL_NOISE = 25
    SEVERAL_TEST_NOISE = 26
    SET_RULE_NOISE = 27  # of the inputs that a rule over found sets is tested on
    SET_SUMS = 28  # under diluted attention
    LIMIT_PATCHES = 29  # of the limit of many patches: what is known of the patches of an input
    TOKENS = 30  # of PatternData: labels, counts, places, noise
    PATTERN_SETS = 31
    SHALLOW_START = 32  # of model (1), a child for each matrix
    BATCHES = 33  # of Algorithm 1
    REMOVED_TOKENS = 34
    OUTPUT_SIGNS = 35  # of the classes of an extended model (1)
    PLACES = 36  # of pictures in front of backgrounds
    BACKGROUNDS = 37
    NO_PICTURE = 38  # noise beside pictures: tokens that it leaves alone are no patches
    RANDOM_LABELS = 39  # the order in which pictures are given the labels of others
    RANDOM_PIXELS = 40  # that stand in for pictures

    CROSSED = 60  # of CrossedData: keys, labels, signal sets, coefficients, noise
    PROBE = 61  # random partitions
    PROBE_ORDERS = 62  # of the patches of its inputs
    PROBE_FUNCTIONS = 63  # that know some of the sets


def generator(seed: int, stream: Stream) -> np.random.Generator:
    """NumPy's generator for this kind of draw."""
    return np.random.default_rng([positive_int("seed", seed, minimum=0), int(stream)])


def random_signs(rng: np.random.Generator, shape) -> np.ndarray:
    """Independent signs, -1.0 or +1.0 with probability 1/2 each."""
    return rng.integers(0, 2, shape) * 2.0 - 1.0


def random_coefficients(rng: np.random.Generator, q: float, shape) -> np.ndarray:
    """Independent coefficients of Assumption 1: +1.0 and -1.0 with probability q/2 each, else 0.0."""
    u = rng.random(shape)
    coefficients = np.zeros_like(u)
    coefficients[u < q / 2] = 1.0
    coefficients[u >= 1 - q / 2] = -1.0
    return coefficients
