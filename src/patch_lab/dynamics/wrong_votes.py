"""What images with a wrong vote do to the lead of companions: the middle of an idealized run.

With three scalars, patch i of set l hears a multiple of eps s_i + g n_l + M, where
eps = exp(beta - rho) - exp(gamma - rho) and g = exp(gamma - rho) - 1. Let eps >= 0 and M < 0. A patch of
the signal set hears eps + g C - |M|; one that shows -1 in a random set with the sum -k hears
-(eps + g k + |M|). The signal set is the louder of the two exactly where g (C - k) > 2 |M|.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import expit

from patch_association.attention import attention_values
from patch_association.checks import fits_memory
from patch_association.exact.risk import PopulationRisk
from patch_association.exact.set_sums import set_types
from patch_association.training import PopulationRun


def lead_by_votes(
    risk: PopulationRisk, alpha: float, diagonal: float, gamma: float, rho: float
) -> tuple[float, float]:
    """(by wrong votes, by all others): the two parts of the step of gamma - rho at rate one, exactly.

    Their sum is the difference of -dL/dA_ij for a companion and a stranger
    (:class:`~patch_lab.dynamics.score_rates.ScoreRates`). An image enters through the counts of +1, -1 and 0
    in each set, and these are listed.

    Raises
    ------
    ValueError
        Where the list would not fit in memory.

    Examples
    --------
    >>> by_wrong, by_others = lead_by_votes(PopulationRisk(16, 4, 0.3), 0.2, diagonal=1.0, gamma=0.1, rho=0.0)
    >>> by_wrong < 0 < by_wrong + by_others
    True
    """
    D, C = risk.num_patches, risk.set_size
    own, companion, stranger = attention_values(D, C, diagonal, gamma, rho)
    shown, chance = _sets(C, D // C, risk.q)
    s = np.array([1.0, -1.0, 0.0])
    n = (shown @ s)[:, :, None]  # (cases, L, 1)
    M = n.sum(axis=1, keepdims=True)
    heard = own * s + companion * (n - s) + stranger * (M - n)  # (cases, L, 3)
    z = D * alpha * heard
    w = expit(-(shown * (z**risk.degree + risk.linear * z)).sum(axis=(1, 2)))  # (cases,)
    slope = shown * (risk.degree * z ** (risk.degree - 1) + risk.linear)  # (cases, L, 3)
    to_companions = companion * (slope * (n - s - (C - 1) * heard)).sum(axis=(1, 2)) / (D * (C - 1))
    to_strangers = stranger * (slope * (M - n - (D - C) * heard)).sum(axis=(1, 2)) / (D * (D - C))
    lead = D * alpha * chance * w * (to_companions - to_strangers)  # (cases,)
    wrong = M[:, 0, 0] < 0
    return float(lead[wrong].sum()), float(lead[~wrong].sum())


def pull_along(risk: PopulationRisk, run: PopulationRun) -> tuple[np.ndarray, np.ndarray]:
    """Steps of a run and :func:`lead_by_votes` there, wrong over others, as long as the others are positive.

    Below -1 the lead shrinks. Up to sixty steps are spread evenly in their logarithm.
    """
    some = np.unique(np.geomspace(1, len(run.steps), 60).astype(int)) - 1
    path = zip(run.alpha[some], run.gamma[some], run.rho[some])
    parts = [
        lead_by_votes(risk, float(alpha), run.diagonal, float(gamma), float(rho))
        for alpha, gamma, rho in path
    ]
    by_wrong, by_others = np.transpose(parts)
    turned = np.flatnonzero(by_others <= 0)
    last = int(turned[0]) if len(turned) else len(some)
    return run.steps[some][:last], (by_wrong / by_others)[:last]


def louder_than_wrong(D: int, C: int, diagonal: float, gamma: float, rho: float) -> tuple[int, int]:
    """(pairs, off): how often the signal set meets a -1 under a wrong vote, and how often the rule is off.

    Each input with a negative vote (all counts of +1, -1 and 0 in the L - 1 random sets) is paired with each
    of its random sets that shows a -1, of sum -k. The rule says that a patch of the signal set is the louder
    of the two exactly where (exp(gamma - rho) - 1) (C - k) > 2 |M|; gamma may not exceed the diagonal.

    Examples
    --------
    >>> louder_than_wrong(16, 4, diagonal=2.0, gamma=1.0, rho=-0.1)[1]
    0
    """
    if not rho <= gamma <= diagonal:
        raise ValueError(f"needs rho <= gamma <= diagonal, got {rho}, {gamma} and {diagonal}")
    own, companion, stranger = attention_values(D, C, diagonal, gamma, rho)
    shown, _ = _sets(C, D // C, q=0.5)
    n = shown[:, :, 0] - shown[:, :, 1]  # (cases, L)
    M = n.sum(axis=1, keepdims=True)  # (cases, 1)
    met = (M < 0) & (shown[:, :, 1] > 0)  # (cases, L): the first set, the signal set, shows no -1
    signal = own + companion * (C - 1) + stranger * (M - C)  # (cases, 1)
    other = -own + companion * (n + 1) + stranger * (M - n)  # (cases, L): by a patch that shows -1
    louder = np.abs(signal) > np.abs(other)
    ruled = np.expm1(gamma - rho) * (C + n) > -2 * M
    return int(met.sum()), int((met & (louder != ruled)).sum())


def _sets(C: int, L: int, q: float) -> tuple[np.ndarray, np.ndarray]:
    """How many patches of each set show +1, -1 and 0, the signal set first: (cases, L, 3), and the chance."""
    sums, features, share = set_types(C, q)
    fits_memory(f"the types of {L} sets", 8 * 12 * L * len(share) ** (L - 1))
    counts = np.stack([(features + sums) // 2, (features - sums) // 2, C - features], axis=1)  # (types, 3)
    picks = np.array(list(product(range(len(share)), repeat=L - 1)), dtype=int)  # (cases, L - 1)
    signal = np.broadcast_to([C, 0, 0], (len(picks), 1, 3))
    return np.concatenate([signal, counts[picks]], axis=1), share[picks].prod(axis=1)
