"""A look at networks of others: every family and every file gives the same, and what they are told from."""

import contextlib
import pickle
import re
import sys

import numpy as np
import pytest
import torch
from strategies import write_pictures
from torch import nn
from vision_shim import compare_with, load_torchvision

from patch_association.images import ViT, ViTConfig, attention_of, look, looking, positional_share
from patch_association.images.weights import given
from patch_lab.cli import main
from patch_lab.figures.report import picture_size, read_pictures
from patch_lab.images.data.packed import load_crops
from patch_lab.records import load
from patch_lab.sweeps import vit_tiny

GRID, SIZE = (3, 4), (24, 32)
PICTURES = torch.randn(4, 3, *SIZE, generator=torch.Generator().manual_seed(0))
SQUARE = PICTURES[..., :24]


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
    "CLIP": (
        transformers("CLIPVisionModel", "CLIPVisionConfig", image_size=24),
        {"class_embedding": 1},
        False,
    ),
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
        again = look(dict(model.state_dict()), pictures, heads=2)
        np.testing.assert_allclose(again.attention.maps, seen.attention.maps, atol=2e-6)
        assert torch.equal(again.encodings.P, seen.encodings.P)
    else:
        with pytest.raises(ValueError, match="no plain ViT|a plain ViT has not.*give the model itself"):
            look(dict(model.state_dict()), pictures, heads=2)


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
    seen, want = look(saved(tmp_path, kind, weights), PICTURES), look(weights, PICTURES)
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
        "empty.pt": "expected tensors by name, perhaps under state_dict, .*got .'epochs'",
    }.items():
        with pytest.raises(ValueError, match=said):
            look(path)


def test_a_grid_that_is_no_square_is_asked_for():
    weights = plain()
    assert look(weights, PICTURES).encodings.grid == look(weights, grid=GRID).encodings.grid == GRID
    said = "13 encodings in 'pos_embed', and 1 cls_token: which of them belong to .* say grid=.rows, columns."
    for grid in (None, (4, 5)):
        with pytest.raises(ValueError, match=said):
            look(weights, grid=grid)
    for rows, grid in ((13, GRID), (17, None)):
        with pytest.raises(ValueError, match="takes pictures of .*, got .24, 24"):
            look(plain(rows=rows), SQUARE, grid=grid)


def maps(*shape, seed=0):
    return torch.softmax(3 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


def test_the_measures_are_those_of_the_maps(monkeypatch):
    """On maps made by hand: the share is `positional_share`'s, steps are counted, sinks are found."""
    S = maps(2, 7, 3, 12, 13)[..., 1:].clone()  # layers, pictures, heads; some goes to another token
    sink = torch.zeros(7, 3, 12, 12)
    sink[..., 3], sink[..., 0] = 0.75, 0.25
    place = np.stack(np.divmod(np.arange(12), 4), axis=-1)
    for i, (_, column) in enumerate(place):  # to the left; itself where there is none
        S[1, :, 2, i] = 0
        S[1, :, 2, i, i if column == 0 else i - 1] = 1
    S = torch.cat([S, sink[None]])
    taken = iter(S.split([2, 2, 2, 1], dim=1))
    monkeypatch.setattr(looking, "finite_maps", lambda *_: list(next(taken)))
    monkeypatch.setattr(looking, "_AT_ONCE", 0)
    seen = look(plain(), PICTURES[[0, 1, 2, 3, 0, 1, 2]]).attention
    np.testing.assert_allclose(seen.share, positional_share(S).numpy(), atol=1e-5)
    np.testing.assert_allclose(seen.maps, S.mean(dim=1).numpy(), atol=1e-6)
    assert seen.step[1, 2].tolist() == [0, -1] and seen.step_share[1, 2] == 1
    assert seen.sinks[2, :2].tolist() == [3, 0] and seen.sink_share[2] == pytest.approx(1)
    assert seen.corners[2] == pytest.approx(1)  # patches 0 and 3 are corners of the grid


def test_written_shifts_are_read():
    """Every head of the control that looks one patch away is said to do that."""
    model = ViT(ViTConfig.named("reader", attention="shifts", patch_size=8, heads=8), seed=0)
    seen = look(model, torch.rand(2, 3, 32, 32)).attention
    ways = [[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]]
    assert seen.step[0].tolist() == ways and (seen.step_share == 1).all() and np.allclose(seen.share, 1)


def test_the_public_weights_are_what_the_record_says():
    """ViT-Tiny/16 on a few pictures, against the record on a thousand, where both files are at hand."""
    try:
        weights, crops = vit_tiny.file("vit_tiny_patch16_224.npz"), vit_tiny.file("imagenet1000_crop224.npz")
    except ValueError as missing:
        pytest.skip(f"not compared: {missing}")
    seen = look(weights, load_crops(crops)[0][::50], heads=3).attention  # 20 pictures, all over the classes
    want = load("vit_attention").one(positions="own")
    assert np.corrcoef(seen.share.ravel(), np.ravel(want["share"]["value"]))[0, 1] > 0.98
    assert np.abs(seen.corners - want["to_corners"]["value"]).max() < 0.05
    for layer, head in ((1, 0), (1, 2), (2, 1)):
        assert seen.step[layer, head].tolist() == want["top_step"][layer][head]


def test_the_command_writes_a_page_that_stands_alone(tmp_path, capsys):
    write_pictures(tmp_path, pictures=3)
    pictures = tmp_path / "pictures"
    weights, out = saved(tmp_path, ".pth", plain()), tmp_path / "report.html"
    look_at = ["look", str(weights), "--out", str(out), "--quiet"]
    assert main([*look_at, "--pictures", str(pictures), "--grid", "3", "4"]) == 0
    page, printed = out.read_text(encoding="utf-8"), capsys.readouterr().out
    assert "<svg" in page and not re.search(r'(?:src|href)="(?!#|data:)', page) and "@import" not in page
    assert "6 pictures" in printed and str(weights) in printed and str(out) in printed
    # The numbers of its last table are those of the library, in percent.
    rows = re.findall(r"<tr><th[^>]*>\s*\d+</th>(.*)</tr>", page.replace("\u2007", "").replace("−", "-"))
    cells = [[int(cell) for cell in re.findall(r"(-?\d+)%", row)][:5] for row in rows]
    taken = read_pictures(pictures, picture_size(*given(weights), GRID), 200, False)
    seen = look(weights, taken, grid=GRID).attention
    columns = [seen.share.mean(axis=1), seen.share.max(axis=1), seen.neighbors.mean(axis=1),
               seen.sink_share, seen.corners]  # fmt: skip
    assert np.abs(np.array(cells) - 100 * np.transpose(columns)).max() <= 0.5 + 1e-6
    # The page is written in one step, and a look that fails leaves the one before.
    assert main([*look_at, "--pictures", str(pictures)]) == 2
    assert "say grid=(rows, columns)" in capsys.readouterr().err and out.read_text(encoding="utf-8") == page
    assert main(["look", str(weights), "--out", str(tmp_path / "no" / "page.html")]) == 2
    assert "must be a file in a folder that exists" in capsys.readouterr().err
    assert main([*look_at, "--grid", "3", "4"]) == 0
    assert "Attention between patches" not in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "form", [lambda x: x.movedim(1, 3).numpy(), lambda x: x.numpy(), lambda x: x.movedim(1, 3)]
)
def test_colors_may_come_last_and_numbers_in_double(form):
    model, pictures = ViT(ViTConfig.named("reader"), seed=0), torch.rand(2, 3, 32, 32, dtype=torch.float64)
    want = look(model, pictures.float()).attention.maps
    assert np.array_equal(look(model, form(pictures)).attention.maps, want)


def test_pictures_as_bytes_and_too_few():
    with pytest.raises(ValueError, match="pictures must be at least two, got 1"):
        look(plain(), PICTURES[:1])
    with pytest.raises(ValueError, match="heads must divide the width 16 of this dict of weights, got 5"):
        look(plain(), PICTURES, heads=5)
    as_bytes = (255 * torch.rand(2, 24, 32, 3)).to(torch.uint8)
    want = look(plain(), as_bytes.permute(0, 3, 1, 2) / 255 * 2 - 1)
    seen = look(plain(), as_bytes.numpy())
    np.testing.assert_allclose(seen.attention.maps, want.attention.maps, atol=1e-5)
    assert attention_of(plain(), PICTURES[:1]).shape == (2, 1, 1, 12, 12)
