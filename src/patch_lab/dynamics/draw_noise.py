"""How noisy one draw is: the exact variance of what Monte Carlo would average."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from patch_association.checks import finite, made_of
from patch_association.exact.risk import PopulationRisk


def draw_moments(risk: PopulationRisk, alpha: float, beta: float, gamma: float, rho: float) -> dict:
    """Mean and variance, over one draw of the data, of its loss and of the three derivatives of its loss.

    Exact, from the atoms of the law: the draw (X, y) has the loss log(1 + exp(-y F)) and the derivatives
    -(dw . phi) / (1 + exp(y F)) with phi its features and w(alpha, gamma, rho) their weights.

    Returns
    -------
    dict
        "loss", "alpha", "gamma", "rho": pairs (mean, variance). The mean of "gamma" is dL/dgamma, summed
        over the entries of A that share gamma.
    """
    made_of("risk", risk, "PopulationRisk", "weights_and_slopes", "support", "probability")
    weights, slopes = risk.weights_and_slopes(alpha, beta, gamma, rho)  # (features,), (3, features)
    yF = weights @ risk.support  # (atoms,)
    columns = {"loss": np.logaddexp(0, -yF)}
    for name, slope in zip(("alpha", "gamma", "rho"), slopes):
        columns[name] = -expit(-yF) * (slope @ risk.support)
    mass = risk.probability / risk.probability.sum()
    return {name: _moments(mass, column) for name, column in columns.items()}


def draws_needed(moments: dict, relative: float) -> dict:
    """How many independent draws give each mean with that relative standard error; infinite at mean zero.

    The standard error of n draws is sqrt(variance / n), so n = variance / (relative mean)^2.
    """
    made_of("moments", moments, "dict of pairs (mean, variance)", "items")
    if finite("relative", relative) <= 0:
        raise ValueError(f"relative must be positive, got {relative:g}")
    return {
        name: variance / (relative * mean) ** 2 if mean else float("inf")
        for name, (mean, variance) in moments.items()
    }


def _moments(mass, column):
    mean = float(mass @ column)
    return mean, float(mass @ (column - mean) ** 2)
