"""The test error of many value vectors under one fixed attention, at a cost for each that is free of D."""

from __future__ import annotations

import math

import numpy as np
import torch

from patch_association.checks import finite
from patch_association.data import SpatialData, assumption_one
from patch_association.defaults import DEFAULT
from patch_association.streams import Stream, generator
from patch_association.training.evaluate import HeldOut, error_rate


def feature_and_rest(value: torch.Tensor, law: SpatialData) -> tuple[np.ndarray, np.ndarray]:
    """(alpha, tau) of value vectors (..., d): <v, w*> and sigma |v - alpha w*|, each of shape (...).

    Parameters
    ----------
    value : (..., d) tensor
    law : SpatialData

    Raises
    ------
    ValueError
        If the last axis is not the law's d.
    """
    if value.shape[-1] != law.dim:
        raise ValueError(f"value must end in the law's {law.dim} dimensions, got shape {tuple(value.shape)}")
    w = law.feature.to(value)
    alpha = value @ w  # (..., d) @ (d,) -> (...)
    rest = value - alpha[..., None] * w
    return alpha.numpy(), law.noise_std * rest.norm(dim=-1).numpy()


def errors_under(test: HeldOut, attention, alpha, tau, linear=DEFAULT.linear) -> np.ndarray:
    """The errors of many value vectors under one attention, at a cost for each that is free of D.

    With M = D S s and G = D S g for a draw of the coefficients s and of standard noise g,
    F = sum_k binom(p, k) alpha^(p-k) tau^k sum_i M_i^(p-k) G_i^k + nu (alpha sum_i M_i + tau sum_i G_i):
    p + 3 numbers a draw.

    Parameters
    ----------
    test : HeldOut (inputs of Assumption 1)
    attention : BlockAttention or DenseAttention
    alpha, tau : arrays of one shape
        As :func:`feature_and_rest` gives them.
    linear : float
        nu of the activation.

    Returns
    -------
    array of the same shape

    Raises
    ------
    ValueError
        If nu, alpha or tau is out of range, or the attention has another number of patches.
    """
    assumption_one("law", test.law)
    p = DEFAULT.degree
    nu = finite("linear", linear, minimum=0)
    a, tau = np.broadcast_arrays(np.asarray(alpha, dtype=np.float64), np.asarray(tau, dtype=np.float64))
    if not (np.isfinite(a).all() and np.isfinite(tau).all() and (tau >= 0).all()):
        raise ValueError(f"alpha must be finite, and tau finite and at least 0, got {alpha} and {tau}")
    if attention.num_patches != test.num_patches:
        raise ValueError(
            f"attention must have the law's {test.num_patches} patches, got {attention.num_patches}"
        )
    flat = a.reshape(-1, 1)
    noise = tau.reshape(-1, 1)
    k = np.arange(p + 1)
    weights = torch.from_numpy(np.hstack([flat ** (p - k) * noise**k, nu * flat, nu * noise]))
    moments = _moments(test, attention, p)
    errors = [error_rate(some @ moments) for some in weights.split(64)]  # (64, p + 3) @ (p + 3, n)
    return torch.cat(errors).numpy().reshape(a.shape)


def _moments(test: HeldOut, attention, p: int) -> torch.Tensor:
    """(p + 3, n): the coefficients of y F in alpha and tau, the label folded into s as F is odd."""
    draws = generator(test.seed, Stream.FIXED_TEST_NOISE)
    chunk = max(1, 2**21 // attention.num_patches)
    coefficients = []
    for s in (test.s * test.y[:, None]).double().cpu().split(chunk):
        M = attention.mix(attention.tokens(s[..., None]))[..., 0]  # (n, T)
        g = torch.from_numpy(draws.standard_normal((len(s), attention.rows)))
        G = attention.mix(attention.multiplicity**0.5 * g[..., None])[..., 0]
        terms = [math.comb(p, k) * (M ** (p - k) * G**k).sum(dim=1) for k in range(p + 1)]
        coefficients.append(torch.stack([*terms, M.sum(dim=1), G.sum(dim=1)]))
    return torch.cat(coefficients, dim=1)
