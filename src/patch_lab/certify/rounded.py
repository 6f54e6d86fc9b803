"""The sums over the atoms in double precision, with bounds on every rounding error.

Arb spends a microsecond on an operation; at D = 36 there are 319,770 atoms. Here the same sums run in
numpy. A quantity is a pair (mid, rad) of arrays, and the exact number lies within rad of mid. Only this is
used of the processor: +, -, * and / of doubles are rounded to the nearest double, and small ones are not
flushed to zero, so that

    |fl(a o b) - (a o b)| <= u |fl(a o b)| + tiny,    u = 2^-53,

and a dot product of k terms, in whatever order and with or without fused operations, is off by at most
k u / (1 - k u) times the sum of the absolute terms (Higham, Accuracy and Stability, 3.5). A radius is itself
computed from nonnegative numbers by fewer than 16 roundings, or by a dot product; the factor UP makes up for
them. The exponential is our own (:func:`exp`), as no bound is promised for a library's. NumPy and its BLAS
are trusted to do these operations and no others: a matrix product is made of such dot products (not of a
fast scheme such as Strassen's), and ``rint`` and ``ldexp`` are exact.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from patch_lab.certify.field import Field, magnitude

U = 2.0**-53
UP = 1 + 2.0**-30  # absorbs the roundings of a radius, also of one that is a long sum
TINY = 2.0**-1000  # absorbs underflow
_CHUNK = 1024


def _plus(*parts):
    """Sum of pairs."""
    mid, rad = parts[0]
    for m, r in parts[1:]:
        mid = mid + m
        rad = (rad + r + U * np.abs(mid)) * UP + TINY
    return mid, rad


def _times(x, y):
    """Product of two pairs."""
    mid = x[0] * y[0]
    rad = np.abs(x[0]) * y[1] + x[1] * (np.abs(y[0]) + y[1]) + U * np.abs(mid)
    return mid, rad * UP + TINY


def _apply(N, size, x):
    """N @ x for an exact matrix N of integers, ``size`` = |N|, and a pair of columns x."""
    k = N.shape[1]
    return N @ x[0], (size @ (x[1] + (k + 1) * U * np.abs(x[0]))) * UP + TINY


def _total(x):
    """Sum over the first axis, of n terms."""
    n = x[0].shape[0]
    mid = x[0].sum(axis=0)
    return mid, (x[1].sum(axis=0) + (n + 1) * U * np.abs(x[0]).sum(axis=0)) * UP + TINY


def exp(x):
    """e^x within a relative 2^-44, for doubles |x| <= 700.

    x = k log 2 + r with |r| <= 0.3466. The high part of log 2 has 32 bits, so k times it is exact, and r is
    right to 2^-50. The Taylor sum to r^13 misses less than 2^-57 of e^r; by Horner it is off by at most 28
    u sum |r|^i/i! <= 28 u e^0.35, that is 2^-47 of e^r. Scaling by 2^k is exact.
    """
    k = np.rint(x * 1.4426950408889634)
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    total = np.full_like(r, 1 / math.factorial(13))
    for i in range(12, -1, -1):
        total = total * r + 1 / math.factorial(i)
    return np.ldexp(total, k.astype(np.int64))


def logistic(F):
    """((w), (w (1 - w))) as pairs over the pairs F, w = 1 / (1 + e^F), from the ends of F.

    w falls in F. w (1 - w) is even, and falls in |F| from 1/4. Beyond 700 the ends are clipped, and the
    bounds 0 and 1 take their place.
    """
    low = (F[0] - F[1]) * 1.0
    high = F[0] + F[1]
    low = low - 4 * U * np.abs(low) - TINY
    high = high + 4 * U * np.abs(high) + TINY
    slack = 2.0**-42
    ends = []
    for end in (low, high):
        e = exp(np.clip(end, -700.0, 700.0))
        w = 1 / (1 + e)
        ends.append((w, w * (e / (1 + e))))
    (most, s), (least, t) = ends
    most = most * (1 + slack)
    least = np.where(high > 700, 0.0, least * (1 - slack))
    most = np.where(low < -700, 1.0, most)
    s_most = np.where((low < 0) & (high > 0), 0.25, np.maximum(s, t) * (1 + slack))
    s_least = np.where((low < -700) | (high > 700), 0.0, np.minimum(s, t) * (1 - slack))
    return _between(least, most), _between(s_least, s_most)


def _between(low, high):
    mid = (low + high) / 2
    return mid, np.maximum(high - mid, mid - low) * UP + TINY


class RoundedField(Field):
    """A :class:`Field` whose sums over atoms are taken in double precision, bounds and all."""

    def _prepare(self):
        self._N = self._matrix(self.atoms.features)
        # Python rounds this quotient once
        P = np.array([x / self.atoms.denominator for x in self.atoms.numerator])
        self._P = P, P * (2 * U) + TINY

    @staticmethod
    def _matrix(table):
        N = table.astype(np.float64)
        if np.abs(table).max() >= 2**53:
            raise ValueError("the features must be below 2^53 to be exact in double precision")
        return N, np.abs(N)

    @staticmethod
    def _columns(balls, width=1):
        mid = [float(x.mid()) for x in balls]
        rad = [magnitude(x - arb(m)) for x, m in zip(balls, mid)]
        return np.array(mid).reshape(-1, width), np.array(rad).reshape(-1, width)

    def _predictions(self, W):
        return _apply(*self._N, self._columns(W))

    def _moved(self, F, moves):
        return _plus(F, _apply(*self._N, self._columns(moves)))

    def _first_sum(self, F):
        weighted = _times(self._weighted(logistic(F)[0]), (self._N[0], np.zeros(1)))  # (n, K)
        return [arb(m, r) for m, r in zip(*self._sum(weighted))]

    def _second_sum(self, F):
        N, size = self._N
        mid, rad = self._weighted(logistic(F)[1])
        K = N.shape[1]
        total = np.zeros((K, K))
        slack = np.zeros((K, K))
        for start in range(0, len(N), _CHUNK):
            some = slice(start, start + _CHUNK)
            part = N[some].T @ (mid[some] * N[some])  # (K, K)
            # Rounding of mid N, of a product of at most _CHUNK terms, and of adding the chunks up.
            bound = size[some].T @ ((rad[some] + (_CHUNK + 4) * U * np.abs(mid[some])) * size[some])
            total = total + part
            slack = (slack + bound + U * np.abs(total)) * (1 + 2.0**-40) + TINY
        return [[arb(total[i, j], slack[i, j] * UP) for j in range(K)] for i in range(K)]

    def _weighted(self, x):
        return _times((self._P[0][:, None], self._P[1][:, None]), x)

    @staticmethod
    def _sum(x):
        """Sum of (n, K) pairs over atoms, in chunks: the error grows like n / _CHUNK + _CHUNK, not like n."""
        parts = [_total((x[0][i : i + _CHUNK], x[1][i : i + _CHUNK])) for i in range(0, len(x[0]), _CHUNK)]
        return _total((np.array([m for m, _ in parts]), np.array([r for _, r in parts])))

    def _mean_value(self, N: tuple, name, here, over, half):
        center = self._predictions([w.value for w in here["W"]])
        w = logistic(center)[0]
        R = _apply(N[0], N[1], self._columns([v.value for v in here["V"]]))
        value = self._sum(_times(self._weighted(w), R))

        slopes = [w.slope[k] for w in over["W"] for k in range(3)]
        F_slopes = _apply(*self._N, self._columns(slopes, 3))  # (n, 3)
        R_slopes = _apply(N[0], N[1], self._columns([v.slope[k] for v in over["V"] for k in range(3)], 3))
        reach = ((np.abs(F_slopes[0]) + F_slopes[1]) @ np.array(half)[:, None]) * UP + TINY
        w, s = logistic(_plus(center, (np.zeros_like(reach), reach)))
        R = _apply(N[0], N[1], self._columns([v.value for v in over["V"]]))
        terms = _plus(_times(_times(s, R), F_slopes), _negative(_times(w, R_slopes)))  # (n, 3)
        slopes = self._sum(self._weighted(terms))
        return -arb(value[0][0], value[1][0]), [arb(m, r) for m, r in zip(*slopes)]

    def error(self, box) -> arb:
        """An enclosure of the error on the box, as that of :class:`Field`."""
        W, _ = self._derivatives(box)
        mid, rad = self._predictions([w.value for w in W])
        mid = mid[:, 0]
        rad = rad[:, 0]
        P = self._P[0]
        empty = ~self.atoms.features.any(axis=1)
        shares = np.where(empty, 0.5, np.where(mid < -rad, 1.0, 0.0))
        open_ = ~empty & (np.abs(mid) <= rad)
        total, slack = self._sum((P[:, None] * shares[:, None], P[:, None] * (4 * U)))
        doubt = self._sum((np.where(open_, P, 0.0)[:, None], P[:, None] * (4 * U)))
        return arb(total[0], slack[0]) + arb(0.5, 0.5) * arb(doubt[0][0], doubt[1][0])


def _negative(x):
    return -x[0], x[1]
