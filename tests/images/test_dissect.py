"""A ViT taken apart: the parts add up, edits do what they say, and shares are shares."""

import pytest
import torch

from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.dissect import (
    LOGIT_TERMS,
    FixedAttention,
    Inside,
    fixed,
    kl,
    logit_shares,
    start,
    through,
)


@pytest.fixture
def model():
    """Three layers on 4 x 4 patches, far from its start, in double precision."""
    config = ViTConfig.named("reader", image_size=16, depth=3, heads=2, width=8, mlp_width=12, pooling="cls")
    model = ViT(config, seed=1).double()
    generator = torch.Generator().manual_seed(2)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.5
    return model.requires_grad_(False)


@pytest.fixture
def pictures():
    return torch.randn(6, 3, 16, 16, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def test_the_whole_is_the_model(model, pictures):
    seen = []
    logits = through(model, start(model, pictures), seen=seen)
    torch.testing.assert_close(logits, model(pictures), atol=1e-12, rtol=0)
    maps = model(pictures, return_all=True)[1]["attention"]
    for layer, x in enumerate(seen):
        S = Inside(model.blocks[layer], x).logits().softmax(-1)
        torch.testing.assert_close(S, maps[layer], atol=1e-12, rtol=0)
        torch.testing.assert_close(through(model, x, first=layer), logits, atol=1e-12, rtol=0)


@pytest.mark.parametrize("positions", ["paper", "input"])
def test_positional_attention_taken_apart(pictures, positions):
    """P enters where the model lets it, and a layer that is left alone sees P and not the tokens."""
    config = ViTConfig.named(
        "reader", image_size=16, depth=3, heads=2, width=8, mlp_width=12, attention="positional",
        positions=positions,
    )  # fmt: skip
    model = ViT(config, seed=1).double().requires_grad_(False)
    model.positions.data *= 100
    x, maps = start(model, pictures), model(pictures, return_all=True)[1]["attention"]
    torch.testing.assert_close(through(model, x), model(pictures), atol=1e-12, rtol=0)
    torch.testing.assert_close(through(model, x, {1: fixed(maps[1])}), model(pictures), atol=1e-12, rtol=0)
    assert kl(model(pictures), through(model, x, {1: fixed(maps[1].flip(0))})).min() > 1e-8
    one_head = through(model, x, {1: fixed(maps[1].clone(), heads=[0])})  # the other as it is
    torch.testing.assert_close(one_head, model(pictures), atol=1e-12, rtol=0)
    with pytest.raises(ValueError, match="the logits of positional attention have one part"):
        Inside(model.blocks[0], x, model.positions[0]).parts(x.mean(dim=0))


@pytest.mark.parametrize("after_norm", [False, True])
def test_four_parts_make_the_logits(model, pictures, after_norm):
    inside = Inside(model.blocks[1], start(model, pictures))
    stream = inside.z if after_norm else inside.x
    parts = inside.parts(stream.mean(0), after_norm)
    assert tuple(parts) == LOGIT_TERMS
    torch.testing.assert_close(sum(parts.values()), inside.logits(), atol=1e-12, rtol=1e-12)
    shares = logit_shares(parts, 16).sum(0)
    torch.testing.assert_close(shares[:, :4].sum(-1), shares[:, 4], atol=1e-9, rtol=1e-9)


def test_the_position_part_is_the_mean_stream_normed_with_each_tokens_own_number(model, pictures):
    """By hand for one picture, query, key and head."""
    block = model.blocks[1]
    inside = Inside(block, start(model, pictures))
    mean = inside.x.mean(0)
    part = inside.parts(mean)["position-content"][4, 1, 2, 7]
    norm, attention = block.attention_norm, block.attention

    def projected(x, token, row):
        spread = (inside.x[4, token].var(correction=0) + norm.eps).sqrt()
        normed = (x - x.mean()) / spread * norm.weight
        return normed, row

    position, _ = projected(mean[2], 2, None)
    content, _ = projected(inside.x[4, 7] - mean[7], 7, None)
    W, b = attention.query_key.weight, attention.query_key.bias
    q = W[4:8] @ (position + norm.bias) + b[4:8]  # head 1 of queries: rows 4..7
    k = W[12:16] @ content  # head 1 of keys
    assert part == pytest.approx(float(q @ k) / 4**0.5, abs=1e-12)


def test_a_network_with_fixed_attention(model, pictures):
    """Its own maps of one picture give that picture's answer; queries and keys there have no part in it."""
    x = start(model, pictures[:1])
    maps = {0: Inside(model.blocks[0], x).logits().softmax(dim=-1)[0]}
    network = FixedAttention(model, maps).requires_grad_(True)
    torch.testing.assert_close(network(pictures[:1]), model(pictures[:1]))
    assert not torch.allclose(network(pictures), model(pictures), atol=1e-3)
    network(pictures).sum().backward()
    attention = [block.attention for block in model.blocks]
    assert attention[0].query_key.weight.grad is None and attention[0].query_key.bias.grad is None
    assert attention[0].value.weight.grad.abs().max() > 0 < attention[1].query_key.weight.grad.abs().max()
    assert network.float().get_buffer("maps_0").dtype == torch.float32
