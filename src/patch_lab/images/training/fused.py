"""Attention over few tokens as one kernel of Triton each way: what PyTorch's fused attention is slow at.

With 64 tokens a head's whole square of scores fits a processor of a GPU. So one program makes it, uses it,
and, on the way back, makes it again; queries, keys and values are read from where the linear layer wrote
them, packed, and their gradients are written so. Products are of bfloat16 with float32 sums, as in flash
attention.
"""

from __future__ import annotations

from functools import cache

import torch

#: Tokens up to which a row of scores is held at once.
MOST_TOKENS = 256
_HEADS = (16, 32, 64)  # widths of heads that the tensor cores take
_PICTURES = 8  # whose part of the gradient of S one program sums


def fits(device: torch.device, kept: torch.dtype, N: int, d: int) -> bool:
    """Whether the kernels take N tokens and heads of d numbers: on a GPU with Triton, in bfloat16."""
    powers = N <= MOST_TOKENS and N & (N - 1) == 0 and N >= 16 and d in _HEADS
    return powers and device.type == "cuda" and kept == torch.bfloat16 and _kernels() is not None


@cache
def _kernels():
    """The module of kernels, or None where there is no Triton."""
    try:
        from patch_lab.images.training import kernels
    except ImportError:
        return None
    return kernels


def _launch(name, grid, *arguments, **sizes):
    getattr(_kernels(), name)[grid](*arguments, **sizes, num_warps=4 if sizes["N"] <= 64 else 8, num_stages=1)


def _together(B: int) -> int:
    """Pictures that one program takes: a power of two that divides B."""
    return min(_PICTURES, B & -B)


@torch.library.custom_op("patch_lab::attention", mutates_args=())
def attention(qkv: torch.Tensor, bias: torch.Tensor, heads: int, scale: float) -> torch.Tensor:
    """softmax(scale (Q + b) K^T) V per head.

    Parameters
    ----------
    qkv : (R B, N, 3 width) tensor
        Queries, keys and values of all heads, packed.
    bias : (R, width) tensor
        b of each run.
    heads : int
    scale : float

    Returns
    -------
    (R B, N, width) tensor
    """
    B, N, W = qkv.shape
    out = qkv.new_empty(B, N, W // 3)
    d = W // 3 // heads
    M = min(N, 64)
    per_run = B // len(bias)
    _launch("forward", (B, heads, N // M), qkv, bias, out, scale, per_run, heads, N=N, D=d, M=M)
    return out


@torch.library.custom_op("patch_lab::attention_back", mutates_args=())
def attention_back(
    qkv: torch.Tensor, bias: torch.Tensor, gradient: torch.Tensor, heads: int, scale: float
) -> torch.Tensor:
    """The gradient by ``qkv``, packed like it; that by the bias is a sum of its first third."""
    B, N, W = qkv.shape
    by_qkv = torch.empty_like(qkv)
    d = W // 3 // heads
    per_run = B // len(bias)
    M = min(N, 64)
    _launch("backward", (B, heads), qkv, bias, gradient, by_qkv, scale, per_run, heads, N=N, D=d, M=M)
    return by_qkv


@torch.library.custom_op("patch_lab::mixed", mutates_args=())
def mixed(S: torch.Tensor, v: torch.Tensor, turned: bool) -> torch.Tensor:
    """S V per head, one S for all pictures of a run; S^T V where it is ``turned``.

    Parameters
    ----------
    S : (R, H, N, N) tensor
    v : (R, B, N, width) tensor
    turned : bool

    Returns
    -------
    (R, B, N, width) tensor
    """
    R, H, N = S.shape[:3]
    B, W = v.shape[1], v.shape[3]
    out = torch.empty_like(v)
    M, P = min(N, 64), _together(B)
    strides = (1, N) if turned else (N, 1)
    _launch("mix", (R * B // P, H, N // M), S, v, out, B, H, *strides, N=N, D=W // H, M=M, P=P)
    return out


@torch.library.custom_op("patch_lab::scores_back", mutates_args=())
def scores_back(gradient: torch.Tensor, v: torch.Tensor, heads: int) -> torch.Tensor:
    """The gradient by S, (R, parts, H, N, N) in float32, to be summed over the parts of a batch."""
    R, B, N, W = v.shape
    M, P = min(N, 64), _together(B)
    partial = v.new_empty(R, B // P, heads, N, N, dtype=torch.float32)
    _launch("outer", (R * B // P, heads, N // M), gradient, v, partial, B, heads, N=N, D=W // heads, M=M, P=P)
    return partial


@attention.register_fake
def _(qkv, bias, heads, scale):
    return qkv.new_empty(*qkv.shape[:2], qkv.shape[2] // 3)


@attention_back.register_fake
def _(qkv, bias, gradient, heads, scale):
    return torch.empty_like(qkv)


@mixed.register_fake
def _(S, v, turned):
    return torch.empty_like(v)


@scores_back.register_fake
def _(gradient, v, heads):
    R, B, N, _ = v.shape
    return v.new_empty(R, B // _together(B), heads, N, N, dtype=torch.float32)


def _keep_attention(ctx, inputs, output):
    qkv, bias, ctx.heads, ctx.scale = inputs
    ctx.save_for_backward(qkv, bias)


def _attention_gradient(ctx, gradient):
    qkv, bias = ctx.saved_tensors
    by_qkv = attention_back(qkv, bias, gradient.contiguous(), ctx.heads, ctx.scale)
    R, W = bias.shape
    by_bias = by_qkv[..., :W].reshape(R, -1, W).sum(dim=1)  # (R B, N, W) -> (R, B N, W) -> (R, W)
    return by_qkv, by_bias, None, None


def _keep_mixed(ctx, inputs, output):
    S, v, ctx.turned = inputs
    ctx.save_for_backward(S, v)


def _mixed_gradient(ctx, gradient):
    S, v = ctx.saved_tensors
    gradient = gradient.contiguous()
    left, right = (v, gradient) if ctx.turned else (gradient, v)
    by_scores = scores_back(left, right, S.shape[1]).sum(dim=1).to(S.dtype)
    return by_scores, mixed(S, gradient, not ctx.turned), None


attention.register_autograd(_attention_gradient, setup_context=_keep_attention)
mixed.register_autograd(_mixed_gradient, setup_context=_keep_mixed)
