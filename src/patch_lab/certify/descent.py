"""Gradient descent inside a moving parallelepiped: every step holds for the exact process.

Naive balls lose two thirds of a bit a step, since a box that is mapped and boxed again forgets how its sides
are tied. Lohner's method keeps them tied: the state is known to lie in

    { c + Q r :  |r_k| <= R_k },    Q close to orthogonal,

and one step Phi maps it, by the mean value theorem, into Phi(c) + J Q r with J a ball matrix that contains
the Jacobian of Phi over the box hull. A new Q is taken from the QR decomposition of the middle of J Q. Only
the expansion of the map itself is paid for, so double precision lasts for thousands of steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat

from patch_association.checks import listed, made_of
from patch_lab.certify.field import ball, magnitude, shared_entries
from patch_lab.certify.law import exact_number

SCALARS = ("alpha", "gamma", "rho")


class Undecided(ArithmeticError):
    """A certificate does not come through; the message says where."""


@dataclass(frozen=True)
class State:
    """The exact (alpha, gamma, rho) after ``step`` steps lies in ``box``, three balls."""

    step: int
    box: tuple

    @property
    def radius(self) -> float:
        """The largest of the three radii."""
        return max(magnitude(x - x.mid()) for x in self.box)


class BallDescent:
    """Population descent of (T) from an exact start, as an iterator over :class:`State`.

    Parameters
    ----------
    engine : Field
        What encloses the derivatives: ``engine.step(center, half)`` returns the gradient at the center and
        the Hessian over the box, balls.
    rate, score_rate : Fraction
        eta and eta_A; a step subtracts rate * dL/dalpha, score_rate / (D (C-1)) * dL/dgamma and
        score_rate / (D (D-C)) * dL/drho.
    start : three Fractions
        (alpha, gamma, rho) at step 0.

    Raises
    ------
    ValueError
        If ``engine`` is no Field, a number is not exact, a rate is negative, or there are not three starts.
    """

    def __init__(self, engine, rate, score_rate, start):
        made_of("engine", engine, "Field", "step", "D", "C")
        self.engine = engine
        shares = shared_entries(engine.D, engine.C)
        rate = exact_number("rate", rate)
        score_rate = exact_number("score_rate", score_rate)
        start = [exact_number("start", x) for x in listed("start", start, "exact numbers")]
        if min(rate, score_rate) < 0 or len(start) != 3:
            raise ValueError(f"need rates of at least 0 and three starts, got {rate}, {score_rate}, {start}")
        rates = (rate, score_rate, score_rate)
        self._rates = [ball(r / share) for r, share in zip(rates, shares)]
        start = [ball(x) for x in start]
        self.steps = 0
        self._c = [x.mid() for x in start]
        self._Q = arb_mat(3, 3, [int(i == j) for i in range(3) for j in range(3)])
        self._r = [arb(magnitude(x - x.mid())) for x in start]

    def __iter__(self):
        return self

    def __next__(self) -> State:
        self._advance()
        return self.state

    @property
    def state(self) -> State:
        """Where the process is now."""
        return State(self.steps, tuple(c + arb(0, h) for c, h in zip(self._c, self._half_widths())))

    def _half_widths(self):
        return [magnitude(sum((abs(self._Q[i, j]) * self._r[j] for j in range(3)), arb(0))) for i in range(3)]

    def _advance(self):
        gradient, hessian = self.engine.step(self._c, self._half_widths())
        image = [c - rate * g for c, rate, g in zip(self._c, self._rates, gradient)]
        center = [x.mid() for x in image]
        off = arb_mat(3, 1, [x - c for x, c in zip(image, center)])
        J = arb_mat(3, 3, [int(i == j) - self._rates[i] * hessian[i][j] for i in range(3) for j in range(3)])
        JQ = J * self._Q
        middle = np.array([float(x.mid()) for x in JQ.entries()]).reshape(3, 3)
        if not np.abs(middle).max() < 1e150:  # not a number, or its square is none
            raise Undecided(f"the enclosure of step {self.steps + 1} is not finite")
        # The longest edge first: QR keeps the direction of the first column.
        edges = np.linalg.norm(middle, axis=0) * [float(r) for r in self._r]
        Q = np.linalg.qr(middle[:, np.argsort(-edges)])[0]
        Q = arb_mat(3, 3, [arb(x) for x in Q.reshape(-1).tolist()])
        back = Q.inv()
        r = arb_mat(3, 1, [arb(0, x) for x in self._r])
        moved = (back * JQ) * r + back * off
        self._c, self._Q = center, Q
        self._r = [arb(magnitude(x)) for x in moved.entries()]
        self.steps += 1
        if not all(math.isfinite(float(x)) for x in self._r):
            raise Undecided(f"the enclosure of step {self.steps} is not finite")


def ahead(box) -> int:
    """1 if gamma > rho on the whole box of (alpha, gamma, rho), -1 if gamma < rho, else Undecided.

    Raises
    ------
    Undecided
        If the two overlap.
    ValueError
        If the box has not three balls.
    """
    if len(listed("box", box, "three balls")) != 3 or not all(isinstance(x, arb) for x in box):
        raise ValueError(f"box must be the balls of (alpha, gamma, rho), got {type(box).__name__}")
    margin = box[1] - box[2]
    if margin > 0:
        return 1
    if margin < 0:
        return -1
    raise Undecided(f"the sign of gamma - rho is not decided: {margin}")
