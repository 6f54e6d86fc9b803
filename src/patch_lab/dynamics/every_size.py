"""What holds at every size: rows at equal scores, the limit of many patches, a fixed horizon, kinds left out.

The chapter of the same name states and proves what is computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import expit, ive

from patch_association.checks import finite, odd_degree, positive_int
from patch_association.defaults import DEFAULT
from patch_association.exact.integer_sums import IntegerLaw, trinomial
from patch_lab.dynamics.first_move import FirstMove
from patch_lab.dynamics.lifetime import ScoreNoise


@dataclass(frozen=True)
class RowRates:
    """How differences of rows grow at equal scores, diagonal included; nu = 0.

    All rates are without their factor p (p - 1) alpha^p and at a strength u = D alpha^p.

    Parameters
    ----------
    num_patches, set_size : int
        D and C >= 2, at least three sets.
    q : float in (0, 1]
    degree : int

    Examples
    --------
    >>> rates = RowRates(16, 4, 0.3)
    >>> u = rates.first.strength
    >>> bool(np.isclose(rates.between(u) - rates.within(u), rates.first.delta(u)))
    True
    """

    num_patches: int
    set_size: int
    q: float
    degree: int = DEFAULT.degree

    @cached_property
    def first(self) -> FirstMove:
        """The first move at the same setting."""
        return FirstMove(self.num_patches, self.set_size, self.q, self.degree)

    @cached_property
    def _apart(self) -> IntegerLaw:
        """The law of M, weighted with (s_a - s_b)^2 / 2 for two companions of a random set."""
        q = self.q
        # s_a + s_b is 0 with (s_a - s_b)^2 / 2 = 2 in two of nine cases, or +-1 with 1 / 2 in two each.
        pair = IntegerLaw(-1, np.array([q * (1 - q) / 2, q * q, q * (1 - q) / 2]))
        return (trinomial(self.num_patches - self.set_size - 2, q) + pair).shift(self.set_size)

    def within(self, u: float) -> float:
        """Of preferences for single patches over their companions."""
        M = self._apart.support.astype(np.float64)
        terms = self._apart.mass * expit(-u * M**self.degree) * M ** (self.degree - 2)
        return (1 - self.set_size / self.num_patches) * float(terms.sum())

    def between(self, u: float) -> float:
        """Of preferences for one set over another: by the identity, that within plus C / L times Delta."""
        return self.within(u) + self.set_size**2 / self.num_patches * self.first.delta(u)

    def zero(self, rate: Callable[[float], float]) -> float:
        """The strength at which a rate that falls in u changes its sign; infinite where it never does."""
        reach = math.exp(8.0)
        if rate(reach) >= 0:
            return math.inf
        return math.exp(root_scalar(lambda x: rate(math.exp(x)), bracket=(-100.0, 8.0), xtol=1e-13).root)


@dataclass(frozen=True)
class Sparse:
    """Many patches and a fixed mean number of random features, lam = q (D - C); nu = 0.

    Parameters
    ----------
    set_size : int
    lam : float, positive
    degree : int

    Examples
    --------
    >>> few, many = Sparse(4, 0.1), Sparse(4, 4.8)
    >>> few.between < 0 < few.lead, many.within > 0
    (True, True)
    """

    set_size: int
    lam: float
    degree: int = DEFAULT.degree

    def __post_init__(self):
        positive_int("set_size", self.set_size)
        odd_degree(self.degree)
        if finite("lam", self.lam) <= 0:
            raise ValueError(f"lam must be positive, got {self.lam}")

    @cached_property
    def _law(self):
        """M, its chances, and the mean number of random features given M: arrays of one shape."""
        reach = math.ceil(self.lam + 12 * math.sqrt(self.lam) + 40)
        r = np.arange(-reach, reach + 1)
        bessel = ive(np.abs(r), self.lam)
        number = self.lam * (ive(np.abs(r - 1), self.lam) + ive(np.abs(r + 1), self.lam)) / 2
        count = np.divide(number, bessel, out=np.abs(r).astype(float), where=bessel > 0)
        return r + float(self.set_size), bessel, count

    def _mean(self, u: float, power: int, weight: float | np.ndarray = 1.0, shift: int = 0) -> float:
        M, chance, _ = self._law
        vote = M + shift
        return float((chance * expit(-u * vote**self.degree) * vote**power * weight).sum())

    def pull(self, u: float) -> float:
        """E[w M^p]: the sign of the velocity of u."""
        return self._mean(u, self.degree)

    @cached_property
    def strength(self) -> float:
        """u*, the zero of the pull."""
        return math.exp(root_scalar(lambda x: self.pull(math.exp(x)), bracket=(-60.0, 8.0), xtol=1e-13).root)

    @property
    def lead(self) -> float:
        """The limit of Delta(alpha*)."""
        return self._mean(self.strength, self.degree - 2)

    @property
    def within(self) -> float:
        """The limit of D times the rate within sets at alpha*."""
        return self._mean(self.strength, self.degree - 2, self._law[2])

    @property
    def between(self) -> float:
        """The limit of D times the rate between sets at alpha*."""
        return self.within + self.set_size**2 * self.lead

    @property
    def gain(self) -> float:
        """The least of E[(J + C (C - 1)^k) w M^(p - 1 - k)] at u*, k odd, J the number of random features.

        Where it is not negative, the lead of companions passes every bound in one time, whatever D.
        """
        C, p = self.set_size, self.degree
        return min(
            self._mean(self.strength, p - 1 - k, self._law[2] + C * (C - 1) ** k) for k in range(1, p - 1, 2)
        )

    def velocity(self, u: float, gamma: float, diagonal: float) -> float:
        """g(u, gamma): the limit of D^2 times the velocity of one score of companions, at rho = 0."""
        p, C = self.degree, self.set_size
        x = math.expm1(gamma)
        a = (C - 1) * x + math.expm1(diagonal)
        M = self._law[0]
        signal = C * self._mean(u, 0, (M + a) ** (p - 1) - M ** (p - 1))
        heard = sum(
            s * self._mean(u, 0, (M + s + x * s) ** (p - 1) - (M + s) ** (p - 1), shift=s) for s in (1, -1)
        )
        return p * u * math.exp(gamma) * (signal + self.lam / 2 * heard)


def derivative_bounds(num_patches: int, top: float, rate: float, score_rate: float) -> tuple[float, float]:
    """(K_2, K_3): bounds of the second and the third derivative of one input's loss, |alpha| <= top.

    Along directions of length one, in units in which v and scores have the rate one; no token noise; the
    default activation.
    """
    D = positive_int("num_patches", num_patches)
    p = DEFAULT.degree
    nu = DEFAULT.linear
    h = math.sqrt(score_rate)
    e = math.sqrt(rate)
    Z = D * top
    s1 = p * Z ** (p - 1) + nu
    s2 = p * (p - 1) * Z ** (p - 2)
    s3 = p * (p - 1) * (p - 2) * Z ** (p - 3)
    z1 = D * (top * h / math.sqrt(2) + e)
    squares = 2 * D**2 * (top**2 * h**2 / 2 + D * e**2)
    z2 = D * (top * h**2 + math.sqrt(2 * D) * e * h)
    z3 = D * (2.5 * top * h**3 + 3 * e * h**2)
    F1 = s1 * D * (top * h * math.sqrt(D / 2) + D * e)
    F2 = s2 * squares + s1 * z2
    F3 = s3 * z1 * squares + 3 * s2 * z1 * z2 + s1 * z3
    return F1**2 / 4 + F2, F1**3 / (6 * math.sqrt(3)) + 0.75 * F1 * F2 + F3


@dataclass(frozen=True)
class Horizon:
    """What it takes to stay near the three scalars for the T steps of a population run.

    Attributes
    ----------
    stretch : float
        The product of max(1, |I - H_t|) over the steps.
    start : float
        A start this near, in a norm in which all rates are one, stays within 2 * stretch times its distance.
    inputs : float
        So many inputs suffice for every score to stay within ``gap``, from the symmetric start.
    """

    stretch: float
    start: float
    inputs: float


def horizon(noise: ScoreNoise, path, gap: float) -> Horizon:
    """Explicit sizes for a fixed horizon, which hold with a chance of 99%.

    Parameters
    ----------
    noise : ScoreNoise
        The data.
    path : PopulationRun
        Recorded at every step, with constant rates.
    gap : float
        How far a score may stray; alpha may exceed its largest value on the path by one percent.

    Raises
    ------
    ValueError
        Where the path is not recorded at every step, or the gap is not positive.
    """
    T = noise.steps_of(path)
    rates = path.step
    chance = 0.01
    room = 1.01
    if finite("gap", gap) <= 0:
        raise ValueError(f"gap must be positive, got {gap}")
    top = room * float(np.abs(path.alpha).max())
    K2, K3 = derivative_bounds(noise.D, top, rates.rate, rates.score_rate)
    units = np.sqrt(np.append(np.full(len(noise.inside), rates.score_rate), rates.rate))
    stretch = 1.0
    variance = 0.0
    largest = 0.0
    for t in range(T):
        gradient, hessian = noise.moments(path.alpha[t], path.gamma[t], path.rho[t])
        step = np.eye(len(units)) - units[:, None] * hessian * units
        stretch *= max(1.0, float(np.abs(np.linalg.eigvalsh(step)).max()))
        # Norms are alike on a class of inputs; the mean is invariant, the classes' gradients are not.
        squares = ((gradient * units) ** 2).sum(axis=1)
        mean = np.append(
            noise._spread(noise.probability @ gradient[:, :-1]), noise.probability @ gradient[:, -1]
        )
        length = float(np.linalg.norm(mean * units))
        variance = max(variance, float(noise.probability @ squares) - length**2)
        largest = max(largest, float(np.sqrt(squares.max())) + length)
    # Half of log 2 for the error of the Hessian, half for the third derivative.
    reach = min(
        gap / math.sqrt(rates.score_rate), math.log(2) / (T * K3), (top - top / room) / math.sqrt(rates.rate)
    )
    by_gradient = reach / (2 * stretch * T)
    by_hessian = math.log(2) / (2 * T)
    log_gradient = math.log(4 * T / chance)
    log_hessian = math.log(4 * T * len(units) / chance)
    inputs = max(
        2 * log_gradient * (variance + largest * by_gradient / 3) / by_gradient**2,
        2 * log_hessian * (K2**2 + 2 * K2 * by_hessian / 3) / by_hessian**2,
    )
    return Horizon(stretch, reach / (2 * stretch), inputs)


def count_minimal(kinds: Sequence, below: Callable[[object, object], bool]) -> int:
    """How many of the kinds have no other one of them (an equal one counts) below them.

    Examples
    --------
    >>> count_minimal([2, 5, 5, 2, 1], lambda a, b: a <= b), count_minimal("abca", lambda a, b: a == b)
    (1, 2)
    """
    return sum(
        not any(below(other, kind) for j, other in enumerate(kinds) if j != i) for i, kind in enumerate(kinds)
    )


def dominates(few: tuple[int, int, int], many: tuple[int, int, int]) -> bool:
    """Whether kinds (label, relevant, confusion) are ordered: no fewer relevant tokens, no more confusion."""
    return few[0] == many[0] and few[1] <= many[1] and few[2] >= many[2]
