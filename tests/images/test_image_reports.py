"""What chapters read from the records on images, the tables they print, and the drawings of it."""

import numpy as np
import pytest

from patch_association.images.locality import (
    grid_distances,
    passing_pairs,
)
from patch_association.images.vit import ViTConfig
from patch_lab.images.flops import counted_flops, vit_flops


@pytest.mark.parametrize("kind", ["vanilla", "positional"])
@pytest.mark.parametrize(
    "changes", [dict(depth=2), dict(depth=2, pooling="cls", patch_size=8), dict(depth=2, positions="layers")]
)
def test_counted_operations(kind, changes):
    shared = kind == "vanilla" and changes.get("positions") != "layers"
    config = ViTConfig.named("reader", attention=kind, shared_positions=shared, **changes)
    for batch in (1, 3):
        assert counted_flops(config, batch) == vit_flops(config).forward(batch)


def test_passing_pairs_are_counted():
    passing = np.zeros((9, 9), dtype=bool)
    passing[0, [0, 1, 4, 2]] = True  # itself, a side, a corner, and one two steps away
    passing[8, [8, 0]] = True
    with pytest.raises(ValueError, match="passing must be symmetric"):
        passing_pairs(passing)
    found = passing_pairs(passing | passing.T)
    assert (found.own, found.pairs, found.neighbors) == (2, 4, 2)
    everything = passing_pairs(np.ones((16, 16), dtype=bool))
    near = ((grid_distances(4) < 1.5).sum() - 16) / 2
    assert (everything.own, everything.pairs, everything.neighbors) == (16, 120, near)
    for wrong in (np.zeros((9, 9)), np.zeros((8, 8), dtype=bool), np.zeros((9, 4), dtype=bool)):
        with pytest.raises(ValueError, match=r"passing must be \(N, N\) booleans of a square grid"):
            passing_pairs(wrong)
