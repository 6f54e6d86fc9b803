"""Encodings of public models: the rows of patches, whatever else has a row, and clear refusals."""

import importlib
import sys
from types import SimpleNamespace

import pytest
import torch
from vision_shim import other_or_none

from patch_association.images.pretrained import patch_rows, pretrained_positions

EXTRA = r"pip install 'patch-association\[compare\]'"


class Timm:
    """A stand-in for the library: what is asked of it, and a model as it returns them."""

    def __init__(self, failure=None, patches=9, **attributes):
        self.model = SimpleNamespace(patch_embed=SimpleNamespace(num_patches=patches), **attributes)
        self.failure, self.asked = failure, []

    def create_model(self, name, pretrained):
        self.asked.append((name, pretrained))
        if name == "nothing":
            raise RuntimeError("Unknown model (nothing)")
        if pretrained and self.failure:
            raise self.failure
        return self.model


TABLE = torch.nn.Parameter(torch.arange(30.0).reshape(1, 10, 3))


def test_other_tokens_are_left_out(monkeypatch):
    timm = Timm(pos_embed=TABLE, num_prefix_tokens=1)
    monkeypatch.setitem(sys.modules, "timm", timm)
    P = pretrained_positions("a ViT")
    assert timm.asked == [("a ViT", False), ("a ViT", True)]
    assert torch.equal(P, TABLE[0, 1:]) and not P.requires_grad
    timm.model.patch_embed.num_patches = 10  # then the table has no row for the class token
    assert torch.equal(pretrained_positions(), TABLE[0])
    assert timm.asked[-1][0].startswith("vit_small_patch32_224")


@pytest.mark.parametrize(
    "failure",
    [
        FileNotFoundError("cannot find the requested files in the local cache"),
        RuntimeError("No pretrained weights exist"),
        ConnectionResetError("halfway"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_weights_that_cannot_be_fetched(monkeypatch, failure):
    monkeypatch.setitem(sys.modules, "timm", Timm(failure, pos_embed=TABLE, num_prefix_tokens=1))
    reason = rf"\({type(failure).__name__}: {failure}\)"
    said = rf"the weights of a ViT could not be fetched.*needs the network {reason}"
    with pytest.raises(ValueError, match=said) as caught:
        pretrained_positions("a ViT")
    assert caught.value.__cause__ is failure


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        (dict(pos_embed=None), "a CNN has no learned positional encodings"),
        (dict(pos_embed=torch.zeros(1, 4, 4, 3)), "a CNN has no learned positional encodings"),
        (dict(pos_embed=TABLE, patches=8), "10 positional encodings for 8 patches and 1 other tokens"),
        (dict(pos_embed=TABLE, patches=None), "10 positional encodings for None patches"),
        (dict(pos_embed=TABLE, patches=11), "10 positional encodings for 11 patches"),
    ],
)
def test_encodings_that_are_not_there(monkeypatch, attributes, said):
    timm = Timm(num_prefix_tokens=1, **attributes)
    monkeypatch.setitem(sys.modules, "timm", timm)
    with pytest.raises(ValueError, match=said):
        pretrained_positions("a CNN")
    assert timm.asked == [("a CNN", False)]  # nothing was fetched for it


def test_refusals(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", Timm())
    with pytest.raises(ValueError, match="timm cannot build a model called 'nothing': Unknown model"):
        pretrained_positions("nothing")
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ValueError, match=rf"needs timm, .*{EXTRA}"):
        pretrained_positions()


#: Class tokens with rows and without, distilled, registers, pooled by a mean, another kind of ViT.
REAL = {
    "vit_tiny_patch16_224": 14**2,
    "vit_small_patch32_224": 7**2,
    "deit_tiny_patch16_224": 14**2,
    "deit_tiny_distilled_patch16_224": 14**2,
    "deit3_small_patch16_224": 14**2,
    "flexivit_small": 15**2,
    "vit_wee_patch16_reg1_gap_256": 16**2,
    "vit_small_patch14_reg4_dinov2": 37**2,
    "cait_xxs24_224": 14**2,
}


def timm_or_none():
    """The library; where it is not installed, None, and then the extra must be named."""
    timm = other_or_none("timm")
    if timm is None:
        with pytest.raises(ValueError, match=EXTRA):
            pretrained_positions()
    return timm


def test_models_of_timm():
    """Their own code, without weights: as many rows as patches, and not the first for a class token."""
    timm = timm_or_none()
    if timm is None:
        return
    for name, patches in REAL.items():
        model = timm.create_model(name, pretrained=False)
        P = patch_rows(model, name)
        assert P.shape == (patches, model.embed_dim), name
        assert torch.equal(P, model.pos_embed[0, -patches:])
    with pytest.raises(ValueError, match="resnet18 has no learned positional encodings"):
        patch_rows(timm.create_model("resnet18", pretrained=False), "resnet18")


def test_timm_without_a_network(monkeypatch, tmp_path):
    """The hub's own failure, at once: it is told to stay offline, and its cache is empty."""
    if timm_or_none() is None:
        return
    hub = importlib.import_module("huggingface_hub.constants")
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        ValueError, match="the weights of vit_tiny_patch16_224 could not be fetched"
    ) as caught:
        pretrained_positions("vit_tiny_patch16_224")
    assert type(caught.value.__cause__).__module__.startswith("huggingface_hub")
