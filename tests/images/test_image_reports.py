"""What chapters read from the records on images, the tables they print, and the drawings of it."""

import numpy as np
import pytest
import torch

from patch_association.images.locality import (
    encoding_locality,
    grid_distances,
    locality,
    passing_pairs,
    similarity,
)
from patch_association.images.permutation import GridPermutation
from patch_association.images.vit import ViTConfig
from patch_lab.images.convolution import small_cnn
from patch_lab.images.flops import cost_table, counted_flops, ratio, vit_flops


@pytest.mark.parametrize("kind", ["vanilla", "positional"])
@pytest.mark.parametrize(
    "changes", [dict(depth=2), dict(depth=2, pooling="cls", patch_size=8), dict(depth=2, positions="layers")]
)
def test_counted_operations(kind, changes):
    shared = kind == "vanilla" and changes.get("positions") != "layers"
    config = ViTConfig.named("reader", attention=kind, shared_positions=shared, **changes)
    for batch in (1, 3):
        assert counted_flops(config, batch) == vit_flops(config).forward(batch)


def test_the_table_of_costs():
    config = ViTConfig.named("small")
    table = cost_table(config, (8, 4), batch_size=32)
    assert table.index.tolist() == [16, 64] and table.columns[-1] == "ratio at B = 32"
    for (_, shown), patch_size in zip(table.iterrows(), (8, 4)):
        v, p = (
            vit_flops(ViTConfig.named("small", patch_size=patch_size, attention=kind))
            for kind in ("vanilla", "positional")
        )
        want = [v.per_image / 1e6, p.per_image / 1e6, p.per_batch / 1e6]
        want.append(ratio(ViTConfig.named("small", patch_size=patch_size), 32))
        assert shown.tolist() == pytest.approx(want, rel=1e-12)


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


def test_locality_of_encodings():
    """Of centered cosines: neither a common part nor lengths count; a shuffle is undone."""
    P = torch.randn(16, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    want = locality(similarity(P, centered=True, cosine=True), 4)
    assert encoding_locality(P) == want
    assert encoding_locality(7 * P + 3).recall == pytest.approx(want.recall)
    shuffle = GridPermutation(16, 8, seed=4)
    shuffled = P[torch.from_numpy(shuffle.patch_order(4))]
    assert encoding_locality(shuffled) != want
    undone = encoding_locality(shuffled, shuffle)
    assert undone.recall == pytest.approx(want.recall)
    assert undone.correlation == pytest.approx(want.correlation)
    with pytest.raises(ValueError, match="16 encodings do not fit pictures of 6 pixels a side"):
        encoding_locality(P, GridPermutation(6, 2))
    with pytest.raises(ValueError, match="similarities must be finite with shape"):
        encoding_locality(P[:15])


def test_a_small_cnn_starts_from_its_seed_alone():
    torch.manual_seed(7)
    after = torch.rand(1)
    torch.manual_seed(7)
    networks = [small_cnn(10, seed=seed) for seed in (0, 0, 1)]
    assert torch.equal(torch.rand(1), after)  # PyTorch's own generator has not moved
    first, second, other = (torch.cat([p.flatten() for p in n.parameters()]) for n in networks)
    assert torch.equal(first, second) and not torch.equal(first, other)
