"""Our kernels of attention against the formula, with Triton's interpreter in place of a GPU."""

import pytest
import torch
from torch.nn.functional import pad

from patch_lab.images.training import fused

SIZES = [(64, 32, 3, 4), (128, 16, 2, 8)]  # tokens, numbers a head, heads, pictures


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")  # read when Triton is imported
    pytest.importorskip("triton", reason="not compared: Triton is not installed")


@pytest.mark.parametrize("N, d, H, B", SIZES)
def test_attention_and_its_gradient(N, d, H, B):
    """Two runs, each with its own bias of queries."""
    torch.manual_seed(0)
    qkv = torch.randn(B, N, 3 * H * d, requires_grad=True)
    bias = torch.randn(2, H * d, requires_grad=True)
    found = fused.attention(qkv, bias, H, d**-0.5)
    biased = qkv.unflatten(0, (2, -1)) + pad(bias, (0, 2 * H * d))[:, None, None]  # (2, B / 2, N, 3 H d)
    parts = biased.flatten(0, 1).unflatten(2, (3, H, d)).unbind(2)
    q, k, v = (part.transpose(1, 2) for part in parts)  # (B, H, N, d)
    formula = (torch.softmax(q @ k.mT * d**-0.5, -1) @ v).transpose(1, 2).flatten(2)
    by = torch.randn_like(found)
    torch.testing.assert_close(found, formula)
    for ours, true in zip(*(torch.autograd.grad(out, (qkv, bias), by) for out in (found, formula))):
        torch.testing.assert_close(ours, true, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("N, d, H, B", SIZES)
def test_one_attention_for_all_pictures_and_its_gradient(N, d, H, B):
    torch.manual_seed(0)
    S = torch.softmax(torch.randn(2, H, N, N), -1).requires_grad_()
    values = torch.randn(2, B, N, H * d, requires_grad=True)
    for turned in (False, True):
        found = fused.mixed(S, values, turned)
        formula = torch.einsum(
            "rhnm,rbmhd->rbnhd", S.mT if turned else S, values.unflatten(3, (H, d))
        ).flatten(3)  # (r, h, n, m), (r, b, m, h, d) -> (r, b, n, h, d)
        by = torch.randn_like(found)
        torch.testing.assert_close(found, formula)
        for ours, true in zip(*(torch.autograd.grad(out, (S, values), by) for out in (found, formula))):
            torch.testing.assert_close(ours, true, rtol=1e-4, atol=1e-4)


def test_they_are_asked_for_on_a_gpu_in_bfloat16_alone():
    gpu = torch.device("cuda")
    assert fused.fits(gpu, torch.bfloat16, 64, 32) and fused.fits(gpu, torch.bfloat16, 256, 64)
    for device, kept, N, d in (
        (torch.device("cpu"), torch.bfloat16, 64, 32),
        (gpu, torch.float32, 64, 32),
        (gpu, torch.bfloat16, 65, 32),
        (gpu, torch.bfloat16, 512, 32),
        (gpu, torch.bfloat16, 64, 24),
    ):
        assert not fused.fits(device, kept, N, d)
