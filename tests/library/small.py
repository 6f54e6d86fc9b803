"""A small law that several tests of the descents share."""

from patch_association.data import SpatialData, random_feature
from patch_association.structure import Partition


def small_law(d=5, q=0.4, D=6, C=2):
    """Sets of two among six patches, scattered, with a feature off the axes."""
    return SpatialData(Partition.random(D, C, seed=3), d, q, feature=random_feature(d, seed=4))
