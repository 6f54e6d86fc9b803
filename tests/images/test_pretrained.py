"""Models that others trained: their encodings, themselves as our ViT, their attention, and clear refusals."""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from vision_shim import compare_with

from patch_association.images.pretrained import attention_of, encodings_of, vit_of
from patch_association.images.vit import ViT, ViTConfig
from patch_association.images.weights import read_weights
from patch_lab.sweeps import vit_tiny

EXTRA = r"pip install 'patch-association\[compare\]'"
PICTURES = torch.randn(3, 3, 24, 24, generator=torch.Generator().manual_seed(0))


def theirs(**changes):
    """A small ViT of timm: 3 x 3 patches."""
    timm = compare_with("timm")
    torch.manual_seed(0)
    shape = dict(img_size=24, patch_size=8, embed_dim=16, depth=3, num_heads=2, num_classes=5, mlp_ratio=2.0)
    model = timm.models.VisionTransformer(**(shape | changes)).eval()
    for parameter in model.parameters():  # away from the start, where norms are trivial and much is zero
        torch.nn.init.normal_(parameter, std=0.3)
    return model


FORMS = [
    dict(),
    dict(class_token=False, global_pool="avg"),
    dict(init_values=0.1),
    dict(qkv_bias=False),
    dict(no_embed_class=True),
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_model_of_timm_is_one_of_ours(form):
    """The same logits, the same encodings, and the same attention by two ways."""
    model = theirs(**form)
    ours = vit_of(model)
    with torch.no_grad():
        torch.testing.assert_close(ours(PICTURES), model(PICTURES), atol=1e-5, rtol=1e-4)
    P = encodings_of(model)
    assert tuple(P.shape) == (9, 16) and torch.equal(P, encodings_of(ours)) and not P.requires_grad
    by_hook, by_ours = attention_of(model, PICTURES), attention_of(ours, PICTURES)
    assert tuple(by_hook.shape) == (3, 3, 2, 9, 9)
    torch.testing.assert_close(by_hook, by_ours, atol=1e-6, rtol=1e-4)
    rest = 1 - by_hook.sum(-1)  # what goes to the class token
    assert (rest.max() < 1e-5) if form.get("class_token") is False else (rest.min() > 0)


WEIGHTS = "vit_tiny_patch16_224.npz"


def test_the_public_weights_are_one_model_by_both_ways():
    """ViT-Tiny/16 as timm builds it and as ours, where PATCH_ASSOCIATION_DATA names a folder with it."""
    timm = compare_with("timm")
    try:
        path = vit_tiny.file(WEIGHTS)
    except ValueError as missing:
        pytest.skip(f"not compared: {missing}")
    model = timm.create_model("vit_tiny_patch16_224", pretrained=False).eval()
    model.load_state_dict(read_weights(path))
    ours, pictures = vit_of(path, heads=3), torch.rand(2, 3, 224, 224) * 2 - 1
    with torch.no_grad():
        logits = model(pictures)
        torch.testing.assert_close(ours(pictures), logits, atol=1e-4 * float(logits.abs().max()), rtol=0)
    assert torch.equal(encodings_of(model), encodings_of(ours))
    by_hook, by_ours = attention_of(model, pictures), attention_of(path, pictures)
    assert tuple(by_hook.shape) == (12, 2, 3, 196, 196)
    torch.testing.assert_close(by_hook, by_ours, atol=1e-5, rtol=1e-3)


def test_a_model_is_left_as_it_was():
    model = theirs().train()
    before = [block.attn.fused_attn for block in model.blocks]
    attention_of(model, PICTURES)
    assert model.training and [block.attn.fused_attn for block in model.blocks] == before
    assert all(not block.attn.attn_drop._forward_hooks for block in model.blocks)


def test_weights_from_a_file(tmp_path):
    model = theirs()
    np.savez(tmp_path / "w.npz", **{name: value.numpy() for name, value in model.state_dict().items()})
    ours = vit_of(tmp_path / "w.npz", heads=2)
    with torch.no_grad():
        torch.testing.assert_close(ours(PICTURES), model(PICTURES), atol=1e-5, rtol=1e-4)
    assert torch.equal(encodings_of(str(tmp_path / "w.npz")), encodings_of(model))
    np.savez(tmp_path / "p.npz", pos=np.arange(20.0).reshape(10, 2), n_prefix=1, grid=[3, 3])
    assert torch.equal(encodings_of(tmp_path / "p.npz"), torch.arange(2.0, 20.0).reshape(9, 2))


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (dict(reg_tokens=2), "parts that this library's ViT has not: .*reg_token"),
        (dict(qk_norm=True), "parts that this library's ViT has not: .*k_norm"),
        (dict(pos_embed="none"), "has no learned positional encodings"),
        (dict(img_size=(24, 16)), "has a grid of 3 x 2 patches, and a square one is needed"),
        (dict(pre_norm=True), "no plain ViT|parts that this library's ViT has not: .*norm_pre"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_models_that_ours_is_not(form, words):
    with pytest.raises(ValueError, match=words):
        vit_of(theirs(**form))


def test_registers_are_left_out():
    model = theirs(reg_tokens=2)
    assert tuple(encodings_of(model).shape) == (9, 16)
    assert tuple(attention_of(model, PICTURES).shape) == (3, 3, 2, 9, 9)


def test_a_network_without_attention():
    timm = compare_with("timm")
    network = timm.create_model("resnet18", pretrained=False, num_classes=3)
    for call in (encodings_of, vit_of):
        with pytest.raises(ValueError, match="ResNet has no learned positional encodings"):
            call(network)
    with pytest.raises(ValueError, match="ResNet shows no attention"):
        attention_of(network, torch.zeros(1, 3, 64, 64))


def test_other_families_of_timm():
    """Heads that are mixed after the softmax, attention between channels; after a refusal no hook is left."""
    timm = compare_with("timm")
    shape = dict(img_size=24, patch_size=8, embed_dim=16, depth=2, num_heads=2, num_classes=3)
    network = timm.models.cait.Cait(**shape)
    said = "Cait has a layer without the attention of a ViT: expected timm's, .* got TalkingHeadAttn"
    with pytest.raises(ValueError, match=said):
        attention_of(network, PICTURES)
    channels = timm.models.xcit.Xcit(**shape)
    said = r"Xcit shows no attention of shape \(B, heads, tokens, tokens\), got \(3, 2, 8, 8\) for 9 tokens"
    with pytest.raises(ValueError, match=said):
        attention_of(channels, PICTURES)
    mixed = theirs()
    mixed.blocks[2].attn = network.blocks[0].attn
    with pytest.raises(ValueError, match="got TalkingHeadAttn"):
        attention_of(mixed, PICTURES)
    for module in (*channels.modules(), *mixed.modules()):
        assert not module._forward_hooks and not module._forward_pre_hooks


def spoiled(value):
    pictures = PICTURES.clone()
    pictures[1, 2, 3, 4] = value
    return pictures


#: By kind: the pictures, what is said of them to every model, and by a model of timm in its own words.
OTHER_PICTURES = {
    "larger": (torch.zeros(2, 3, 32, 32), "32, 32", r"\(32\) doesn't match model \(24\)"),
    "gray": (torch.zeros(2, 1, 24, 24), "1, 24, 24", "to have 3 channels, but got 1"),
    "double": (PICTURES.double(), "torch.float64 on cpu: .*(double|Double).*(float|Float)", ""),
    "uint8": (torch.zeros(2, 3, 24, 24, dtype=torch.uint8), "must be floating-point, .* got torch.uint8", ""),
    "NaN": (spoiled(torch.nan), "must be finite, got NaN or infinite pixels in 1 of 3", ""),
    "infinite": (spoiled(-torch.inf), "must be finite, got NaN or infinite pixels in 1 of 3", ""),
}


@pytest.mark.parametrize("kind", ["timm", "ours", "weights"])
@pytest.mark.parametrize(("pictures", "said", "timms"), OTHER_PICTURES.values(), ids=OTHER_PICTURES)
def test_pictures_that_the_model_does_not_take(kind, pictures, said, timms):
    """What came and what was expected, in one line; the model is left as it was."""
    model = theirs().train()
    given = {"timm": model, "ours": vit_of(model), "weights": dict(model.state_dict())}[kind]
    with pytest.raises(ValueError, match=f"{said}.*{timms if kind == 'timm' else ''}") as refusal:
        attention_of(given, pictures)
    assert len(str(refusal.value).splitlines()) == 1
    assert model.training and all(block.attn.fused_attn for block in model.blocks)
    assert all(not module._forward_hooks and not module._forward_pre_hooks for module in model.modules())


def test_a_full_memory_is_no_fault_of_the_pictures(monkeypatch):
    model = theirs()

    def full(images):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(model, "forward", full)
    with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
        attention_of(model, PICTURES)


def test_positional_attention_is_one_for_all_pictures():
    model = ViT(ViTConfig.named("reader", attention="positional", image_size=24, patch_size=8))
    S = attention_of(model, PICTURES)
    assert tuple(S.shape) == (1, 3, 4, 9, 9) and torch.equal(S[:, 0], S[:, 2])
    assert torch.equal(encodings_of(model), model.positions[0])


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({}, "weights must be tensors by name, got none at all"),
        ({"pos_embed": 3}, r"weights must be tensors by name, got \['pos_embed'\]"),
        ({"pos_embed": torch.zeros(1, 9, 4)}, "is no plain ViT: it has no tensor 'patch_embed.proj.weight'"),
        (
            {"pos_embed": torch.zeros(1, 8, 4)},
            "8 positional encodings for unknown patches and 0 other tokens",
        ),
        ({"pos": torch.zeros(8, 4)}, r"encodings of shape \(8, 4\): their patches form no square grid"),
        ({"head.weight": torch.zeros(3, 4)}, "no learned positional encodings of shape"),
    ],
)
def test_weights_that_are_none(weights, words):
    with pytest.raises(ValueError, match=words):
        vit_of(weights)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("place", ["pos_embed", "blocks.1.attn.qkv.weight", "head.bias"])
def test_weights_that_are_no_numbers(place, bad):
    """In a module of timm, in a dict of its weights and in a model of ours, by every way in."""
    model = theirs()
    ours = vit_of(model)
    with torch.no_grad():
        model.get_parameter(place).view(-1)[7 % model.get_parameter(place).numel()] = bad
        ours.blocks[1].attention.value.weight[0, 0] = bad
    weights = dict(model.state_dict())
    said = f"holds '{place}', which is no array of finite numbers: torch.float32"
    for given in (model, weights):
        for call in (encodings_of, vit_of, lambda given: attention_of(given, PICTURES)):
            with pytest.raises(ValueError, match=said):
                call(given)
    with pytest.raises(ValueError, match="ViT holds 'blocks.1.attention.value.weight', which is no array"):
        attention_of(ours, PICTURES)
    for tensor in (torch.zeros(5, dtype=torch.complex64), torch.zeros(5, device="meta")):
        with pytest.raises(ValueError, match="this dict of weights holds 'other', which is no array"):
            encodings_of({"other": tensor, **theirs().state_dict()})


def test_attention_that_overflows_is_named():
    """Finite weights and pictures, and products beyond the largest float."""
    model = theirs()
    with torch.no_grad():
        model.blocks[1].attn.qkv.weight.fill_(1e30)
    for given in (model, vit_of(model)):
        with pytest.raises(ValueError, match="attention of layer 1 of .* is not finite on these pictures"):
            attention_of(given, PICTURES)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (dict(grid=[4, 9]), "has a grid of 4 x 9 patches, and a square one is needed"),
        (dict(grid=[5, 5]), "has 36 - 0 encodings of patches, and a grid of 5 x 5"),
        (dict(grid=[6, 6], n_prefix=1), "has 36 - 1 encodings of patches, and a grid of 6 x 6"),
        (dict(grid=36), r"must hold 2 of 0, 1, 2, ... as 'grid', got \[36\]"),
        (dict(grid=[-6, -6]), r"must hold 2 of 0, 1, 2, ... as 'grid', got \[-6, -6\]"),
        (dict(n_prefix=-27), r"must hold 1 of 0, 1, 2, ... as 'n_prefix', got \[-27\]"),
        (dict(n_prefix=11.5), r"must hold 1 of 0, 1, 2, ... as 'n_prefix', got \[11.5\]"),
        (dict(n_prefix=[0, 0]), r"must hold 1 of 0, 1, 2, ... as 'n_prefix', got \[0, 0\]"),
        (dict(n_prefix=36), r"has encodings of shape \(0, 2\): their patches form no square grid"),
        (dict(pos=3.0), r"has encodings of shape \(\): their patches form no square grid"),
    ],
    ids=str,
)
def test_encodings_alone_that_do_not_fit_their_grid(tmp_path, more, words):
    """Thirty-six rows of two numbers, and what is said of them."""
    np.savez(tmp_path / "p.npz", **(dict(pos=np.arange(72.0).reshape(36, 2)) | more))
    with pytest.raises(ValueError, match=f"p.npz {words}"):
        encodings_of(tmp_path / "p.npz")


@pytest.mark.parametrize(
    ("name", "axes"),
    [("cls_token", 3), ("patch_embed.proj.weight", 4), ("blocks.0.mlp.fc1.weight", 2), ("head.weight", 2)],
)
def test_a_tensor_of_other_axes_is_named(name, axes):
    weights = dict(theirs().state_dict())
    for tensor in (torch.tensor(1.0), weights[name][None]):
        said = rf"'{name}' must have {axes} axes, got shape \({', '.join(map(str, tensor.shape))}\)"
        with pytest.raises(ValueError, match=said):
            vit_of(weights | {name: tensor}, heads=2)
    with pytest.raises(ValueError, match=r"weights must be tensors by name, got \[3\]"):
        vit_of(weights | {3: torch.zeros(2)})
    with pytest.raises(ValueError, match="10 positional encodings for unknown patches and 31 other tokens"):
        encodings_of(weights | {"reg_token": torch.zeros(1, 30, 16)})
    with pytest.raises(ValueError, match=r"no learned positional encodings of shape \(1, tokens, width\)"):
        encodings_of(weights | {"pos_embed": torch.zeros(2, 10, 16)})


def test_a_missing_or_misshapen_tensor_is_named():
    weights = dict(theirs().state_dict())
    left_out = {k: v for k, v in weights.items() if k != "blocks.1.mlp.fc2.bias"}
    with pytest.raises(ValueError, match=r"is no plain ViT: it has no tensor 'blocks.1.mlp.fc2.bias'"):
        vit_of(left_out, heads=2)
    with pytest.raises(ValueError, match=r"is no plain ViT: size mismatch for head.bias"):
        vit_of(weights | {"head.bias": torch.zeros(4)}, heads=2)
    with pytest.raises(ValueError, match="width must be a multiple of heads"):
        vit_of(weights, heads=3)


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    class Bomb:
        def __reduce__(self):
            return (sys.exit, ("it was unpickled",))

    for name, content in (("raw.npz", pickle.dumps(Bomb())), ("short.npz", b"PK\x03\x04")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=f"{name} is no whole npz file of arrays"):
            encodings_of(tmp_path / name)
    np.savez(tmp_path / "objects.npz", pos=np.array([Bomb()], dtype=object))
    with pytest.raises(ValueError, match="objects.npz is no whole npz file of arrays: .*allow_pickle"):
        read_weights(tmp_path / "objects.npz")
    for bad in (np.array(["text"]), np.array([1.0, np.nan])):
        np.savez(tmp_path / "bad.npz", pos=bad)
        with pytest.raises(ValueError, match="bad.npz holds 'pos', which is no array of finite numbers"):
            read_weights(tmp_path / "bad.npz")
    with pytest.raises(ValueError, match="nowhere.npz is no whole npz file"):
        encodings_of(tmp_path / "nowhere.npz")
    with pytest.raises(ValueError, match="a model must be a module, weights, a file or a name, got int"):
        encodings_of(3)


class Timm:
    """A stand-in for the library: what is asked of it, and a failure."""

    def __init__(self, failure):
        self.failure, self.asked = failure, []

    def create_model(self, name, pretrained):
        self.asked.append((name, pretrained))
        if name == "nothing":
            raise RuntimeError("Unknown model (nothing)")
        if pretrained and self.failure:
            raise self.failure
        table = torch.nn.Parameter(torch.arange(30.0).reshape(1, 10, 3))
        model = torch.nn.Module()
        model.pos_embed, model.num_prefix_tokens = table, 1
        model.patch_embed = SimpleNamespace(num_patches=9, grid_size=(3, 3))
        return model


@pytest.mark.parametrize(
    "failure",
    [
        FileNotFoundError("not in the local cache"),
        RuntimeError("No weights"),
        ConnectionResetError("halfway"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_weights_that_cannot_be_fetched(monkeypatch, failure):
    monkeypatch.setitem(sys.modules, "timm", Timm(failure))
    said = rf"weights of a ViT could not be fetched.*the network \({type(failure).__name__}: {failure}\)"
    with pytest.raises(ValueError, match=said) as caught:
        encodings_of("a ViT")
    assert caught.value.__cause__ is failure


def test_names_are_timms(monkeypatch):
    timm = Timm(None)
    monkeypatch.setitem(sys.modules, "timm", timm)
    assert encodings_of("a ViT").tolist() == torch.arange(3.0, 30.0).reshape(9, 3).tolist()
    assert timm.asked == [("a ViT", False), ("a ViT", True)]
    with pytest.raises(ValueError, match=r"timm cannot build a model called 'nothing': Unknown model"):
        encodings_of("nothing")
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ValueError, match=rf"fetching a ViT needs timm.*{EXTRA}"):
        encodings_of("a ViT")
