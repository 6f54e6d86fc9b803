"""Where a run ends that a region holds: the conditions of theorem "The end of a run" of the book, proved.

In the region of :class:`~patch_lab.certify.traps.Towards` rho falls at every step, so it tends to
minus infinity. What else the theorem asks is proved where rho <= log X: that gamma comes down, that a step is
short against the curvature, and that the end point is alone and a minimum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from patch_lab.certify.cover import Inequality, cover
from patch_lab.certify.descent import Undecided
from patch_lab.certify.field import ball, magnitude, shared_entries
from patch_lab.certify.traps import check_ends

_LEAST = 2.0**-30  # of a side
_NEAR = 1 / 1024  # half of the piece of the face on which L_alphaalpha > 0 is shown
_TIGHT = 1e-9  # half width of the enclosure of alpha_inf


@dataclass(frozen=True)
class End:
    """alpha in [a, b], -log Y <= gamma, rho <= log X, and two levels of gamma, e^-gamma = near and beyond.

    1. *gamma comes down*: dL/dgamma > 0 wherever e^-gamma <= near, infinite gamma included (divided by its
       factor e^-gamma); and from gamma below that level one step does not reach beyond the second.
    2. *short steps*: in between, the rows of R^(1/2) (Hessian) R^(1/2), R the rates, have sums of absolute
       values below 2. So a step lowers the risk by a fixed share of the sum of rate * derivative^2.
    3. *alone*: on the face rho = -infinity, gamma = beta, dL/dalpha has one zero in [a, b], where the second
       derivatives by alpha and by gamma are positive.

    Each holds for all smaller rates as well.

    Raises
    ------
    ValueError
        If an end is no positive binary fraction, or not beyond < near <= Y.
    """

    alpha: tuple
    Y: Fraction
    near: Fraction
    beyond: Fraction
    X: Fraction

    def __post_init__(self):
        check_ends(self.alpha, Y=self.Y, near=self.near, beyond=self.beyond, X=self.X)
        if not self.beyond < self.near <= self.Y:
            raise ValueError(f"beyond < near <= Y is needed, got {self.beyond}, {self.near}, {self.Y}")

    def prove(self, field, rate: Fraction, score_rate: Fraction):
        """Prove all three for these rates.

        Returns
        -------
        dict
            How many boxes it took, and the largest of their row sums.
        alpha : arb
            The zero of 3.
        k : arb
            The limit of dL/drho / e^rho at the end point.

        Raises
        ------
        Undecided
        """
        alpha = float(self.alpha[0]), float(self.alpha[1])
        z = (0.0, float(self.X))
        c = score_rate / (field.D * (field.C - 1))
        reach = ball(self.near / self.beyond).log().lower()  # the distance of the two levels of gamma
        room = Fraction(math.floor(float(reach) * 1024), 1024)
        down = Inequality("towards", "gamma", 1, alpha, (0.0, float(self.near)), z, drop=1)
        step = Inequality(
            "towards",
            "gamma",
            1,
            alpha,
            (float(self.near), float(self.Y)),
            z,
            extra=((room / c, 0, 1, 0, 0),),
        )
        boxes = sum(cover(problem, field).boxes for problem in (down, step))
        tried, most = self._short_steps(field, rate, score_rate)
        return {"boxes": boxes + tried, "largest row sum": most}, *self._end_point(field)

    def _short_steps(self, field, rate, score_rate):
        shares = shared_entries(field.D, field.C)
        roots = [(ball(Fraction(r)) / s).sqrt() for r, s in zip((rate, score_rate, score_rate), shares)]
        gammas = [-ball(x).log() for x in (self.Y, self.beyond)]
        region = [
            (float(self.alpha[0]), float(self.alpha[1])),
            (_down(gammas[0].lower()), _up(gammas[1].upper())),
            (0.0, float(self.X)),
        ]
        stack = [region]
        tried = 0
        most = 0.0
        while stack:
            box = stack.pop()
            tried += 1
            _, hessian = field.derivatives_at(*(_over(side) for side in box))
            rows = [
                sum(magnitude(hessian[i][j] * roots[i] * roots[j]) for j in range(3)) * (1 + 2**-40)
                for i in range(3)
            ]
            if all(row < 2 for row in rows):  # not max: it would pass over a NaN
                most = max(most, *rows)
                continue
            widths = [(b - a) / (d - c) for (a, b), (c, d) in zip(box, region)]
            k = widths.index(max(widths))
            if widths[k] < _LEAST:
                raise Undecided(f"the row sum is {max(rows):.3g} near {box}")
            stack += _halves(box, k)
        return tried, most

    def _end_point(self, field):
        beta = field.beta
        none = arb(0)

        def at(low, high):
            """dL/dalpha and the two second derivatives over an interval of alpha on the face."""
            center = (low + high) / 2
            _, hessian = field.derivatives_at(_over((low, high)), beta, none)
            here = field.derivatives_at(arb(center), beta, none)[0][0]
            return here + hessian[0][0] * (_over((low, high)) - center), hessian[0][0], hessian[1][1]

        a, b = float(self.alpha[0]), float(self.alpha[1])
        low, high = a, b
        while high - low > _TIGHT / 8:  # a guess, on which nothing is built
            middle = (low + high) / 2
            if at(middle, middle)[0] < 0:
                low = middle
            else:
                high = middle
        pieces = {
            "falling": (a, low - _NEAR, lambda slope: slope[0] < 0),
            "rising": (low + _NEAR, b, lambda slope: slope[0] > 0),
            "convex": (low - _NEAR, low + _NEAR, lambda slope: slope[1] > 0),
        }
        for name, (left, right, holds) in pieces.items():
            if not a <= left < right <= b:
                raise Undecided(f"no zero of dL/dalpha well inside {(a, b)}")
            _everywhere(name, left, right, at, holds)
        bracket = low - _TIGHT, low + _TIGHT
        _, _, inside = at(*bracket)
        if not (at(bracket[0], bracket[0])[0] < 0 < at(bracket[1], bracket[1])[0] and inside > 0):
            raise Undecided(f"the end point near alpha = {low:g} is not enclosed")
        return _over(bracket), self._pull(field, bracket)

    @staticmethod
    def _pull(field, bracket):
        """lim dL/drho / e^rho at the end point: dL/drho is e^(rho - gamma) / Z times its bracket."""
        y = (-field.beta).exp()
        Z = field.C  # e^beta y + C - 1, and u = D alpha / Z
        u = [arb(x) * field.D / Z for x in bracket]
        sides = [(_down(u[0].lower()), _up(u[1].upper())), (_down(y.lower()), _up(y.upper())), (0.0, 0.0)]
        problem = Inequality("towards", "rho", 1, (0.0, math.inf), sides[1], sides[2])
        k = y * field.enclose(problem, sides)[0] / Z
        if not k > 0:
            raise Undecided(f"k is not positive: {k}")
        return k


def _everywhere(name, left, right, at, holds):
    stack = [(left, right)]
    while stack:
        low, high = stack.pop()
        if not holds(at(low, high)):
            middle = (low + high) / 2
            if high - low < _LEAST:
                raise Undecided(f"on the face, {name}: undecided near alpha = {low:g}")
            stack += [(low, middle), (middle, high)]


def _halves(box, k):
    low, high = box[k]
    middle = (low + high) / 2
    return [[*box[:k], side, *box[k + 1 :]] for side in ((low, middle), (middle, high))]


def _down(x) -> float:
    return math.nextafter(float(x), -math.inf)


def _up(x) -> float:
    return math.nextafter(float(x), math.inf)


def _over(side) -> arb:
    low, high = (arb(x) for x in side)
    return low.union(high)
