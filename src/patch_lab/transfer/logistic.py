"""Logistic regression on all D d inputs: knows neither the sets nor that patches share a feature."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from patch_association.checks import finite, listed, positive_int, real_array
from patch_association.data import SpatialData, assumption_one
from patch_lab.transfer.discovery import checked_samples

#: The L2 penalties among which the validation set chooses.
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)


def fit_logistic(X, y, penalty: float) -> np.ndarray:
    """(D, d) the minimizer of mean_n log(1 + exp(-y_n <W, X_n>)) + penalty |W|^2 / 2.

    With n < D d the minimizer lies in the span of the inputs, W = sum_n c_n X_n, so the problem has
    n unknowns and sees the inputs through their Gram matrix alone.

    Raises
    ------
    ValueError
        If the shapes do not fit, a label is neither -1 nor +1, or the penalty is not positive.
    """
    X, y = checked_samples(X, y)
    if finite("penalty", penalty) <= 0:
        raise ValueError(f"penalty must be positive, got {penalty}")
    n = len(y)
    signed = y[:, None] * X.reshape(n, -1)  # (n, D d)
    values, vectors = np.linalg.eigh(signed @ signed.T)
    root = vectors * np.sqrt(np.clip(values, 0, None))  # margins are root @ c, and |W| = |c|
    keep = values > values[-1] * 1e-12

    def objective(c):
        margin = root[:, keep] @ c
        gradient = -root[:, keep].T @ expit(-margin) / n + penalty * c
        return np.logaddexp(0, -margin).mean() + 0.5 * penalty * c @ c, gradient

    minimum = minimize(
        objective,
        np.zeros(int(keep.sum())),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "gtol": 1e-8, "ftol": 0.0},
    )
    # W = signed^T V diag(1 / sqrt(values)) c
    weights = signed.T @ (vectors[:, keep] @ (minimum.x / np.sqrt(values[keep])))
    return weights.reshape(X.shape[1:])


def tuned_logistic(X, y, X_val, y_val, penalties=PENALTIES) -> tuple[np.ndarray, float]:
    """The fit whose validation error is least (the largest such penalty), with its penalty.

    Raises
    ------
    ValueError
        Where :func:`fit_logistic` refuses; if there is no penalty, or the two sets differ in shape.
    """
    X, y = checked_samples(X, y)
    X_val, y_val = checked_samples(X_val, y_val)
    if X_val.shape[1:] != X.shape[1:]:
        raise ValueError(f"X_val must have inputs of shape {X.shape[1:]}, as X has, got {X_val.shape[1:]}")

    fits = {}
    errors = {}
    for penalty in listed("penalties", penalties, "numbers"):
        W = fit_logistic(X, y, penalty)
        margin = y_val * np.einsum("njd,jd->n", X_val, W)  # (n, D, d), (D, d) -> (n,)
        fits[penalty] = W
        errors[penalty] = float((margin <= 0).mean())
    least = min(errors.values())
    chosen = max(penalty for penalty, error in errors.items() if error == least)
    return fits[chosen], chosen


def linear_test_error(W, data: SpatialData, draws: int = 4000, seed: int = 0) -> float:
    """P[y <W, X> < 0], the noise integrated out: the mean over draws of s of Phi(-y <a, s> / tau).

    a_j = <W_j, w*> and tau = sigma |W off w*|.

    Raises
    ------
    ValueError
        If W is no (D, d) array of finite numbers, or there is nothing to draw.
    """
    assumption_one("data", data)
    W = real_array("W", W)
    w = data.feature.numpy()
    if W.shape != (data.partition.num_patches, data.dim):
        raise ValueError(f"W must have shape ({data.partition.num_patches}, {data.dim}), got {W.shape}")
    a = W @ w
    tau = data.noise_std * np.linalg.norm(W - a[:, None] * w)
    s, y, _ = data.sample_coefficients(positive_int("draws", draws), seed)
    margin = y * (s @ a)
    if tau == 0:
        return float((margin < 0).mean() + 0.5 * (margin == 0).mean())
    return float(ndtr(-margin / tau).mean())
