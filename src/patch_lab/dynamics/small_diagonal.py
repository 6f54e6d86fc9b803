"""Which way the scores first move: the population gradient at A = beta I for a small diagonal.

Write eps = exp(beta) - 1, so that S_ij = (1 + eps [i = j]) / (D + eps), and take y = +1. At eps = 0 every
z_i equals alpha M with M = sum_j s_j, and F depends on M alone. As permuting patches moves neither M nor
the law averaged over signal sets, E[s_j | M] = M / D, and

    -dL/dA_ij = E[w(M) sigma'(alpha M) alpha (s_j - M / D)] = 0,    w = 1 / (1 + exp(D sigma(alpha M))):

with a diagonal of zero no score ever moves. To first order in eps, F still depends on M alone, the same
argument removes every term but the one where eps s_i enters sigma', and

    -dL/dA_ij = eps alpha^2 E[w(M) sigma''(alpha M) (s_i s_j - M^2 / D^2)] + O(eps^2).

Companions and strangers differ in E[s_i s_j | M], by (1 / L) E[(1 - s_a)(1 - s_b) | M] with a, b two patches
of random sets. That is never negative, but sigma'' is odd: inputs with M > 0 pull companions together and
inputs with M < 0, which the model gets wrong, push them apart.

At any diagonal z_i = x (M + eps s_i) with x = D alpha / (D + eps), and sigma'(z_i) is a constant, a multiple
of s_i and a multiple of s_i^2. The last adds a part that is never negative (:func:`first_lead`).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, gammaln, xlogy

from patch_association.checks import divides, finite, fits_memory, odd_degree, probability
from patch_association.defaults import DEFAULT


def small_diagonal_drift(
    num_patches: int, set_size: int, q: float, alpha: float, degree=DEFAULT.degree, linear=DEFAULT.linear
):
    """(inside, outside): the limit of -dL/dA_ij / (exp(beta) - 1) as beta -> 0 at A = beta I, v = alpha w*.

    Inside is for i and j in one set, outside for two sets; NaN where there is no such pair. Positive
    means that gradient descent raises the score. Our Proposition; section 4.1 of the paper has the
    scalars, not this limit.

    Raises
    ------
    ValueError
        On arguments that do not fit.
    """
    D, C, L = divides(num_patches, set_size)
    q = probability("q", q)
    alpha = finite("alpha", alpha)
    p = odd_degree(degree)
    nu = finite("linear", linear, minimum=0)
    N = D - C  # patches of random sets
    plus, minus, chance = _signs_of(N, q)
    sum_of_random = plus - minus
    M = C + sum_of_random
    one = sum_of_random / max(1, N)  # E[s_a]
    pair = (sum_of_random**2 - plus - minus) / max(1, N * (N - 1))  # E[s_a s_b] for a != b
    inside = 1 / L + (1 - 1 / L) * pair
    outside = (2 / L) * one + (1 - 2 / L) * pair

    z = alpha * M
    weight = chance * expit(-D * (z**p + nu * z)) * p * (p - 1) * z ** (p - 2) * alpha**2
    drift = [float(weight @ (mean - M**2 / D**2)) for mean in (inside, outside)]
    return drift[0] if C > 1 else float("nan"), drift[1] if L > 1 else float("nan")


def first_lead(
    num_patches: int, set_size: int, q: float, alpha: float, diagonal: float,
    degree=DEFAULT.degree, linear=DEFAULT.linear,
) -> tuple[float, float]:  # fmt: skip
    """(by the vote, by features): by how much companions gain on strangers at A = beta I, v = alpha w*.

    The sum is the difference of -dL/dA_ij for a companion and a stranger, at every diagonal beta >= 0 (our
    Proposition; section 4.1 of the paper has the scalars). The first part has the sign of the vote on every
    input; the second, of patches that are loud because they show a feature, is never negative.

    Raises
    ------
    ValueError
        On arguments that do not fit, or without both companions and strangers.

    Examples
    --------
    >>> by_vote, by_features = first_lead(4, 2, 0.5, 1e-3, diagonal=0.1, linear=0.0)
    >>> by_vote > by_features > 0
    True
    """
    D, C, L = divides(num_patches, set_size)
    if C == 1 or L == 1:
        raise ValueError(f"there must be companions and strangers, got D = {D} patches in sets of C = {C}")
    q = probability("q", q)
    alpha = finite("alpha", alpha)
    eps = math.expm1(finite("diagonal", diagonal, minimum=0))
    p = odd_degree(degree)
    nu = finite("linear", linear, minimum=0)
    N = D - C
    plus, minus, chance = _signs_of(N, q)
    M = C + plus - minus
    x = D * alpha / (D + eps)
    heard = x * (M + eps * np.array([[1.0], [-1.0], [0.0]]))  # (3, cases): by a patch that shows +1, -1, 0
    shown = np.stack([C + plus, minus, N - plus - minus])  # (3, cases): how many patches show it
    w = expit(-(shown * (heard**p + nu * heard)).sum(axis=0))
    agreeing, opposed, silent = p * heard ** (p - 1)  # (cases,) each: sigma' without nu, which moves nothing

    one = (plus - minus) / N  # E[s_a], a patch of a random set
    features = (plus + minus) / N  # E[s_a^2]
    pair = ((plus - minus) ** 2 - plus - minus) / (N * (N - 1))  # E[s_a s_b] for a != b
    triple = (plus - minus) * (plus + minus - 1) / (N * (N - 1))  # E[s_a^2 s_b]
    by_vote = w * (agreeing - opposed) / 2 * (1 - 2 * one + pair)
    by_features = w * ((agreeing + opposed) / 2 - silent) * (1 - one - features + triple)
    return float(x / L * (chance @ by_vote)), float(x / L * (chance @ by_features))


def features_share(
    num_patches: int, set_size: int, q: float, diagonal: float, degree=DEFAULT.degree
) -> float:
    """The share of :func:`first_lead` that features have, for a small alpha and nu = 0."""
    by_vote, by_features = first_lead(num_patches, set_size, q, 1e-3, diagonal, degree, linear=0.0)
    return by_features / (by_vote + by_features)


def _signs_of(N: int, q: float):
    """How many of N random patches show +1, how many -1, and the chance of it: (cases,) each."""
    fits_memory(f"the sums of {N:,} random patches", 8 * (N + 1) ** 2)
    plus, minus = (counts.reshape(-1) for counts in np.mgrid[0 : N + 1, 0 : N + 1])
    possible = plus + minus <= N
    plus = plus[possible]
    minus = minus[possible]
    rest = N - plus - minus
    log_ways = gammaln(N + 1) - gammaln(plus + 1) - gammaln(minus + 1) - gammaln(rest + 1)
    return plus, minus, np.exp(log_ways + xlogy(plus + minus, q / 2) + xlogy(rest, 1 - q))
