"""The quadrant gamma >= 0 >= rho keeps the lines of the reduced flow: both edges, covered by balls.

In the coordinates y = e^-gamma, z = e^rho of :mod:`~patch_lab.certify.polynomials` the edges are the
segments {y = 1, 0 <= z <= 1} and {z = 1, 0 <= y <= 1}: infinite scores are their ends at zero. At nu = 0 the
risk is a strictly convex function of alpha^p. So if dL/dalpha is negative at u_- and positive at u_+ along
all of a piece of an edge, alpha* lies between the two on the whole piece, and a sign of the drift on the box
[u_-, u_+] x piece is its sign at alpha*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from patch_association.defaults import DEFAULT
from patch_lab.certify.cover import Inequality
from patch_lab.certify.descent import Undecided
from patch_lab.certify.field import Field
from patch_lab.certify.law import atoms
from patch_lab.certify.rounded import RoundedField

#: The free coordinate of an edge, the derivative that decides there, and the sign that points inwards.
EDGES = {"gamma = 0": ("z", "gamma", -1), "rho = 0": ("y", "rho", 1)}
_MARGINS = (0.002, 0.01, 0.04)  # how far u_- and u_+ stand off the guessed u*
_LEAST = 2.0**-30


@dataclass(frozen=True)
class Edge:
    """A covered edge: pieces that were decided, pieces that were tried, the least bound on the bracket."""

    pieces: int
    tried: int
    least: float


def quadrant(num_patches: int, set_size: int, q, beta, exact: bool = False):
    """Prove dL/dgamma < 0 on gamma = 0 >= rho and dL/drho > 0 on gamma >= 0 = rho, at alpha*, for nu = 0.

    Parameters
    ----------
    num_patches, set_size : int
        D and C.
    q, beta : Fraction, int or str
        Exact.
    exact : bool
        Sum over the atoms in Arb instead of double precision with proved bounds.

    Returns
    -------
    dict of str to Edge

    Raises
    ------
    Undecided
        Where a piece of 2^-30 of an edge has no certain sign.
    """
    law = atoms(num_patches, set_size, q, DEFAULT.degree)
    field = (Field if exact else RoundedField)(law, Fraction(beta), 0)
    return {name: _edge(field, law, float(Fraction(beta)), *edge) for name, edge in EDGES.items()}


def _edge(field, law, beta: float, free: str, target: str, sign: int) -> Edge:
    def at(t):
        return (1.0, t) if free == "z" else (t, 1.0)

    def low(target, sign, u, piece):
        ranges = {"y": (1.0, 1.0), "z": (1.0, 1.0)} | {free: piece}
        problem = Inequality("towards", target, sign, (0.0, math.inf), ranges["y"], ranges["z"])
        value, _ = field.enclose(problem, [u, ranges["y"], ranges["z"]])
        return float(value.lower() if sign > 0 else -value.upper())

    def bracketed(piece):
        guesses = [_guess(law, beta, *at(t)) for t in (piece[0], sum(piece) / 2, piece[1])]
        for margin in _MARGINS:
            u = min(guesses) * (1 - margin), max(guesses) * (1 + margin)
            if low("alpha", -1, (u[0], u[0]), piece) > 0 and low("alpha", 1, (u[1], u[1]), piece) > 0:
                return u
        return None

    stack = [(0.0, 1.0)]
    pieces = 0
    tried = 0
    least = math.inf
    while stack:
        piece = stack.pop()
        tried += 1
        u = bracketed(piece)
        bound = low(target, sign, u, piece) if u else 0.0
        if bound > 0:
            pieces = pieces + 1
            least = min(least, bound)
        elif piece[1] - piece[0] < _LEAST:
            raise Undecided(f"d/d{target}: no sign at alpha* near {free} = {piece[0]:g}")
        else:
            middle = sum(piece) / 2
            stack += [(middle, piece[1]), (piece[0], middle)]
    return Edge(pieces, tried, least)


def _guess(law, beta: float, y: float, z: float) -> float:
    """u* in doubles, by bisection of E[w h]; nothing is taken on trust from it."""
    terms = np.array([(math.exp(beta) * y) ** a * (y * z) ** c for a, _, c in law.powers])
    h = law.features[:, :-1] @ terms  # (n,)
    P = np.array([x / law.denominator for x in law.numerator])
    low, high = -20.0, 10.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        pull = (P * h) @ (1 / (1 + np.exp(np.clip(math.exp(law.degree * middle) * h, -700, 700))))
        if pull > 0:
            low = middle
        else:
            high = middle
    return math.exp(low)
