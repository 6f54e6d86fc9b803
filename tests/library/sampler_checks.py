"""Is a sampler exact in law? Each check refuses the true law with probability below 1e-8.

The bounds are quantiles at 1e-9: exact ones (binomial, chi-square of Gaussian sums, Kolmogorov-
Smirnov), or those of Pearson's chi-square over cells that each expect hundreds of draws, where the
approximation is off by far less than a factor ten. A hundred checks stay below 1e-6 together.
"""

from __future__ import annotations

import itertools

import numpy as np
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


def defects_of_coefficients(s, y, signal, labels, q: float) -> set[str]:
    """What is wrong with draws of (coefficients, label, signal set); empty for the true law."""
    n, (D, L) = len(y), (len(labels), max(labels) + 1)
    inside = np.asarray(labels)[None, :] == signal[:, None]
    wrong = set()
    if not set(np.unique(y)) <= {-1.0, 1.0} or not binomial_fits(int((y > 0).sum()), n, 0.5):
        wrong.add("label balance")
    if not counts_fit(np.bincount(signal, minlength=L), np.full(L, 1 / L)):
        wrong.add("uniform signal set")
    if not counts_fit(np.bincount(2 * signal + (y > 0), minlength=2 * L), np.full(2 * L, 1 / (2 * L))):
        wrong.add("label independent of signal set")
    if not (s[inside] == np.broadcast_to(y[:, None], s.shape)[inside]).all():
        wrong.add("signal set carries the label")
    deltas = s[~inside]
    values = [int((deltas == value).sum()) for value in (-1, 0, 1)]
    if sum(values) < deltas.size or not counts_fit(values, (q / 2, 1 - q, q / 2)):
        wrong.add("delta law")
    pairs = np.outer((q / 2, 1 - q, q / 2), (q / 2, 1 - q, q / 2)).ravel()
    for i, j in itertools.combinations(range(D), 2):
        outside = ~inside[:, i] & ~inside[:, j]
        if not counts_fit(
            np.bincount((3 * s[outside, i] + s[outside, j] + 4).astype(int), minlength=9), pairs
        ):
            wrong.add("delta independent of delta")
    for column in range(D):
        outside = ~inside[:, column]
        cell = ((s[outside, column] + 1) * 2 + (y[outside] > 0)).astype(int)
        chances = [(q / 2, 1 - q, q / 2)[value] / 2 for value in range(3) for _ in range(2)]
        if not counts_fit(np.bincount(cell, minlength=6), chances):
            wrong.add("delta independent of label")
    return wrong


def defects_of_joint_law(s, y, signal, labels, q: float) -> set[str]:
    """The whole joint law of (y, l, s) at tiny sizes, every outcome a cell."""
    cells, chances = {}, []
    D, L = len(labels), max(labels) + 1
    for sign, chosen in itertools.product((-1, 1), range(L)):
        outside = [j for j in range(D) if labels[j] != chosen]
        for deltas in itertools.product((-1, 0, 1), repeat=len(outside)):
            outcome = [sign] * D
            for j, delta in zip(outside, deltas):
                outcome[j] = delta
            cells[sign, chosen, tuple(outcome)] = len(chances)
            chances.append(np.prod([q / 2 if delta else 1 - q for delta in deltas]) / (2 * L))
    counts = np.zeros(len(chances))
    for sign, chosen, row in zip(y.astype(int).tolist(), signal.tolist(), s.astype(int).tolist()):
        cell = cells.get((sign, chosen, tuple(row)))
        if cell is None:
            return {"impossible draw"}
        counts[cell] += 1
    return set() if counts_fit(counts, chances) else {"joint law"}


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
