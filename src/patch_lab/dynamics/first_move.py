"""Who wins the first move: the sign of the drift of gamma - rho at a small diagonal, and the window of q.

At A = beta I with a small beta, nu = 0 and y = +1 the drift of gamma - rho is a positive multiple of

    Delta(u) = E[w M^(p-2) (1 - s_a)(1 - s_b)],    w = 1 / (1 + exp(u M^p)),    u = D alpha^p,

with M the sum over all patches and a, b two patches of random sets. Delta falls in u, so one sign decides:
companions gain at every alpha up to the best one, alpha*, exactly when they gain at alpha*. As D grows they
do for b_c / (D - C)^2 < q < q_c (theorem "The window" of the book, :func:`upper_edge`,
:func:`lower_edge`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import expit

from patch_association.checks import divides, fits_memory, odd_degree, positive_int, probability
from patch_association.defaults import DEFAULT
from patch_association.exact.integer_sums import IntegerLaw, trinomial
from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.valley import best_alpha, score_drift


def upper_edge(set_size: int, degree: int = DEFAULT.degree) -> float:
    """q_c = C (p-1) / (2 (2p-1)): above it companions lose at alpha* once D is large."""
    C = positive_int("set_size", set_size)
    p = odd_degree(degree)
    return C * (p - 1) / (2 * (2 * p - 1))


def lower_edge(set_size: int, degree: int = DEFAULT.degree) -> float:
    """b_c = 2^(5-p) (C + 2) / 3: below q = b_c / (D - C)^2 they lose as well, once D is large."""
    return 2.0 ** (5 - odd_degree(degree)) * (positive_int("set_size", set_size) + 2) / 3


@dataclass(frozen=True)
class FirstMove:
    """The first move for nu = 0 and a diagonal that tends to zero.

    Parameters
    ----------
    num_patches, set_size : int
        D and C >= 2, with at least three sets: with fewer the vote is never wrong and alpha* is infinite.
    q : float in (0, 1]
    degree : int

    Examples
    --------
    >>> FirstMove(16, 4, 0.3).margin > 0 > FirstMove(16, 4, 0.8).margin
    True
    """

    num_patches: int
    set_size: int
    q: float
    degree: int = DEFAULT.degree

    def __post_init__(self):
        _, C, L = divides(self.num_patches, self.set_size)
        odd_degree(self.degree)
        if C < 2 or L < 3:
            raise ValueError(f"at least three sets of at least two patches are needed, got {L} of {C}")
        if probability("q", self.q) == 0:
            raise ValueError("q must be positive: at q = 0 the vote is never wrong")

    @cached_property
    def _laws(self):
        """The law of M, and the same weighted with (1 - s_a)(1 - s_b)."""
        n = self.num_patches - self.set_size
        q = self.q
        turned = IntegerLaw(-1, np.array([q, 1 - q, 0.0]))  # 1 - s is 2, 1, 0 with chances q/2, 1-q, q/2
        unweighted = trinomial(n, q).shift(self.set_size)
        weighted = (trinomial(n - 2, q) + turned + turned).shift(self.set_size)
        return unweighted, weighted

    def _mean(self, law: IntegerLaw, u: float, power: int, size: bool = False) -> float:
        M = law.support.astype(np.float64)
        terms = law.mass * expit(-u * M**self.degree) * M**power
        return float(np.abs(terms).sum() if size else terms.sum())

    def delta(self, u: float) -> float:
        """Delta(u): the drift of gamma - rho is eps alpha^p p (p-1) / L times this, eps = e^beta - 1."""
        return self._mean(self._laws[1], u, self.degree - 2)

    @cached_property
    def strength(self) -> float:
        """u* = D (alpha*)^p, the zero of E[w M^p]."""

        def slope(x):
            return self._mean(self._laws[0], math.exp(x), self.degree)

        return math.exp(root_scalar(slope, bracket=(-100.0, 8.0), xtol=1e-13).root)

    @property
    def alpha(self) -> float:
        """alpha*, the best alpha at equal scores."""
        return (self.strength / self.num_patches) ** (1 / self.degree)

    @property
    def margin(self) -> float:
        """Delta(u*) over the same mean of absolute values: in (-1, 1), positive where companions win."""
        return self.delta(self.strength) / self._mean(
            self._laws[1], self.strength, self.degree - 2, size=True
        )

    @property
    def turn(self) -> float:
        """alpha_0 at which the drift changes sign; infinite where it never does."""
        reach = math.exp(8.0)
        if self.delta(0.0) <= 0:
            return 0.0
        if self.delta(reach) > 0:
            return math.inf
        u = math.exp(root_scalar(lambda x: self.delta(math.exp(x)), bracket=(-100.0, 8.0), xtol=1e-13).root)
        return (u / self.num_patches) ** (1 / self.degree)


def window(num_patches: int, set_size: int, degree: int = DEFAULT.degree, points: int = 200):
    """(low, high): the ends of the q for which companions win at alpha*; NaN for both where there are none.

    The sign is scanned on ``points`` values of q, half of them evenly spaced in log q between a quarter of
    the lower edge and 0.2, the others evenly up to 1, and both changes are refined. high is 1 where
    companions still win at q = 1.

    Raises
    ------
    ValueError
        If the scan shows anything but one window, or a window that begins below the scan.
    """
    D, C, _ = divides(num_patches, set_size)
    n = D - C
    points = positive_int("points", points, minimum=4)
    fits_memory(f"a scan of {points:,} chances", 4 * points)

    def margin(q):
        return FirstMove(num_patches, set_size, float(q), degree).margin

    start = min(0.25 * lower_edge(set_size, degree) / n**2, 0.01)
    grid = np.unique(
        np.concatenate([np.geomspace(start, 0.2, points // 2), np.linspace(0.2, 1.0, points // 2)])
    )
    wins = np.array([margin(q) for q in grid]) > 0
    if not wins.any():
        return math.nan, math.nan
    first, last = np.flatnonzero(wins)[[0, -1]]
    if not wins[first : last + 1].all() or first == 0:
        raise ValueError(
            f"the wins at D = {num_patches}, C = {set_size} are no single window above {start:.2g}"
        )
    low = root_scalar(margin, bracket=(grid[first - 1], grid[first]), xtol=1e-12).root
    high = (
        root_scalar(margin, bracket=(grid[last], grid[last + 1]), xtol=1e-12).root
        if last + 1 < grid.size
        else 1.0
    )
    return float(low), float(high)


def drift_margin(risk: PopulationRisk, diagonal: float) -> float:
    """The drift of gamma - rho at equal scores and the best alpha, over the sum of both drifts' sizes.

    Lies in [-1, 1]; positive where companions win the first step, at any diagonal and at ``risk``'s nu.
    """
    companions, strangers = score_drift(risk, best_alpha(risk, diagonal), diagonal)
    return (companions - strangers) / (abs(companions) + abs(strangers))


def best_strengths(num_patches: int, set_size: int, q: float):
    """(alpha_eq, alpha_set): the best alpha at equal scores and at attention 1 / C on the own set, nu = 0."""
    D, C, L = divides(num_patches, set_size)
    p = DEFAULT.degree
    one = trinomial(C, probability("q", q)).map(lambda n: n**p)
    N = one.times(L - 1).shift(C**p)
    values = N.support.astype(np.float64)

    def slope(x):
        return float((N.mass * expit(-math.exp(x) * values) * values).sum())

    v = math.exp(root_scalar(slope, bracket=(-100.0, 8.0), xtol=1e-13).root)
    return FirstMove(D, C, q).alpha, (v * C ** (p - 1)) ** (1 / p) / D
