"""Partitions: Definition 2.1."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from strategies import partitions, sizes

from patch_association.structure import Partition, chance_recall


@given(partitions())
def test_sets_are_disjoint_equal_and_cover_all_patches_and_all_views_agree(partition):
    D, L, labels = partition.num_patches, partition.num_sets, partition.labels
    assert labels.shape == (D,) and D == L * partition.set_size and set(labels.tolist()) == {*range(L)}
    assert sorted(itertools.chain.from_iterable(partition.sets.tolist())) == list(range(D))
    for label, patches in enumerate(partition.sets):
        assert len(patches) == partition.set_size and (labels[patches] == label).all()
        assert (np.diff(patches) > 0).all()
    assert (partition.same_set == np.equal.outer(labels, labels)).all()
    assert (partition.indicator == np.equal.outer(np.arange(L), labels)).all()


@given(partitions())
def test_equality_forgets_the_names_of_the_sets(partition):
    renamed = Partition(-3 * partition.labels + 5)
    assert renamed == partition and hash(renamed) == hash(partition)


def test_labels_are_renumbered_and_partitions_that_group_otherwise_differ():
    assert Partition([7, -1, 7, -1]).labels.tolist() == [1, 0, 1, 0]
    assert Partition([0, 0, 1, 1]) != Partition([0, 1, 0, 1])
    assert Partition([0, 0]) != Partition([0, 0, 0])
    assert Partition([0, 0]) != [0, 0]


def test_labels_cannot_be_changed_behind_the_partitions_back():
    given_labels = np.array([0, 0, 1, 1])
    partition = Partition(given_labels)
    given_labels[:] = 0
    assert partition.labels.tolist() == [0, 0, 1, 1]
    partition.labels[:] = 0
    assert partition.labels.tolist() == [0, 0, 1, 1]


def test_blocks_number_the_patches_row_by_row():
    assert Partition.blocks(4, 4, 2, 2).labels.reshape(4, 4).tolist() == [
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [2, 2, 3, 3],
        [2, 2, 3, 3],
    ]


@given(sizes, sizes)
def test_blocks_are_rectangles(rows, columns):
    (R, r), (K, k) = rows, columns
    labels = Partition.blocks(R * r, K * k, r, k).labels.reshape(R * r, K * k)
    for i, j in itertools.product(range(R * r), range(K * k)):
        assert labels[i, j] == labels[i // r * r, j // k * k]
    assert labels.max() + 1 == R * K


@given(sizes)
def test_random_has_the_sizes_and_repeats_with_its_seed(size):
    L, C = size
    partition = Partition.random(L * C, C, seed=5)
    assert (partition.num_sets, partition.set_size) == (L, C)
    assert (partition.labels == Partition.random(L * C, C, seed=5).labels).all()


def test_random_is_uniform_over_partitions():
    """Three pairings of four patches, 3000 seeds: chi-square at 1e-7 (2 degrees of freedom)."""
    counts = Counter(hash(Partition.random(4, 2, seed)) for seed in range(3000))
    assert len(counts) == 3
    statistic = sum((count - 1000) ** 2 / 1000 for count in counts.values())
    assert statistic < stats.chi2.isf(1e-7, 2)


def test_chance_recall():
    assert chance_recall(16, 4) == 3 / 15
    assert chance_recall(4, 4) == 1
    with pytest.raises(ValueError, match="set_size 1"):
        chance_recall(4, 1)
