"""The rates of Lemma 4.3: what its polylogarithmic factors would have to be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from patch_association.attention import attention_values
from patch_association.checks import made_of
from patch_association.exact.risk import PopulationRisk
from patch_association.training.population import PopulationRun
from patch_lab.dynamics.valley import best_alpha


class ScoreRates(NamedTuple):
    """The velocities of the scores at one point, against Lemma 4.3 of Jelassi et al.

    Attributes
    ----------
    inside, outside : float
        -dL/dA_ij for companions and for strangers: what gradient descent adds at rate 1.
    constant_inside : float
        inside / (alpha^p Gamma G^(p-1)), which the lemma calls polylog(d).
    constant_outside : float
        |outside| / (alpha^p (1 + Gamma G^(p-1)) / D), which it bounds by polylog(d).
    slope : float
        E[w] with w = 1 / (1 + exp(y F)), the mean derivative of the loss.
    feedback : float
        Gamma G^(p-1).
    """

    inside: float
    outside: float
    constant_inside: float
    constant_outside: float
    slope: float
    feedback: float


def own_gain(num_patches: int, set_size: int, beta, gamma, rho):
    """G = D (Lambda + (C - 1) Gamma), what a patch gains on its own set: C if all attention is equal.

    The scores are numbers, or arrays of one shape, which is that of the result.
    """
    Lambda, Gamma, _ = attention_values(num_patches, set_size, beta, gamma, rho)
    return num_patches * (Lambda + (set_size - 1) * Gamma)


def score_rates(risk: PopulationRisk, alpha: float, beta: float, gamma: float, rho: float) -> ScoreRates:
    """The rates of Lemma 4.3 at (alpha, beta, gamma, rho), exactly; alpha must not be 0, nor C be 1 or D."""
    made_of("risk", risk, "PopulationRisk", "num_patches", "gradient", "predictions")
    D, C, p = risk.num_patches, risk.set_size, risk.degree
    if C in (1, D) or alpha == 0:
        raise ValueError(
            f"the rates need companions, strangers and alpha != 0, got C = {C}, D = {D}, alpha = {alpha}"
        )
    _, by_gamma, by_rho = risk.gradient(alpha, beta, gamma, rho)
    inside = -by_gamma / (D * (C - 1))
    outside = -by_rho / (D * (D - C))
    _, Gamma, _ = attention_values(D, C, beta, gamma, rho)
    feedback = Gamma * own_gain(D, C, beta, gamma, rho) ** (p - 1)
    yF, probability = risk.predictions(alpha, beta, gamma, rho)
    return ScoreRates(
        float(inside),
        float(outside),
        float(inside / (alpha**p * feedback)),
        float(abs(outside) / (abs(alpha) ** p * (1 + feedback) / D)),
        float(probability @ expit(-yF)),
        float(feedback),
    )


def plateau_rates(risk: PopulationRisk, beta: float) -> ScoreRates:
    """The rates where alpha has settled and the scores have not moved: at alpha*, gamma = rho = 0."""
    return score_rates(risk, best_alpha(risk, beta), beta, 0.0, 0.0)


def rates_along(risk: PopulationRisk, run: PopulationRun, records) -> ScoreRates:
    """The rates at some records of a run, by their indices ``records`` (n,): each field an array (n,)."""
    points = zip(run.alpha[records], run.gamma[records], run.rho[records])
    rates = [score_rates(risk, alpha, run.diagonal, gamma, rho) for alpha, gamma, rho in points]
    return ScoreRates(*np.transpose(rates))
