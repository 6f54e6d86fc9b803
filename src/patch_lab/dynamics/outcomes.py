"""Every outcome of Assumption 1 at a small size, and gradient descent worked out on them."""

from __future__ import annotations

from itertools import product

import numpy as np
import torch
from scipy.optimize import fminbound
from torch.nn.functional import logsigmoid

from patch_association.checks import fits_memory, probability
from patch_association.structure import Partition


def outcomes(partition: Partition, q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every (s, y) of Assumption 1 with its probability: shapes (n, D), (n,), (n,), n = 2 L 3^(D-C).

    ``s[k, j]`` is the coefficient of the feature in patch j, noise left out.

    Raises
    ------
    ValueError
        Where q is no probability, or the list would not fit in memory.
    """
    q = probability("q", q)
    D, C, L = partition.num_patches, partition.set_size, partition.num_sets
    fits_memory(f"a list of all inputs of {D} patches", 16 * L * D * 3 ** (D - C))
    signs = np.array(list(product((-1, 0, 1), repeat=D - C)), dtype=float).reshape(3 ** (D - C), D - C)
    chance = np.where(signs == 0, 1 - q, q / 2).prod(axis=1) / (2 * L)  # (3^(D-C),)
    s = []
    y = []
    for members, label in product(partition.sets, (-1, 1)):
        block = np.full((len(signs), D), float(label))
        block[:, np.setdiff1d(np.arange(D), members)] = signs
        s.append(block)
        y.append(np.full(len(signs), float(label)))
    return np.concatenate(s), np.concatenate(y), np.tile(chance, 2 * L)


def least_risk(attention, partition: Partition, q: float) -> float:
    """The least risk over alpha of the cubic without a linear part at frozen ``attention`` (D, D).

    The risk is E log(1 + exp(-y sum_i (D alpha sum_j S_ij s_j)^3)), over all inputs; alpha is sought
    between 0 and 1.

    Examples
    --------
    Two patches, each a set, and both rows hear the first alone: it shows the label three times in four, so
    the least risk is the entropy of 1/4.

    >>> round(least_risk([[1, 0], [1, 0]], Partition([0, 1]), q=1.0), 6)
    0.562335
    """
    s, y, chance = outcomes(partition, q)
    votes = y * ((s @ np.asarray(attention, dtype=float).T) ** 3).sum(axis=1)  # (n,)
    D = partition.num_patches

    def risk(alpha):
        return chance @ np.logaddexp(0, -((D * alpha) ** 3) * votes)

    return float(risk(np.asarray(fminbound(risk, 0, 1)).item()))


def first_steps(signs) -> np.ndarray:
    """What one image adds to the first step of every score, over 3 eps alpha^3: (..., D, D).

    This is M (s_i s_j - M^2 / D^2): for the cubic without a linear part, as the diagonal and alpha tend to
    zero, w is 1/2 on every image and sigma''(alpha M) is 6 alpha M
    (:mod:`patch_lab.dynamics.small_diagonal`). On a single image an entry has another term, which depends
    on the column alone; it cancels in the mean over all pairs of a kind, and over all images. ``signs`` is
    (..., D), at label +1; the diagonal is frozen.
    """
    s = np.asarray(signs, dtype=float)
    D = s.shape[-1]
    vote = s.sum(axis=-1)[..., None, None]  # (..., 1, 1)
    steps = vote * (s[..., :, None] * s[..., None, :] - vote**2 / D**2)
    return np.where(np.eye(D, dtype=bool), 0.0, steps)


def mean_first_steps(partition: Partition, q: float) -> np.ndarray:
    """The mean of :func:`first_steps` over all images, by enumeration: (D, D)."""
    s, y, chance = outcomes(partition, q)
    return np.einsum("n,nij->ij", chance, first_steps(y[:, None] * s))


def by_kind(steps, partition: Partition) -> tuple[float, float]:
    """The mean of a (D, D) matrix over pairs of companions, and over pairs of strangers."""
    steps = np.asarray(steps)
    same = partition.same_set
    return float(steps[same & ~np.eye(len(steps), dtype=bool)].mean()), float(steps[~same].mean())


def enumerated_risk(A, v, X, y, chance, *, degree: int, linear: float) -> torch.Tensor:
    """The risk of model (T) on weighted inputs: A (D, D), v (d,), X (n, D, d), y and chance (n,)."""
    S = torch.softmax(A, dim=1)
    D = A.shape[0]
    z = D * torch.einsum("ij,njk,k->ni", S, X, v)  # (n, D)
    F = (z**degree + linear * z).sum(dim=1)
    return -chance @ logsigmoid(y * F)


def descend_by_enumeration(
    partition: Partition, q: float, feature, *, diagonal, alpha, rate, steps, degree, linear
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient descent on every score and every coordinate of v: A (steps + 1, D, D), v (steps + 1, d).

    No symmetry is used: automatic differentiation on the list of all inputs, without noise, from
    A = ``diagonal`` I and v = ``alpha`` times ``feature`` (d,). The diagonal is frozen; the scores move at
    D^2 times the ``rate`` of v, as in :class:`patch_association.training.steps.Constant`.
    """
    s, y, chance = (torch.from_numpy(part) for part in outcomes(partition, q))
    X = s[:, :, None] * feature  # (n, D, d)
    D = partition.num_patches
    off = 1 - torch.eye(D, dtype=torch.float64)
    A = diagonal * torch.eye(D, dtype=torch.float64)
    v = alpha * feature
    path = []
    for _ in range(steps + 1):
        path.append((A.detach().numpy(), v.detach().numpy()))
        A = A.detach().requires_grad_()
        v = v.detach().requires_grad_()
        risk = enumerated_risk(A, v, X, y, chance, degree=degree, linear=linear)
        by_score, by_value = torch.autograd.grad(risk, (A, v))
        A = A - D**2 * rate * off * by_score
        v = v - rate * by_value
    scores, values = zip(*path)
    return np.array(scores), np.array(values)
