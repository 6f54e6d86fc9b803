"""A look at networks of others: every family and every file gives the same, and what they are told from."""

import argparse
import contextlib
import json
import pickle
import sys

import numpy as np
import pytest
import torch
from strategies import write_pictures
from torch import nn
from vision_shim import compare_with, load_torchvision

from patch_association.images import (
    ViT,
    ViTConfig,
    attention_of,
    encodings_of,
    look,
    looking,
    neighbor_recall,
    positional_share,
)
from patch_association.images.weights import given
from patch_lab.cli import main
from patch_lab.images.data.packed import load_crops
from patch_lab.images.looking import picture_size, read_pictures, tables
from patch_lab.images.sweeps import vit_tiny
from patch_lab.kit.records import load

GRID, SIZE = (3, 4), (24, 32)
PICTURES = torch.randn(4, 3, *SIZE, generator=torch.Generator().manual_seed(0))
SQUARE = PICTURES[..., :24]
#: Of the tensors of `plain`, which do not tell.
SAID = dict(heads=2, norm="before")


def random_weights(model):
    """Away from the start, where norms are trivial and much is zero."""
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3, generator=generator)
    return model.eval()


def plain(width=16, depth=2, rows=1 + 12, prefix="", seed=0):
    """The tensors of a plain ViT under timm's names, with a class token: nothing of timm is needed."""
    shapes = {"cls_token": (1, 1, width), "pos_embed": (1, rows, width), "norm.weight": (width,)}
    shapes |= {"patch_embed.proj.weight": (width, 3, 8, 8), "patch_embed.proj.bias": (width,)}
    parts = {
        "norm1": (width,),
        "norm2": (width,),
        "attn.qkv": (3 * width, width),
        "attn.proj": (width, width),
    }
    parts |= {"mlp.fc1": (32, width), "mlp.fc2": (width, 32)}
    for layer in range(depth):
        for part, shape in parts.items():
            shapes |= {f"blocks.{layer}.{part}.weight": shape, f"blocks.{layer}.{part}.bias": shape[:1]}
    generator = torch.Generator().manual_seed(seed)
    return {prefix + key: 0.3 * torch.randn(shape, generator=generator) for key, shape in shapes.items()}


def timms(name, **how):
    def build():
        models = compare_with("timm").models.vision_transformer
        shape = dict(img_size=SIZE, patch_size=8, embed_dim=16, depth=2, num_heads=2, num_classes=5)
        return getattr(models, name)(**shape | how)

    return build


def transformers(name, config, **how):
    def build():
        load_torchvision_or_not()
        library = pytest.importorskip("transformers", reason="not compared: transformers is not installed")
        shape = dict(
            hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, patch_size=8
        )
        return getattr(library, name)(getattr(library, config)(**shape | dict(image_size=SIZE) | how))

    return build


def load_torchvision_or_not():
    """Where torchvision does not load, transformers does without it or says so."""
    with contextlib.suppress(ImportError):
        load_torchvision()


def torchvisions():
    models = compare_with("torchvision.models")
    return models.VisionTransformer(
        24, 8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=5
    )


CLS, DIST, REGISTERS = {"cls_token": 1}, {"cls_token": 1, "dist_token": 1}, {"cls_token": 1, "reg_token": 4}
FAMILIES = {
    "timm": (timms("VisionTransformer"), CLS, True),
    "timm, no class token": (timms("VisionTransformer", class_token=False, global_pool="avg"), {}, True),
    "timm, registers": (timms("VisionTransformer", reg_tokens=4), REGISTERS, True),
    "timm, registers without rows": (
        timms("VisionTransformer", reg_tokens=4, no_embed_class=True),
        REGISTERS,
        True,
    ),
    "timm, layer scale": (timms("VisionTransformer", init_values=0.5), CLS, True),
    "timm, norms of queries": (timms("VisionTransformer", qk_norm=True), CLS, False),
    "ViT": (transformers("ViTForImageClassification", "ViTConfig"), CLS, True),
    "DeiT": (transformers("DeiTModel", "DeiTConfig"), {"cls_token": 1, "distillation_token": 1}, True),
    "DINOv2": (transformers("Dinov2Model", "Dinov2Config", image_size=24), CLS, True),
    "DINOv2, registers": (
        transformers("Dinov2WithRegistersModel", "Dinov2WithRegistersConfig", image_size=24),
        {"cls_token": 1, "register_tokens": 4},
        True,
    ),
    "masked autoencoder": (transformers("ViTMAEModel", "ViTMAEConfig", image_size=24), CLS, True),
    "masked autoencoder and decoder": (
        transformers("ViTMAEForPreTraining", "ViTMAEConfig", image_size=24),
        CLS,
        False,
    ),
    "CLIP": (
        transformers("CLIPVisionModel", "CLIPVisionConfig", image_size=24),
        {"class_embedding": 1},
        False,
    ),
    "ViT, tuples": (transformers("ViTModel", "ViTConfig", return_dict=False), CLS, True),
    "torchvision": (torchvisions, {"class_token": 1}, True),
}


@pytest.mark.filterwarnings("default")  # what others' libraries warn of is no fault of ours
@pytest.mark.parametrize(("build", "tokens", "is_plain"), FAMILIES.values(), ids=FAMILIES)
def test_a_module_and_its_tensors_look_alike(build, tokens, is_plain):
    """What a module shows is what its tensors give: two ways to the same maps; and it is as it was."""
    model = random_weights(build()).train()
    square = "grid_size" not in vars(getattr(model, "patch_embed", model)) and not _wide(model)
    pictures, grid = (SQUARE, (3, 3)) if square else (PICTURES, GRID)
    seen = look(model, pictures)
    assert seen.tokens == tokens and seen.encodings.grid == seen.attention.grid == grid and model.training
    assert look(model).encodings.grid == grid and tuple(seen.encodings.P.shape) == (grid[0] * grid[1], 16)
    assert seen.attention.maps.shape == (2, 2, grid[0] * grid[1], grid[0] * grid[1])
    if is_plain:
        again = look(dict(model.state_dict()), pictures, **SAID)
        np.testing.assert_allclose(again.attention.maps, seen.attention.maps, atol=2e-6)
        assert torch.equal(again.encodings.P, seen.encodings.P)
    else:
        with pytest.raises(ValueError, match="no plain ViT|a plain ViT has not.*give the model itself"):
            look(dict(model.state_dict()), pictures, **SAID)


def test_where_layers_norm_is_told_by_names_or_said():
    """Equal tensors under equal names may be of two networks: each is read as it is where that is said."""
    models = compare_with("timm").models.vision_transformer
    weights = random_weights(timms("VisionTransformer")()).state_dict()
    by_module = {}
    for norm, block in (("before", models.Block), ("after", models.ResPostBlock)):
        model = timms("VisionTransformer", block_fn=block)().eval()
        model.load_state_dict(weights)
        by_module[norm] = attention_of(model, PICTURES)
        torch.testing.assert_close(attention_of(weights, PICTURES, 2, norm), by_module[norm])
    with pytest.warns(UserWarning, match="does not tell where its layers norm: taken is before .*norm="):
        torch.testing.assert_close(attention_of(weights, PICTURES, heads=2), by_module["before"])
    assert (by_module["before"] - by_module["after"]).abs().max() > 0.1
    with pytest.raises(ValueError, match="norm must be 'before' or 'after', got 'post'"):
        look(weights, PICTURES, heads=2, norm="post")
    scaled = timms("VisionTransformer", init_values=0.5)().state_dict()
    with pytest.raises(ValueError, match="layers that norm before attention and MLP, got norm='after'"):
        attention_of(scaled, PICTURES, heads=2, norm="after")


def _wide(model):
    return isinstance(getattr(getattr(model, "config", None), "image_size", None), (tuple, list))


def test_whatever_attends_through_pytorchs_layer():
    """Encodings under any name are told by their shape, and nn.MultiheadAttention shows its maps."""

    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.patch, self.where = nn.Conv2d(3, 16, 8, 8), nn.Parameter(torch.zeros(1, 12, 16))
            layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
            self.layers = nn.TransformerEncoder(layer, 2)

        def forward(self, x):
            return self.layers(self.patch(x).flatten(2).mT + self.where)

    model = random_weights(Mine())
    seen = look(model, PICTURES)
    assert seen.encodings.called == "where" and torch.equal(seen.encodings.P, model.where[0])
    z = model.patch(PICTURES).flatten(2).mT + model.where
    S = model.layers.layers[0].self_attn(z, z, z, average_attn_weights=False)[1]
    np.testing.assert_allclose(seen.attention.maps[0], S.detach().mean(dim=0).numpy(), atol=1e-6)


def saved(folder, kind, weights):
    path = folder / f"w{kind}"
    if kind == ".npz":
        np.savez(path, **{name: value.numpy() for name, value in weights.items()})
    elif kind == ".safetensors":
        compare_with("safetensors.torch").save_file(weights, path)
    elif kind == "":
        path.mkdir()
        torch.save(weights, path / "pytorch_model.bin")
    else:  # as a training run keeps them
        torch.save(
            {
                "epoch": 3,
                "sums": torch.ones(2),
                "model": {f"module.{name}": value for name, value in weights.items()},
            },
            path,
        )
    return path


@pytest.mark.parametrize("kind", [".npz", ".safetensors", ".pth", ".pt", ""])
def test_every_kind_of_file_gives_the_same(kind, tmp_path):
    weights = plain()
    seen, want = (look(each, PICTURES, **SAID) for each in (saved(tmp_path, kind, weights), weights))
    assert np.array_equal(seen.attention.maps, want.attention.maps) and seen.tokens == want.tokens == CLS
    assert str(tmp_path) in seen.name and want.name == "this dict of weights"


def test_what_exists_is_no_name_and_what_cannot_be_read_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vit_tiny_patch16_224").mkdir()
    (tmp_path / "notes.txt").write_text("no weights")

    class Bomb:
        def __reduce__(self):
            return (sys.exit, ("it was unpickled",))

    (tmp_path / "bomb.pth").write_bytes(pickle.dumps({"model": Bomb()}))
    torch.save({"model": Bomb()}, tmp_path / "other.pt")
    torch.save({"epochs": 3}, tmp_path / "empty.pt")
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Bomb()))
    np.savez(tmp_path / "objects.npz", pos=np.array([Bomb()], dtype=object))
    np.savez(tmp_path / "bad.npz", pos=np.array([1.0, np.nan]))
    for path, said in {
        "vit_tiny_patch16_224": "is a folder without model.safetensors",
        "notes.txt": "notes.txt is no file of weights: its name must end in .npz",
        "nowhere.safetensors": "there is no file nowhere.safetensors",
        "bomb.pth": "bomb.pth is no whole file of tensors that PyTorch reads without running code",
        "other.pt": "other.pt is no whole file of tensors that PyTorch reads without running code",
        "raw.npz": "raw.npz is no whole npz file of arrays",
        "objects.npz": "objects.npz is no whole npz file of arrays: .*allow_pickle",
        "bad.npz": "bad.npz holds 'pos', which is no array of finite numbers",
        3: "a model must be a module, weights, a file or a name, got int",
        "empty.pt": "must hold tensors by name, perhaps under state_dict, .*got .'epochs'",
    }.items():
        with pytest.raises(ValueError, match=said):
            look(path)


def test_a_grid_that_is_no_square_is_asked_for():
    weights = plain()
    assert look(weights, PICTURES, **SAID).encodings.grid == look(weights, grid=GRID).encodings.grid == GRID
    said = "13 encodings in 'pos_embed', and 1 cls_token: which of them belong to .* say grid=.rows, columns."
    with pytest.raises(ValueError, match=said):
        look(weights)
    with pytest.raises(ValueError, match="which of them belong to 4 x 5 patches is not known$"):
        look(weights, grid=(4, 5))
    for rows, grid in ((13, GRID), (17, None)):
        with pytest.raises(ValueError, match="takes pictures of .*, got .24, 24"):
            look(plain(rows=rows), SQUARE, grid=grid, **SAID)


def maps(*shape, seed=0):
    return torch.softmax(3 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


def test_the_measures_are_those_of_the_maps(monkeypatch):
    """On maps made by hand: the share is `positional_share`'s, neighbors are those on the pictures' grid."""
    S = maps(2, 7, 3, 12, 13)[..., 1:].clone()  # layers, pictures, heads; some goes to another token
    taken = iter(S.split([2, 2, 2, 1], dim=1))
    monkeypatch.setattr(looking, "finite_maps", lambda *_: (list(next(taken)), GRID))
    monkeypatch.setattr(looking, "_AT_ONCE", 0)
    seen = look(plain(), PICTURES[[0, 1, 2, 3, 0, 1, 2]]).attention
    np.testing.assert_allclose(seen.share, positional_share(S).numpy(), atol=1e-5)
    np.testing.assert_allclose(seen.maps, S.mean(dim=1).numpy(), atol=1e-6)
    assert seen.neighbors[1, 2] == neighbor_recall(S[1, :, 2].mean(dim=0).numpy(), GRID, 8)


def test_the_public_weights_are_what_the_record_says():
    """ViT-Tiny/16 on a few pictures, against the record on a thousand, where both files are at hand."""
    try:
        weights, crops = vit_tiny.file("vit_tiny_patch16_224.npz"), vit_tiny.file("imagenet1000_crop224.npz")
    except ValueError as missing:
        pytest.skip(f"not compared: {missing}")
    seen = look(
        weights, load_crops(crops)[0][::50], heads=3, norm="before"
    ).attention  # 20 pictures, all over the classes
    want = load("vit_attention").one(positions="own")
    assert np.corrcoef(seen.share.ravel(), np.ravel(want["share"]["value"]))[0, 1] > 0.98


def test_the_command_prints_what_the_library_measures(tmp_path, capsys):
    """And writes it, in one step: a look that fails leaves the page before."""
    write_pictures(tmp_path, pictures=3)
    pictures = tmp_path / "pictures"
    weights, out = saved(tmp_path, ".pth", plain()), tmp_path / "report.html"
    look_at = ["look", str(weights), "--out", str(out), "--quiet", "--heads", "2", "--norm", "before"]
    assert main([*look_at, "--pictures", str(pictures), "--grid", "3", "4"]) == 0
    page, printed = out.read_text(encoding="utf-8"), capsys.readouterr().out
    read = given(weights)
    taken = read_pictures(pictures, picture_size(read.model, read.name, GRID), 3, 200, False)
    seen = look(weights, taken, grid=GRID, **SAID)
    for frame in tables(seen).values():
        numbers = [f"{x:.3f}" for x in frame.to_numpy().ravel() if x != int(x)]
        assert numbers and all(number in printed and number in page for number in numbers)
    assert (
        tables(seen)["Attention between patches, by layer"]["the most"].tolist()
        == seen.attention.share.max(1).tolist()
    )
    assert "6 pictures" in printed and str(weights) in printed and str(out) in printed
    assert main([*look_at, "--pictures", str(pictures)]) == 2
    assert "say grid=(rows, columns)" in capsys.readouterr().err and out.read_text(encoding="utf-8") == page
    assert main(["look", str(weights), "--out", str(tmp_path / "no" / "page.html")]) == 2
    assert "must be a file in a folder that exists" in capsys.readouterr().err
    # Weights do not tell their heads: it is asked for, and what is known is shown.
    assert main(["look", str(weights), "--pictures", str(pictures), "--grid", "3", "4"]) == 0
    printed = capsys.readouterr().out
    assert "how many heads a layer has: say heads=" in printed and "Attention between" not in printed


@pytest.mark.parametrize(
    "form", [lambda x: x.movedim(1, 3).numpy(), lambda x: x.numpy(), lambda x: x.movedim(1, 3)]
)
def test_colors_may_come_last_and_numbers_in_double(form):
    model, pictures = ViT(ViTConfig.named("reader"), seed=0), torch.rand(2, 3, 32, 32, dtype=torch.float64)
    want = look(model, pictures.float()).attention.maps
    assert np.array_equal(look(model, form(pictures)).attention.maps, want)


def test_pictures_as_bytes_and_too_few():
    with pytest.raises(ValueError, match="pictures must be at least two, got 1"):
        look(plain(), PICTURES[:1], **SAID)
    with pytest.raises(ValueError, match="heads must divide the width 16 of this dict of weights, got 5"):
        look(plain(), PICTURES, heads=5, norm="before")
    as_bytes = (255 * torch.rand(2, 24, 32, 3)).to(torch.uint8)
    want = look(plain(), as_bytes.permute(0, 3, 1, 2) / 255 * 2 - 1, **SAID)
    seen = look(plain(), as_bytes.numpy(), **SAID)
    np.testing.assert_allclose(seen.attention.maps, want.attention.maps, atol=1e-5)
    assert attention_of(plain(), PICTURES[:1], **SAID).shape == (2, 1, 2, 12, 12)


class Own(nn.Module):
    """A ViT as people write it: patches that may overlap, tokens before and behind them, attn_drop."""

    def __init__(self, stride=8, detection=0, grid=GRID, token="cls_token", last=False, prompts=0, pool=0):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, 16, 8, stride)
        setattr(self, token, nn.Parameter(torch.zeros(1, 1, 16)))
        self.token, self.last = token, last
        self.prompts = nn.Parameter(torch.randn(1, prompts, 16)) if prompts else None
        self.queries = nn.Parameter(torch.randn(1, pool, 16)) if pool else None
        self.pool = nn.MultiheadAttention(16, 2, batch_first=True) if pool else None
        self.detection_tokens = nn.Parameter(torch.randn(1, detection, 16)) if detection else None
        self.pos_embed = nn.Parameter(0.1 * torch.randn(1, 1 + grid[0] * grid[1] + detection, 16))
        self.qkv, self.attn_drop, self.head = nn.Linear(16, 48), nn.Dropout(0.5), nn.Dropout(0.5)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).mT
        tokens = [getattr(self, self.token).expand(len(x), -1, -1), x]
        tokens += [] if self.detection_tokens is None else [self.detection_tokens.expand(len(x), -1, -1)]
        x = torch.cat(tokens[::-1] if self.last else tokens, dim=1) + self.pos_embed
        if self.prompts is not None:  # behind the class token, as visual prompt tuning has them
            x = torch.cat([x[:, :1], self.prompts.expand(len(x), -1, -1), x[:, 1:]], dim=1)
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        self.whole = (q @ k.mT).softmax(-1)
        x = (self.attn_drop(self.whole) @ v).transpose(1, 2).flatten(2)  # (B, 2, T, 8) -> (B, T, 16)
        return self.head(x if self.pool is None else self.pool(self.queries.expand(len(x), -1, -1), x, x)[0])


@pytest.mark.parametrize(
    ("how", "grid", "rows"),
    [
        (dict(), GRID, slice(1, 13)),
        (dict(stride=4, grid=(5, 7)), (5, 7), slice(1, 36)),
        (dict(detection=5), GRID, slice(1, 13)),
        (dict(last=True), GRID, slice(12)),
        (dict(prompts=3), GRID, slice(1, 13)),
        (dict(pool=13), GRID, slice(1, 13)),
    ],
    ids=["side by side", "overlapping", "tokens behind", "class token behind", "prompts", "pooled"],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_the_rows_of_patches_are_those_of_patches(how, grid, rows, wrapped):
    """On whatever grid the embedding makes; and each part goes back to its own mode."""
    own = Own(**how)
    model = nn.DataParallel(own) if wrapped else own
    own.head.eval()
    seen = look(model, PICTURES)
    assert seen.attention.grid == seen.encodings.grid == grid
    assert torch.equal(seen.encodings.P, own.pos_embed[0, rows])
    assert [part.training for part in (own, own.attn_drop, own.head)] == [True, True, False]
    at = slice((rows.start or 0) + how.get("prompts", 0), rows.stop + how.get("prompts", 0))
    (S,) = attention_of(model, PICTURES)
    np.testing.assert_allclose(S, own.whole[:4, :, at, at].detach(), atol=1e-6)


def test_heads_are_read_beside_the_weights_or_asked_for(tmp_path):
    folder = saved(tmp_path, "", plain())
    with pytest.raises(ValueError, match="does not tell how many heads a layer has: say heads="):
        attention_of(folder, PICTURES)
    (folder / "config.json").write_text('{"num_attention_heads": 4, "model_type": "vit"}')
    assert torch.equal(
        attention_of(folder, PICTURES), attention_of(plain(), PICTURES, heads=4, norm="before")
    )
    (folder / "config.json").write_text('{"num_attention_heads": 4, "hidden_act": "quick_gelu"}')
    with pytest.raises(ValueError, match="is no plain ViT .its activation is quick_gelu"):
        attention_of(folder, PICTURES)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (lambda w: {"teacher": w, "student": w}, "holds two networks: give the tensors of its 'teacher'"),
        (
            lambda w: {"state_dict": w, "state_dict_ema": w},
            "two networks: .* 'state_dict_ema' or .*'state_dict'",
        ),
        (lambda w: {"student": w}, None),
        (lambda w: {"state_dict": w, "args": argparse.Namespace(lr=0.1)}, None),
        (lambda w: {f"_orig_mod.module.{key}": x for key, x in w.items()}, None),
        (lambda w: {"n_averaged": torch.ones(1)} | {f"module.{key}": x for key, x in w.items()}, None),
        (
            lambda w: w | {"pos_embed": w["pos_embed"].to(torch.float8_e4m3fn)},
            "expected are weights of 16, 32",
        ),
    ],
)
def test_checkpoints_of_others(held, said, tmp_path):
    path = tmp_path / "model_best.pth.tar"
    torch.save(held(plain()), path)
    if said is None:
        assert torch.equal(attention_of(path, PICTURES, **SAID), attention_of(plain(), PICTURES, **SAID))
    else:
        with pytest.raises(ValueError, match=said):
            attention_of(path, PICTURES, **SAID)


def test_encodings_alone_two_towers_and_such_as_are_zero():
    P = torch.randn(3, 4, 16)
    assert torch.equal(encodings_of(P), P.flatten(0, 1)) and torch.equal(encodings_of(P[0].numpy()), P[0])
    towers = {"text.positional_embedding": torch.zeros(9, 16), "visual.positional_embedding": P[0]}
    assert torch.equal(encodings_of(towers), P[0])
    seen = look({"pos_embed": torch.zeros(1, 9, 16)})
    assert seen.encodings.grid == (3, 3) and seen.neighbors is seen.locality is seen.sums is None


class Shared(nn.Module):
    """Two layers of attention that share one dropout, as some models do."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Conv2d(3, 8, 4, 4)
        drop = nn.Dropout(0.0)
        self.layers = nn.ModuleList(Attending(drop) for _ in range(2))

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)  # (B, N, 8)
        for layer in self.layers:
            x = x + layer(x)
        return x


class Attending(nn.Module):
    def __init__(self, drop):
        super().__init__()
        self.attn_drop = drop

    def forward(self, x):
        S = torch.softmax(x @ x.transpose(1, 2), dim=-1)[:, None]  # (B, 1, N, N)
        return self.attn_drop(S)[:, 0] @ x


class Channels(Attending):
    """Attention between the channels of a head, as XCiT's."""

    def forward(self, x):
        return super().forward(x.mT).mT


class Differential(Attending):
    """Two maps pass for each head, which weighs by their difference."""

    num_heads = 1

    def forward(self, x):
        S = torch.softmax(torch.stack([x @ x.mT, -x @ x.mT], dim=1), dim=-1)  # (B, 2, N, N)
        S = self.attn_drop(S)
        return (S[:, 0] - S[:, 1] / 2) @ x


@pytest.mark.parametrize(
    ("kind", "patches", "said"),
    [
        (Attending, 8, None),
        (Channels, 8, "Channels is not between its tokens"),
        (Channels, 10, "Channels is not between its tokens"),
        (Differential, 10, "2 maps pass through attn_drop in Differential, of 1 heads"),
    ],
)
def test_what_passes_through_a_dropout_is_asked_of_its_layer(kind, patches, said):
    """Also where there are as many tokens as a head is wide, 8, so that shapes do not tell."""
    model = Shared()
    model.layers = nn.ModuleList([kind(nn.Dropout(0.0))])
    pictures = torch.randn(2, 3, 8, 2 * patches)
    if said is None:
        assert attention_of(model, pictures).shape == (1, 2, 1, patches, patches)
    else:
        with pytest.raises(ValueError, match=said):
            attention_of(model, pictures)


def test_a_folder_says_its_grid_and_its_architecture(tmp_path):
    """16 patches are 2 x 8 where config.json says so; what it names otherwise is not read as a plain ViT."""
    folder, wide = saved(tmp_path, "", plain(rows=17)), torch.randn(2, 3, 16, 64)
    says = {"model_type": "vit", "num_attention_heads": 2, "patch_size": 8, "image_size": [16, 64]}
    (folder / "config.json").write_text(json.dumps(says))
    assert look(folder).encodings.grid == look(folder, wide).attention.grid == (2, 8)
    with pytest.raises(ValueError, match="takes pictures of 16 x 64 pixels, got .32, 32."):
        attention_of(folder, torch.randn(2, 3, 32, 32))
    with pytest.raises(ValueError, match="says that its patches are 2 x 8, got grid=.4, 4."):
        encodings_of(folder, grid=(4, 4))
    (folder / "config.json").write_text(json.dumps({"architecture": "vit_base_patch16_rpn_224"}))
    with pytest.raises(ValueError, match="rpn_224, which may be no plain ViT: give the model itself"):
        attention_of(folder, wide, **SAID)


def test_encodings_that_no_token_takes_are_refused():
    """One more than patches, and no token for it, as ViTPose adds it to all: a grid would not help."""
    own = Own()
    own.cls_token, own.grid_size = None, GRID
    own.config = argparse.Namespace(image_size=SIZE, patch_size=8)
    with pytest.raises(ValueError, match="13 encodings .* 3 x 4 patches is not known$"):
        encodings_of(own)


def test_a_shuffling_part_and_a_part_of_the_weights_are_refused(tmp_path):
    model = Shared()
    model.layers[0].config = argparse.Namespace(mask_ratio=0.0)
    with pytest.raises(ValueError, match="shuffles its patches"):
        attention_of(model, torch.randn(2, 3, 16, 16))
    path = tmp_path / "model-00001-of-00002.pt"
    torch.save(model.state_dict(), path)
    with pytest.raises(ValueError, match="a part of the weights"):
        encodings_of(path)


#: Weights whose encodings are not, or may not be, of patches.
OTHERS = {
    "words": ({"word_embeddings.weight": (99, 16), "position_embeddings.weight": (16, 16)}, "embeds words"),
    "films": ({"patch.weight": (16, 3, 2, 8, 8), "pos_embed": (1, 17, 16), "cls_token": (1, 1, 16)}, "films"),
    "queries": ({"query_position_embeddings.weight": (100, 16)}, "no learned positional encodings"),
    "windows": (
        {"patch_embed.weight": (16, 3, 8, 8), "pos_embed": (1, 16, 7, 7)},
        "'pos_embed' of shape .1, 16, 7, 7., not .1, rows, columns, 16.",
    ),
}


@pytest.mark.parametrize(("shapes", "said"), OTHERS.values(), ids=OTHERS)
def test_encodings_of_other_things_are_no_patches(shapes, said):
    weights = {key: torch.zeros(shape) for key, shape in shapes.items()}
    with pytest.raises(ValueError, match=said):
        encodings_of(weights)
    if said == "films":
        assert encodings_of(weights, grid=(4, 4)).shape == (16, 16)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = Own(), Own()

    def forward(self, x):
        return self.student(x), self.teacher(x)


class Squares(Shared):
    """Tokens between its parts are (B, rows, columns, width), as VitDet has them."""

    def forward(self, x):
        return self.layers[0](self.embed(x).movedim(1, 3))


class OfSquares(Attending):
    def forward(self, x):
        return super().forward(x.flatten(1, 2))


def test_two_networks_and_tokens_that_are_not_seen_are_refused():
    with pytest.raises(ValueError, match="two networks, of 'student.patch_embed.weight' and of 'teacher"):
        attention_of(Pair(), PICTURES)
    model = Squares()
    model.layers = nn.ModuleList([OfSquares(nn.Dropout(0.0))])
    with pytest.raises(ValueError, match="between 16 tokens, which none of its parts takes as"):
        attention_of(model, torch.randn(2, 3, 16, 16))


def test_an_attention_that_must_be_asked_for_at_loading():
    """data2vec's cannot be switched: the refusal says what can be done, and that it works."""
    build = transformers("Data2VecVisionModel", "Data2VecVisionConfig", image_size=24)
    with pytest.raises(ValueError, match="load it with attn_implementation='eager'"):
        attention_of(build(), SQUARE)
    library = pytest.importorskip("transformers", reason="not compared: transformers is not installed")
    config = build().config
    loaded = library.AutoModel.from_config(config, attn_implementation="eager")
    assert attention_of(loaded, SQUARE).shape == (2, 4, 2, 9, 9)


@pytest.mark.parametrize(
    ("pictures", "said"),
    [
        (PICTURES[:0], "must be one at least, with numbers"),
        (torch.empty(2, 3, *SIZE, device="meta"), "must be one at least, with numbers"),
        (PICTURES > 0, "must be numbers, of whole ones 0 to 255, got torch.bool"),
        (PICTURES[:1].expand(3, -1, -1, -1), "must differ, got one 3 times"),
    ],
    ids=["none", "meta", "bool", "one"],
)
def test_pictures_that_tell_nothing_are_refused(pictures, said):
    with pytest.raises(ValueError, match=said):
        look(plain(), pictures, grid=GRID, **SAID)


def test_a_folder_of_parts_says_so(tmp_path):
    (tmp_path / "model-00001-of-00002.safetensors").write_bytes(b"")
    with pytest.raises(ValueError, match="in parts: give the module that loads all of them"):
        encodings_of(tmp_path)


def test_whole_numbers_beyond_a_byte_are_refused():
    with pytest.raises(ValueError, match="0 to 255, got 0 to 300"):
        look(Shared(), np.array([0, 300], dtype=np.uint16).repeat(2 * 384).reshape(2, 16, 16, 3))
