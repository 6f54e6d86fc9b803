"""The cubic label on Gaussian patches: what linear predictors get right (section 2 of Jelassi et al.).

With h_1, ..., h_L independent standard normal, the label is the sign of sum_l h_l^3. Write
h = t 1 + r omega, with t the mean, r >= 0 and omega a unit vector whose entries sum to zero. Then
sum_l h_l^3 = r^3 (L tau^3 + 3 tau + m) with tau = t / r and m = sum_l omega_l^3, the skew: the label is a
threshold on the mean, shifted by the shape omega. Mean, radius and shape are independent, and
sqrt(L) |tau| is below x with the probability :func:`share_within`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import beta as beta_function
from scipy.special import betainc

from patch_association.checks import finite, fits_memory, positive_int, real_array
from patch_association.intervals import Estimate, mean
from patch_association.streams import Stream, generator

#: The limit of the disagreement as L grows: two normals of correlation sqrt(3/5) differ in sign.
LIMIT = math.acos(math.sqrt(0.6)) / math.pi


def share_within(x, num_sets: int) -> np.ndarray:
    """S(x) = P[sqrt(L) |t| / r < |x|] with the sign of x: L t^2 / (L t^2 + r^2) is Beta(1/2, (L-1)/2)."""
    x = np.asarray(x, dtype=np.float64)
    return np.sign(x) * betainc(0.5, (_at_least_two(num_sets) - 1) / 2, x**2 / (1 + x**2))


def threshold_given_skew(skew, num_sets: int) -> np.ndarray:
    """sqrt(L) |tau| at the root of L tau^3 + 3 tau + m = 0: a = 2 sinh(arsinh(sqrt(L) |m| / 2) / 3)."""
    L = _at_least_two(num_sets)
    return 2 * np.sinh(np.arcsinh(math.sqrt(L) * np.abs(np.asarray(skew, dtype=np.float64)) / 2) / 3)


def disagreement_given_skew(skew, num_sets: int) -> np.ndarray:
    """P[sign(sum h) != sign(sum h^3)] given the skew m = sum_l omega_l^3, for arrays of it."""
    return share_within(threshold_given_skew(skew, num_sets), num_sets) / 2


def linear_disagreement(num_sets: int, nodes: int = 200) -> float:
    """P[sign(sum h) != sign(sum h^3)] at two, three and four sets, by quadrature (to about 1e-10).

    Raises
    ------
    ValueError
        At other numbers of sets; :func:`sample_linear_disagreement` serves them.

    Examples
    --------
    >>> round(linear_disagreement(3), 6), round(linear_disagreement(4), 6)
    (0.072849, 0.095429)
    """
    return _disagreement(_at_least_two(num_sets), positive_int("nodes", nodes))


@lru_cache(maxsize=32)
def _disagreement(num_sets: int, nodes: int) -> float:
    if num_sets == 2:
        return 0.0
    skews, weights = _skews(num_sets, nodes)
    return float(weights @ disagreement_given_skew(skews, num_sets))


def sample_linear_disagreement(num_sets: int, n: int = 200_000, seed: int = 0) -> Estimate:
    """The same at any number of sets: the exact value given the shape, averaged over ``n`` shapes.

    Averaging probabilities in the place of 0-1 outcomes leaves far narrower intervals.
    """
    return mean(disagreement_given_skew((_shapes(num_sets, n, seed) ** 3).sum(axis=1), num_sets))


def sample_excess(weights, n: int = 20_000, seed: int = 0) -> list[Estimate]:
    """The error of sign(sum_l c_l h_l) less that of sign(sum_l h_l), for each row c of ``weights``.

    Given the shape the first errs with the probability |S(x) - S(x_m)| / 2, where x_m is the label's
    threshold and -x = -sqrt(L) <c, omega> / sum(c) the predictor's; the difference is averaged over ``n``
    shapes, the same for all rows, drawn with ``seed`` (at three sets evenly spaced). E[x sign(m)] = 0 serves
    as a control variate: without it the first order in c, which vanishes, would leave most of the noise.

    Parameters
    ----------
    weights : (K, L)
        Rows with a positive sum.
    """
    c = np.atleast_2d(real_array("weights", weights))
    if c.ndim != 2 or not (c.sum(axis=1) > 0).all():
        raise ValueError("weights must be rows of finite numbers with a positive sum")
    L = c.shape[1]
    if L == 3:  # the shape is an angle: evenly spaced ones leave no noise
        fits_memory(f"{positive_int('n', n, minimum=2):,} angles", 6 * n)
        angles = 2 * math.pi * ((np.arange(n) + 0.5) / n + np.arange(3)[:, None] / 3)
        omega = math.sqrt(2 / 3) * np.cos(angles.T)  # (n, 3)
    else:
        omega = _shapes(L, n, seed)  # (n, L)
    skew = (omega**3).sum(axis=1)
    label = np.sign(skew) * share_within(threshold_given_skew(skew, L), L)
    x = math.sqrt(L) * omega @ (c / c.sum(axis=1, keepdims=True)).T  # (n, L) @ (L, K) -> (n, K)
    excess = []
    for predictor in x.T:
        share = share_within(predictor, L)
        control = (share @ predictor) / max(predictor @ predictor, 1e-300) * predictor * np.sign(skew)
        excess.append(mean((np.abs(share - label) - np.abs(label) + control) / 2))
    return excess


def proved_excess(angle: float, num_sets: int) -> float:
    """A lower bound on that difference for all weights at this angle to equal ones, at L = 3 and 4.

    The larger of a bound for weights that are nearly equal and, for all others, of the triangle
    inequality, angle / pi - 2 epsilon_L. Both are proved in the chapter; the bound is positive.

    Parameters
    ----------
    angle : float
        Between c and (1, ..., 1), in (0, pi/2).
    """
    if positive_int("num_sets", num_sets) not in (3, 4):
        raise ValueError(f"the bound is proved at 3 and 4 sets, got {num_sets!r}")
    if not 0 < finite("angle", angle) < math.pi / 2:
        raise ValueError(f"angle must lie between 0 and pi/2, got {angle!r}")
    s = math.tan(angle)
    sine = math.sin(angle)
    if num_sets == 3:
        near = 3 * sine**2 / (4 * math.pi * (sine + math.sqrt(0.5)))
        near -= (angle - 2 * math.asin(sine / 2)) / math.pi
    else:
        x = (angle + s / (1 + s * s)) / 2
        e = 1 / math.sqrt(3)
        near = (math.sqrt(1 + 2 * e * x + x * x) - 1 - e * x) / math.pi
        near -= 2 / math.pi * (math.atan(s / math.sqrt(2)) / math.sqrt(2) - angle / 2)
    far = angle / math.pi - 2 * linear_disagreement(num_sets)
    # Where the first bound was proved: sqrt(2) / 3 and 2 / pi exceed 2 pi epsilon_L.
    return max(near, far) if angle <= (math.sqrt(2) / 3 if num_sets == 3 else 2 / math.pi) else far


def critical_ratio(num_sets: int) -> float:
    """rho_L of the critical diagonal, e^beta_c = 1 + 2 C rho_L.

    rho = L E[a^2 b] / E[(L+1) (a^3 + 3 a) J - 2 a^2 b] over the shape, with a its threshold,
    b = (1 + a^2)^(-(L+1)/2) and J the integral of (1 + x^2)^(-(L+3)/2) from 0 to a. By quadrature at three
    and four sets; at more, over 200,000 shapes. As L grows it tends to 1/5.

    Raises
    ------
    ValueError
        At two sets: the label is linear there, and no diagonal moves attention at first order.

    Examples
    --------
    >>> round(critical_ratio(3), 6), round(critical_ratio(4), 6)
    (0.281659, 0.267149)
    """
    L = positive_int("num_sets", num_sets, minimum=3)
    if L <= 4:
        skews, weights = _skews(L, 200)
    else:
        skews = (_shapes(L, 200_000, 0) ** 3).sum(axis=1)
        weights = np.full(len(skews), 1 / len(skews))
    a = threshold_given_skew(skews, L)
    b = a**2 * (1 + a**2) ** (-(L + 1) / 2)
    J = beta_function(0.5, (L + 2) / 2) / 2 * betainc(0.5, (L + 2) / 2, a**2 / (1 + a**2))
    return float(L * (weights @ b) / (weights @ ((L + 1) * (a**3 + 3 * a) * J - 2 * b)))


def critical_diagonal(num_sets: int, set_size: int) -> float:
    """beta_c = log(1 + 2 C rho_L), where the first move of attention turns.

    From A = beta I and a small value vector along the filter, at p = 3, gradient descent on the population
    risk first moves companions below strangers if 0 < beta < beta_c and above them if beta > beta_c.

    Examples
    --------
    >>> round(critical_diagonal(4, set_size=4), 3)
    1.143
    """
    return math.log1p(2 * positive_int("set_size", set_size, minimum=2) * critical_ratio(num_sets))


def _skews(num_sets: int, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of |m| and their probabilities: Gauss-Legendre over the shapes of three or four sets.

    Three: the shape is an angle, m = cos(angle) / sqrt(6). Four: a point u of the sphere, m = 3 u_1 u_2 u_3.
    """
    nodes = positive_int("nodes", nodes)
    fits_memory(f"a rule of {nodes:,} nodes", 2 * nodes**2)  # its companion matrix and eigenvectors
    node, weight = np.polynomial.legendre.leggauss(nodes)
    # of [0, pi/2], weights that add up to 1
    angle = (node + 1) * math.pi / 4
    share = weight / 2
    if num_sets == 3:
        return np.cos(angle) / math.sqrt(6), share
    if num_sets == 4:
        # A coordinate u_3 = z of the sphere is uniform (Archimedes), and 2 u_1 u_2 = (1 - z^2) sin(angle).
        z = (node + 1) / 2
        height = weight / 2
        skews = 1.5 * (z * (1 - z**2))[:, None] * np.sin(angle)[None, :]
        return skews.ravel(), (height[:, None] * share[None, :]).ravel()
    raise ValueError(f"the disagreement is computed exactly at 2, 3 and 4 sets, got {num_sets}: sample it")


def _shapes(num_sets: int, n: int, seed: int) -> np.ndarray:
    """(n, L): unit vectors whose entries sum to zero, uniform."""
    L = _at_least_two(num_sets)
    n = positive_int("n", n, minimum=2)
    fits_memory(f"{n:,} shapes of {L:,} sets", 2 * n * L)  # as drawn, and at length one
    g = generator(seed, Stream.SHAPES).standard_normal((n, L))
    g -= g.mean(axis=1, keepdims=True)
    return g / np.linalg.norm(g, axis=1, keepdims=True)


def _at_least_two(num_sets) -> int:
    return positive_int("num_sets", num_sets, minimum=2)
