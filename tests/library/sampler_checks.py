"""Is a sampler exact in law? Each check refuses the true law with probability below 1e-8.

The bounds are quantiles at 1e-9: exact ones (binomial, chi-square of Gaussian sums, Kolmogorov-
Smirnov), or those of Pearson's chi-square over cells that each expect hundreds of draws, where the
approximation is off by far less than a factor ten. A hundred checks stay below 1e-6 together.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
from enumeration import inputs
from scipy import stats

RATE = 1e-9


def binomial_fits(successes: int, trials: int, chance: float) -> bool:
    """Does a count lie between the exact two-sided quantiles?"""
    law = stats.binom(trials, chance)
    return min(law.cdf(successes), law.sf(successes - 1)) > RATE / 2


def counts_fit(counts, chances) -> bool:
    """Pearson's chi-square of counts against the chances of their cells."""
    counts, expected = np.asarray(counts, float), np.sum(counts) * np.asarray(chances, float)
    assert expected.min() > 100, "too few draws for Pearson's approximation"
    statistic = ((counts - expected) ** 2 / expected).sum()
    return statistic < stats.chi2.isf(RATE, len(counts) - 1)


def chi_square_fits(sum_of_squares: float, degrees: int) -> bool:
    """Does a sum of squares of independent standard normals lie between its exact quantiles?"""
    law = stats.chi2(degrees)
    return min(law.cdf(sum_of_squares), law.sf(sum_of_squares)) > RATE / 2


def uncorrelated(a, b) -> bool:
    """Are two samples of independent standard normals uncorrelated? By (a + b)^2 / 2, exactly chi-square."""
    return chi_square_fits(((a + b) ** 2).sum() / 2, a.size) and chi_square_fits(
        ((a - b) ** 2).sum() / 2, a.size
    )


def standard_normal(z) -> bool:
    """Kolmogorov-Smirnov against the standard normal law."""
    return stats.kstest(np.ravel(z), "norm").pvalue > RATE


def joint_law_fits(s, y, signal, labels, q: Fraction) -> bool:
    """The whole joint law of (y, l, s) at tiny sizes, every outcome a cell."""
    sets = [[j for j, label in enumerate(labels) if label == k] for k in range(max(labels) + 1)]
    chances = {(y, chosen, tuple(s)): float(p) for p, y, chosen, s in inputs(sets, q)}
    drawn = Counter(zip(y.tolist(), signal.tolist(), map(tuple, s.tolist())))
    return drawn.keys() <= chances.keys() and counts_fit([drawn[one] for one in chances], [*chances.values()])


def defects_of_noise(X, s, w, noise_std: float) -> set[str]:
    """What is wrong with xi = X - s w, which should be N(0, sigma^2 (I - w w^T)) in every patch."""
    d = len(w)
    xi = (X - s[..., None] * w) / noise_std
    wrong = set()
    if np.abs(xi @ w).max() > 1e-12 * d:
        wrong.add("orthogonal to w*")
    basis = np.linalg.svd(w[None, :])[2][1:]  # orthonormal, orthogonal to w: (d - 1, d)
    z = xi @ basis.T  # (n, D, d - 1): independent standard normals
    if not chi_square_fits((z**2).sum(), z.size):
        wrong.add("variance")
    coordinates = z.reshape(-1, d - 1)
    if not all(chi_square_fits(c.sum() ** 2 / c.size, 1) for c in coordinates.T):
        wrong.add("mean")
    if not standard_normal(z):
        wrong.add("normal")
    if not all(uncorrelated(z[..., a], z[..., b]) for a, b in itertools.combinations(range(d - 1), 2)):
        wrong.add("isotropic")
    if not all(uncorrelated(z[:, i], z[:, j]) for i, j in itertools.combinations(range(X.shape[1]), 2)):
        wrong.add("patches independent")
    if not uncorrelated(z[:-1], z[1:]):
        wrong.add("inputs independent")
    # Given the coefficients, sum s z is normal with variance sum s^2 in each coordinate.
    signal = s.reshape(-1)
    if not all(chi_square_fits((signal @ c) ** 2 / (signal @ signal), 1) for c in coordinates.T):
        wrong.add("noise independent of signal")
    return wrong
