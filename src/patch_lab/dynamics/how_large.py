"""How many patches are enough, by a number: the reduced flow of Theorem 4.1 at one setting.

The notes "companions lead at every step" of the chapter on Theorem 4.1 derive every bound that is computed
here. A bound on a mean at finite D is a polynomial in the number J of random features, with coefficients that
are not negative; its mean is at most that under the Poisson law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import Polynomial
from scipy.stats import poisson

from patch_association.checks import finite
from patch_lab.dynamics.large_lead import LoudSets

_J = Polynomial([0.0, 1.0])
_ONE = Polynomial([1.0])
#: The largest modulus of the derivative of x / (1 + exp(v x)) in x, rounded up.
_STEEP = 1.1
#: The largest power of ten that is tried for D.
_TRIED = 280


@dataclass(frozen=True)
class Sums:
    """Polynomials in J that bound what the limit law leaves out, for lam up to a bound.

    Parameters
    ----------
    set_size, degree, features
        C, p and the mean number of random features.
    lam : float
        The largest lam = exp(beta - gamma).
    """

    set_size: int
    degree: int
    features: float
    lam: float

    @property
    def _near(self) -> Polynomial:
        return self.set_size + _J

    def _left(self, power: int, heard: float) -> Polynomial:
        """|(x + heard E)^power - (heard E)^power| over E^(power - 1), for |x| <= C + J and E >= 1."""
        return (self._near + heard) ** power - _ONE * heard**power

    @property
    def loud(self) -> float:
        """A = C (C - 1 + lam)^(p - 1)."""
        return self.set_size * (self.set_size - 1 + self.lam) ** (self.degree - 1)

    @property
    def _patches(self) -> Polynomial:
        """Patches in sets that are not silent."""
        return self.set_size * (1 + _J)

    @property
    def _most(self) -> Polynomial:
        """|zeta| over E."""
        return self._near + (self.set_size - 1 + self.lam)

    @property
    def output(self) -> Polynomial:
        """|sum zeta^p - D M^p - E^p X| over E^(p - 1), where no random set has two features."""
        C, p = self.set_size, self.degree
        features = self._left(p, self.lam) + (C - 1) * self._left(p, 1.0)
        return self._patches * self._near**p + C * self._left(p, C - 1 + self.lam) + _J * features

    @property
    def vote_left(self) -> Polynomial:
        """|sum zeta^p - D M^p| over E^p."""
        return self._patches * (self._most**self.degree + self._near**self.degree)

    @property
    def output_pairs(self) -> Polynomial:
        """|sum zeta^p - D M^p - E^p X| over E^p."""
        return self.vote_left + self.sets

    @property
    def sets(self) -> Polynomial:
        """|X|."""
        C, p = self.set_size, self.degree
        return self.loud * (C - 1 + self.lam) * _ONE + (C - 1 + self.lam**p) * _J

    @property
    def inside(self) -> Polynomial:
        """What companions hear, g = sum zeta^(p - 1) (n - s) / (C - 1), less its limit, over E^(p - 2)."""
        return self.set_size * self._left(self.degree - 1, self.set_size - 1 + self.lam) + _J * self._left(
            self.degree - 1, 1.0
        )

    @property
    def inside_all(self) -> Polynomial:
        """|g| over E^(p - 1)."""
        return self._patches * self._most ** (self.degree - 1)

    @property
    def inside_single(self) -> Polynomial:
        """|g| over E^(p - 1), by its formula where no random set has two features."""
        C, p = self.set_size, self.degree
        return C * (_J + (C - 1 + self.lam)) ** (p - 1) + _J * (self._near + 1) ** (p - 1)

    @property
    def own(self) -> Polynomial:
        """|sum zeta^(p - 1) s| over E^(p - 1)."""
        return self._near * self._most ** (self.degree - 1)

    @property
    def strangers(self) -> Polynomial:
        """|A R + (lam^(p - 1) + C - 1)(J M - R)|."""
        power = self.lam ** (self.degree - 1)
        return self.loud * _J + (power + self.set_size - 1) * _J * (self._near + 1)

    @property
    def strangers_left(self) -> Polynomial:
        """What strangers hear less its limit, over E^(p - 2), but for votes of sets that are not silent."""
        C, p = self.set_size, self.degree
        features = self._left(p - 1, self.lam) + (C - 1) * self._left(p - 1, 1.0)
        return C * _J * self._left(p - 1, C - 1 + self.lam) + _J * self._near * features

    @property
    def strangers_pairs(self) -> Polynomial:
        """What strangers hear less its limit, over E^(p - 1)."""
        near = self._patches * self._near
        return near * (self._most ** (self.degree - 1) + self._near ** (self.degree - 1)) + self.strangers

    @cached_property
    def _law(self) -> tuple[np.ndarray, np.ndarray]:
        top = np.arange(int(self.features + 20 * math.sqrt(self.features) + 120))
        return top, poisson.pmf(top, self.features)

    def mean(self, bound: Polynomial, more: int = 0) -> float:
        """E[bound(J + more)] for a Poisson J: at least its mean at finite D."""
        top, chance = self._law
        return float(chance @ bound(top + float(more)))

    def pairs(self, bound: Polynomial, D: float) -> float:
        """The mean where some random set has two features, at most, for D >= 2 C."""
        return (self.set_size - 1) * self.features**2 / D * self.mean(bound, 2)

    def law(self, bound: Polynomial, D: float) -> float:
        """The difference of two means, at finite D and under the Poisson law, of what bound bounds."""
        return 5 * self.features**2 / D * self.mean(bound, 2)

    def heard(self, times: Polynomial, D: float) -> float:
        """The mean of |Psi - psi| times a polynomial, at most."""
        p = self.degree
        near = (p - 1) ** (1 - 1 / p) / p * D ** (-1 / p)  # the largest E^(p - 1) / (D + E^p)
        return near * self.mean(self.output * times) + self.pairs(self.output_pairs * times, D)

    def pull(self, D: float) -> float:
        """|E_D[w Psi] - E[w psi]|, at most, at every strength."""
        return _STEEP * self.heard(_ONE, D) + self.law(self._near**self.degree + self.sets, D)

    def inside_off(self, D: float, E: float, strength: float) -> float:
        """|E_D[w g] / E^(p - 1) - E[w (A + R)]|, at most, at a strength up to this."""
        limit = self.loud + _J
        return (
            self.mean(self.inside) / E
            + self.pairs(self.inside_all + limit, D)
            + strength / 4 * self.heard(limit, D)
            + self.law(limit, D)
        )

    def early_off(self, D: float, b: float, strength: float) -> float:
        """|E_D[w g] - P_e(x; u)| / E^(p - 1), at most, at a strength up to this and from this b on."""
        single = self.inside_single
        return (
            self.pairs(self.inside_all + single, D)
            + strength / (4 * (1 + b)) * self.mean(self.vote_left * single)
            + self.law(single, D)
        )

    def strangers_off(self, D: float, E: float, strength: float) -> tuple[float, float]:
        """What the two parts of H are off by, D times the first and E^(p - 1) times the second."""
        vote = self._near**self.degree
        first = self.mean(self._patches * vote) / D + strength / 4 * self.heard(vote, D) + self.law(vote, D)
        second = (
            self.mean(self.strangers_left) / E
            + self.pairs(self.strangers_pairs, D)
            + strength / 4 * self.heard(self.strangers, D)
            + self.law(self.strangers, D)
        )
        return first, second


@dataclass(frozen=True)
class Enough:
    """A number of patches from which on companions lead at all times of the reduced flow.

    Parameters
    ----------
    limit : LoudSets
    diagonal : float, positive
        With which gamma does not come to rest in the limit.
    """

    limit: LoudSets
    diagonal: float

    def __post_init__(self):
        if not self.limit.goes_on(finite("diagonal", self.diagonal)):
            raise ValueError(f"diagonal must lie above the border, got {self.diagonal:g} for {self.limit!r}")

    def _sums(self, lam: float) -> Sums:
        return Sums(self.limit.set_size, self.limit.degree, self.limit.lam, lam)

    @cached_property
    def rare(self) -> float:
        """P[R = -C^p - 1]."""
        M, chance, _ = self.limit._law
        C, p = self.limit.set_size, self.limit.degree
        return float(chance[M - C == -(C**p) - 1][0])

    @cached_property
    def far(self) -> float:
        """lam_0: gamma rises there at every strength."""
        M, chance, _ = self.limit._law
        C, p = self.limit.set_size, self.limit.degree
        R = M - C
        needed = 2 * (float(chance @ np.abs(R)) + 1) / float(chance[-(C**p) > R].sum())
        return max((needed / C) ** (1 / (p - 1)), math.exp(self.diagonal + self.reach))

    @cached_property
    def slack(self) -> float:
        """kappa: P(x; u*) >= kappa (1 + x)^(p - 1) for all x >= 0."""
        coefficients = self.limit.speed_polynomial(self.diagonal).coef
        p = self.limit.degree
        z = Polynomial([0.0, 1.0])  # x / (1 + x)
        parts = (c * z**k * (1 - z) ** (p - 1 - k) for k, c in enumerate(coefficients))
        ratio = sum(parts, Polynomial([0.0]))
        turns = ratio.deriv().roots()
        inner = turns.real[(np.abs(turns.imag) < 1e-9) & (turns.real > 0) & (turns.real < 1)]
        return float(ratio(np.concatenate([[0.0, 1.0], inner])).min())

    @cached_property
    def reach(self) -> float:
        """rho_1: the largest |rho| before the entry; it costs at most a quarter of kappa."""
        M, chance, _ = self.limit._law
        C, p = self.limit.set_size, self.limit.degree
        growth = float(chance @ (np.abs(M) + C - 1 + 2 * math.exp(self.diagonal)) ** (p - 2))
        steep = C * (p - 1) * growth * 2 * math.exp(self.diagonal)
        return min(0.5, self.diagonal / 2, self.slack / (4 * steep))

    def conditions(self, D: float, b1: float, b0: float) -> Iterator[tuple[str, float, float]]:
        """What the proof asks of D, b_1 and b_0: a name, what must be smaller, and than what.

        Each left side falls in D, so what holds at D holds at every larger one.
        """
        yield from self._faces(D, b1)
        yield from self._strangers(D, b1, b0)

    @property
    def most(self) -> float:
        """V, which the strength never exceeds."""
        return 4 / (math.e * self.rare)

    def _faces(self, D: float, b1: float) -> Iterator[tuple[str, float, float]]:
        limit = self.limit
        lam0 = self.far
        C = limit.set_size
        p = limit.degree
        beta = self.diagonal
        M, chance, J = limit._law
        size = np.abs(M)
        wide = self._sums(lam0)
        yield "two sets", 2 * C, D
        yield "strength", wide.pull(D), self.rare / 4

        inside = wide.inside_off(D, (D / b1) ** (1 / p), self.most)
        yield "far face", inside, 1.0

        u = limit.strength
        slope = u / math.e * float(chance @ (np.exp(-math.e * u * size**p) / 4 * size ** (2 * p)))
        shown = wide.mean(wide.sets)
        turned = (_STEEP * shown / b1 + wide.pull(D) * (1 + 1 / b1)) / slope
        yield "vote's strength", turned, 1.0
        barrier, early_v = limit._mean(u, 1), math.e * u * (1 + 1 / b1)  # what bounds v where b >= b_1
        moved = early_v / (4 * (1 + b1)) * wide.mean(wide._near * wide.sets)
        moved += u * turned / 2 * float(chance @ size ** (p + 1))
        yield "near face", moved, barrier / 2
        yield "near face, many patches", inside, barrier / 4
        own = wide.mean(wide.own)
        yield "near face, strangers", lam0 * own / (D - C), barrier / 4

        e_most = 2 * math.exp(beta)
        single = C * (size + C - 1 + e_most) ** (p - 1) + J * (size + 1) ** (p - 1)
        tilt = float(chance @ (size**p * single))
        early = self._sums(math.exp(beta + self.reach)).early_off(D, b1, early_v) + u * turned / 2 * tilt
        yield "entry", early, self.slack / 4
        drift = (C - 1) / (D - C) * (1 + math.exp(beta + self.reach) * own * 2 / ((C - 1) * self.slack))
        yield "entry, strangers", drift * (math.log(D) / p + 1), self.reach

    def _strangers(self, D: float, b1: float, b0: float) -> Iterator[tuple[str, float, float]]:
        """At rho = beta, where B = 1 and lam = 1 / E."""
        limit = self.limit
        V = self.most
        C, p = limit.set_size, limit.degree
        M, chance, J = limit._law
        R = M - C
        size = np.abs(M)
        E1 = (D / b1) ** (1 / p)
        one = self._sums(1.0)
        lam1 = 1 / E1
        yield "strangers, small lam", lam1, 1.0
        near = one._near
        votes = one._near**p
        shift = C**p * p + _J  # |X_lam - X_0| over lam
        off = one.pull(D) + _STEEP * lam1 * one.mean(shift)
        X0 = C * (C - 1) ** p + (C - 1) * R
        v1 = limit.best(1.0, 0.0)
        alone = limit.signs(1.0, 0.0)
        h, S = -alone["vote"], -alone["sets"]
        first, second = one.strangers_off(D, E1, V)
        tail = V / 4 * lam1 * one.mean(votes * shift)
        centers = [float(chance @ M**p), float(chance @ X0)]
        squares = [float(chance @ M ** (2 * p)), float(chance @ X0**2)]
        yield "strangers, strength", 4 * off, min(centers)
        both = one.mean(one.strangers) + second
        for name, low, high in (("b >= 1", 1.0, b1), ("b <= 1", b0, 1.0)):
            share = min(centers) / max(squares) / v1 / (1 + high)
            lost = (1 + 1 / low) * off
            middle = share * (h - lost) - lost - tail - first
            yield f"strangers, {name}", D ** (-1 / p) * low ** (1 / p - 1) * both, middle

        apart = float(chance @ np.abs(M**p - X0))
        bend = v1 / math.e * float(chance @ (np.exp(-math.e * v1 * np.abs(X0)) / 4 * X0**2))
        turn = (off + _STEEP * b0 * apart) / bend
        yield "strangers, sets' strength", turn, 1.0
        change = 2 * turn * v1 * np.abs(X0) + V * b0 * np.abs(M**p - X0)

        def drawn(weight, bound):  # the mean of |v psi - v_1 X_0| / 4 times a weight, at most
            return (float(chance @ (change * weight)) + V * lam1 * one.mean(shift * bound)) / 4

        yield "strangers, late vote", drawn(size**p, votes) + first, h
        zero = self._sums(0.0)
        seen = zero.loud * np.abs(R) + (C - 1) * J * (size + 1)
        turned_sets = lam1 * one.mean(C ** (p - 1) * (p - 1) * _J + _J * (near + 1))
        yield "strangers, late sets", drawn(seen, one.strangers) + turned_sets + second, S

    def holds(self, D: float, b1: float, b0: float) -> bool:
        """Whether all conditions hold."""
        return all(left < right for _, left, right in self.conditions(D, b1, b0))

    def _least(self, b1: int, b0: int) -> int:
        """The least power of ten for D, given those of b_1 and b_0; 281 if none up to 280 is enough."""
        low, high = 0, _TRIED + 1
        if not self.holds(10.0**_TRIED, 10.0**b1, 10.0**b0):
            return high
        while high - low > 1:
            middle = (low + high) // 2
            if self.holds(10.0**middle, 10.0**b1, 10.0**b0):
                high = middle
            else:
                low = middle
        return high

    @cached_property
    def patches(self) -> tuple[int, int, int]:
        """Powers of ten: D_0, the least that was found, and the b_1 and b_0 at which the conditions hold.

        Raises
        ------
        ValueError
            Where no power up to 280 is enough.
        """
        found = _TRIED + 1, 0, 0
        for b1 in range(1, 60):
            if found[0] > _TRIED and not self.holds(10.0**_TRIED, 10.0**b1, 1e-30):
                continue
            for b0 in range(-1, -30, -1):
                power = self._least(b1, b0)
                if power < found[0]:
                    found = power, b1, b0
                elif found[1] == b1:  # it only grows from here
                    break
            if found[0] <= _TRIED and b1 > found[1]:
                return found
        raise ValueError(f"D must have at most {_TRIED} digits, got more for {self!r}")
