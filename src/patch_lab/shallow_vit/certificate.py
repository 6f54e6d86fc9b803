"""A bound that holds for every input: how far bounded token noise can move the output of model (1)."""

from __future__ import annotations

import numpy as np
import torch

from patch_association.checks import finite, one_of
from patch_association.shallow.network import ATTENTION, Weights


def noise_bound(weights: Weights, radius: float, attention: str = "softmax") -> np.ndarray:
    r"""B with \|F(X) - F(X')\| <= B for all X, X' whose tokens differ by at most ``radius``, one a trial.

    For tokens of X' of norm at most 1 (patterns) and one head. With A = sum_i \|a_i\| \|row i of W_O\|
    the neurons change by at most A times the change of z. Scores change by at most
    D = \|W_K^T W_Q\| (2 tau + tau^2), so each attention weight by a factor of at most exp(2 D), and

        B = A \|W_V\| (tau + exp(2 D) - 1),

    without the last two terms where attention does not look at the tokens.

    Raises
    ------
    ValueError
        For heads per position, whose inputs have an order, and a radius below 0.
    """
    tau = finite("radius", radius, minimum=0)
    one_of("attention", attention, *ATTENTION)
    if weights.head.ndim != 2:
        raise ValueError("weights must share one head over positions")
    neurons = (weights.head.abs() * weights.output.norm(dim=-1)).sum(-1)  # (R,)
    value = torch.linalg.matrix_norm(weights.value, ord=2)
    change = torch.full_like(value, tau)
    if attention == "softmax":
        scores = torch.linalg.matrix_norm(weights.key.mT @ weights.query, ord=2) * (2 * tau + tau**2)
        change = change + torch.expm1(2 * scores)
    return (neurons * value * change).double().numpy()
