"""What a perfect value vector can do with imperfect attention: too many patches, or some in the wrong set.

Here v = alpha w*: nothing is left to learn, and all errors are the attention's.

**Dilution.** With beta = gamma, rho = 0 and g = e^gamma - 1, a patch of set l sees
z_l = alpha eps (g n_l + t), where n_l is the set's sum, t the sum of all sets and eps = D / (D + C g). So

    F / (C (alpha eps g)^p) = sum_l (n_l + t / g)^p + mu t,   mu = nu C^(p-2) (D / g + C) / zeta^(p-1),

with zeta = alpha eps g C the signal set's response. As D grows at fixed C and chi = q D / C^2, with
g^p / D -> c, the right-hand side tends in law to

    h(T) = C^p - C + (1 + mu) T + T^p / (c C),   T = C + N+ - N-,   N+, N- independent Poisson(chi C^2 / 2),

which increases with T: the limiting error is P[h(T) < 0] + P[h(T) = 0] / 2.

**Mismatch.** Hard attention to sets of which r of the signal set's C patches have left for r different
sets: F is a sum of independent p-th powers, so its law is a convolution.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom, skellam

from patch_association.checks import divides, finite, fits_memory, odd_degree, positive_int, probability
from patch_association.exact.integer_sums import trinomial
from patch_association.streams import Stream, generator
from patch_lab.kit.conventions import TRANSFER


def in_set_mass(num_patches: int, set_size: int, gamma: float) -> float:
    """The share of its attention that a patch pays to its own set, at beta = gamma and rho = 0."""
    D, C, _ = divides(num_patches, set_size)
    return C / (C + (D - C) * math.exp(-finite("gamma", gamma)))


def linear_weight(
    num_patches: int, set_size: int, gamma: float, linear: float, response: float = 1.0
) -> float:
    """mu = nu C^(p-2) (D / g + C) / zeta^(p-1): what the linear part gives to the plain sum."""
    D, C, _ = divides(num_patches, set_size)
    p = TRANSFER.degree
    nu = finite("linear", linear, minimum=0)
    zeta = finite("response", response)
    return nu * C ** (p - 2) * (D / _gain(gamma) + C) / zeta ** (p - 1)


def diluted_error(
    num_patches: int,
    set_size: int,
    q: float,
    gamma: float,
    linear_weight: float = 0.0,
    draws: int = 100_000,
    seed: int = 0,
) -> float:
    """P[F < 0] + P[F = 0] / 2 at y = +1 with v along w*, sampled; a draw costs O(C), whatever D.

    Only how many sets have each sum matters, and that is one multinomial draw.

    Parameters
    ----------
    num_patches, set_size : int
    q : float in [0, 1]
    gamma : float
        The score inside sets; above 0.
    linear_weight : float
        mu of the module's equation.
    draws, seed : int
    """
    _D, C, L = divides(num_patches, set_size)
    p = TRANSFER.degree
    g = _gain(gamma)
    mu = finite("linear_weight", linear_weight, minimum=0)
    law = trinomial(C, probability("q", q))
    draws = positive_int("draws", draws)
    fits_memory(f"{draws:,} draws of set sums", draws * (law.mass.size + 4))
    counts = generator(seed, Stream.SET_SUMS).multinomial(L - 1, law.mass / law.mass.sum(), draws)
    t = counts @ law.support + C  # (draws, 2C + 1) @ (2C + 1,)
    F = (C + t / g) ** p + mu * t
    for n, count in zip(law.support, counts.T):
        F += count * (n + t / g) ** p
    return float((F < 0).mean() + 0.5 * (F == 0).mean())


def diluted_limit(set_size: int, chi: float, strength: float, linear_weight: float = 0.0) -> float:
    """The limit of :func:`diluted_error` as D grows with (e^gamma - 1)^p / D -> ``strength`` = c >= 0."""
    C = positive_int("set_size", set_size)
    p = TRANSFER.degree
    mean = finite("chi", chi, minimum=0) * C**2 / 2
    if strength != math.inf:
        strength = finite("strength", strength, minimum=0)
    reach = C + 40 + math.ceil(12 * math.sqrt(2 * mean + 1))
    fits_memory(f"the law of a sum that reaches {reach:,}", 5 * (2 * reach + 1))
    T = C + np.arange(-reach, reach + 1, dtype=np.float64)
    if strength == 0:
        # T^p outweighs everything; at T = 0 what is left is C^p - C >= 0.
        h = np.where(T == 0, C**p - C, np.sign(T))
    else:
        h = C**p - C + (1 + finite("linear_weight", linear_weight, minimum=0)) * T + T**p / (strength * C)
    mass = skellam.pmf(T - C, mean, mean) if mean else (T == C).astype(float)
    return float(mass[h < 0].sum() + 0.5 * mass[h == 0].sum())


def broken_set_error(
    num_patches: int, set_size: int, q: float, moved: int, degree: int = TRANSFER.degree
) -> float:
    """The error on inputs of whose signal set ``moved`` patches lie in as many other sets of the attention.

    Hard attention, v along w*, nu = 0, exactly: P[F < 0] + P[F = 0] / 2 for
    F = (C - r + Z_r)^p + sum of r terms (1 + Z_(C-1))^p + sum of L - 1 - r terms Z_C^p, with Z_k a sum of k
    signs.
    """
    _D, C, L = divides(num_patches, set_size)
    p = odd_degree(degree)
    q = probability("q", q)
    r = positive_int("moved", moved, minimum=0)
    if r > min(C, L - 1):
        raise ValueError(f"moved must be at most {min(C, L - 1)}, got {r}")

    def power(law):
        return law.map(lambda k: k**p)

    F = power(trinomial(r, q).shift(C - r)) + power(trinomial(C - 1, q).shift(1)).times(r)
    F = F + power(trinomial(C, q)).times(L - 1 - r)
    return F.below(0) + 0.5 * F.at(0)


def mismatch_forecast(
    num_patches: int, set_size: int, q: float, fraction: float, degree: int = TRANSFER.degree
) -> float:
    """The error when each patch has moved with this chance: :func:`broken_set_error` over a binomial r.

    It forgets that exactly a fraction moves, and that two patches of a set may move to the same place.
    """
    C = positive_int("set_size", set_size)
    f = probability("fraction", fraction)
    errors = [broken_set_error(num_patches, C, q, r, degree) for r in range(C + 1)]
    return float(binom.pmf(np.arange(C + 1), C, f) @ errors)


def _gain(gamma: float) -> float:
    g = math.expm1(finite("gamma", gamma))
    if g <= 0:
        raise ValueError(f"gamma must be above 0, the score across sets, got {gamma}")
    return g
