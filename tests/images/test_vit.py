"""The ViT: exactly one difference between its two kinds, and what it returns."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from patch_association.attention import positional_attention, self_attention
from patch_association.images import layers
from patch_association.images.layers import PositionalAttention, SelfAttention
from patch_association.images.vit import ViT, ViTConfig, patches, shifts
from patch_lab.images.data.permutation import GridPermutation


def small(**changes):
    settings = dict(image_size=8, patch_size=2, num_classes=3, depth=2, heads=2, width=8, mlp_width=12)
    return ViTConfig(**(settings | changes))


def pictures(n=5, size=8, dtype=torch.float32):
    return torch.randn(n, 3, size, size, generator=torch.Generator().manual_seed(1), dtype=dtype)


def test_patches_are_numbered_row_by_row():
    image = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert patches(image, 2)[0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]


def test_one_head_is_the_papers_attention():
    width, n = 6, 5
    g = torch.Generator().manual_seed(0)
    X, P = torch.randn(4, n, width, generator=g), torch.randn(n, width, generator=g)
    for layer, definition in ((SelfAttention, self_attention), (PositionalAttention, positional_attention)):
        attention = layer(width, 1)
        with torch.no_grad():
            attention.output.weight.copy_(torch.eye(width))
            for part in (attention.query_key, attention.value, attention.output):
                part.bias.zero_()
        W_Q, W_K = attention.query_key.weight.T.chunk(2, dim=1)
        want, want_S = definition(X, P, W_Q, W_K, attention.value.weight.T, return_attention=True)
        got, S = attention(X, P, True) if layer is SelfAttention else attention(X, P)
        torch.testing.assert_close(got, want)
        torch.testing.assert_close(S.squeeze(-3), want_S)


def test_several_heads_split_the_width():
    attention = PositionalAttention(8, 2)
    g = torch.Generator().manual_seed(0)
    X, P = torch.randn(3, 5, 8, generator=g), torch.randn(5, 8, generator=g)
    Q, K = attention.query_key(P).chunk(2, dim=1)
    V = attention.value(X)
    heads = []
    for h in (slice(0, 4), slice(4, 8)):
        S = torch.softmax(Q[:, h] @ K[:, h].T / 4**0.5, dim=1)
        heads.append(S @ V[..., h])
    torch.testing.assert_close(attention(X, P)[0], attention.output(torch.cat(heads, dim=-1)))


def gradients(out, attention, *inputs):
    return torch.autograd.grad(out.square().sum(), [*attention.parameters(), *inputs])


@pytest.mark.parametrize(("width", "heads", "n"), [(12, 3, 12), (8, 2, 9), (6, 1, 9)])
def test_maps_larger_than_the_tokens_are_made_again_instead_of_kept(width, heads, n):
    """The same function and the same gradients, to rounding, and nothing of size H N^2 is saved."""
    g = torch.Generator().manual_seed(0)
    attention = PositionalAttention(width, heads).double()
    X, P = (torch.randn(*shape, generator=g, dtype=torch.float64) for shape in ((1, n, width), (n, width)))
    X.requires_grad_(), P.requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: (kept.append(x.numel()), x)[1], lambda x: x):
        out, S = attention(X, P)
    assert S is None and max(kept) < heads * n * n
    held, S = attention(X, P, attention.attention(P))
    torch.testing.assert_close(out, held, rtol=1e-12, atol=1e-12)
    wanted = gradients(held, attention, X, P)
    for found, want in zip(gradients(out, attention, X, P), wanted, strict=True):
        torch.testing.assert_close(found, want, rtol=1e-11, atol=1e-12)
    with torch.autocast("cpu", torch.bfloat16):
        rough = attention.float()(X.float(), P.float())[0]
    for found, want in zip(
        gradients(rough, attention), gradients(attention(X.float(), P.float())[0], attention)
    ):
        assert (found - want).norm() <= 0.05 * want.norm() + 1e-3


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("positions", ["paper", "input"])
@pytest.mark.parametrize("attention", ["vanilla", "positional"])
def test_under_autocast_both_kinds_keep_their_tokens_in_single_precision(attention, positions, pooling):
    """In bfloat16 they would also spoil the gradient of the layer norms: on a CPU its sums are kept in it."""
    g = torch.Generator().manual_seed(0)
    shape = dict(image_size=16, patch_size=2, depth=3, heads=2, width=32, mlp_width=64)
    model = ViT(ViTConfig(attention=attention, positions=positions, pooling=pooling, **shape))
    pictures, labels = torch.randn(64, 3, 16, 16, generator=g), torch.randint(0, 10, (64,), generator=g)
    types, found = [], []
    for block in model.blocks:
        block.register_forward_hook(lambda _, inputs, out: types.append((inputs[0].dtype, out[0].dtype)))
    for enabled in (False, True):
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            torch.nn.functional.cross_entropy(model(pictures), labels).backward()
        found.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    assert set(types) == {(torch.float32, torch.float32)}
    for want, rough in zip(*found, strict=True):
        assert (rough - want).norm() <= 0.05 * want.norm() + 1e-5


@pytest.mark.parametrize("positions", ["paper", "input", "layers"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_both_kinds_share_every_parameter_and_its_start(positions, pooling):
    one, other = (
        ViT(small(attention=a, positions=positions, pooling=pooling), seed=3)
        for a in ("vanilla", "positional")
    )
    assert list(one.state_dict()) == list(other.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values()))
    assert not torch.equal(one(pictures()), other(pictures()))


def test_values_of_positional_attention_do_not_see_the_positions():
    """With flat scores, P has no way left into the logits."""
    model = ViT(small(attention="positional"))
    for block in model.blocks:
        torch.nn.init.zeros_(block.attention.query_key.weight)
    before = model(pictures())
    torch.nn.init.normal_(model.positions)
    torch.testing.assert_close(model(pictures()), before)


def test_shifts_look_one_patch_away_and_at_themselves_at_the_rim():
    S = shifts(3, 8)
    assert S.sum(dim=-1).eq(1).all()
    steps = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
    for head, (down, right) in enumerate(steps):
        for place in range(9):
            row, column = place // 3 + down, place % 3 + right
            seen = 3 * row + column if 0 <= row < 3 and 0 <= column < 3 else place
            assert S[head, place, seen] == 1


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("kind", ["uniform", "shifts"])
def test_a_control_mixes_by_maps_that_nobody_learns(kind, pooling):
    """Scores have no gradient, the maps are those that were written, and a tiny network is them by hand."""
    model = ViT(small(attention=kind, pooling=pooling, depth=1), seed=0)
    logits, out = model(pictures(), return_all=True)
    n = model.config.num_tokens
    want = torch.full((2, n, n), 1 / n) if kind == "uniform" else shifts(4, 2, pooling == "cls")
    torch.testing.assert_close(out["attention"][0], want)
    logits.sum().backward()
    query_key = model.blocks[0].attention.query_key.weight
    assert query_key.grad is None and model.positions.grad is None
    assert model.blocks[0].attention.value.weight.grad.abs().sum() > 0
    x = model.embed(patches(pictures(), 2))
    if pooling == "cls":
        x = torch.cat([x, model.class_token.expand(len(x), 1, -1)], dim=1)
    block = model.blocks[0]
    v = block.attention.value(block.attention_norm(x)).unflatten(-1, (2, 4))  # (B, T, H, d_h)
    mixed = torch.einsum("hts,bshd->bthd", want, v).flatten(2)
    x = x + block.attention.output(mixed)
    torch.testing.assert_close(out["tokens"], x + block.mlp(block.mlp_norm(x)))


def test_without_encodings_a_shuffle_of_the_patches_changes_nothing():
    model = ViT(small(positions="none"), seed=0)
    images = pictures()
    shuffled = GridPermutation(8, 2, 1)(images)
    torch.testing.assert_close(model(images), model(shuffled))
    assert not torch.allclose(ViT(small(), seed=0)(images), ViT(small(), seed=0)(shuffled))
    with pytest.raises(ValueError, match="no scores"):
        small(attention="positional", positions="none")


def test_fused_attention_runs_by_named_backends_and_never_by_cudnns(monkeypatch):
    seen, real = [], layers.F.scaled_dot_product_attention

    def noting(*tensors, **options):
        flags = torch.backends.cuda
        seen.append((flags.cudnn_sdp_enabled(), flags.flash_sdp_enabled(), flags.mem_efficient_sdp_enabled(),
                     flags.math_sdp_enabled()))  # fmt: skip
        return real(*tensors, **options)

    monkeypatch.setattr(layers.F, "scaled_dot_product_attention", noting)
    vit = ViT(ViTConfig.named("reader", image_size=8, patch_size=2, depth=2))
    vit(torch.randn(2, 3, 8, 8)).sum().backward()
    assert seen == [(False, True, True, True)] * 2
    source = Path(layers.__file__).parents[2]
    calls = [
        path.name for path in source.rglob("*.py") if "scaled_dot_product_attention(" in path.read_text()
    ]
    assert calls == ["layers.py"]


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
def test_scores_over_the_root_of_the_width_and_two_gelus(attention):
    c = ViTConfig.named("reader", image_size=8, patch_size=2, attention=attention)
    usual, other = (ViT(replace(c, **own), seed=1) for own in ({}, dict(score_scale="width", two_gelus=True)))
    x = torch.randn(3, 16, c.width)
    with torch.no_grad():
        for model in (usual, other):
            model.blocks[0].attention.query_key.bias.zero_()
        # Four heads: the root of the width is twice that of a head's, as if queries were halved.
        usual.blocks[0].attention.query_key.weight[: c.width] /= 2
        S, expected = (model.blocks[0].attention.attention(x) for model in (other, usual))
        torch.testing.assert_close(S, expected)
        own = other.blocks[0].attention
        mixed = own(x, None)[0] if attention == "vanilla" else own(x, x[0])[0]
        given = usual.blocks[0].attention
        torch.testing.assert_close(mixed, given(x, None)[0] if attention == "vanilla" else given(x, x[0])[0])
        one, two = usual.blocks[0].mlp(x), other.blocks[0].mlp(x)
        torch.testing.assert_close(two, torch.nn.functional.gelu(one))
    with pytest.raises(ValueError, match="score_scale must be one of head, width, got 'patch'"):
        replace(c, score_scale="patch")
