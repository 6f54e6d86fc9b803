"""The kernels of :mod:`patch_lab.images.training.fused`, which imports them where there is Triton.

Letters as in attention: q, k, v, o, and dq, dk, ... their gradients; N tokens, H heads of D numbers, M rows
of scores at a time, P pictures for one program.
"""
# pyright: reportMissingImports=false

import triton
import triton.language as tl


@triton.jit
def forward(qkv, bias, out, scale, B, H, N: tl.constexpr, D: tl.constexpr, M: tl.constexpr):
    """softmax(scale q k^T) v of one picture and head, M rows of it."""
    picture = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    i = tl.program_id(2) * M + tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, D)
    W = H * D
    own = qkv + picture * N * 3 * W + h * D
    b = tl.load(bias + picture // B * W + h * D + d)
    q = (tl.load(own + i[:, None] * 3 * W + d) + b).to(b.dtype)
    k = tl.load(own + W + n[:, None] * 3 * W + d)
    v = tl.load(own + 2 * W + n[:, None] * 3 * W + d)
    s = tl.dot(q, tl.trans(k)) * scale
    e = tl.exp(s - tl.max(s, 1)[:, None])
    p = e / tl.sum(e, 1)[:, None]
    o = tl.dot(p.to(q.dtype), v)
    tl.store(out + picture * N * W + h * D + i[:, None] * W + d, o.to(q.dtype))


@triton.jit
def backward(qkv, bias, do, dqkv, scale, B, H, N: tl.constexpr, D: tl.constexpr, M: tl.constexpr):
    """The gradients by q, k and v of one picture and head; scores are made again."""
    picture = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    n = tl.arange(0, N)
    d = tl.arange(0, D)
    W = H * D
    own = picture * N * 3 * W + h * D
    k = tl.load(qkv + own + W + n[:, None] * 3 * W + d)
    v = tl.load(qkv + own + 2 * W + n[:, None] * 3 * W + d)
    b = tl.load(bias + picture // B * W + h * D + d)
    dk = tl.zeros((N, D), tl.float32)
    dv = tl.zeros((N, D), tl.float32)
    for first in range(0, N, M):
        i = first + tl.arange(0, M)
        q = (tl.load(qkv + own + i[:, None] * 3 * W + d) + b).to(b.dtype)
        o = tl.load(do + picture * N * W + h * D + i[:, None] * W + d)
        s = tl.dot(q, tl.trans(k)) * scale
        e = tl.exp(s - tl.max(s, 1)[:, None])
        p = e / tl.sum(e, 1)[:, None]
        dv += tl.dot(tl.trans(p.to(q.dtype)), o)
        dp = tl.dot(o, tl.trans(v))
        ds = (p * (dp - tl.sum(p * dp, 1)[:, None]) * scale).to(q.dtype)
        tl.store(dqkv + own + i[:, None] * 3 * W + d, tl.dot(ds, k).to(q.dtype))
        dk += tl.dot(tl.trans(ds), q)
    tl.store(dqkv + own + W + n[:, None] * 3 * W + d, dk.to(k.dtype))
    tl.store(dqkv + own + 2 * W + n[:, None] * 3 * W + d, dv.to(k.dtype))


@triton.jit
def mix(S, v, out, B, H, row, column, N: tl.constexpr, D: tl.constexpr, M: tl.constexpr, P: tl.constexpr):
    """S v for P pictures of one head, M rows; strides of S turn it."""
    r = (tl.program_id(0) // (B // P)).to(tl.int64)
    h = tl.program_id(1)
    i = tl.program_id(2) * M + tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, D)
    W = H * D
    s = tl.load(S + (r * H + h) * N * N + i[:, None] * row + n * column)
    for k in range(P):
        at = (tl.program_id(0).to(tl.int64) * P + k) * N * W + h * D
        x = tl.load(v + at + n[:, None] * W + d)
        tl.store(out + at + i[:, None] * W + d, tl.dot(s, x).to(x.dtype))


@triton.jit
def outer(do, v, ds, B, H, N: tl.constexpr, D: tl.constexpr, M: tl.constexpr, P: tl.constexpr):
    """The sum over P pictures of do v^T, M rows."""
    group = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    i = tl.program_id(2) * M + tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, D)
    W = H * D
    total = tl.zeros((M, N), tl.float32)
    for k in range(P):
        at = (group * P + k) * N * W + h * D
        o = tl.load(do + at + i[:, None] * W + d)
        x = tl.load(v + at + n[:, None] * W + d)
        total += tl.dot(o, tl.trans(x))
    tl.store(ds + (group * H + h) * N * N + i[:, None] * N + n, total)
