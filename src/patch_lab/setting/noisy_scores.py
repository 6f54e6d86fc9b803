"""The truth plus noise: what each score of :func:`~patch_association.structure.association` expects, exactly.

A_ij = 1[j in S_l(i)] + tau G_ij with independent standard normal G_ij: the easiest model of a learner
that knows the sets, but not well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm

from patch_association.checks import divides, finite, fits_memory

# The trapezoid rule on [-12, 12]: for smooth integrands that vanish at both ends (below 1e-30 here) its
# error falls faster than any power of the step.
_Z = np.linspace(-12, 12, 2001)
_DENSITY = (_Z[1] - _Z[0]) * norm.pdf(_Z)


@dataclass(frozen=True)
class ExpectedAssociation:
    """What :class:`~patch_association.structure.Association` expects on noisy scores.

    Attributes
    ----------
    exact : float
        P[all D rows are exact].
    recall, auc : float
        Expected off-diagonal recall and AUC.
    """

    exact: float
    recall: float
    auc: float


def noisy_association(num_patches: int, set_size: int, noise: float) -> ExpectedAssociation:
    """Exact probability of association and expected soft scores of A = 1[same set] + noise * G.

    With u = 1 / noise and Phi the normal distribution function, one row is exact with probability
    r = int C phi(z) (1 - Phi(z))^(C-1) Phi(z + u)^(D-C) dz (z is the lowest of the C own scores), and
    the D rows are independent. AUC = Phi(u / sqrt 2). Recall is the chance that fewer than C - 1
    off-diagonal scores exceed a given companion's. Quadrature, to about 1e-12.

    Parameters
    ----------
    num_patches, set_size : int
        D and C; C divides D, 1 < C < D.
    noise : float > 0
        tau, in units of the gap between a companion's mean score and a stranger's.

    Raises
    ------
    ValueError
        On sizes that do not fit, or noise that is not positive.
    """
    D, C, L = divides(num_patches, set_size)
    if C == 1 or L == 1:
        raise ValueError(f"set_size must lie strictly between 1 and num_patches, got {C} of {D}")
    if finite("noise", noise, minimum=0) == 0:
        raise ValueError("noise must be positive, got 0")
    fits_memory(f"the ranks of {C:,} companions", 3 * (C - 1) * _Z.size)  # two laws and their product
    u = 1 / noise
    above = norm.sf(_Z)  # a score u + z: another companion lies above it
    stranger_above = norm.sf(_Z + u)  # a stranger does
    row = float(_DENSITY @ (C * above ** (C - 1) * norm.cdf(_Z + u) ** (D - C)))
    k = np.arange(C - 1)[:, None]  # other companions above, 0, ..., C-2, against the nodes
    few = (binom.pmf(k, C - 2, above) * binom.cdf(C - 2 - k, D - C, stranger_above)).sum(axis=0)
    return ExpectedAssociation(
        exact=min(row, 1.0) ** D, recall=min(float(_DENSITY @ few), 1.0), auc=float(norm.cdf(u / np.sqrt(2)))
    )
