"""CNNs, grid permutations, locality and costs."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from torch.utils.flop_counter import FlopCounterMode

from patch_association.images import layers
from patch_association.images.locality import (
    grid_distances,
    isotropic,
    locality,
    neighbor_recall,
    participation_ratio,
    row_and_column,
    similarity,
)
from patch_association.images.maps import positional_share
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.convolution import residual_cnn, resnet18, small_cnn, vgg19
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.data.sets import ImageSet
from patch_lab.images.flops import vit_flops
from patch_lab.images.sweeps.study_larger import halved
from patch_lab.images.thresholds import Passing, passing_pairs, scaled, thresholded


@pytest.mark.parametrize(
    ("model", "parameters"),
    [(resnet18, 11_173_962), (vgg19, 20_040_522), (small_cnn, 24_346), (residual_cnn, 3_006_786)],
)
def test_convolutional_networks(model, parameters):
    """Sizes as published for ResNet-18 and VGG-19 with CIFAR stems; a gradient reaches the first layer."""
    network = model(10)
    assert sum(p.numel() for p in network.parameters()) == parameters
    logits = network(torch.randn(2, 3, 32, 32))
    assert tuple(logits.shape) == (2, 10)
    logits.square().sum().backward()
    assert next(network.parameters()).grad.abs().sum() > 0


def test_the_residual_cnn_by_hand():
    """Its function, written out for a stage of width 3; and channels last, whatever comes in."""
    torch.manual_seed(0)
    network = residual_cnn(4, widths=(3,)).eval()
    assert all(
        p.is_contiguous(memory_format=torch.channels_last) for p in network.parameters() if p.ndim == 4
    )
    stage, gelu = network.stages[0], torch.nn.functional.gelu
    for norm in (stage.first_norm, stage.second_norm):
        torch.nn.init.uniform_(norm.running_mean)
        torch.nn.init.uniform_(norm.bias)
    x = torch.randn(2, 3, 8, 8)

    def conv(z, layer, padding):
        return torch.nn.functional.conv2d(z, layer.weight.contiguous(), layer.bias, padding=padding)

    def normed(z, norm):
        return (z - norm.running_mean[:, None, None]) / (1 + 1e-5) ** 0.5 + norm.bias[:, None, None]

    z = conv(gelu(conv(x, network.stem, 0)), stage.first, 1)  # (2, 3, 7, 7)
    z = z[:, :, :6, :6].unflatten(2, (3, 2)).unflatten(4, (3, 2)).amax(dim=(3, 5))  # pooled: (2, 3, 3, 3)
    z = gelu(normed(z, stage.first_norm))
    z = z + gelu(normed(conv(z, stage.second, 1), stage.second_norm))
    torch.testing.assert_close(network(x), network.head(z.amax(dim=(2, 3))) / 9)
    assert residual_cnn()(torch.zeros(2, 3, 9, 9)).shape == (2, 10)
    with pytest.raises(ValueError, match=r"images must have more than 8 pixels a side, got \(2, 3, 8, 9\)"):
        residual_cnn()(torch.zeros(2, 3, 8, 9))


grids = st.sampled_from([(8, 1), (8, 2), (8, 4), (8, 8), (6, 3), (12, 4)])


@settings(max_examples=30)
@given(grids, st.integers(0, 1000))
def test_a_shuffle_moves_whole_tiles_and_can_be_undone(grid, seed):
    size, tile = grid
    permutation = GridPermutation(size, tile, seed)
    images = torch.arange(2 * 3 * size * size).reshape(2, 3, size, size)
    seen = permutation(images)
    g = size // tile
    for k, source in enumerate(permutation.order):
        (r, c), (r0, c0) = divmod(k, g), divmod(int(source), g)
        here = seen[..., r * tile : (r + 1) * tile, c * tile : (c + 1) * tile]
        assert torch.equal(here, images[..., r0 * tile : (r0 + 1) * tile, c0 * tile : (c0 + 1) * tile])


def test_a_shuffle_of_tiles_is_one_of_patches():
    from patch_association.images.vit import patches

    permutation = GridPermutation(16, 4, seed=3)
    assert not np.array_equal(np.argsort(permutation.order), permutation.order)  # it is not its own inverse
    images = torch.randn(2, 3, 16, 16)
    order = permutation.patch_order(2)
    assert torch.equal(patches(permutation(images), 2), patches(images, 2)[:, torch.from_numpy(order)])
    A = np.arange(64.0**2).reshape(64, 64)
    assert np.array_equal(permutation.undo(A[np.ix_(order, order)], 2), A)


def test_a_perfectly_local_similarity():
    found = locality(-grid_distances(5), 5)
    assert found.recall == 1 and found.correlation == pytest.approx(1)
    assert locality(grid_distances(5), 5).correlation == pytest.approx(-1)
    # 8 of 24 inside, 5 at a side, 3 in a corner.
    assert found.chance == pytest.approx((9 * 8 + 12 * 5 + 4 * 3) / 25 / 24)


def test_a_similarity_without_structure_is_at_chance():
    nothing = locality(np.zeros((64, 64)), 8)
    assert nothing.recall == pytest.approx(nothing.chance) and nothing.correlation == 0
    g = np.random.default_rng(0)
    recalls = [locality(g.standard_normal((64, 64)), 8).recall for _ in range(20)]
    # Each is a mean over 64 rows of a share with standard deviation under 0.15: 6 standard errors are 0.026.
    assert abs(np.mean(recalls) - nothing.chance) < 0.026


def found_among_best(A, i, near, k):
    """The share of ``near`` among the k others that are most similar to i."""
    best = sorted((j for j in range(len(A)) if j != i), key=lambda j: -A[i, j])[:k]
    return len(near & set(best)) / len(near)


def test_locality_against_scipy_and_by_hand():
    A = np.random.default_rng(1).standard_normal((16, 16))
    distance, others = grid_distances(4), ~np.eye(16, dtype=bool)
    want = np.mean([spearmanr(A[i, others[i]], -distance[i, others[i]]).statistic for i in range(16)])
    assert locality(A, 4).correlation == pytest.approx(want)
    near = [{j for j in range(16) if 0 < distance[i, j] < 1.5} for i in range(16)]
    recall = [found_among_best(A, i, near[i], len(near[i])) for i in range(16)]
    assert locality(A, 4).recall == pytest.approx(np.mean(recall))


def test_a_place_and_its_mirror_image_as_one():
    """Similarities that fall with the distance to the nearer of the two are perfectly local only then."""
    g = 6
    places = [divmod(i, g) for i in range(g * g)]
    twin = [r * g + g - 1 - c for r, c in places]

    def near(i, j):
        return max(abs(places[i][0] - places[j][0]), abs(places[i][1] - places[j][1])) <= 1

    distance = grid_distances(g)
    A = -np.array([[min(distance[i, j], distance[i, twin[j]]) for j in range(g * g)] for i in range(g * g)])
    folded, plain = locality(A, g, mirrored=True), locality(A, g)
    assert folded.recall == pytest.approx(1) and folded.correlation == pytest.approx(1)
    assert plain.recall < 0.7 and plain.correlation < 0.7
    either = [sum(near(i, j) or near(i, twin[j]) for j in range(g * g)) - 1 for i in range(g * g)]
    assert folded.chance == pytest.approx(np.mean(either) / (g * g - 1))
    flipped = A[:, np.arange(g * g).reshape(g, g)[::-1].reshape(-1)]  # top for bottom: no such twins
    assert locality(flipped, g, mirrored=True).recall < 0.7


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_costs_are_what_pytorch_counts(attention, pooling, monkeypatch):
    # PyTorch counts the plain matrix products; of the fused attention of a CPU it counts nothing.
    monkeypatch.setattr(layers, "FUSED", [torch.nn.attention.SDPBackend.MATH])
    config = ViTConfig.named("reader", attention=attention, pooling=pooling, depth=2)
    model, B = ViT(config), 3
    with FlopCounterMode(display=False) as counter:
        model(torch.randn(B, 3, 32, 32))
    assert vit_flops(config).forward(B) == counter.get_total_flops()


def test_neighbors_found_by_hand():
    A, distance = np.random.default_rng(3).standard_normal((16, 16)), grid_distances(4)
    for k in (1, 4, 9):
        found = [found_among_best(A, i, {j for j in range(16) if distance[i, j] == 1}, k) for i in range(16)]
        assert neighbor_recall(A, 4, k) == pytest.approx(np.mean(found))
    with pytest.raises(ValueError, match="k must be less than the 16 patches, got 16"):
        neighbor_recall(A, 4, 16)
    with pytest.raises(ValueError, match=r"similarities must have shape \(25, 25\)"):
        neighbor_recall(A, 5)


def test_rows_and_columns_by_regression():
    """From similarities alone what least squares on indicators of rows and columns find from encodings."""
    g, rng = 5, np.random.default_rng(0)
    noise, rows, columns = (rng.standard_normal((n, 8)) for n in (g * g, g, g))
    P = (rows[:, None] + columns[None]).reshape(g * g, 8) + 0.7 * noise
    X = np.concatenate([np.kron(np.eye(g), np.ones((g, 1))), np.kron(np.ones((g, 1)), np.eye(g))], axis=1)
    fit = X @ np.linalg.lstsq(X, P, rcond=None)[0]
    want = 1 - ((P - fit) ** 2).sum() / ((P - P.mean(0)) ** 2).sum()
    found = row_and_column(similarity(P + 3), g)
    assert found.share == pytest.approx(want) and 0.5 < want < 0.95
    a = (P - P.mean(0)).reshape(g, g, 8).mean(1)
    assert np.allclose(found.rows, a @ a.T)


def test_what_smoothness_alone_explains():
    """Its ends by hand, the ratio that is asked for between them, and draws of such fields."""
    g = 6
    for asked, share in ((35, 10 / 35), (50, 10 / 35), (2, 1), (1, 1)):  # no structure, and a plane
        A = isotropic(asked, g)
        assert row_and_column(A, g).share == pytest.approx(share, abs=1e-4)
    for asked in (2.5, 4.0, 12.0):
        A = isotropic(asked, g)
        assert participation_ratio(A) == pytest.approx(asked, rel=1e-6)
        found = row_and_column(A, g)
        assert found.isotropic == pytest.approx(found.share, abs=1e-6)
        np.testing.assert_allclose(A, A.reshape(g, g, g, g).transpose(1, 0, 3, 2).reshape(A.shape))  # turned
        draws = np.random.default_rng(0).standard_normal((g * g, 5000))
        variances, vectors = np.linalg.eigh(A)
        drawn = row_and_column(similarity(vectors * np.sqrt(variances.clip(min=0)) @ draws), g)
        assert drawn.share == pytest.approx(found.share, abs=0.03)
    shares = [row_and_column(isotropic(asked, g), g).share for asked in (2.5, 4.0, 12.0)]
    assert shares == sorted(shares, reverse=True)
    line = row_and_column(similarity(np.add.outer(np.arange(6.0), 9 * np.arange(6.0)).reshape(36, 1)), 6)
    assert line.share == pytest.approx(1) and line.isotropic == pytest.approx(1, abs=1e-4)
    with pytest.raises(ValueError, match="participation must be positive, got 0"):
        isotropic(0, 4)
    with pytest.raises(ValueError, match="all encodings are equal: they have no components"):
        participation_ratio(np.ones((4, 4)))
    with pytest.raises(ValueError, match=r"finite with shape \(N, N\), got shape \(2, 3\)"):
        participation_ratio(np.zeros((2, 3)))


def test_orthogonal_sums_are_recognized():
    g, rng = 4, np.random.default_rng(1)
    a, b = np.zeros((g, 6)), np.zeros((g, 6))
    a[:, :3], b[:, 3:] = rng.standard_normal((2, g, 3))
    one = row_and_column(similarity((a[:, None] + b[None]).reshape(16, 6)), g)
    assert one.share == pytest.approx(1) and one.kronecker == pytest.approx(1)
    b[:, :3] = rng.standard_normal((g, 3))
    other = row_and_column(similarity((a[:, None] + b[None]).reshape(16, 6)), g)
    assert other.share == pytest.approx(1) and other.kronecker < 0.99
    with pytest.raises(ValueError, match="all encodings are equal"):
        row_and_column(np.ones((9, 9)), 3)


def test_how_positional_attention_is():
    """By hand on two pictures a half: what the mean of the other half explains of each."""
    S = torch.rand(2, 4, 3, 5, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)
    found, want = positional_share(S), torch.zeros(2, 3)
    for layer in range(2):
        for head in range(3):
            rest = energy = 0.0
            for k in range(4):
                others = [j for j in range(4) if j % 2 != k % 2]
                guess = sum(S[layer, j, head] for j in others) / 2
                rest += float(((S[layer, k, head] - guess) ** 2).sum())
                energy += float(((S[layer, k, head] - 1 / 5) ** 2).sum())
            want[layer, head] = 1 - rest / energy
    torch.testing.assert_close(found, want, atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match=r"attention must have shape \(L, B, H, N, N\) with B > 1"):
        positional_share(S[:, :1])
    for bad in (torch.nan, torch.inf):
        broken = S.clone()
        broken[0, 1, 2, 3, 4] = bad
        with pytest.raises(ValueError, match="attention must be finite, got NaN or infinite entries"):
            positional_share(broken)


def test_whitened_patches_have_one_mean_square_in_all_directions():
    """But for the small constant beside it; and two directions of two filters have no product on average."""
    pictures = torch.randn(30, 3, 9, 8, generator=torch.Generator().manual_seed(0)).cumsum(dim=3)
    network = residual_cnn(4, widths=(3,))
    network.whiten(pictures)
    shown = network.stem(pictures).permute(1, 0, 2, 3).flatten(1).double()  # (24, places)
    products = shown[:12] @ shown[:12].T / shown.shape[1]
    torch.testing.assert_close(products, torch.eye(12).double(), atol=5e-3, rtol=0)
    torch.testing.assert_close(shown[12:], -shown[:12])


def test_halved_pictures_are_the_rounded_means_of_four_pixels():
    images = torch.randint(256, (3, 3, 4, 4), generator=torch.Generator().manual_seed(0)).byte()
    none = torch.zeros(3, dtype=torch.int64)
    data = ImageSet("toy", "made up", ("a",), images, none, images[:1], none[:1])
    half = halved(data).train_images
    assert half.dtype == torch.uint8 and halved(data).test_images.shape == (1, 3, 2, 2)
    for n, c, r, k in np.ndindex(3, 3, 2, 2):
        four = images[n, c, 2 * r : 2 * r + 2, 2 * k : 2 * k + 2]
        assert half[n, c, r, k] == math.floor(four.float().mean() + 0.5)
    with pytest.raises(ValueError, match="side of a picture to be halved must be even, got 3"):
        halved(replace(data, train_images=images[..., :3, :3], test_images=images[:1, :, :3, :3]))


def test_similarities_that_pass_a_threshold_are_counted_with_their_neighbors():
    """Nine patches: those in one row pass, and touch but for the two ends of the row."""
    row = np.arange(9) // 3
    similarities = np.where(row[:, None] == row, 5.0, 1.0) + 2 * np.eye(9)  # 7, 5 and 1: 1, 1/3 and -1
    np.testing.assert_allclose(scaled(similarities)[0, [0, 1, 3]], [1, 1 / 3, -1])
    assert passing_pairs(thresholded(similarities, 0.3)) == Passing(own=9, pairs=9, neighbors=6)
    assert passing_pairs(thresholded(similarities)) == Passing(own=9, pairs=0, neighbors=0)
    with pytest.raises(ValueError, match="must not all be equal"):
        scaled(np.ones((4, 4)))
    with pytest.raises(ValueError, match="must be symmetric"):
        passing_pairs(np.triu(np.ones((4, 4), dtype=bool)))
