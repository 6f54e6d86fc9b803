"""How attention goes on when the loss never stops: the logistic loss instead of the hinge.

A hinge is zero after finitely many steps. The logistic loss keeps a slope, of size exp(-F), so that F grows
like log t. :func:`follow_logistic` follows model (1) to values of F at which that slope is far below the
smallest float; :func:`reduced_gap` is the law of a flow of three numbers that can be solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import expi

from patch_association.checks import finite
from patch_association.shallow.network import Weights, backward, forward
from patch_association.shallow.population import measure
from patch_association.shallow.tokens import Tokens

_MOST = 200_000  # steps


@dataclass(frozen=True)
class LogisticRun:
    """What :func:`follow_logistic` recorded, arrays of shape (T, R).

    output : mean of y F over the inputs
    log_time : log t of gradient flow
    mass, confused : attention to label-relevant and to confusion tokens
    """

    output: np.ndarray
    log_time: np.ndarray
    mass: np.ndarray
    confused: np.ndarray
    weights: Weights


def follow_logistic(
    tokens: Tokens,
    weights: Weights,
    *,
    until: float,
    step: float = 0.05,
    caution: float = 0.2,
    growth: float = 1.3,
) -> LogisticRun:
    """Gradient flow on the logistic loss, with steps of a size relative to its slope.

    The gradient is divided by the sum of p_n / (1 + exp(y F_n)), which is done in logarithms; the time of
    the flow is kept beside it.

    Parameters
    ----------
    tokens : Tokens
        A :func:`~patch_association.shallow.population.population`.
    weights : Weights
        The start, of R networks.
    until : float
        Stop when the mean of y F reaches this in every network.
    step, caution : float
        A step is min(step, caution / (1 + y F)): the difference between two inputs is stiff, in proportion
        to F. caution = inf lifts this, where classes do not compete.
    growth : float
        Record whenever the smallest output has grown by this factor.
    """
    until = finite("until", until)
    step = finite("step", step, minimum=0)
    log_p = tokens.probability.log()
    rows = []
    due = 0.1
    log_time = torch.full((weights.num_trials,), -np.inf, dtype=torch.float64)
    for _ in range(_MOST):
        passed = forward(weights, tokens)
        yF = tokens.y * passed.F
        log_slope = log_p + torch.nn.functional.logsigmoid(-yF)  # (R, n)
        log_total = torch.logsumexp(log_slope, dim=-1)
        size = (tokens.probability * yF).sum(-1)
        least = float(size.min())
        if least >= due or least >= until:
            measures = measure(weights, tokens)
            rows.append((size.numpy(), log_time.numpy(), measures.mass, measures.confused))
            due = least * growth
        if least >= until:
            break
        slope = -tokens.y * (log_slope - log_total[:, None]).exp()
        rate = min(step, caution / (1 + max(float(size.max()), 0.0)))
        log_time = torch.logaddexp(log_time, np.log(rate) - log_total)
        weights = weights.moved(backward(weights, tokens, passed, slope), rate)
    else:
        raise ValueError(f"until must be reached in {_MOST} steps: y F is {least:.3g} of {until:g}")
    output, log_times, mass, confused = (np.array(column) for column in zip(*rows))
    return LogisticRun(output, log_times, mass, confused, weights)


def reduced_gap(strength, odds: float, start: float = 1.0) -> np.ndarray:
    """1 - p of the flow of three numbers at u v = x, for each x of ``strength``.

    F = u v p with p = 1 / (1 + odds exp(-b)) and b = k q, started at u = v, k = q, b = ``start``, x = 1.
    Gradient flow on any decreasing loss of F has db/dx = b (1 - p), that is

        Ei(b) / odds + log b = x + constant.
    """
    odds = finite("odds", odds, minimum=1e-300)
    start = finite("start", start, minimum=1e-12)
    constant = expi(start) / odds + np.log(start) - 1.0

    def b_at(x):
        wanted = x + constant
        # e^b / b below Ei(b) for large b bounds the root from above.
        high = max(2 * start, 2 * np.log(max(odds * wanted, 2.0)) + 2)
        return brentq(lambda b: expi(b) / odds + np.log(b) - wanted, start * (1 - 1e-12), high)

    b = np.array([b_at(x) for x in np.atleast_1d(np.asarray(strength, dtype=float))])
    return odds * np.exp(-b) / (1 + odds * np.exp(-b))
