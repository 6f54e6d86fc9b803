"""Companions lead at every large size: the limit of many patches, at all scores, and runs beside it.

C and the mean number of random features are fixed, D is large. A state is known by two ratios: what all
silent patches count over what the sets count that show something, b = D exp(-p (gamma - rho)), and what a
patch pays to itself over what it pays to a companion, lam = exp(beta - gamma). The notes "companions lead at
every step" of the chapter on Theorem 4.1 state and prove what is computed here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.polynomial import Polynomial
from scipy.optimize import root_scalar
from scipy.special import expit, ive

from patch_association.checks import finite, positive_int
from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.every_size import Sparse
from patch_lab.dynamics.slow_scores import FlowLine, flow_line

#: The largest diagonal at which a border is looked for; the least chance of a wrong answer that is computed.
_MOST = 8.0
_RAREST = 1e-290


@dataclass(frozen=True)
class LoudSets(Sparse):
    """The limit of many patches at any scores, with alpha at its best; nu = 0.

    Parameters
    ----------
    set_size : int, at least 2
    lam : float, positive
        The mean number of random features.
    degree : int

    Examples
    --------
    >>> few, many = LoudSets(2, 0.3), LoudSets(2, 3.6)
    >>> few.goes_on(0.02), many.goes_on(0.02)
    (False, True)
    """

    def __post_init__(self):
        super().__post_init__()
        if self.set_size < 2:
            raise ValueError(f"set_size must be at least 2, got {self.set_size}")

    @cached_property
    def _law(self):
        """As in the parent, and as far as sets that show something can outvote the signal set: R < -C^p."""
        reach = math.ceil(self.lam + 12 * math.sqrt(self.lam) + 40) + self.set_size**self.degree
        r = np.arange(-reach, reach + 1)
        bessel = ive(np.abs(r), self.lam)
        number = self.lam * (ive(np.abs(r - 1), self.lam) + ive(np.abs(r + 1), self.lam)) / 2
        count = np.divide(number, bessel, out=np.abs(r).astype(float), where=bessel > 0)
        return r + float(self.set_size), bessel, count

    def speed_polynomial(self, diagonal: float) -> Polynomial:
        """P(x; u*), x = exp(gamma) - 1: the velocity of gamma is p u* exp(gamma) P in the limit.

        Its value at x = 0 is the first speed; f(u*) = 0 is left out.
        """
        p, C = self.degree, self.set_size
        R, J = self._law[0] - C, self._law[2]
        a = Polynomial([math.expm1(finite("diagonal", diagonal)), C - 1])
        x = Polynomial([0.0, 1.0])
        total = Polynomial([0.0])
        for k in range(1, p):
            own = self._mean(self.strength, p - 1 - k)
            heard = self._mean(self.strength, p - 1 - k, J if k % 2 else R)
            total += math.comb(p - 1, k) * (C * own * a**k + heard * x**k)
        return total

    def least_speed(self, diagonal: float) -> float:
        """The least value of the polynomial over all x >= 0: positive where gamma does not come to rest."""
        polynomial = self.speed_polynomial(diagonal)
        turns = polynomial.deriv().roots()
        real = turns.real[np.abs(turns.imag) <= 1e-9 * (1 + np.abs(turns))]
        return float(polynomial(np.append(real[real > 0], 0.0)).min())

    def goes_on(self, diagonal: float) -> bool:
        """Whether gamma passes every bound in the limit, from scores zero and this positive diagonal."""
        return self.least_speed(diagonal) > 0

    def border(self) -> float:
        """The diagonal above which gamma goes on; zero where it does at every positive one.

        The polynomial rises in the diagonal at every x, so there is one border.

        Raises
        ------
        ValueError
            Where it lies above 8.
        """
        low = 1e-6
        if self.least_speed(low) > 0:
            return 0.0
        if self.least_speed(_MOST) <= 0:
            raise ValueError(f"the border must lie below {_MOST:g}, got a larger one for {self!r}")
        return float(root_scalar(self.least_speed, bracket=(low, _MOST), xtol=1e-12).root)

    def rest(self, diagonal: float) -> float:
        """The gamma at which it comes to rest in the limit, from scores zero; infinity where it goes on."""
        roots = self.speed_polynomial(diagonal).roots()
        real = roots.real[(np.abs(roots.imag) <= 1e-9 * (1 + np.abs(roots))) & (roots.real > 0)]
        return math.log1p(real.min()) if len(real) else math.inf

    def meeting(self) -> float:
        """The diagonal at which gamma comes to rest as high as the diagonal: it rests below smaller ones.

        It lies below the border or on it, and is zero where gamma rests below no diagonal. A patch then pays
        to itself what it pays to a companion, and the score of strangers rests too; below, it rises.
        """
        low, high = 1e-6, self.border()
        if high <= low or self.rest(low) >= low:
            return 0.0
        if self.rest(high * (1 - 1e-9)) < high:
            return high

        def gap(diagonal):  # with gamma at the diagonal, so that it does not jump where the rest ends
            return self.speed_polynomial(diagonal)(math.expm1(diagonal)) / diagonal

        return float(root_scalar(gap, bracket=(low, high), xtol=1e-12).root)

    def _heard(self, theta: float, lam: float) -> np.ndarray:
        C, p = self.set_size, self.degree
        theta = finite("theta", theta)
        lam = finite("lam", lam)
        if not (0 <= theta <= 1 and lam >= 0):
            raise ValueError(f"theta must lie in [0, 1] and lam be at least 0, got {theta:g} and {lam:g}")
        M = self._law[0]
        return (1 - theta) * M**p + theta * (C * (C - 1 + lam) ** p + (C - 1 + lam**p) * (M - C))

    def best(self, theta: float, lam: float) -> float:
        """v*, the zero of E[w psi] in the strength v.

        Raises
        ------
        ValueError
            Where a negative psi is too rare for float64.
        """
        chance = self._law[1]
        psi = self._heard(theta, lam)
        rare = float(chance[psi < 0].sum())
        if rare < _RAREST:
            raise ValueError(f"psi < 0 must have a chance above {_RAREST:g}, got {rare:.2g} for {self!r}")
        scale = float(chance @ np.abs(psi))

        def pull(log_v):
            return float(chance @ (expit(-math.exp(log_v) / scale * psi) * psi))

        return math.exp(root_scalar(pull, bracket=(-40.0, 40.0), xtol=1e-13).root) / scale

    def signs(self, theta: float, lam: float, strength: float | None = None) -> dict[str, float]:
        """What moves alpha and the scores, in the limit.

        Parameters
        ----------
        theta, lam : float
            1 / (1 + b) in [0, 1] and exp(beta - gamma).
        strength : float, optional
            v, with y F = v psi; by default the best one.

        Returns
        -------
        dict
            With A = C (C - 1 + lam)^(p - 1): ``pull`` E[w psi]; ``inside`` E[w (A + R)], the sign of the
            velocity of gamma; ``self`` E[w (A + lam^(p - 1) R)]; ``vote`` E[w M^p] and ``sets`` S_2, of which
            D and E^(p - 1) times add up to the velocity of rho; ``plain`` E[w R]; ``slope`` E[w].
        """
        C, p = self.set_size, self.degree
        M, chance, J = self._law
        psi = self._heard(theta, lam)
        v = self.best(theta, lam) if strength is None else finite("strength", strength)
        R = M - C
        A = C * (C - 1 + lam) ** (p - 1)
        mass = chance * expit(-v * psi)
        values = {
            "pull": psi,
            "inside": A + R,
            "self": A + lam ** (p - 1) * R,
            "vote": M**p,
            "sets": A * R + (lam ** (p - 1) + C - 1) * (J * M - R),
            "plain": R,
            "slope": np.ones_like(R),
        }
        return {name: float(mass @ value) for name, value in values.items()}

    def entry(self, lam: float) -> float:
        """The b below which gamma may fall in the limit, at this lam: it rises wherever b is larger.

        Zero where it rises at all b from 1e-6 on; looked for up to 1e4, on a grid.
        """
        bs = np.geomspace(1e4, 1e-6, 41)

        def inside(log_b):
            return self.signs(1 / (1 + math.exp(log_b)), lam)["inside"]

        for above, below in pairwise(np.log(bs)):
            if inside(below) <= 0:
                return math.exp(root_scalar(inside, bracket=(below, above), xtol=1e-9).root)
        return 0.0

    def explicit(self, theta: float, lam: float) -> dict[str, tuple[float, float]]:
        """Least values in the proof for growing sets, each with its explicit bound from below.

        Parameters
        ----------
        theta : float in (0, 1]
        lam : 0 or 1
            Where sets that show something vote like R + k: k = C (C - 1)^(p - 1), or C^p.

        Returns
        -------
        dict
            Pairs (value, bound), value >= bound: ``chance`` P[R = r0], r0 = C^p + 1; ``strength`` v* and
            ``weakness`` 1 / v*; ``slope`` E[w (1 - w) psi^2]; ``plain`` -E[w R]; ``vote`` E[w M] at u*;
            ``strangers`` -E[w M^p]; ``sets`` -S_2 where these sets decide alone; ``count`` what the mean
            of J w M^j is at most, over all odd j <= p - 2, and its modulus, both over E[w], at u*.

        Raises
        ------
        ValueError
            If theta or lam lies elsewhere, or P[R = -r0] or a bound is too small for float64.
        """
        C = self.set_size
        p = self.degree
        mean = self.lam
        if lam not in (0, 1) or not 0 < finite("theta", theta) <= 1:
            raise ValueError(f"lam must be 0 or 1 and theta lie in (0, 1], got {lam:g} and {theta:g}")
        M, chance, J = self._law
        R = M - C
        r0 = C**p + 1
        rare = float(chance[-r0 == R][0])
        if rare < _RAREST:
            raise ValueError(f"R = -{r0} must have a chance above {_RAREST:g}, got {rare:.2g} for {self!r}")
        psi = self._heard(theta, lam)
        v = self.best(theta, lam)
        w = expit(-v * psi)
        product = min(r0 * (r0 + 1) / mean, r0 * math.log1p(2 * r0 / mean))
        heard = min(1.0, float((chance * w * psi)[psi > 0].sum()))
        far = min(1.0, (math.e * v * heard / 4) ** 2)  # exp(-v x) is at least this

        u = self.strength
        m = np.arange(1, C + r0)
        right = np.interp(m - C, R, chance)  # P[M = m]
        wrong = np.interp(-m - C, R, chance)
        turns = right * expit(-u * m**p) - wrong * expit(u * m**p)
        late = int(m[turns >= 0].max()) + 2
        vote = float(chance[R == late + C][0]) * -math.expm1(-u)

        k = C**p if lam else C * (C - 1) ** (p - 1)
        alone = self.signs(1.0, lam)
        least = 2.0**-p * (k - C) ** p * float(chance[-k >= R].sum())
        share = theta * v / self.best(1.0, lam)
        at_vote = chance * expit(-u * M**p)
        counted = max(abs(float(at_vote @ (J * M**j))) for j in range(1, p - 1, 2)) / at_vote.sum()
        spread = float(chance @ (1 + np.abs(R)) ** p)
        found = {
            "chance": (rare, 3 / (4 * (4 * math.sqrt(mean) + 1)) * math.exp(-product)),
            "strength": (v, 2 * float(chance @ psi) / float(chance @ psi**2)),
            "weakness": (1 / v, math.e * rare / 2),
            "slope": (float((chance * w * (1 - w)) @ psi**2), far * heard**2 * rare / 16),
            "plain": (-float((chance * w) @ R), rare * math.tanh(v / 2) / 2),
            "vote": (self._mean(u, 1), vote),
            "strangers": (-float((chance * w) @ M**p), share * least),
            "sets": (-alone["sets"], k * (k - C + 1) * alone["slope"]),
            "count": (4 * (C + mean + 1) * spread, float(counted)),
        }
        lost = [name for name, (_, bound) in found.items() if bound == 0]
        if lost:
            raise ValueError(
                f"bounds must be above what float64 takes for zero, got zero for {', '.join(lost)} at "
                f"theta = {theta:g}, lam = {lam:g}, {self!r}"
            )
        return found

    @cached_property
    def window(self) -> float:
        """B_c: with exp(diagonal) below it, gamma does not come back for a time that is exponential in D."""
        C, p = self.set_size, self.degree
        signs = self.signs(1.0, 0.0)
        return -signs["sets"] / (C * (C - 1) ** (p - 1) * signs["slope"])

    def overshoot(self, num_patches: int, diagonal: float) -> float:
        """The leading term of the largest gamma, ((D - C) / (C - 1)) (x - 1 + exp(-x)), x = log B_c - beta.

        Raises
        ------
        ValueError
            Where exp(diagonal) is not below B_c.
        """
        gap = math.log(self.window) - finite("diagonal", diagonal)
        if gap <= 0:
            raise ValueError(f"diagonal must be below {math.log(self.window):.4g}, got {diagonal:g}")
        D, C = positive_int("num_patches", num_patches), self.set_size
        return (D - C) / (C - 1) * (gap + math.expm1(-gap))

    def face(self, k: float) -> float:
        """The lam > 1 at which C (C - 1 + lam)^p / (C - 1 + lam^p) is k, for C < k < C^p.

        Where 2 k is an integer, gamma rises on this face at every b.

        Raises
        ------
        ValueError
            If k lies elsewhere.
        """
        C, p = self.set_size, self.degree
        if not C < finite("k", k) < C**p:
            raise ValueError(f"k must lie between {C} and {C**p}, got {k:g}")

        def gap(log_lam):
            lam = math.exp(log_lam)
            return p * math.log1p((C - 1) / lam) - math.log1p((C - 1) / lam**p) - math.log(k / C)

        return math.exp(root_scalar(gap, bracket=(0.0, 40.0), xtol=1e-14).root)


def follow_into_trap(
    set_size: int, features: float, degree: int, diagonal: float, num_patches: int, times
) -> FlowLine:
    """Follow scores from zero with alpha at its best, to each of ``times``, with scores at the rate D^2.

    Parameters
    ----------
    set_size, features, degree, diagonal, num_patches
        C, q (D - C), p, beta and D.
    times : increasing, positive
    """
    D, C = positive_int("num_patches", num_patches), positive_int("set_size", set_size)
    risk = PopulationRisk(D, C, features / (D - C), degree, 0.0, prune=1e-13)
    return flow_line(risk, diagonal, D**2 * np.asarray(times, dtype=np.float64))
