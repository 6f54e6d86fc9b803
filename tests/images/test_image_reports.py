"""What chapters read from the records on images, the tables they print, and the drawings of it."""

import matplotlib.pyplot as plt
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
from patch_lab.figures.images import (
    LARGER,
    MODELS,
    montage,
    plot_exchanged,
    plot_head_maps,
    plot_looking,
    plot_montages,
    plot_study,
    plot_study_shuffles,
)
from patch_lab.images.convolution import small_cnn
from patch_lab.images.flops import cost_table, counted_flops, ratio, vit_flops
from patch_lab.records import Record


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


@pytest.fixture
def closed():
    yield
    plt.close("all")


def test_montages_stand_two_in_a_row(closed):
    pictures = {"one": np.eye(9, dtype=bool), "two": np.zeros((9, 9), dtype=bool)}
    axes = plot_montages(pictures).axes
    assert [ax.get_title() for ax in axes] == ["one", "two"]
    for ax, passing in zip(axes, pictures.values()):
        assert (ax.images[0].get_array() == montage(passing)).all()
    assert len(plot_montages(pictures | {"three": np.eye(9, dtype=bool)}).axes) == 3  # and no empty one


def test_head_maps_show_the_row_of_the_patch(closed):
    maps = {name: np.random.default_rng(k).random((2, 9, 9)) for k, name in enumerate(("above", "below"))}
    axes = np.reshape(plot_head_maps(maps, patch=5).axes[:4], (2, 2))  # the fifth is the color bar
    for shown, (name, attention) in zip(axes, maps.items()):
        assert shown[0].get_ylabel() == name and shown[1].get_ylabel() == ""
        for ax, head in zip(shown, attention):
            assert (ax.images[0].get_array() == head[5].reshape(3, 3)).all()
            assert ax.images[0].get_clim() == (0, max(m[:, 5].max() for m in maps.values()))  # one scale
            assert (ax.lines[0].get_xdata()[0], ax.lines[0].get_ydata()[0]) == (2, 1)


def test_where_a_patch_looks_stands_below_each_picture(closed):
    pictures = np.arange(2 * 3 * 6 * 6).reshape(2, 3, 6, 6).astype(np.uint8)
    maps = {name: np.random.default_rng(k).random((2, 9, 9)) for k, name in enumerate(("above", "below"))}
    axes = np.reshape(plot_looking(pictures, maps, patch=5).axes, (3, 2))
    assert (axes[0, 1].images[0].get_array() == pictures[1].transpose(1, 2, 0)).all()
    for shown, (name, attention) in zip(axes[1:], maps.items()):
        assert shown[0].get_ylabel() == name
        assert all((ax.images[0].get_array() == S[5].reshape(3, 3)).all() for ax, S in zip(shown, attention))
    assert {ax.lines[0].get_xdata()[0] for ax in axes.flat} == {2}
    assert {ax.lines[0].get_ydata()[0] for ax in axes.flat} == {1}


def test_shuffles_of_the_study_are_drawn_from_the_least_to_the_largest_run(closed):
    accuracies = {
        ("vanilla", 32): (0.66, 0.65, 0.67), ("vanilla", 4): (0.66, 0.64, 0.67),
        ("positional", 32): (0.69, 0.70, 0.68), ("positional", 4): (0.69, 0.69, 0.70),
        ("residual_cnn", 32): (0.81, 0.80, 0.82), ("residual_cnn", 4): (0.60, 0.62, 0.58),
    }  # fmt: skip
    runs = [
        {"model": model, "tile": tile, "seed": seed, "test_accuracy": right}
        for (model, tile), found in accuracies.items()
        for seed, right in enumerate(found)
    ]
    ax = plt.figure().subplots()
    plot_study_shuffles(ax, runs)
    line, _, (bars,) = next(c for c in ax.containers if c.get_label() == LARGER)
    assert list(line.get_xdata()) == [4, 32] and list(line.get_ydata()) == pytest.approx([60, 81])
    for segment, tile in zip(bars.get_segments(), (4, 32)):
        found = accuracies["residual_cnn", tile]
        assert segment[:, 1] == pytest.approx([100 * min(found), 100 * max(found)])
    names = {text.get_text() for text in ax.get_legend().get_texts()}
    assert names == {MODELS["vanilla"], MODELS["positional"], LARGER}
    assert not [line for line in ax.lines if line.get_linestyle() == ":"]
    longer = [{"model": "vanilla", "test_accuracy": right} for right in (0.7, 0.8)]
    plot_study_shuffles(ax, runs, longer)
    (level,) = (line for line in ax.lines if line.get_linestyle() == ":")
    assert list(level.get_ydata()) == pytest.approx([75, 75]) and list(level.get_xdata()) == [4, 32]
    drawn = [c[0].get_color() for c in ax.containers if c.get_label() == MODELS["vanilla"]]
    assert drawn[-1] == level.get_color()


def test_each_kind_is_named_once_however_many_long_runs_there_are(closed):
    runs = [
        {"model": m, "epochs": n, "seed": seed, "metrics": [{"epoch": n, "val_accuracy": 0.5, "recall": 0.2}]}
        for m in ("vanilla", "positional")
        for n, seed in ((1, 0), (2, 0), (2, 1))
    ]
    axes = plot_study(runs, 0.1).axes
    assert [len(axes[k].lines) for k in (0, 1)] == [6, 7]
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == [
        MODELS["vanilla"],
        MODELS["positional"],
    ]


def test_exchanged_maps_are_drawn_with_the_reach_of_all_pairs(closed):
    rights = {"own": [0.5, 0.6, 0.4, 0.3], "uniform": [0.2, 0.3, 0.1, 0.1]}
    rows = [
        {"model": kind, "seed": seed, "unchanged": 0.7 + 0.02 * seed,
         "right": {name: [right + 0.1 * seed for right in found] for name, found in rights.items()}}
        for kind in ("positional", "vanilla")
        for seed in (0, 1, 2)
    ]  # fmt: skip
    config = {"groups": [[0], [2], [0, 1], [0, 1, 2]]}
    runs = Record("cifar10_study_swapped", "none", config, rows, {}, {"source": "none"})
    figure = plot_exchanged(runs, list(rights))
    assert [ax.get_title() for ax in figure.axes] == [MODELS["vanilla"], MODELS["positional"]]
    for ax in figure.axes:
        ticks = [text.get_text() for text in ax.get_xticklabels()]
        assert ticks == ["1", "3", "1\N{EN DASH}2", "all"]
        for container in ax.containers:
            line, _, (bars,) = container
            least = 100 * np.array(rights[container.get_label()])
            assert line.get_ydata() == pytest.approx(least + 10)
            reach = [segment[:, 1] for segment in bars.get_segments()]
            assert np.array(reach) == pytest.approx(np.stack([least, least + 20], axis=1))
            assert list(np.round(line.get_xdata())) == [0, 1, 2, 3]
        assert ax.lines[-1].get_ydata() == pytest.approx([72, 72])
    assert len({tuple(c[0].get_xdata()) for c in figure.axes[0].containers}) == len(rights)
