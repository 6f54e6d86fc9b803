"""Regions that gradient descent cannot leave: invariance in one step, as inequalities for a cover.

Let a step have the rates (at most) eta for alpha and eta_A for the scores. Each condition below is linear in
its rate, so it holds for every smaller rate as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

from patch_association.checks import listed
from patch_lab.certify.cover import Inequality
from patch_lab.certify.field import ball


@dataclass(frozen=True)
class Towards:
    """alpha in [a, b], gamma >= -log Y, rho <= log X: associated, and for good.

    In the chart "towards" y = e^-gamma <= Y and z = e^rho <= X; Z is as in
    :mod:`~patch_lab.certify.polynomials`.

    1. *rho* falls everywhere.
    2. *gamma* stays: gamma - c dL/dgamma >= -log Y with c = eta_A / (D (C-1)) says c G / Z <= log(Y / y), and
       log(Y / y) >= 1 - y / Y. So c G <= Z (1 - y / Y) is enough.
    3. *alpha* stays. In a slab at each end it moves inwards, and outside of the slab at that end one step
    does
       not reach over the end: alpha - eta dL/dalpha <= b, or >= a, multiplied by alpha / eta. (Without the
       slab a box on the end itself would be decided by the sign of dL/dalpha alone, and have to be tiny.)

    Raises
    ------
    ValueError
        If an end is no positive binary fraction: as a float it would be another number.
    """

    alpha: tuple
    slab: Fraction
    Y: Fraction
    X: Fraction

    def __post_init__(self):
        check_ends(self.alpha, slab=self.slab, Y=self.Y, X=self.X)

    def inequalities(self, D: int, C: int, rate: Fraction, score_rate: Fraction) -> dict:
        """What has to be covered, by name."""
        alpha = _floats(self.alpha)
        where = {
            "chart": "towards",
            "y": (0.0, float(self.Y)),
            "z": (0.0, float(self.X)),
        }
        c = score_rate / (D * (C - 1))
        keep_gamma = ((-1 / c, 0, 1, 0, 0), (1 / (c * self.Y), 0, 1, 1, 0))
        return {
            "rho falls": Inequality(target="rho", sign=1, alpha=alpha, **where),
            "gamma stays": Inequality(target="gamma", sign=-1, alpha=alpha, extra=keep_gamma, **where),
            **_alpha_stays(self.alpha, self.slab, rate, where),
        }

    def holds(self, box) -> bool:
        """Whether a box of (alpha, gamma, rho) lies inside."""
        alpha, gamma, rho = box
        return bool(
            ball(self.alpha[0]) < alpha < ball(self.alpha[1])
            and (-gamma).exp() < ball(self.Y)
            and rho.exp() < ball(self.X)
        )


@dataclass(frozen=True)
class Away:
    """alpha in [a, b], gamma <= log Y, log X0 <= rho <= log X with Y < X0: association lost, and for good.

    In the chart "away" y = e^gamma <= Y and z = e^rho. With c = eta_A / (D (D-C)), dL/drho = (z / Z) G:

    1. *gamma* falls everywhere.
    2. *rho* stays below: -c (z / Z) G <= log(X / z), for which -c X G <= Z (1 - z / X) is enough.
    3. *rho* stays above: c (z / Z) G <= log(z / X0), for which c X^2 G <= Z (z - X0) is enough.
    4. *alpha* stays, as in :class:`Towards`.

    Raises
    ------
    ValueError
        As there; if not Y < X0 < X.
    """

    alpha: tuple
    slab: Fraction
    Y: Fraction
    X0: Fraction
    X: Fraction

    def __post_init__(self):
        check_ends(self.alpha, slab=self.slab, Y=self.Y, X0=self.X0, X=self.X)
        if not self.Y < self.X0 < self.X:
            raise ValueError(f"Y < X0 < X is needed, got {self.Y}, {self.X0}, {self.X}")

    def inequalities(self, D: int, C: int, rate: Fraction, score_rate: Fraction) -> dict:
        """What has to be covered, by name."""
        z = (float(self.X0), float(self.X))
        alpha = _floats(self.alpha)
        where = {"chart": "away", "y": (0.0, float(self.Y)), "z": z}
        c = score_rate / (D * (D - C))
        below = ((1 / (c * self.X), 0, 1, 0, 0), (-1 / (c * self.X**2), 0, 1, 0, 1))
        above = ((-1 / (c * self.X**2), 0, 1, 0, 1), (self.X0 / (c * self.X**2), 0, 1, 0, 0))
        return {
            "gamma falls": Inequality(target="gamma", sign=1, alpha=alpha, **where),
            "rho stays below": Inequality(target="rho", sign=1, alpha=alpha, extra=below, **where),
            "rho stays above": Inequality(target="rho", sign=-1, alpha=alpha, extra=above, **where),
            **_alpha_stays(self.alpha, self.slab, rate, where),
        }

    def holds(self, box) -> bool:
        """Whether a box of (alpha, gamma, rho) lies inside."""
        alpha, gamma, rho = box
        return bool(
            ball(self.alpha[0]) < alpha < ball(self.alpha[1])
            and gamma.exp() < ball(self.Y)
            and ball(self.X0) < rho.exp() < ball(self.X)
        )


def _alpha_stays(alpha, slab: Fraction, rate: Fraction, where) -> dict:
    a, b = alpha
    low, high = _floats((a, a + slab)), _floats((b - slab, b))
    up = ((b / rate, 1, 0, 0, 0), (-1 / rate, 2, 0, 0, 0))
    down = ((-1 / rate, 2, 0, 0, 0), (a / rate, 1, 0, 0, 0))
    return {
        "alpha rises at the lower end": Inequality(target="alpha", sign=-1, alpha=low, **where),
        "alpha falls at the upper end": Inequality(target="alpha", sign=1, alpha=high, **where),
        "no step over the upper end": Inequality(
            target="alpha", sign=1, alpha=(low[0], high[0]), extra=up, **where
        ),
        "no step over the lower end": Inequality(
            target="alpha", sign=-1, alpha=(low[1], high[1]), extra=down, **where
        ),
    }


def check_ends(alpha, **sides) -> None:
    """Refuse a region whose ends are not exact as floats, or whose alpha is no range."""
    ends = listed("alpha", alpha, "two fractions")
    for name, x in [*(("alpha", x) for x in ends), *sides.items()]:
        if not isinstance(x, Rational) or isinstance(x, bool) or x <= 0 or Fraction(float(x)) != x:
            raise ValueError(f"{name} must be positive, and a binary fraction, exactly: got {x!r}")
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise ValueError(f"alpha must be a pair of ends, the lower first, got {alpha!r}")


def _floats(pair):
    for x in pair:
        if Fraction(float(x)) != x:  # a sum of two binary fractions may need more bits than a float has
            raise ValueError(f"the ends of a region must be binary fractions, got {x}")
    return tuple(float(x) for x in pair)
