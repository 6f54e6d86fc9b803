"""Self-attention and positional attention (Definitions 3.1 and 3.2), patches as rows.

With X^T in place of the paper's X (patches are rows here), both are softmax(A / sqrt(d)) V;
they differ in what the scores A see: the tokens with their positions, or the positions alone.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import ArrayLike

from patch_association.checks import divides, finite


def self_attention(X, P, W_Q, W_K, W_V, *, scale: float | None = None, return_attention: bool = False):
    """Self-attention of Definition 3.1: every matrix sees the tokens with their positions.

    Z = X + P,  A = (Z W_Q)(Z W_K)^T,  S = softmax(A / sqrt(d)) over rows,  SA = S (Z W_V).

    Parameters
    ----------
    X : (..., D, d) tensor
        The patches.
    P : (D, d) tensor
        The positional encodings.
    W_Q, W_K : (d, k) tensors
    W_V : (d, m) tensor
    scale : float, optional
        What A is divided by; by default sqrt(d) as in the definition. With W_Q and W_K square
        this is also the sqrt(k) that libraries use.
    return_attention : bool
        Also return S, (..., D, D).

    Returns
    -------
    (..., D, m) tensor, or the pair (output, S).

    Raises
    ------
    ValueError
        If the shapes or types do not fit together, or ``scale`` is not positive.

    Examples
    --------
    Without queries every patch attends to all alike: each gives back the mean of X + P.

    >>> X, P, I = torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.ones(2, 2), torch.eye(2)
    >>> self_attention(X, P, 0 * I, I, I).tolist()
    [[2.0, 3.0], [2.0, 3.0]]
    """
    _check_shapes(X, P, W_Q, W_K, W_V)
    Z = X + P
    return _attend(Z, Z, W_Q, W_K, W_V, scale, return_attention)


def positional_attention(X, P, W_Q, W_K, W_V, *, scale: float | None = None, return_attention: bool = False):
    """Positional attention of Definition 3.2: the scores see the positions, the values the tokens.

    A = (P W_Q)(P W_K)^T,  S = softmax(A / sqrt(d)) over rows,  PA = S (X W_V).

    Parameters
    ----------
    X, P, W_Q, W_K, W_V, scale, return_attention : as in :func:`self_attention`

    Returns
    -------
    (..., D, m) tensor, or the pair (output, S) with one S, (D, D), for a whole batch.

    Raises
    ------
    ValueError
        As :func:`self_attention`.

    Examples
    --------
    The values see the patches alone: the mean of X, whatever P adds elsewhere.

    >>> X, P, I = torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.ones(2, 2), torch.eye(2)
    >>> positional_attention(X, P, I, I, I).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    _check_shapes(X, P, W_Q, W_K, W_V)
    return _attend(P, X, W_Q, W_K, W_V, scale, return_attention)


def softmax_attention(A: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """S_ij = exp(A_ij / scale) / sum_r exp(A_ir / scale), for scores (..., D, D).

    Parameters
    ----------
    A : (..., D, D) tensor
    scale : float, positive

    Raises
    ------
    ValueError
        If A is not a floating-point tensor of that shape, or ``scale`` is not positive.
    """
    if not isinstance(A, torch.Tensor) or not A.is_floating_point():
        raise ValueError(f"A must be a floating-point tensor, got {_kind(A)}")
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"A must have shape (..., D, D), got {tuple(A.shape)}")
    if finite("scale", scale) <= 0:
        raise ValueError(f"scale must be positive, got {scale}")
    return torch.softmax(A / scale, dim=-1)


def _attend(queries_from, values_from, W_Q, W_K, W_V, scale, return_attention):
    d = values_from.shape[-1]
    scale = math.sqrt(d) if scale is None else scale
    Q = queries_from @ W_Q  # (..., D, k)
    K = queries_from @ W_K
    S = softmax_attention(Q @ K.transpose(-1, -2), scale)  # (..., D, D)
    V = values_from @ W_V  # (..., D, m)
    out = S @ V  # (..., D, D) @ (..., D, m); positional attention broadcasts its one S over the batch
    return (out, S) if return_attention else out


def _check_shapes(X, P, W_Q, W_K, W_V) -> None:
    for name, tensor in (("X", X), ("P", P), ("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)):
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            raise ValueError(f"{name} must be a floating-point tensor, got {_kind(tensor)}")
        if tensor.dtype != X.dtype:
            raise ValueError(f"{name} must have the type of X, {X.dtype}, got {tensor.dtype}")
    if X.ndim < 2 or 0 in X.shape[-2:]:
        raise ValueError(f"X must have shape (..., D, d) with D, d >= 1, got {tuple(X.shape)}")
    D, d = X.shape[-2:]
    if tuple(P.shape) != (D, d):
        raise ValueError(f"P must have shape ({D}, {d}) to fit X, got {tuple(P.shape)}")
    for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)):
        if W.ndim != 2 or W.shape[0] != d:
            raise ValueError(f"{name} must have {d} rows to fit X, got shape {tuple(W.shape)}")
    if W_Q.shape[1] != W_K.shape[1]:
        raise ValueError(f"W_Q and W_K must have as many columns, got {W_Q.shape[1]} and {W_K.shape[1]}")


def _kind(value) -> str:
    """What a refused argument is, in a word."""
    return str(value.dtype) if isinstance(value, torch.Tensor) else type(value).__name__


def attention_values(num_patches: int, set_size: int, beta: ArrayLike, gamma: ArrayLike, rho: ArrayLike):
    """(Lambda, Gamma, Xi): the softmax of a row with beta once, gamma C-1 times, rho D-C times.

    Section 4.1 of the paper: the attention that a patch pays to itself, to each patch of its set
    and to each other patch. The arguments may be arrays of one shape.

    Parameters
    ----------
    num_patches, set_size : int (D and C; C divides D)
    beta, gamma, rho : numbers or arrays of one shape (scores on the diagonal, inside a set, across sets)

    Raises
    ------
    ValueError
        If C does not divide D, or a score is not finite.
    """
    D, C, _ = divides(num_patches, set_size)
    rows = np.stack(np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (beta, gamma, rho))))
    if not np.isfinite(rows).all():
        raise ValueError("beta, gamma and rho must be finite numbers")
    e = np.exp(rows - rows.max(axis=0))
    return tuple(e / (e[0] + (C - 1) * e[1] + (D - C) * e[2]))
