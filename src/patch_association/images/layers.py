"""Multi-head self-attention and positional attention: what the scores see (Definitions 3.1 and 3.2) differs.

Both have the same parameters under the same names: to queries and keys, to values, and back.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

#: What may compute fused attention, the first that can. cuDNN's is left out: in bfloat16 its backward pass
#: has given NaN after some epochs (heads of 32 numbers, 64 tokens; one NVIDIA H200, PyTorch 2.11), where
#: these three train.
FUSED = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """softmax(scale Q K^T) V, by PyTorch's fused attention with backends that are named: :data:`FUSED`.

    Parameters
    ----------
    q, k, v : (..., N, d_h) tensors
    scale : float

    Returns
    -------
    (..., N, d_h) tensor
    """
    # On a CPU in bfloat16 the backward pass of the fused product takes longer than all else together.
    if v.dtype == torch.bfloat16 and v.device.type == "cpu" and v.requires_grad:
        return torch.softmax(q @ k.transpose(-1, -2) * scale, dim=-1) @ v
    with sdpa_kernel(FUSED, set_priority=True):
        return F.scaled_dot_product_attention(q, k, v, scale=scale)


class Attention(nn.Module):
    """The parameters that both kinds share.

    Attributes
    ----------
    query_key : Linear(width, 2 width)
        W_Q and W_K of all heads.
    value, output : Linear(width, width)
        W_V of all heads, and the mixing of the heads.
    scale : float
        What scores are multiplied by: 1/sqrt(width / heads), as is usual, or 1/sqrt(width).
    """

    def __init__(self, width: int, heads: int, over_width: bool = False):
        super().__init__()
        self.heads = heads
        self.scale = (width if over_width else width // heads) ** -0.5
        self.query_key = nn.Linear(width, 2 * width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def attention(self, source: torch.Tensor) -> torch.Tensor:
        """S = softmax(scale Q K^T) per head, from ``source`` (..., N, width).

        Returns (..., H, N, N).
        """
        q, k = self._queries_keys(source)
        return torch.softmax(q @ k.transpose(-1, -2) * self.scale, dim=-1)

    def _queries_keys(self, source):
        qk = self.query_key(source)  # (..., N, 2 width)
        qk = qk.unflatten(-1, (2, self.heads, -1))  # -> (..., N, 2, H, d_h)
        return qk.movedim(-4, -2).unbind(-4)  # -> (..., 2, H, N, d_h) -> two of (..., H, N, d_h)


class SelfAttention(Attention):
    """Definition 3.1 with several heads: queries, keys and values all see the tokens.

    The tokens carry the positions: they were added at the input or, with ``P`` given, are added here.
    """

    def forward(self, x: torch.Tensor, P: torch.Tensor | None = None, want_attention: bool = False):
        """(B, N, width) -> (B, N, width), and S of shape (B, H, N, N) or None.

        Parameters
        ----------
        x : (B, N, width) tensor
        P : (N, width) tensor, optional
        want_attention : bool (give S back)
        """
        z = x if P is None else x + P
        v = self.value(z).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, N, H d_h) -> (B, H, N, d_h)
        S = self.attention(z) if want_attention else None
        if S is None:
            q, k = self._queries_keys(z)
            mixed = attend(q, k, v, self.scale)
        else:
            mixed = S @ v
        return self.output(mixed.transpose(1, 2).flatten(2)), S  # (B, H, N, d_h) -> (B, N, H d_h)


class PositionalAttention(Attention):
    """Definition 3.2 with several heads: queries and keys see the positions, values the tokens.

    S does not depend on the input, so that one S per head serves the whole batch.
    """

    def forward(self, x: torch.Tensor, P: torch.Tensor, S: torch.Tensor | None = None):
        """(B, N, width), (N, width) -> (B, N, width), and S of shape (H, N, N) or None.

        ``S`` may be given when it is known already (inference: it never changes). Where it has more
        entries than the tokens, it is made for a few heads at a time, made again on the way back, and not
        returned.

        Parameters
        ----------
        x, P : (B, N, width) and (N, width) tensors
        S : (H, N, N) tensor, optional
        """
        B, N, width = x.shape
        # Channels first: W_V X^T comes out as (H d_h, B N), as one matrix product per head needs it, and the
        # output projection reads it back transposed. So nothing is permuted in memory, nor S copied.
        # (width, width) @ (width, B N) -> (H d_h, B N); the bias inside, so that autocast keeps one type.
        v = torch.addmm(self.value.bias[:, None], self.value.weight, x.reshape(B * N, width).T)
        v = v.reshape(self.heads, -1, N)  # (H, d_h B, N)
        if S is None and self.heads * N > B * width:
            parts = zip(*(x.split(max(1, B * width // N)) for x in (*self._queries_keys(P), v)))
            mixed = torch.cat(
                [checkpoint(_mix, *part, scale=self.scale, use_reentrant=False) for part in parts]
            )
        else:
            S = self.attention(P) if S is None else S
            mixed = v @ S.transpose(1, 2)  # (H, d_h B, N) @ (H, N, N)
        mixed = self.output(mixed.reshape(width, B * N).T)  # (H d_h, B N)^T -> (B N, width)
        return mixed.view(B, N, width), S


def _mix(q, k, v, scale):
    """V S^T for some heads, (h, N, d_h) twice and (h, d_h B, N) -> (h, d_h B, N); S in float32 at least."""
    scores = (q * scale) @ k.transpose(1, 2)
    S = torch.softmax(scores, dim=-1, dtype=torch.promote_types(scores.dtype, torch.float32))
    return v @ S.to(v.dtype).transpose(1, 2)


class Block(nn.Module):
    """One pre-norm layer: x + attention(norm(x)), then x + MLP(norm(x)), with GELU inside.

    In training a picture misses either branch with probability ``drop``, or has it divided by 1 - drop.
    ``over_width`` is of :class:`Attention`; with ``two_gelus`` one more follows the MLP.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        mlp_width: int,
        positional: bool,
        eps=1e-6,
        drop: float = 0.0,
        over_width: bool = False,
        two_gelus: bool = False,
    ):
        super().__init__()
        self.drop = drop
        self.attention_norm = nn.LayerNorm(width, eps=eps)
        self.attention = (PositionalAttention if positional else SelfAttention)(width, heads, over_width)
        self.mlp_norm = nn.LayerNorm(width, eps=eps)
        self.mlp = nn.Sequential(nn.Linear(width, mlp_width), nn.GELU(), nn.Linear(mlp_width, width))
        if two_gelus:
            self.mlp.append(nn.GELU())

    def forward(self, x, P, extra):
        """(B, N, width) -> (B, N, width), and S or None; ``extra`` goes to the attention."""
        mixed, S = self.attention(self.attention_norm(x), P, extra)
        x = x + self._kept(mixed)
        return x + self._kept(self.mlp(self.mlp_norm(x))), S

    def _kept(self, branch):
        if not (self.drop and self.training):
            return branch
        kept = torch.rand(len(branch), 1, 1, device=branch.device) >= self.drop  # (B, 1, 1)
        return branch * kept.to(branch) / (1 - self.drop)
