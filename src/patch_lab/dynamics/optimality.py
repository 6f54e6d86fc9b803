"""The finite condition under which block attention is optimal over all attention matrices.

Let p = 3, nu = 0 and w* = 1 / (1 + exp(v* sum_l n_l^3)) the slope of the loss at attention 1 / C on the own
set and the best alpha. If T(S) = E[w* (sum_j S_j s_j)^3] <= 0 for every probability vector S of D entries,
no A and no v do better (theorem "Block attention is optimal" of the book). T has six different
coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import expit

from patch_association.checks import divides, fits_memory, positive_int, probability
from patch_association.exact.integer_sums import trinomial
from patch_association.exact.set_sums import set_types


@dataclass(frozen=True)
class CubicForm:
    """T(S) = E[w* (S . s)^3] given y = +1, through its six coefficients over E[w*].

    Attributes
    ----------
    one : E[w* s_i]
    two_inside, three_inside : E[w* s_i^2 s_j], E[w* s_i s_j s_k], all in one set
    two_outside, pair_outside : E[w* s_i^2 s_k], E[w* s_i s_j s_k] with i, j in one set and k in another
    three_outside : E[w* s_i s_j s_k] in three sets; 0 where there are only two
    strength : float
        v*, with y F = v* sum_l n_l^3 at block attention and the best alpha.
    """

    num_patches: int
    set_size: int
    one: float
    two_inside: float
    three_inside: float
    two_outside: float
    pair_outside: float
    three_outside: float
    strength: float

    def __call__(self, rows) -> np.ndarray:
        """T of probability vectors, shape (..., D); sets are blocks of consecutive patches."""
        rows = np.asarray(rows, dtype=np.float64)
        x = rows.reshape(*rows.shape[:-1], -1, self.set_size)  # (..., L, C)
        m, p2, p3 = (np.sum(x**k, axis=-1) for k in (1, 2, 3))  # (..., L)
        total = m.sum(-1)
        t1, t2, t3, t4, t5, td = self._six()
        inside = t1 * p3 + 3 * t2 * (m * p2 - p3) + t3 * (m**3 - 3 * m * p2 + 2 * p3)
        across = 3 * (t4 * p2 + t5 * (m**2 - p2)) * (total[..., None] - m)
        apart = total**3 - 3 * total * (m**2).sum(-1) + 2 * (m**3).sum(-1)
        return (inside + across).sum(-1) + td * apart

    def _six(self):
        names = ("one", "two_inside", "three_inside", "two_outside", "pair_outside", "three_outside")
        return tuple(getattr(self, name) for name in names)

    def largest(self, grid: int = 240) -> tuple[float, np.ndarray]:
        """(T, row): the largest value on a grid of rows, to be read as a search and not as a proof.

        T is separable over the sets, so dynamic programming over masses in multiples of 1 / grid finds the
        best of them. Inside a set, at a given mass and sum of squares, T is linear in the sum of cubes. That
        is largest for one entry above C - 1 equal ones, and least for some equal entries, a smaller one and
        zeros; both families are tried, on grids of their own. A positive value refutes the condition. A value
        of zero, at a block, leaves rows between the grid's points: T may be positive there.
        """
        C = self.set_size
        L = self.num_patches // self.set_size
        t1, t2, t3, t4, t5, td = self._six()
        shape = _shapes(C)
        grid = positive_int("grid", grid)
        fits_memory(f"a grid of {grid:,} masses", (grid + 1) * max(grid + 1, 4 * shape.shape[1]))
        m = np.arange(grid + 1)[:, None] / grid
        p2 = m**2 * (shape**2).sum(0)  # (grid + 1, shapes)
        p3 = m**3 * (shape**3).sum(0)
        linear = 3 * ((t2 - t3) * m + (t4 - t5) * (1 - m)) * p2 + (t1 - 3 * t2 + 2 * t3) * p3
        alone = t3 * m**3 + 3 * t5 * m**2 * (1 - m) + td * (2 * m**3 - 3 * m**2)
        # of one set, by its mass
        best = (linear + alone).max(1)
        which = linear.argmax(1)
        total = best
        choices = []
        for _ in range(L - 1):
            table = np.full((grid + 1, grid + 1), -np.inf)  # (whole mass, mass of the new set)
            for k in range(grid + 1):
                table[k:, k] = total[: grid + 1 - k] + best[k]
            choices.append(table.argmax(1))
            total = table.max(1)
        left = grid
        masses = []
        for choice in reversed(choices):
            masses.append(int(choice[left]))
            left -= masses[-1]
        masses.append(left)
        row = np.concatenate([k / grid * shape[:, which[k]] for k in masses])
        return float(self(row)), row


def _shapes(set_size: int, points: int = 101) -> np.ndarray:
    """(C, n) rows of mass one inside a set among which the largest and the least sum of cubes are."""
    C = set_size
    theta = np.linspace(0, 1, points)
    above = np.full((C, points), (1 - theta) / C)
    above[0] = (1 + (C - 1) * theta) / C
    families = [above]
    for equal in range(1, C):  # equal entries, one of theta times their size, zeros
        family = np.zeros((C, points))
        family[:equal] = 1
        family[equal] = theta
        families.append(family / family.sum(0))
    return np.concatenate(families, axis=1)


def cubic_form(num_patches: int, set_size: int, q: float) -> CubicForm:
    """The coefficients of T at block attention and the best alpha, p = 3, nu = 0.

    Raises
    ------
    ValueError
        With fewer than three sets, or q = 0: the best alpha is infinite there.
    """
    D, C, L = divides(num_patches, set_size)
    if L < 3 or probability("q", q) == 0:
        raise ValueError(f"at least three sets and q > 0 are needed, got {L} sets and q = {q:g}")
    fits_memory(f"the sums of cubes of up to {L:,} sets", L**2 * C**3)
    cubes = trinomial(C, q).map(lambda n: n**3)
    others = [cubes.times(k) for k in range(L)]

    def mean_slope(known: int, rest: int) -> float:
        """E[w*] given that the sets looked at add ``known`` to sum n^3, over ``rest`` random sets more."""
        law = others[rest]
        return float(law.mass @ expit(-v * (known + law.support)))

    law = others[L - 1].shift(C**3)
    values = law.support.astype(np.float64)

    def slope(x):
        return float((law.mass * expit(-math.exp(x) * values) * values).sum())

    v = math.exp(root_scalar(slope, bracket=(-60.0, 8.0), xtol=1e-13).root)

    # A set by its type: (probability, n^3, E[s], E[s^2], E[s s'], E[s^2 s'], E[s s' s'']) for distinct
    # patches.
    random_sets = []
    for n, r, chance in zip(*(part.tolist() for part in set_types(C, q))):
        pair = (n * n - r) / (C * (C - 1)) if C > 1 else 0.0
        mixed = (r * n - n) / (C * (C - 1)) if C > 1 else 0.0
        triple = (n**3 - 3 * n * r + 2 * n) / (C * (C - 1) * (C - 2)) if C > 2 else 0.0
        random_sets.append((chance, n**3, n / C, r / C, pair, mixed, triple))
    signal = [(1.0, C**3, 1.0, 1.0, 1.0, 1.0, 1.0)]

    def over(sets, pick):
        """E[w* pick(types)] over the types of the sets looked at; the signal set is among them or not."""
        looked = len(sets)
        rest = L - looked - (0 if signal in sets else 1)
        known = 0 if signal in sets else C**3
        total = 0.0
        stack = [(1.0, known, ())]
        for choices in sets:
            stack = [(p * c[0], k + c[1], (*seen, c)) for p, k, seen in stack for c in choices]
        for p, k, seen in stack:
            total += p * mean_slope(k, rest) * pick(*seen)
        return total

    def one_set(column):
        def pick(t):
            return t[column]

        return over([signal], pick) / L + over([random_sets], pick) * (L - 1) / L

    def two_sets(column):
        def pick(t, k):
            return t[column] * k[2]

        both = over([signal, random_sets], pick) + over([random_sets, signal], pick)
        return both / L + over([random_sets, random_sets], pick) * (L - 2) / L

    def pick(a, b, c):
        return a[2] * b[2] * c[2]

    apart = 3 / L * over([signal, random_sets, random_sets], pick)
    if L > 3:
        apart += (L - 3) / L * over([random_sets] * 3, pick)
    norm = mean_slope(C**3, L - 1)
    six = (one_set(2), one_set(5), one_set(6), two_sets(3), two_sets(4), apart)
    return CubicForm(D, C, *(x / norm for x in six), strength=v)
