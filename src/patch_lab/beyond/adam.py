"""Adam on fresh inputs, for any learner; and which way model (T) first moves on the same data."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import fminbound
from torch import nn
from torch.nn import functional as F

from patch_association.checks import finite, positive_int
from patch_association.intervals import Estimate, mean
from patch_association.training.evaluate import error_rate
from patch_association.training.gradients import loss_and_gradients
from patch_lab.kit.seeds import GAUSSIAN_BATCHES, GAUSSIAN_CURVE, GAUSSIAN_TEST


def train_learner(
    learner: nn.Module,
    data,
    *,
    steps: int,
    batch: int = 512,
    learning_rate: float = 1e-2,
    seed: int = 0,
    points: int = 20,
    n_curve: int = 4000,
) -> list[tuple[int, float]]:
    """Train in place on the logistic loss mean log(1 + exp(-y F(X))), with fresh inputs in every step.

    Adam, its rate falling to zero along a cosine, gradients clipped to the norm 5.

    Parameters
    ----------
    data : an object with ``sample(n, seed)`` -> (X, y)
    steps, batch, learning_rate
        Of the optimizer.
    seed : int
        Of the batches; learners with the same seed see the same inputs.
    points, n_curve : int
        How many points of the learning curve are taken, and on how many held-out inputs.

    Returns
    -------
    The learning curve: pairs (step, error), from step 0 to the last.

    Raises
    ------
    ValueError
        On sizes and rates that are not positive.
    FloatingPointError
        When the loss is no longer finite.
    """
    steps = positive_int("steps", steps)
    batch = positive_int("batch", batch)
    points = positive_int("points", points)
    if not finite("learning_rate", learning_rate) > 0:
        raise ValueError(f"learning_rate must be positive, got {learning_rate!r}")
    optimizer = torch.optim.Adam(learner.parameters(), lr=learning_rate)
    held_out = data.sample(n_curve, seed=GAUSSIAN_CURVE)
    marks = {round(steps * k / points) for k in range(points + 1)}
    curve = [(0, error_on(learner, *held_out))]
    for step in range(steps):
        X, y = data.sample(batch, seed=GAUSSIAN_BATCHES + seed * 10_000_000 + step)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * (1 + math.cos(math.pi * step / steps)) / 2
        optimizer.zero_grad(set_to_none=True)
        loss = F.softplus(-y * learner(X).to(y)).mean()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss.item()} at step {step}")
        loss.backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 5.0)
        optimizer.step()
        if step + 1 in marks:
            curve.append((step + 1, error_on(learner, *held_out)))
    return curve


def first_step(data, diagonal: float, n: int = 20_000, seed: int = 0) -> Estimate:
    """Which way model (T) first moves: mean of -dL/dA_ij over companions, less that over strangers.

    At A = ``diagonal`` I and v = r w*, with w* the shared filter of ``data`` and r >= 0 the length
    that minimizes the loss at this A. Positive: attention moves toward the own set. The interval
    comes from 20 independent parts of the ``n`` inputs.
    """
    D = data.partition.num_patches
    if positive_int("n", n) % 20:
        raise ValueError(f"n must be a multiple of 20, got {n}")
    X, y = data.sample(n, seed=seed)
    A = torch.eye(D, dtype=X.dtype)[None] * finite("diagonal", diagonal)

    def at(r, X, y):
        """Loss and gradients, X (S, N, D, d) and y (S, N)."""
        value = (float(r) * data.filters[:1]).expand(len(X), -1)
        return loss_and_gradients(X, y, A.expand(len(X), -1, -1), value)

    r = fminbound(lambda r: float(at(r, X[None], y[None])[0]), 0.0, 1.0, xtol=1e-4)
    _, dA, _ = at(r, X.reshape(20, -1, *X.shape[1:]), y.reshape(20, -1))  # (n, D, d) -> (20, n / 20, D, d)
    same = data.partition.same_set
    companions = same & ~np.eye(D, dtype=bool)
    return mean((dA[:, ~same].mean(dim=1) - dA[:, companions].mean(dim=1)).numpy())


@torch.no_grad()
def error_on(learner: Callable, X, y) -> float:
    """The share of inputs with y F(X) < 0, outputs of exactly zero counted by half."""
    return float(error_rate(y * torch.cat([learner(part) for part in X.split(2000)]).to(y)))


def test_inputs(data, n: int = 20_000):
    """The inputs on which finished learners are compared: never seen in training or on its curve."""
    return data.sample(n, seed=GAUSSIAN_TEST)
