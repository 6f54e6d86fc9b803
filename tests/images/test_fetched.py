"""Weights that timm itself fetches are those behind the records: by the library's own path, from the network.

``pytest -m network tests/images``; without a network the tests that need one are skipped and say so.
"""

import urllib.error
import urllib.request

import numpy as np
import pytest
import torch
from vision_shim import compare_with

from patch_association.images import weights
from patch_association.images.locality import neighbor_recall, similarity
from patch_association.images.pretrained import encodings_of
from patch_lab.records import decode, encode, load, rounded

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


def test_the_records_are_those_that_are_compared():
    assert [row["model"] for row in load("vit_encodings").results] == list(RECORDED.values())
    for row in load("vit_encodings").results:
        assert row["width"] == 192 and decode(row["similarity"]).shape == (196, 196)


@pytest.fixture
def stand_in(monkeypatch):
    """A network that gives a ViT of 7 x 7 patches under every name, and the record of its encodings."""
    model = torch.nn.Module()
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(1, 50, 24, generator=generator) * torch.logspace(-4, 1, 24)
    model.pos_embed, model.num_prefix_tokens = torch.nn.Parameter(table), 1
    monkeypatch.setattr(weights, "fetched", lambda name: model)
    G = similarity(table[0, 1:])
    recall = {str(k): neighbor_recall(G, 7, k) for k in (4, 8, 12)}
    return model, {"similarity": encode(G, "f4"), "width": 24, "recall": rounded(recall)}


def test_the_same_weights_pass(stand_in):
    _, row = stand_in
    assert_recorded(fetched_encodings("a ViT"), row)


def nudged(P):
    P = P.clone()
    P[0, 9, 20] += 0.1
    return P


CHANGES = {
    "longer by what single precision just shows": lambda P: P * 1.0000003,
    "one number": nudged,
    "two patches exchanged": lambda P: P[:, [*range(20), 21, 20, *range(22, 50)]],
    "the class token among the patches": lambda P: P.roll(1, dims=1),
    "another start": lambda P: torch.randn(P.shape, generator=torch.Generator().manual_seed(1)),
    "a number less": lambda P: P[..., :-1],
    "another grid": lambda P: P[:, :37],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_other_weights_do_not(stand_in, change):
    model, row = stand_in
    model.pos_embed = torch.nn.Parameter(change(model.pos_embed.detach()))
    with pytest.raises(AssertionError):
        assert_recorded(fetched_encodings("a ViT"), row)


def ending(name):
    """How fetching ends: an exception, among them that of a test that is skipped."""
    with pytest.raises((ValueError, pytest.skip.Exception)) as ended:
        fetched_encodings(name)
    return type(ended.value), str(ended.value)


def test_only_a_missing_network_ends_a_test(monkeypatch):
    """With one, weights that are gone are a failure; without one, all else is."""

    def gone(name):
        raise ValueError(f"the weights of {name} could not be fetched")

    monkeypatch.setattr(weights, "fetched", gone)
    why = "the weights of a ViT could not be fetched"
    monkeypatch.setattr(f"{__name__}.unreachable", lambda: "no route")
    said = f"not compared: {HUB} cannot be reached (no route): {why}"
    assert ending("a ViT") == (pytest.skip.Exception, said)
    monkeypatch.setattr(f"{__name__}.unreachable", lambda: None)
    assert ending("a ViT") == (ValueError, why)
    monkeypatch.setattr(f"{__name__}.unreachable", lambda: "no route")
    monkeypatch.setattr(weights, "fetched", lambda name: weights.read_weights("no.npz"))
    kind, said = ending("a ViT")
    assert kind is ValueError and "no whole npz" in said
