"""What images with a wrong vote do to the lead of companions: the middle of an idealized run.

With three scalars, patch i of set l hears a multiple of eps s_i + g n_l + M, where
eps = exp(beta - rho) - exp(gamma - rho) and g = exp(gamma - rho) - 1. Let eps >= 0 and M < 0. A patch of
the signal set hears eps + g C - |M|; one that shows -1 in a random set with the sum -k hears
-(eps + g k + |M|). The signal set is the louder of the two exactly where g (C - k) > 2 |M|.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from patch_association.attention import attention_values
from patch_association.checks import fits_memory
from patch_association.exact.risk import PopulationRisk
from patch_association.exact.set_sums import set_types
from patch_association.training import PopulationRun


def share_widening(risk: PopulationRisk, alpha: float, diagonal: float, gamma: float, rho: float) -> float:
    """The share of images with a wrong vote whose own gradient step widens the lead of companions.

    Exact, at a point of an idealized run; NaN where no vote is wrong. An image enters through the counts of
    +1, -1 and 0 in each set, and these are listed.

    Raises
    ------
    ValueError
        Where the list would not fit in memory.

    Examples
    --------
    >>> round(share_widening(PopulationRisk(16, 4, 0.3), 0.1, diagonal=1.0, gamma=2.0, rho=-0.7), 2)
    0.97
    """
    D, C = risk.num_patches, risk.set_size
    own, companion, stranger = attention_values(D, C, diagonal, gamma, rho)
    shown, chance = _sets(C, D // C, risk.q)
    s = np.array([1.0, -1.0, 0.0])
    n = (shown @ s)[:, :, None]  # (cases, L, 1)
    M = n.sum(axis=1, keepdims=True)
    heard = own * s + companion * (n - s) + stranger * (M - n)  # (cases, L, 3)
    slope = risk.degree * (D * alpha * heard) ** (risk.degree - 1) + risk.linear

    weight = slope * shown  # (cases, L, 3): rows of this kind, times their loudness
    to_companions = companion * (weight * (n - s - (C - 1) * heard)).sum(axis=(1, 2)) / (D * (C - 1))
    to_strangers = stranger * (weight * (M - n - (D - C) * heard)).sum(axis=(1, 2)) / (D * (D - C))

    wrong = chance * (M[:, 0, 0] < 0)
    if not wrong.any():
        return float("nan")
    return float(wrong @ (to_companions > to_strangers) / wrong.sum())


def widening_along(
    risk: PopulationRisk, run: PopulationRun, points: int = 60
) -> tuple[np.ndarray, np.ndarray]:
    """The lead gamma - rho and :func:`share_widening` at ``points`` of a run, spread over its record."""
    some = np.unique(np.linspace(0, len(run.steps) - 1, points).astype(int))
    shares = [
        share_widening(risk, float(run.alpha[k]), run.diagonal, float(run.gamma[k]), float(run.rho[k]))
        for k in some
    ]
    return run.gamma[some] - run.rho[some], np.array(shares)


def _sets(C: int, L: int, q: float) -> tuple[np.ndarray, np.ndarray]:
    """How many patches of each set show +1, -1 and 0, the signal set first: (cases, L, 3), and the chance."""
    sums, features, share = set_types(C, q)
    fits_memory(f"the types of {L} sets", 8 * 12 * L * len(share) ** (L - 1))
    counts = np.stack([(features + sums) // 2, (features - sums) // 2, C - features], axis=1)  # (types, 3)
    picks = np.array(list(product(range(len(share)), repeat=L - 1)), dtype=int)  # (cases, L - 1)
    signal = np.broadcast_to([C, 0, 0], (len(picks), 1, 3))
    return np.concatenate([signal, counts[picks]], axis=1), share[picks].prod(axis=1)
