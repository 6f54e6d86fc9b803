"""The sweeps over a pretrained ViT, on a small one that was not: every change does what its name says."""

import copy

import numpy as np
import pytest
import torch

from patch_association.images.locality import (
    neighbor_recall,
)
from patch_association.images.maps import positional_share
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.dissect import Inside
from patch_lab.images.sweeps import vit_attention, vit_gray, vit_interventions, vit_tiny
from patch_lab.images.sweeps.vit_interventions import corners, edits_of
from patch_lab.kit.records import decode
from patch_lab.kit.records.codec import from_bits

L, H, GRID = 12, 3, 4
N = GRID * GRID


def small_subject(still: bool = False):
    """A ViT of 12 layers and 3 heads on 4 x 4 patches; ``still``: its attention sees nothing of a picture."""
    config = ViTConfig(image_size=16, patch_size=4, num_classes=3, depth=L, heads=H, width=12, mlp_width=8,
                       pooling="cls", position_std=0.5)  # fmt: skip
    model = ViT(config, seed=1).requires_grad_(False)
    generator = torch.Generator().manual_seed(4)
    for block in model.blocks:
        weight, bias = block.attention.query_key.weight, block.attention.query_key.bias
        weight.copy_(0 * weight if still else 0.4 * torch.randn(weight.shape, generator=generator))
        bias.copy_(torch.randn(bias.shape, generator=generator))
    images = torch.randint(256, (40, 3, 16, 16), generator=generator, dtype=torch.uint8)
    return vit_tiny.observe(model, images, torch.arange(40) % 3)


@pytest.fixture(scope="module")
def moving():
    return small_subject()


@pytest.fixture
def theirs(monkeypatch):
    """DeiT's encodings, for this grid."""
    P = torch.randn(N, 12, generator=torch.Generator().manual_seed(9))
    monkeypatch.setattr(vit_interventions, "deit_encodings", lambda: P)
    return P


def intervene(monkeypatch, subject, cell):
    monkeypatch.setattr(vit_interventions, "subject", lambda: subject)
    monkeypatch.setattr(vit_interventions, "_SHARES", {})
    return vit_interventions.intervene(**cell)


def test_what_is_kept_of_a_pass(moving):
    model = moving.model
    x = moving.images.float() / 127.5 - 1
    torch.testing.assert_close(moving.logits, model(x))
    maps = model(x, return_all=True)[1]["attention"]
    for split in range(3):
        halves = moving.halves[split]
        assert halves.sum() == 20
        for half in (0, 1):
            want = torch.stack([S[halves == half].mean(0) for S in maps])
            torch.testing.assert_close(moving.maps[split, half], want, atol=1e-6, rtol=1e-5)
            mean = moving.seen[3][halves == half].mean(0)
            torch.testing.assert_close(moving.means[split, half, 3], mean)
    assert (moving.halves[0] != moving.halves[1]).any()


CELLS = vit_interventions.SWEEPS[0].cells


def test_every_cell_runs_and_is_named_once(moving, monkeypatch, theirs):
    assert len({str(cell) for cell in CELLS}) == len(CELLS) == 159
    kinds = {cell["change"]: cell for cell in CELLS}
    for change, cell in kinds.items():
        found = intervene(monkeypatch, moving, cell)
        right = from_bits(found["right"], found["n"])
        assert len(right) == 40 and 0 <= found["same"] <= 1 and found["kl"] >= -1e-6
        if change == "own":
            assert found["same"] == 1 and found["kl"] == 0
            assert (right == (moving.logits.argmax(1) == moving.labels).numpy()).all()
        elif "16 components" not in change or "DeiT" in change:  # its width is 12
            assert found["kl"] > 1e-9, change


def test_fixing_attention_that_is_fixed_already_changes_nothing(monkeypatch, theirs):
    """Attention from biases alone is the same on every picture: its mean is it, and it is uniform."""
    still = small_subject(still=True)
    for change in ("mean", "mean, refitted", "uniform", "shift heads: mean", "18 random heads: mean"):
        found = intervene(monkeypatch, still, {"change": change, "layers": [*range(L)], "seed": 0})
        assert found["same"] == 1 and abs(found["kl"]) < 1e-6, change
    found = intervene(monkeypatch, still, {"change": "shift heads: shifts", "layers": [], "seed": 0})
    assert found["kl"] > 1e-6


def test_a_picture_is_judged_with_the_other_halfs_maps(moving, monkeypatch):
    """The whole cell by hand, picture by picture."""
    from patch_lab.images.dissect import fixed, kl, through

    found = intervene(monkeypatch, moving, {"change": "mean", "layers": [0, 5], "seed": 2})
    logits = []
    for k, half in enumerate(moving.halves[2].tolist()):
        maps = moving.maps[2, 1 - half]
        edits = {layer: fixed(maps[layer]) for layer in (0, 5)}
        logits.append(through(moving.model, moving.seen[0][k : k + 1], edits))
    by_hand = torch.cat(logits)
    assert found["kl"] == pytest.approx(float(kl(moving.logits, by_hand).mean()), rel=2e-3)
    right = (by_hand.argmax(1) == moving.labels).numpy()
    assert (from_bits(found["right"], 40) == right).all()


def test_shift_heads_look_where_they_should(moving):
    """Of the second layer: head 1 to the left, head 3 to the right, and the other way round if reversed."""
    steps = {"shifts": (-1, 1), "reversed": (1, -1)}
    for how, (first, third) in steps.items():
        S = edits_of(moving, f"shift heads: {how}", [], 0, 0, estimated=1)[1](Inside(
            moving.model.blocks[1], moving.seen[1][:2]))  # fmt: skip
        assert S[0, 0, 5, 5 + first] == 1 and S[1, 2, 5, 5 + third] == 1
        own = Inside(moving.model.blocks[1], moving.seen[1][:2]).logits().softmax(-1)
        torch.testing.assert_close(S[:, 1], own[:, 1])
    S = edits_of(moving, "shift heads: four neighbors", [], 0, 0, estimated=1)[2](Inside(
        moving.model.blocks[2], moving.seen[2][:2]))  # fmt: skip
    assert S[0, 1, 5, [1, 4, 6, 9]].tolist() == [0.25] * 4
    S = edits_of(moving, "shift heads: both sides", [], 0, 0, estimated=1)
    left_right, up_down = (
        S[layer](Inside(moving.model.blocks[layer], moving.seen[layer][:2])) for layer in (1, 2)
    )
    assert left_right[0, 0, 5, [4, 6]].tolist() == up_down[0, 1, 5, [1, 9]].tolist() == [0.5] * 2


def test_attention_is_measured(moving, monkeypatch):
    """Shares, recall, steps and sinks, by hand from the maps of all pictures."""
    monkeypatch.setattr(vit_attention, "subject", lambda: moving)
    found = vit_attention.attention("own", 0)
    maps = torch.stack(moving.model(moving.images.float() / 127.5 - 1, return_all=True)[1]["attention"])
    halves = [torch.nonzero(moving.halves[0] == half).flatten() for half in (0, 1)]
    alternating = torch.stack(halves, dim=1).flatten()  # the halves of the library's function
    want = positional_share(maps[:, alternating, :, :N, :N])
    assert np.allclose(found["share"]["value"], want, atol=2e-4)
    low, high = np.array(found["share"]["low"]), np.array(found["share"]["high"])
    assert (low <= want.numpy() + 1e-3).all() and (high >= want.numpy() - 1e-3).all()
    for name in ("parts", "parts_after_norm", "parts_without_corners"):
        assert np.allclose(np.sum(found[name]["value"], axis=-1), 1, atol=1e-3)
    flat = maps[..., :N, :N].mean((2, 3))  # (L, n, keys)
    to = (flat[..., corners(GRID)].sum(-1) / flat.sum(-1)).mean(1)
    assert np.allclose(found["to_corners"]["value"], to, atol=1e-3)
    mean = maps[..., :N, :N].mean(1).numpy()
    assert np.allclose(decode(found["rows"])[3, 1], mean[3, 1][found["queries"]], rtol=2e-3)
    profile = decode(found["profile"])
    assert profile.shape == (L, H, 2 * GRID - 1, 2 * GRID - 1)
    middle = np.diag(mean[5, 2]).mean()
    assert profile[5, 2, GRID - 1, GRID - 1] == pytest.approx(middle, rel=2e-3)
    right = np.mean([mean[5, 2][i, i + 1] for i in range(N) if i % GRID < GRID - 1])
    assert profile[5, 2, GRID - 1, GRID] == pytest.approx(right, rel=2e-3)
    G = (moving.model.positions[0, :N] @ moving.model.positions[0, :N].T).numpy()
    off = [np.delete(np.arange(N), i) for i in range(N)]
    A, B = (np.stack([M[i, off[i]] - M[i, off[i]].mean() for i in range(N)]) for M in (np.log(mean[3, 1]), G))
    assert found["against_P"]["value"][3][1] == pytest.approx(
        np.corrcoef(A.ravel(), B.ravel())[0, 1], abs=1e-3
    )
    assert found["recall_4"]["value"][3][1] == pytest.approx(neighbor_recall(mean[3, 1], GRID, 4), abs=1e-3)
    top = maps[5, :, 2, :N, :N].argmax(-1).numpy()  # (n, N)
    step, i = found["top_step"][5][2], np.arange(N)
    row, column = i // GRID + step[0], i % GRID + step[1]
    inside = (row >= 0) & (row < GRID) & (column >= 0) & (column < GRID)
    hits = (top == row * GRID + column)[:, inside].mean()
    assert found["top_share"]["value"][5][2] == pytest.approx(hits, abs=1e-3)
    lengths = moving.seen[3][:, :N].norm(dim=-1).numpy()  # (n, N)
    inner = [k for k in range(N) if k not in corners(GRID)]
    want = [lengths[:, corners(GRID)].mean(), np.median(lengths[:, inner])]
    assert np.allclose(found["lengths"]["value"][3], want, rtol=1e-3)
    for name in ("against_P", "recall_4", "recall_8", "top_share", "lengths"):
        low, value, high = (np.array(found[name][key]) for key in ("low", "value", "high"))
        assert (low <= value).all() and (value <= high).all() and (high > low).any() and len(value) == L
        assert name == "lengths" or high.max() <= 1


def test_the_corners_are_the_ends_of_the_first_and_the_last_row():
    assert corners(4) == [0, 3, 12, 15]


@pytest.mark.slow
def test_training_with_fixed_maps_recovers(moving, monkeypatch):
    """On a small network: fixing costs, training gives back, and the unchanged model is left alone."""
    from patch_lab.images.data.sets import ImageSet
    from patch_lab.images.sweeps import vit_recovery as sweep

    generator = torch.Generator().manual_seed(6)
    images = torch.randint(256, (64, 3, 8, 8), generator=generator, dtype=torch.uint8)
    labels = torch.arange(64) % 2
    data = ImageSet("toy", "made up", ("a", "b"), images, labels, images[:20], labels[:20])
    with torch.no_grad():
        wanted = moving.model(sweep.enlarged(images, 16))
    monkeypatch.setattr(sweep, "subject", lambda: moving)
    monkeypatch.setattr(sweep, "_pictures", lambda: (data, torch.tensor([0, 2])))
    monkeypatch.setattr(sweep, "_wanted", {"train_images": wanted, "test_images": wanted[:20]}.get)
    monkeypatch.setattr(sweep, "TRAIN", 64)
    monkeypatch.setattr(sweep, "BATCH", 16)
    before = moving.model.state_dict()["head.weight"].clone()
    found = {maps: sweep.recovery(maps, 0, steps=30, rate=3e-3)["curve"] for maps in ("mean", "own")}
    assert [row["step"] for row in found["mean"]] == [0, 30]
    assert found["own"][0]["kl"] == pytest.approx(0, abs=1e-5)  # nothing is fixed, nothing is lost
    assert found["mean"][0]["kl"] > 1e-3 and found["mean"][1]["kl"] < 0.7 * found["mean"][0]["kl"]
    assert torch.equal(moving.model.state_dict()["head.weight"], before)  # the teacher is left alone
    again = sweep.recovery("mean", 0, steps=30, rate=3e-3)["curve"]
    assert again == found["mean"]
    assert sweep.recovery("own", 0, steps=0)["curve"] == found["own"][:1]


def test_groups_of_pictures_are_equally_many_and_each_of_one_half():
    halves = torch.arange(6 * vit_gray._GROUPS) % 2
    group = vit_gray.grouped(halves)
    assert torch.bincount(group).tolist() == [6] * vit_gray._GROUPS
    assert torch.equal(group % 2, halves)


@pytest.mark.filterwarnings("ignore:An input array is constant")  # all heads of the blind network are alike
def test_gray_maps_explain_what_no_picture_changes(moving, monkeypatch):
    monkeypatch.setattr(vit_gray, "_RESAMPLES", 20)
    blind = copy.deepcopy(moving.model)
    blind.embed.weight.zero_()
    still = vit_gray.gray(vit_tiny.observe(blind, moving.images, moving.labels))["share"]
    for kind in ("gray 0.0", "noise", "one picture"):
        np.testing.assert_allclose(still[kind]["value"], np.ones((L, H)), atol=1e-4)
    share = vit_gray.gray(moving)["share"]
    of_pictures, of_gray = (
        torch.stack(moving.model(x, return_all=True)[1]["attention"])[..., :N, :N]  # (L, B, H, N, N)
        for x in (moving.images.float() / 127.5 - 1, torch.zeros(1, 3, 16, 16))
    )
    energy = (of_pictures - of_pictures.mean(-1, keepdim=True)).square().sum((1, 3, 4))
    means = [of_pictures[:, moving.halves[0] == 1 - k].mean(1) for k in (0, 1)]
    of_others = torch.stack([means[k] for k in moving.halves[0]], dim=1)
    for kind, M in {"gray 0.0": of_gray, "mean map": of_others}.items():
        want = 1 - (of_pictures - M).square().sum((1, 3, 4)) / energy
        np.testing.assert_allclose(share[kind]["value"], want, atol=1e-3)


def test_a_channel_is_changed_in_four_patches_alone():
    x = torch.randn(3, N + 1, 7, generator=torch.Generator().manual_seed(2))
    four = vit_interventions.four_keys(GRID, 5)
    for change in ("largest", "second", "others", "written", "all but the largest", "moved", "random"):
        found, want, drawn = vit_gray.overwritten(x, GRID, change, 2, 4, seed=5), x.clone(), 0
        if change in ("moved", "random"):  # the channel that is drawn
            drawn = int((found != x).any(dim=0).any(dim=0).nonzero())
            assert drawn not in (2, 4)
        for b in range(3):
            inner = torch.stack([x[b, k] for k in range(N) if k not in corners(GRID)])
            median = inner.sort(dim=0).values[(len(inner) - 1) // 2]
            height = sum(x[b, k, 2] for k in corners(GRID)) / 4
            for k in four if change in ("others", "written") else corners(GRID):
                if change == "moved":
                    want[b, k, drawn] += median[2] - x[b, k, 2]
                elif change == "all but the largest":
                    want[b, k] = torch.where(torch.arange(7) == 2, x[b, k], median)
                else:
                    at = {"second": 4, "random": drawn}.get(change, 2)
                    want[b, k, at] = height if change == "written" else median[at]
        torch.testing.assert_close(found, want)
    with pytest.raises(ValueError, match="expected a change"):
        vit_gray.overwritten(x, GRID, "smallest", 2, 4, seed=5)
