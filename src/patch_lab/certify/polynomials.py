"""The derivatives of the risk as polynomials in three coordinates, regular up to infinite scores.

Write (l, g, x) = D alpha (Lambda, Gamma, Xi) and h = sum_i (l s_i + g (n - s_i) + x (M - n))^p, so that
y F = h + nu D alpha M. A *chart* has coordinates (u, y, z), all nonnegative, in which l, g and x are u times
monomials; every monomial of h is then one monomial in (u, y, z), the softmax is gone, and
D alpha = l + (C-1) g + (D-C) x = u Z with a polynomial Z(y, z). By Euler's formula for the homogeneous h,

    alpha dL/dalpha =          -E[w (p h + nu D alpha M)]
    dL/dgamma       = (g/uZ) * -E[w ( l (h_g - (C-1) h_l) + x ((D-C) h_g - (C-1) h_x) )]
    dL/drho         = (x/uZ) * -E[w ( g ((C-1) h_x - (D-C) h_g) + l (h_x - (D-C) h_l) )]

and the brackets are again homogeneous polynomials of degree p. Their expectations have the signs of the
derivatives on the closed chart, where gamma or -rho may be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

from patch_lab.certify.jets import Jet, constant, powers


@dataclass(frozen=True)
class Chart:
    """Exponents (of y, of z) of l / e^beta, g and x, each up to the common factor u."""

    own: tuple
    companion: tuple
    stranger: tuple

    def monomials(self, at, beta_power, exponents, drop):
        """[Jet]: the monomials l^a g^b x^c at the jets (u, y, z), divided by y^drop."""
        p = sum(exponents[0])
        u, y, z = at
        y_powers = powers(y, p * max(self.own[0], self.companion[0], self.stranger[0]))
        z_powers = powers(z, p * max(self.own[1], self.companion[1], self.stranger[1]))
        top = powers(u, p)[p]
        result = []
        for a, b, c in exponents:
            i = a * self.own[0] + b * self.companion[0] + c * self.stranger[0] - drop
            j = a * self.own[1] + b * self.companion[1] + c * self.stranger[1]
            # A negative power belongs to a monomial whose coefficients are all zero.
            result.append(
                top * y_powers[i] * z_powers[j] * beta_power[a] if i >= 0 else constant(u.value * 0)
            )
        return result

    def sum_of_row(self, at, e_beta, D: int, C: int) -> Jet:
        """Z with D alpha = u Z."""
        _, y, z = at
        parts = [(self.own, e_beta), (self.companion, C - 1), (self.stranger, D - C)]
        return sum_jets([powers(y, i)[i] * powers(z, j)[j] * factor for (i, j), factor in parts])


#: y = e^-gamma, z = e^rho, u = D alpha Gamma: gamma up to +infinity at y = 0, rho down to -infinity at z = 0.
TOWARDS = Chart(own=(1, 0), companion=(0, 0), stranger=(1, 1))
#: y = e^gamma, z = e^rho, u = D alpha Lambda / e^beta: gamma down to -infinity at y = 0.
AWAY = Chart(own=(0, 0), companion=(1, 0), stranger=(0, 1))
CHARTS = {"towards": TOWARDS, "away": AWAY}


def bracket(name: str, D: int, C: int, exponents):
    """The integer matrix, as {(row, column): value}, from coefficients of h to those of a bracket above."""
    index = {t: i for i, t in enumerate(exponents)}
    p = sum(exponents[0])
    # A term (factor, da, db, dc) of one monomial a, b, c of h: what a product such as l h_g makes of it.
    rules = {
        "alpha": lambda a, b, c: [(p, 0, 0, 0)],
        "gamma": lambda a, b, c: [
            (b, 1, -1, 0),
            (-(C - 1) * a, 0, 0, 0),
            ((D - C) * b, 0, -1, 1),
            (-(C - 1) * c, 0, 0, 0),
        ],
        "rho": lambda a, b, c: [
            ((C - 1) * c, 0, 1, -1),
            (-(D - C) * b, 0, 0, 0),
            (c, 1, 0, -1),
            (-(D - C) * a, 0, 0, 0),
        ],
    }
    if name not in rules:
        raise ValueError(f"a target is one of {', '.join(rules)}, got {name!r}")
    matrix = {}
    for (a, b, c), column in index.items():
        for factor, da, db, dc in rules[name](a, b, c):
            if factor:
                row = index[a + da, b + db, c + dc]
                matrix[row, column] = matrix.get((row, column), 0) + factor
    return matrix


def sum_jets(jets):
    """The sum of jets."""
    total = jets[0]
    for jet in jets[1:]:
        total = total + jet
    return total
