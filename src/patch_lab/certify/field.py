"""The derivatives of the population risk on balls, with their own derivatives.

y F = (D alpha)^p sum_abc N_abc Lambda^a Gamma^b Xi^c + nu D alpha M for the integers N of
:mod:`~patch_lab.certify.law`. Every derivative of the risk is -E[w V . N] with w = 1 / (1 + e^(yF))
and some vector V of weights. On a box a quantity is enclosed by the mean value form: its value at the
center, plus its derivatives over the box times the half widths.

:class:`Field` sums over the atoms in Arb. :class:`~patch_lab.certify.rounded.RoundedField` does the
same sums in double precision with error bounds, for sizes at which there are too many atoms.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq

from patch_association.checks import made_of
from patch_lab.certify.jets import Jet, constant, powers, variables
from patch_lab.certify.law import Atoms, exact_number
from patch_lab.certify.polynomials import CHARTS, bracket


class Field:
    """The risk of (T) on the family of three scores, as functions of balls.

    Parameters
    ----------
    atoms : Atoms
    beta, linear : Fraction, int or str
        The fixed diagonal and nu, exactly.

    Raises
    ------
    ValueError
        If ``atoms`` lists none, or a number is not exact.
    """

    def __init__(self, atoms: Atoms, beta, linear):
        made_of("atoms", atoms, "law that atoms() lists", "features", "powers", "numerator")
        self.atoms = atoms
        self.beta = ball(exact_number("beta", beta))
        self.linear = ball(exact_number("linear", linear))
        self.D, self.C, self.p = atoms.num_patches, atoms.set_size, atoms.degree
        self._e_beta = self.beta.exp()
        self._beta_powers = [x.value for x in powers(constant(self._e_beta), self.p)]
        self._brackets = {}
        self._prepare()

    @property
    def name(self) -> str:
        """What this risk is, and in which arithmetic it is summed."""
        a = self.atoms
        return (
            f"{type(self).__name__}(D={self.D}, C={self.C}, q={a.q}, p={self.p}, {self.beta}, {self.linear})"
        )

    # -- one step of descent, in (alpha, gamma, rho)
    # ----------------------------------------------------------

    def step(self, center, half):
        """(gradient at the center, Hessian over the box) by (alpha, gamma, rho), balls."""
        W, V = self._derivatives(center)
        S1 = self._first_sum(self._predictions([w.value for w in W]))
        gradient = [-_dot([v.value for v in row], S1) for row in V]

        F = self._predictions([w.value for w in W])
        W, V = self._derivatives([c + arb(0, h) for c, h in zip(center, half)])
        moves = [sum((d * arb(0, h) for d, h in zip(w.slope, half)), arb(0)) for w in W]
        return gradient, self._hessian(W, V, self._moved(F, moves))

    def derivatives_at(self, alpha: arb, gamma: arb, e_rho: arb):
        """(gradient, Hessian) by (alpha, gamma, rho) over the balls alpha, gamma and e^rho, zero included."""
        rho = Jet(e_rho, [arb(0), arb(0), e_rho])
        a, g, _ = variables([alpha, gamma, arb(0)])
        W, V = self._weights(a, g, rho)
        F = self._predictions([w.value for w in W])
        S1 = self._first_sum(F)
        return [-_dot([v.value for v in row], S1) for row in V], self._hessian(W, V, F)

    def _hessian(self, W, V, F):
        S1 = self._first_sum(F)
        S2 = self._second_sum(F)
        hessian = []
        for one in V:
            row = [_dot(line, [v.value for v in one]) for line in S2]
            hessian.append(
                [_dot([w.slope[k] for w in W], row) - _dot([v.slope[k] for v in one], S1) for k in range(3)]
            )
        return hessian

    def _derivatives(self, point):
        alpha, gamma, rho = variables(point)
        return self._weights(alpha, gamma, rho.exp())

    def _weights(self, alpha: Jet, gamma: Jet, stranger: Jet):
        """The weights W of y F, jets, and those of its derivatives by alpha, gamma and rho."""
        D, C, p = self.D, self.C, self.p
        own = constant(self._e_beta)
        companion = gamma.exp()
        over = (own + companion * (C - 1) + stranger * (D - C)).inverse()
        Gamma = companion * over
        Xi = stranger * over
        L, G, X = (powers(base, p) for base in (own * over, Gamma, Xi))
        scale = powers(alpha * D, p)[p]
        over_alpha = alpha.inverse() * p
        zero = constant(arb(0))
        W = []
        by_alpha = []
        by_gamma = []
        by_rho = []
        for a, b, c in self.atoms.powers:
            w = scale * (L[a] * G[b] * X[c])
            W.append(w)
            by_alpha.append(w * over_alpha)
            # d log Gamma / d gamma = 1 - (C-1) Gamma, and -(C-1) Gamma for Lambda and Xi; likewise rho.
            by_gamma.append(w * (constant(arb(b)) - Gamma * (p * (C - 1))))
            by_rho.append(w * (constant(arb(c)) - Xi * (p * (D - C))))
        line = alpha * (self.linear * D)
        return [*W, line], [[*by_alpha, constant(self.linear * D)], [*by_gamma, zero], [*by_rho, zero]]

    # -- inequalities on a box of a chart
    # ---------------------------------------------------------------------

    def alpha_of(self, chart: str, box) -> arb:
        """alpha over a box of the chart."""
        at = [constant(_over(side)) for side in box]
        return at[0].value * CHARTS[chart].sum_of_row(at, self._e_beta, self.D, self.C).value / self.D

    def enclose(self, problem, box):
        """(ball, [ball] * 3): the problem's target over the box of its chart, and its three derivatives."""
        chart = CHARTS[problem.chart]
        N, column = self._bracket(problem.target)
        center, half = zip(*(_middle(side) for side in box))
        here = self._at(chart, variables(center), problem)
        over = self._at(chart, variables([_over(side) for side in box]), problem)
        value, slopes = self._mean_value(N, column, here, over, half)
        value = value + here["extra"].value
        slopes = [s + e for s, e in zip(slopes, over["extra"].slope)]
        return value + _dot(slopes, [arb(0, h) for h in half]), slopes

    def _at(self, chart, at, problem):
        """What a target is made of, as jets: weights of y F (M last), of the bracket, and the extra term."""
        exponents = self.atoms.powers
        Z = chart.sum_of_row(at, self._e_beta, self.D, self.C)
        W = chart.monomials(at, self._beta_powers, exponents, 0)
        V = chart.monomials(at, self._beta_powers, exponents, problem.drop) if problem.drop else W
        line = at[0] * Z * self.linear
        extra = constant(arb(0))
        for coefficient, of_alpha, of_Z, of_y, of_z in problem.extra:
            term = powers(at[0] * Z * (arb(1) / self.D), of_alpha)[of_alpha] * powers(Z, of_Z)[of_Z]
            extra = extra + term * powers(at[1], of_y)[of_y] * powers(at[2], of_z)[of_z] * ball(coefficient)
        return {"W": [*W, line], "V": [*V, line], "extra": extra}

    def _bracket(self, name):
        """The integer coefficients of a target's bracket; the last column is M for alpha, else zero."""
        if name not in self._brackets:
            N = self.atoms.features
            made = np.zeros_like(N)
            for (row, column), value in bracket(name, self.D, self.C, self.atoms.powers).items():
                made[:, row] += value * N[:, column]
            if name == "alpha":
                made[:, -1] = N[:, -1]
            self._brackets[name] = self._matrix(made)
        return self._brackets[name], name

    # -- sums over the atoms, in Arb
    # --------------------------------------------------------------------------

    def _prepare(self):
        n, K = self.atoms.features.shape
        rows = self.atoms.features.tolist()
        self._N = self._matrix(self.atoms.features)
        self._NT = self._N.transpose()
        self._pairs = [(i, j) for i in range(K) for j in range(i, K)]
        self._NN = arb_mat(len(self._pairs), n, [row[i] * row[j] for i, j in self._pairs for row in rows])
        denominator = arb(self.atoms.denominator)
        self._P = [arb(x) / denominator for x in self.atoms.numerator]

    @staticmethod
    def _matrix(table):
        rows, columns = table.shape
        return arb_mat(rows, columns, [x for row in table.tolist() for x in row])

    def _predictions(self, W):
        return self._N * arb_mat(len(W), 1, W)

    def _moved(self, F, moves):
        return F + self._N * arb_mat(len(moves), 1, moves)

    def _first_sum(self, F):
        """The means E[w N], a ball for each feature."""
        weighted = [P / (1 + f.exp()) for P, f in zip(self._P, F.entries())]
        return (self._NT * arb_mat(len(weighted), 1, weighted)).entries()

    def _second_sum(self, F):
        """[[ball]]: E[w (1 - w) N N^T]."""
        slopes = [P * _logistic(f)[1] for P, f in zip(self._P, F.entries())]
        flat = (self._NN * arb_mat(len(slopes), 1, slopes)).entries()
        K = self.atoms.features.shape[1]
        S = [[None] * K for _ in range(K)]
        for (i, j), value in zip(self._pairs, flat):
            S[i][j] = S[j][i] = value
        return S

    def _mean_value(self, N, _, here, over, half):
        """(-E[w R] at the center, its three derivatives over the box) for R = N . V."""
        K = len(here["W"])
        n = self.atoms.size
        center = self._predictions([w.value for w in here["W"]])
        R = (N * arb_mat(K, 1, [v.value for v in here["V"]])).entries()
        value = arb(0)
        for P, f, r in zip(self._P, center.entries(), R):
            value -= P * r / (1 + f.exp())
        F_slopes = self._N * arb_mat(K, 3, [w.slope[k] for w in over["W"] for k in range(3)])
        R_slopes = N * arb_mat(K, 3, [v.slope[k] for v in over["V"] for k in range(3)])
        F = center + F_slopes * arb_mat(3, 1, [arb(0, h) for h in half])
        R = (N * arb_mat(K, 1, [v.value for v in over["V"]])).entries()
        first = []
        second = []
        for P, f, r in zip(self._P, F.entries(), R):
            w, s = _logistic(f)
            first.append(P * w)
            second.append(P * r * s)
        slopes = arb_mat(1, n, second) * F_slopes - arb_mat(1, n, first) * R_slopes
        return value, slopes.entries()

    def error(self, box) -> arb:
        """P[y F < 0] + P[F = 0] / 2 over a box of (alpha, gamma, rho).

        An atom whose features all vanish has F = 0 and counts half; one whose ball contains zero otherwise is
        undecided and widens the result by its probability.
        """
        W, _ = self._derivatives(box)
        total = arb(0)
        F = self._predictions([w.value for w in W]).entries()
        for P, f, row in zip(self._P, F, self.atoms.features):
            if not row.any():
                total += P / 2
            elif f < 0:
                total += P
            elif not f > 0:
                total += P * arb(0.5, 0.5)
        return total


def ball(x) -> arb:
    """An arb that contains the exact number x: an int, a Fraction, a float taken as it is, or an arb."""
    return arb(fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction) else arb(x)


def magnitude(x: arb) -> float:
    """A float that is at least the largest absolute value in the ball."""
    return math.nextafter(float(x.abs_upper()), math.inf)


def shared_entries(D: int, C: int):
    """How many entries of (v, A) move together with (alpha, gamma, rho)."""
    return 1, D * (C - 1), D * (D - C)


def _logistic(f: arb):
    """(w, w (1 - w)) over the ball f, w = 1 / (1 + e^f).

    On a wide ball from its ends: w is monotone, and w (1 - w) has its only maximum 1/4 at zero. Rational
    expressions of one wide ball would divide by balls that contain zero.
    """
    if f.rad() < 1e-6:
        w = 1 / (1 + f.exp())
        return w, w * (1 - w)
    low = f.lower()
    high = f.upper()
    most = 1 / (1 + low.exp())
    least = 1 / (1 + high.exp())
    s = most * (1 - most)
    t = least * (1 - least)
    slope = s.union(t)
    return most.union(least), slope if f > 0 or f < 0 else slope.union(arb(0.25))


def _middle(side):
    """(exact center, half width that reaches both ends) of a pair of floats."""
    low, high = arb(side[0]), arb(side[1])
    center = ((low + high) / 2).mid()
    return center, max(magnitude(high - center), magnitude(low - center))


def _over(side) -> arb:
    center, half = _middle(side)
    return arb(center, half)


def _dot(u, v):
    total = arb(0)
    for a, b in zip(u, v):
        total += a * b
    return total


def decimal(x: arb, digits: int = 12) -> str:
    """A ball as text, with its radius."""
    return x.str(digits, radius=True)
