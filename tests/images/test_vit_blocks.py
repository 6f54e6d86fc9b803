"""Our layers beside those of timm and vit-pytorch: the same function where they should be; reports."""

import json
import sys
from dataclasses import replace
from types import ModuleType

import pytest
import torch
from torch import nn
from vision_shim import compare_with

from patch_lab.images.one_layer import KINDS, PARTS, layer_of
from patch_lab.sweeps import registry, run_sweep
from patch_lab.sweeps.vit_blocks import CPU, GPU, measure_layers

SMALL = dict(tokens=5, width=12, heads=3, mlp_width=20)
TINY = replace(CPU, batches={4: 2}, rounds=5)


def tokens(batch=2):
    return torch.randn(batch, SMALL["tokens"], SMALL["width"], generator=torch.Generator().manual_seed(1))


class Block(nn.Module):
    """A stand-in with the interface of timm's block."""

    def __init__(self, width, heads, mlp_ratio, qkv_bias, norm_layer):
        super().__init__()
        assert qkv_bias and width % heads == 0
        hidden = round(width * mlp_ratio)
        self.norm1, self.norm2 = norm_layer(width), norm_layer(width)
        self.attn = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """A stand-in with the interface of vit-pytorch's stack."""

    def __init__(self, width, depth, heads, dim_head, mlp_dim):
        super().__init__()
        assert depth == 1 and heads * dim_head == width
        half = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width))
        mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, width)
        )
        self.layers = nn.ModuleList([nn.ModuleList([half, mlp])])


@pytest.fixture
def stand_ins(monkeypatch):
    for name, attributes in {
        "timm": {},
        "timm.models": {},
        "timm.models.vision_transformer": {"Block": Block},
        "vit_pytorch": {},
        "vit_pytorch.vit": {"Transformer": Transformer},
    }.items():
        module = ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)


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


def test_parts_of_our_layers():
    """ "attention" is the layer's first half without the residual sum."""
    for kind in ("vanilla", "positional"):
        half = layer_of(kind, "attention", **SMALL)
        whole = layer_of(kind, "layer", **SMALL)
        whole.load_state_dict(half.state_dict())
        x = tokens()
        between = x + half(x)
        want = between + whole.block.mlp(whole.block.mlp_norm(between))
        torch.testing.assert_close(whole(x), want)
    assert not torch.equal(half(x), layer_of("vanilla", "attention", **SMALL)(x))


def test_parts_of_other_layers(stand_ins):
    for kind in ("timm", "vit-pytorch"):
        half, whole = (layer_of(kind, part, **SMALL) for part in PARTS)
        whole.load_state_dict(half.state_dict())
        x = tokens()
        between = x + half(x)
        mlp = whole.mlp(between) if kind == "vit-pytorch" else whole.block.mlp(whole.block.norm2(between))
        torch.testing.assert_close(whole(x), between + mlp)
        hidden = [p.shape[0] for p in whole.parameters() if p.ndim == 2]
        assert SMALL["mlp_width"] in hidden


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_every_kind_is_measured(stand_ins, part, precision):
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    found = measure_layers(TINY, part, 4, precision)
    assert found["batch"] == 2 and set(found) == {"batch", "seconds", "kept_bytes"}
    assert all(tuple(found[name]) == KINDS for name in ("seconds", "kept_bytes"))
    assert all(len(seconds) == 5 and min(seconds) > 0 for seconds in found["seconds"].values())
    assert torch.get_num_threads() == threads and torch.equal(torch.get_rng_state(), state)
    json.dumps(found)


def test_on_a_gpu(stand_ins):
    """Where there is none, it is said; with one, every number is there."""
    machine = replace(GPU, batches={4: 2}, rounds=2, steps=2)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="PyTorch sees none here"):
            measure_layers(machine, "layer", 4)
        return
    for precision in ("float32", "bfloat16"):
        found = measure_layers(machine, "layer", 4, precision)
        assert min(found["peak_bytes"].values()) > 0 and tuple(found["seconds"]) == KINDS


def test_the_sweep_names_the_other_libraries_and_its_device(stand_ins, tmp_path):
    cpu, gpu = registry()["vit_blocks"], registry()["vit_blocks_gpu"]
    assert (
        cpu.device == "cpu"
        and gpu.device == "cuda"
        and cpu.packages == gpu.packages == ("timm", "vit-pytorch")
    )
    assert len(cpu.cells) == 6 and len(gpu.cells) == 12
    quick = replace(cpu, run=lambda part, tokens: measure_layers(TINY, part, 4), cells=cpu.cells[:1])
    record = run_sweep(quick, tmp_path / "blocks.json", progress=False)
    assert {"timm", "vit-pytorch", "torch"} <= set(record.provenance["versions"])
    assert "cores of" in record.provenance["hardware"]
