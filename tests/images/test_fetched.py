"""Weights that timm itself fetches are those behind the records: by the library's own path, from the network.

``pytest -m network tests/images``; without a network the tests that need one are skipped and say so.
"""

import urllib.error
import urllib.request

import numpy as np
import pytest
from vision_shim import compare_with

from patch_association.images.locality import neighbor_recall, similarity
from patch_association.images.pretrained import encodings_of
from patch_lab.records import decode, load, rounded

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
