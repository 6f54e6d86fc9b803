"""Regions that gradient descent cannot leave: invariance in one step, as inequalities for a cover.

Let a step have the rates (at most) eta for alpha and eta_A for the scores. Each condition below is linear in
its rate, so it holds for every smaller rate as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from patch_association.certify.cover import Inequality
from patch_association.certify.field import ball


@dataclass(frozen=True)
class Towards:
    """alpha in [a, b], gamma >= -log Y, rho <= log X: associated, and for good.

    In the chart "towards" y = e^-gamma <= Y and z = e^rho <= X; Z is as in
    :mod:`~patch_association.certify.polynomials`.

    1. *rho* falls everywhere.
    2. *gamma* stays: gamma - c dL/dgamma >= -log Y with c = eta_A / (D (C-1)) says c G / Z <= log(Y / y), and
       log(Y / y) >= 1 - y / Y. So c G <= Z (1 - y / Y) is enough.
    3. *alpha* stays: a <= alpha - eta dL/dalpha <= b, multiplied by alpha / eta.
    """

    alpha: tuple
    Y: Fraction
    X: Fraction

    def inequalities(self, D: int, C: int, rate: Fraction, score_rate: Fraction) -> dict:
        """What has to be covered, by name."""
        where = {
            "chart": "towards",
            "alpha": _floats(self.alpha),
            "y": (0.0, float(self.Y)),
            "z": (0.0, float(self.X)),
        }
        c = score_rate / (D * (C - 1))
        keep_gamma = ((-1 / c, 0, 1, 0, 0), (1 / (c * self.Y), 0, 1, 1, 0))
        return {
            "rho falls": Inequality(target="rho", sign=1, **where),
            "gamma stays": Inequality(target="gamma", sign=-1, extra=keep_gamma, **where),
            **_alpha_stays(self.alpha, rate, where),
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
    """

    alpha: tuple
    Y: Fraction
    X0: Fraction
    X: Fraction

    def __post_init__(self):
        if not self.Y < self.X0 < self.X:
            raise ValueError(f"Y < X0 < X is needed, got {self.Y}, {self.X0}, {self.X}")

    def inequalities(self, D: int, C: int, rate: Fraction, score_rate: Fraction) -> dict:
        """What has to be covered, by name."""
        z = (float(self.X0), float(self.X))
        where = {"chart": "away", "alpha": _floats(self.alpha), "y": (0.0, float(self.Y)), "z": z}
        c = score_rate / (D * (D - C))
        below = ((1 / (c * self.X), 0, 1, 0, 0), (-1 / (c * self.X**2), 0, 1, 0, 1))
        above = ((-1 / (c * self.X**2), 0, 1, 0, 1), (self.X0 / (c * self.X**2), 0, 1, 0, 0))
        return {
            "gamma falls": Inequality(target="gamma", sign=1, **where),
            "rho stays below": Inequality(target="rho", sign=1, extra=below, **where),
            "rho stays above": Inequality(target="rho", sign=-1, extra=above, **where),
            **_alpha_stays(self.alpha, rate, where),
        }

    def holds(self, box) -> bool:
        """Whether a box of (alpha, gamma, rho) lies inside."""
        alpha, gamma, rho = box
        return bool(
            ball(self.alpha[0]) < alpha < ball(self.alpha[1])
            and gamma.exp() < ball(self.Y)
            and ball(self.X0) < rho.exp() < ball(self.X)
        )


def _alpha_stays(alpha, rate: Fraction, where) -> dict:
    a, b = alpha
    below = ((b / rate, 1, 0, 0, 0), (-1 / rate, 2, 0, 0, 0))
    above = ((-1 / rate, 2, 0, 0, 0), (a / rate, 1, 0, 0, 0))
    return {
        "alpha stays below": Inequality(target="alpha", sign=1, extra=below, **where),
        "alpha stays above": Inequality(target="alpha", sign=-1, extra=above, **where),
    }


def _floats(pair):
    for x in pair:
        if Fraction(float(x)) != x:
            raise ValueError(f"the ends of a region must be binary fractions, got {x}")
    return tuple(float(x) for x in pair)
