"""The rates of Lemma 4.3: what its polylogarithmic factors would have to be."""

from __future__ import annotations

from typing import NamedTuple

from scipy.special import expit

from patch_association.attention import attention_values
from patch_association.checks import made_of
from patch_association.exact.risk import PopulationRisk


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
    Lambda, Gamma, _ = attention_values(D, C, beta, gamma, rho)
    feedback = Gamma * (D * (Lambda + (C - 1) * Gamma)) ** (p - 1)
    yF, probability = risk.predictions(alpha, beta, gamma, rho)
    return ScoreRates(
        float(inside),
        float(outside),
        float(inside / (alpha**p * feedback)),
        float(abs(outside) / (abs(alpha) ** p * (1 + feedback) / D)),
        float(probability @ expit(-yF)),
        float(feedback),
    )
