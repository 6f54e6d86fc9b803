"""How much of the cubic label on Gaussian patches is linear (section 2 and Figure 2 of Jelassi et al.).

With h_1, ..., h_L independent standard normal, the label is the sign of sum_l h_l^3 and its best
linear predictor the sign of sum_l h_l. Write h = t 1 + r omega, with t the mean, r >= 0 and omega a
unit vector whose entries sum to zero. Then sum_l h_l^3 = r^3 (L tau^3 + 3 tau + kappa) with
tau = t / r and kappa = sum_l omega_l^3: the label is a threshold on the mean, shifted by the shape
omega. Mean, radius and shape are independent, so that only kappa is left to average over.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc

from patch_association._streams import Stream, generator
from patch_association._validate import positive_int
from patch_association.intervals import Estimate, mean

#: The limit of the disagreement as L grows: two normals of correlation sqrt(3/5) differ in sign.
LIMIT = math.acos(math.sqrt(0.6)) / math.pi


def disagreement_given_shape(kappa, num_sets: int) -> np.ndarray:
    """P[sign(sum h) != sign(sum h^3)] given kappa = sum_l omega_l^3, for arrays of kappa.

    The root of L tau^3 + 3 tau + kappa = 0 is tau = -(2 / sqrt(L)) sinh(asinh(sqrt(L) kappa / 2) / 3).
    Signs differ when t / r lies between 0 and it; L t^2 / (L t^2 + r^2) follows Beta(1/2, (L-1)/2).
    """
    L = _at_least_two(num_sets)
    tan = 2 * np.sinh(np.arcsinh(math.sqrt(L) * np.abs(np.asarray(kappa, dtype=np.float64)) / 2) / 3)
    return 0.5 * betainc(0.5, (L - 1) / 2, tan**2 / (1 + tan**2))


def linear_disagreement(num_sets: int, nodes: int = 200) -> float:
    """P[sign(sum h) != sign(sum h^3)] at two, three and four sets, by quadrature (to about 1e-10).

    Two sets: kappa = 0, and so is the answer. Three: the shape is an angle, kappa = cos(theta) / sqrt(6).
    Four: the shape is a point u of the sphere, and kappa = 3 u_1 u_2 u_3.

    Raises
    ------
    ValueError
        At other numbers of sets; :func:`sample_linear_disagreement` serves them.
    """
    L = _at_least_two(num_sets)
    if L == 2:
        return 0.0
    # kappa's dependence on the angle is smooth up to its absolute value: a quarter turn suffices.
    node, weight = np.polynomial.legendre.leggauss(positive_int("nodes", nodes))
    angle, share = (node + 1) * math.pi / 4, weight / 2  # of [0, pi/2], weights that add up to 1
    if L == 3:
        return float(share @ disagreement_given_shape(np.cos(angle) / math.sqrt(6), 3))
    if L == 4:
        # A coordinate u_3 = z of the sphere is uniform (Archimedes), and 2 u_1 u_2 = (1 - z^2) sin(angle).
        z, height = (node + 1) / 2, weight / 2
        kappa = 1.5 * (z * (1 - z**2))[:, None] * np.sin(angle)[None, :]  # 3 u_1 u_2 u_3
        return float(height @ disagreement_given_shape(kappa, 4) @ share)
    raise ValueError(f"the disagreement is computed exactly at 2, 3 and 4 sets, got {L}: sample it")


def sample_linear_disagreement(num_sets: int, n: int = 200_000, seed: int = 0) -> Estimate:
    """The same at any number of sets: the exact value given the shape, averaged over ``n`` shapes.

    Averaging probabilities in the place of 0-1 outcomes leaves far narrower intervals.
    """
    L, n = _at_least_two(num_sets), positive_int("n", n, minimum=2)
    g = generator(seed, Stream.SHAPES).standard_normal((n, L))
    g -= g.mean(axis=1, keepdims=True)
    kappa = (g**3).sum(axis=1) / (g**2).sum(axis=1) ** 1.5
    return mean(disagreement_given_shape(kappa, L))


def _at_least_two(num_sets) -> int:
    return positive_int("num_sets", num_sets, minimum=2)
