"""One step on the value vector under frozen attention, and one sample with known sets: literal, in torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.stats import skellam

C, CHI, P = 4, 1.0, 3
LAM = CHI * C**2 / 2


def wrong_sign(N):
    """w_N: the chance that the first moment of N samples points the wrong way, ties by half."""
    return float(skellam.cdf(-N * C - 1, N * LAM, N * LAM) + skellam.pmf(-N * C, N * LAM, N * LAM) / 2)


def sample(rng, n, D, d, q):
    """(n, D, d) inputs of Assumption 1 with w* = e_1 and noise of variance 1/d on the other axes; labels."""
    s = rng.choice([-1, 0, 1], size=(n, D), p=[q / 2, 1 - q, q / 2]).astype(float)
    y = rng.choice([-1.0, 1.0], n)
    start = rng.integers(0, D // C, n) * C
    for i in range(n):
        s[i, start[i] : start[i] + C] = y[i]
    X = rng.standard_normal((n, D, d)) / math.sqrt(d)
    X[:, :, 0] = s
    return torch.from_numpy(X), torch.from_numpy(y)


def one_step_errors(D, d, N, g, runs, tests, seed):
    """Mean error over runs of model (T) after one step of descent on v from zero, the logistic loss."""
    rng, q = np.random.default_rng(seed), CHI * C**2 / D
    A = torch.zeros(D, D, dtype=torch.float64)
    for k in range(0, D, C):
        A[k : k + C, k : k + C] = math.log1p(g)
    S = torch.softmax(A, dim=1)

    def F(X, v, linear=0.1):
        z = D * (X @ v) @ S.T
        return (z**P + linear * z).sum(1)

    errors = []
    for _ in range(runs):
        X, y = sample(rng, N, D, d, q)
        v = torch.zeros(d, dtype=torch.float64, requires_grad=True)
        torch.nn.functional.softplus(-y * F(X, v)).mean().backward()
        X, y = sample(rng, tests, D, d, q)
        out = y * F(X, -1e6 * v.grad)
        errors.append(float((out < 0).double().mean() + (out == 0).double().mean() / 2))
    return np.array(errors)


def test_the_wrong_sign_is_what_is_left_when_the_gap_is_wide():
    D, N, runs = 100, 2, 150
    found = one_step_errors(D, 300, N, g=float(D), runs=runs, tests=10, seed=0)
    # Runs err by 0 or 1 nearly always: six standard errors of a proportion, and 0.03 for D = 100, d = 300.
    assert abs(found.mean() - wrong_sign(N)) < 6 * found.std() / math.sqrt(runs) + 0.03
    assert np.mean((found > 0.2) & (found < 0.8)) < 0.1


@pytest.mark.parametrize(("D", "d"), [(64, 256), (256, 256)])
def test_one_sample_is_enough_with_the_sets(D, d):
    """The loudest set of the sample gives the direction, the loudest set of the input the answer."""
    rng, q, wrong, runs = np.random.default_rng(2), CHI * C**2 / D, 0, 40
    for _ in range(runs):
        X, y = sample(rng, 1, D, d, q)
        Y = X[0].reshape(D // C, C, d).sum(1)
        w = y[0] * Y[Y.norm(dim=1).argmax()]
        X, y = sample(rng, 10, D, d, q)
        r = X.reshape(10, D // C, C, d).sum(2) @ w
        best = r.gather(1, r.abs().argmax(1, keepdim=True))[:, 0]
        wrong += int((best * y <= 0).sum())
    # Two in a hundred at D = 64 and fewer later; six standard errors of runs of ten.
    assert wrong / (10 * runs) < (0.10 if D == 64 else 0.05)
