"""Models that others trained: their encodings, themselves as our ViT, their attention, and clear refusals."""

import urllib.error
import urllib.request

import numpy as np
import pytest
import torch
from torch import nn
from vision_shim import compare_with

from patch_association.images.locality import neighbor_recall, similarity
from patch_association.images.pretrained import attention_of, encodings_of
from patch_association.images.weights import read_weights
from patch_lab.images.one_layer import SCOPES, layer_of
from patch_lab.images.pretrained_vit import vit_of
from patch_lab.images.sweeps import vit_tiny
from patch_lab.kit.records import decode, load, rounded

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


@pytest.mark.parametrize("how", ["ResPostBlock", "activation"])
def test_a_module_with_other_logits_is_refused(how):
    """Equal names and shapes, and another network: norms behind the parts, another activation."""
    block = compare_with("timm").models.vision_transformer.ResPostBlock
    model = theirs(**({"block_fn": block} if how == "ResPostBlock" else {"act_layer": torch.nn.ReLU}))
    with pytest.raises(ValueError, match="its tensors in this library's ViT give other logits"):
        vit_of(model)


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
    ours, pictures = vit_of(path, heads=3, norm="before"), torch.rand(2, 3, 224, 224) * 2 - 1
    with torch.no_grad():
        logits = model(pictures)
        torch.testing.assert_close(ours(pictures), logits, atol=1e-4 * float(logits.abs().max()), rtol=0)
    assert torch.equal(encodings_of(model), encodings_of(ours))
    by_hook, by_ours = attention_of(model, pictures), attention_of(path, pictures, 3, "before")
    assert tuple(by_hook.shape) == (12, 2, 3, 196, 196)
    torch.testing.assert_close(by_hook, by_ours, atol=1e-5, rtol=1e-3)


def test_weights_from_a_file(tmp_path):
    np.savez(tmp_path / "w.npz", **{name: value.numpy() for name, value in theirs().state_dict().items()})
    ours = vit_of(tmp_path / "w.npz", heads=2, norm="before")
    with torch.no_grad():
        torch.testing.assert_close(ours(PICTURES), theirs()(PICTURES), atol=1e-5, rtol=1e-4)
    np.savez(tmp_path / "p.npz", pos=np.arange(20.0).reshape(10, 2), n_prefix=1, grid=[3, 3])
    assert torch.equal(encodings_of(tmp_path / "p.npz"), torch.arange(2.0, 20.0).reshape(9, 2))


def test_a_network_without_attention():
    timm = compare_with("timm")
    network = timm.create_model("resnet18", pretrained=False, num_classes=3)
    for call in (encodings_of, vit_of):
        with pytest.raises(ValueError, match="ResNet has no learned positional encodings"):
            call(network)
    with pytest.raises(ValueError, match="ResNet shows no attention"):
        attention_of(network, torch.zeros(1, 3, 64, 64))


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


# --- Weights that timm itself fetches, by the library's own path, are those behind the records


HUB = "https://huggingface.co"
#: By timm's names, what the record ``vit_encodings`` calls them.
RECORDED = {
    "vit_tiny_patch16_224.augreg_in21k_ft_in1k": "ViT-Tiny/16",
    "deit_tiny_patch16_224.fb_in1k": "DeiT-Tiny/16",
}


def assert_recorded(P, row):
    """The similarities of P are those of the record, up to the rounding to single precision that it says."""
    G, want = similarity(P), decode(row["similarity"])
    assert row["similarity"].startswith("f4:") and P.shape[1] == row["width"] and G.shape == want.shape
    # Half of the last of 24 binary digits. The rest is float64's.
    np.testing.assert_allclose(G, want, rtol=2**-24 + 1e-9)
    grid = round(len(P) ** 0.5)
    assert {k: rounded(neighbor_recall(G, grid, int(k))) for k in row["recall"]} == row["recall"]


def unreachable():
    """Why the hub does not answer; nothing if it does, were it with an error."""
    try:
        urllib.request.urlopen(HUB, timeout=10).close()
    except urllib.error.HTTPError as answer:
        answer.close()
    except OSError as error:
        return str(error)


def fetched_encodings(name):
    """Encodings by timm's name; without a network (and a cache) the test ends here, but only then."""
    try:
        return encodings_of(name)
    except ValueError as error:
        why = unreachable() if "could not be fetched" in str(error) else None
        if why is None:
            raise
        pytest.skip(f"not compared: {HUB} cannot be reached ({why}): {error}")


@pytest.mark.network
@pytest.mark.filterwarnings("default")  # what the hub's client warns of is no fault of ours
@pytest.mark.parametrize(("name", "model"), RECORDED.items())
def test_fetched_weights_have_the_recorded_encodings(name, model):
    compare_with("timm")
    assert_recorded(fetched_encodings(name), load("vit_encodings").where(model=model)[0])


# --- Our layers beside those of timm and vit-pytorch: the same function where they should be; reports


SMALL = dict(tokens=5, width=12, heads=3, mlp_width=20)


def tokens(batch=2):
    return torch.randn(batch, SMALL["tokens"], SMALL["width"], generator=torch.Generator().manual_seed(1))


def test_our_vanilla_layer_is_timms_function():
    """With the same weights, both parts agree, and so do the gradients of the input."""
    compare_with("timm.models.vision_transformer")
    for part in SCOPES:
        ours, theirs = (layer_of(kind, part, **SMALL) for kind in ("vanilla", "timm"))
        copy_to_timm(ours.block, theirs.block)
        x, y = tokens().requires_grad_(), tokens().requires_grad_()
        torch.testing.assert_close(ours(x), theirs(y), rtol=0, atol=1e-5)
        ours(x).square().sum().backward(), theirs(y).square().sum().backward()
        torch.testing.assert_close(x.grad, y.grad, rtol=0, atol=1e-5)


def copy_to_timm(ours, theirs):
    attention = ours.attention
    state = {}
    for kind in ("weight", "bias"):
        of = {name: getattr(layer, kind) for name, layer in ours.named_modules() if hasattr(layer, kind)}
        state |= {
            f"norm1.{kind}": of["attention_norm"],
            f"norm2.{kind}": of["mlp_norm"],
            f"attn.qkv.{kind}": torch.cat([of["attention.query_key"], of["attention.value"]]),
            f"attn.proj.{kind}": of["attention.output"],
            f"mlp.fc1.{kind}": of["mlp.0"],
            f"mlp.fc2.{kind}": of["mlp.2"],
        }
    assert attention.heads == theirs.attn.num_heads
    theirs.load_state_dict(state)  # strict: nothing is left over on either side


def test_vit_pytorchs_layer_is_ours_without_three_biases():
    """With the same weights and no biases in queries, keys and values the function is the same."""
    compare_with("vit_pytorch.vit")
    for part in SCOPES:
        ours, theirs = (layer_of(kind, part, **SMALL) for kind in ("vanilla", "vit-pytorch"))
        with torch.no_grad():
            a, (b, mlp) = ours.block.attention, (theirs.mixed, theirs.mlp)
            a.query_key.bias.zero_(), a.value.bias.zero_()
            b.to_qkv.weight.copy_(torch.cat([a.query_key.weight, a.value.weight]))
            b.to_out[0].load_state_dict(a.output.state_dict())
            linear = [layer for layer in mlp.modules() if isinstance(layer, nn.Linear)]
            for source, target in zip((ours.block.mlp[0], ours.block.mlp[2]), linear, strict=True):
                target.load_state_dict(source.state_dict())
        # Layer norms stay at their start; vit-pytorch's have another epsilon, 1e-5.
        torch.testing.assert_close(ours(tokens()), theirs(tokens()), rtol=0, atol=1e-4)
