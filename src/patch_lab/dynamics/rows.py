"""Rows of one set against each other: the directions in which descent leaves the three scalars.

On the path of the three scalars the Hessian by all scores commutes with every permutation that maps sets to
sets. Differences between rows of one set are an irreducible kind of deviation, and they occur in four shapes:
a weight a_i that adds up to zero inside a set is added to A_ij as a_i or as a_j, inside sets or across them.
So the Hessian maps such a deviation to one with the same weights, and what is left of it is a 4 x 4 matrix,
the same for each of the L (C - 1) independent choices of weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from patch_association.checks import divides, finite, positive_int, probability
from patch_association.defaults import DEFAULT
from patch_association.exact.set_sums import law_of_set_sums
from patch_lab.dynamics.lifetime import ScoreNoise


@dataclass(frozen=True)
class RowSpread:
    """How rows of one set come apart along a path of the population, at each of its steps.

    Attributes
    ----------
    growth : (T,) array
        The largest growth rate of a difference: a small step at the rate eta of the scores multiplies it by
        1 + eta times this.
    gain : (T,) array
        By how much a difference of the start can have been multiplied since.
    by_start, by_batches : (T,) arrays
        The variance, inside a set, of a row's margin (mean score of companions less mean score of
        strangers) for noise of variance one on the starting scores, and for batches of one input.
    """

    growth: np.ndarray
    gain: np.ndarray
    by_start: np.ndarray
    by_batches: np.ndarray

    def spread(self, batch: int, start_std: float = 0.0) -> np.ndarray:
        """The standard deviation of a row's margin, (T,), with fresh batches and a noisy start."""
        omega = finite("start_std", start_std, minimum=0)
        return np.sqrt(omega**2 * self.by_start + self.by_batches / positive_int("batch", batch))


def row_shapes(noise: ScoreNoise) -> np.ndarray:
    """The four shapes for each choice of weights: (L (C - 1), P, 4), orthonormal in the last two axes.

    Raises
    ------
    ValueError
        Where shapes coincide: with two patches a set, or one set.
    """
    C, L = noise.C, noise.L
    if C < 3 or L < 2:
        raise ValueError(f"rows differ in four shapes from two sets of three on, got {L} sets of {C}")
    i, j = noise.pairs
    # Orthonormal weights that add up to zero inside a set: the rows of Helmert's matrix but the first.
    inside = np.array([[1.0] * k + [-float(k)] + [0.0] * (C - 1 - k) for k in range(1, C)])  # (C - 1, C)
    inside /= np.linalg.norm(inside, axis=1, keepdims=True)
    weights = np.kron(np.eye(L), inside)  # (L (C - 1), D)
    # (L (C - 1), P, 4)
    shapes = np.stack(
        [w * side for side in (noise.inside, ~noise.inside) for w in (weights[:, i], weights[:, j])], axis=-1
    )
    # One and the same combination for all weights, whose matrices of inner products are equal.
    return shapes @ np.linalg.inv(np.linalg.cholesky(shapes[0].T @ shapes[0])).T


def row_spread(noise: ScoreNoise, path, points: int = 24) -> RowSpread:
    """Follow differences of rows along a population run, to first order.

    One step of descent on fresh batches takes a difference x, in the four shapes, to
    (1 - eta K) x - eta xi, where K is the Hessian and xi the noise of the batch's mean gradient.

    Parameters
    ----------
    noise : ScoreNoise
        The data.
    path : PopulationRun
        Recorded at every step.
    points : int
        K and the noise are computed at so many steps, denser at the start, and interpolated between.

    Raises
    ------
    ValueError
        Where the path is not recorded at every step, or is one on other data.
    """
    count = noise.steps_of(path)
    shapes = row_shapes(noise)
    at = np.unique(np.geomspace(1, count + 1, positive_int("points", points, minimum=2)).astype(int)) - 1
    known = [_restricted(noise, shapes, path.alpha[t], path.gamma[t], path.rho[t]) for t in at]
    times = np.arange(count + 1)
    # (points, 4, 4) -> (T, 4, 4)
    K, shot = (
        np.apply_along_axis(lambda values: np.interp(times, at, values), 0, np.array(curve))
        for curve in zip(*known)
    )
    # A row's margin, contrasted between the first two rows of a set, in the four shapes: (4,)
    i = noise.pairs[0]
    first = np.zeros(noise.D)
    first[:2] = np.array([1.0, -1.0]) / np.sqrt(2)
    read = np.where(noise.inside, 1 / (noise.C - 1), -1 / (noise.D - noise.C)) * first[i] @ shapes[0]
    moved = np.eye(4)
    batches = np.zeros((4, 4))
    eta = path.step.score_rate
    gain, by_start, by_batches = np.empty((3, count + 1))
    for t in times:
        gain[t] = np.linalg.norm(moved, 2)
        by_start[t] = ((read @ moved) ** 2).sum()
        by_batches[t] = read @ batches @ read
        step = np.eye(4) - eta * K[t]
        moved = step @ moved
        batches = step @ batches @ step.T + eta**2 * shot[t]
    return RowSpread(-np.linalg.eigvalsh(K)[:, 0], gain, by_start, by_batches)


def growth_rates(noise: ScoreNoise, alpha: float, gamma: float, rho: float, others: int = 3):
    """The largest growth rate of differences of rows, and the largest of all other deviations, (others,)."""
    shapes = row_shapes(noise)
    H = noise.moments(alpha, gamma, rho)[1][:-1, :-1]
    span = np.concatenate(list(shapes), axis=1)  # (L (C - 1), P, 4) -> (P, 4 L (C - 1)), orthonormal
    apart = H - span @ (span.T @ H)  # the Hessian maps the span into itself, and so what is orthogonal to it
    return -np.linalg.eigvalsh(shapes[0].T @ H @ shapes[0])[0], -np.linalg.eigvalsh(apart)[:others]


def _restricted(noise: ScoreNoise, shapes: np.ndarray, alpha: float, gamma: float, rho: float):
    """The Hessian, and the covariance of one input's gradient, in the four shapes: (4, 4) each."""
    gradient, hessian = noise.moments(alpha, gamma, rho)
    P = len(noise.inside)
    parts = np.einsum("np,wpk->nwk", gradient[:, :P], shapes)  # (n, L (C - 1), 4)
    heavy = np.sqrt(noise.probability)[:, None, None] * parts
    shot = np.einsum("nwk,nwl->kl", heavy, heavy) / len(shapes)  # averaged over weights
    return shapes[0].T @ hessian[:P, :P] @ shapes[0], shot


def choosing_rate(num_patches: int, set_size: int, q: float, alpha: float) -> float:
    r"""How fast rows come to prefer foreign sets, in ways that cancel over rows; diagonal and scores zero.

    A small step at the rate eta of the scores multiplies such a preference by 1 + eta times this:
    lambda(alpha) = alpha^2 / (2 C) E[w sigma''(alpha M) (n_1 - n_2)^2], w = 1 / (1 + exp(D sigma(alpha M))).

    Raises
    ------
    ValueError
        With fewer than three sets: no row has two foreign ones.
    """
    D, C, L = divides(num_patches, set_size)
    if L < 3:
        raise ValueError(f"a row has two foreign sets from three sets on, got {L}")
    law = law_of_set_sums(D, C, probability("q", q), DEFAULT.degree, 1e-13, 2**21)
    M, squares = (law.power_sums[name].astype(np.float64) for name in ("P1", "P2"))
    x = finite("alpha", alpha) * M
    p = DEFAULT.degree
    apart = 2 * (L * squares - M**2) / (L * (L - 1))  # the mean of (n_1 - n_2)^2 over pairs of sets
    weight = expit(-D * (x**p + DEFAULT.linear * x))
    return float(law.probability @ (weight * p * (p - 1) * x ** (p - 2) * apart)) * alpha**2 / (2 * C)
