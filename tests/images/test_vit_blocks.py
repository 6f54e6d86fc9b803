"""Our layers beside those of timm and vit-pytorch: the same function where they should be; reports."""

import torch
from torch import nn
from vision_shim import compare_with

from patch_lab.images.one_layer import PARTS, layer_of

SMALL = dict(tokens=5, width=12, heads=3, mlp_width=20)


def tokens(batch=2):
    return torch.randn(batch, SMALL["tokens"], SMALL["width"], generator=torch.Generator().manual_seed(1))


def test_our_vanilla_layer_is_timms_function():
    """With the same weights, both parts agree, and so do the gradients of the input."""
    compare_with("timm.models.vision_transformer")
    for part in PARTS:
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
    for part in PARTS:
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
