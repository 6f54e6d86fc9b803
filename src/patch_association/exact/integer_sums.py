"""Laws of integer sums, by convolution: nonnegative terms only, so nothing cancels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import fftconvolve

from patch_association.checks import positive_int, probability

# Direct convolution keeps relative accuracy in the tails and costs n^2; past this many products
# the absolute accuracy of an FFT (about 1e-16) is what we can afford.
_DIRECT_PRODUCTS = 2**27

# A law keeps one float for every integer of its range: past this many (512 MiB) we refuse.
_LARGEST_RANGE = 2**26


@dataclass(frozen=True)
class IntegerLaw:
    """The law of an integer random variable on start, ..., start + len(mass) - 1.

    Attributes
    ----------
    start : int
    mass : (m,) float64 array
        ``mass[i] = P[K = start + i]``.
    """

    start: int
    mass: np.ndarray

    @classmethod
    def of(cls, values, probabilities) -> IntegerLaw:
        """The law that puts ``probabilities`` on the integers ``values``; equal values add up.

        Raises
        ------
        ValueError
            If values are no integers, probabilities negative or of another shape, or the range too wide.
        """
        values = np.asarray(values)
        probabilities = np.asarray(probabilities, dtype=np.float64)
        if values.size == 0 or not np.issubdtype(values.dtype, np.integer):
            raise ValueError(f"values must be integers of 64 bits, got {values.size} of type {values.dtype}")
        if probabilities.shape != values.shape or not (probabilities >= 0).all():
            wanted = f"{values.size} nonnegative numbers"
            raise ValueError(f"probabilities must be {wanted}, got {probabilities!r}")
        start = int(values.min())
        mass = np.zeros(_affordable(int(values.max()) - start + 1))
        np.add.at(mass, values - start, probabilities)
        return cls(start, mass)

    @property
    def support(self) -> np.ndarray:
        """The integers that ``mass`` belongs to."""
        # of 64 bits wherever it runs: its powers are taken, and pass 2^31
        return np.arange(self.start, self.start + self.mass.size, dtype=np.int64)

    def __add__(self, other: IntegerLaw) -> IntegerLaw:
        """The law of the sum of two independent variables."""
        _affordable(self.mass.size + other.mass.size - 1)
        return IntegerLaw(self.start + other.start, _convolve(self.mass, other.mass))

    def times(self, n: int) -> IntegerLaw:
        """The law of the sum of n independent copies, by repeated squaring.

        Raises
        ------
        ValueError
            If n is no integer of at least 0, or the range exceeds 2^26 integers.
        """
        n = positive_int("n", n, minimum=0)
        _affordable(n * (self.mass.size - 1) + 1)  # known before the squarings, which take seconds
        total = IntegerLaw(0, np.ones(1))
        power = self
        while n:
            if n & 1:
                total = total + power
            n >>= 1
            if n:
                power = power + power
        return total

    def shift(self, k: int) -> IntegerLaw:
        """The law of the sum K + k, the support moved by ``k``."""
        return IntegerLaw(self.start + k, self.mass)

    def map(self, function) -> IntegerLaw:
        """The law of ``function(K)`` for an integer-valued vectorized function."""
        return IntegerLaw.of(function(self.support), self.mass)

    def below(self, k: int) -> float:
        """P[K < k], summed from the small end."""
        return float(self.mass[: max(0, min(self.mass.size, k - self.start))].sum())

    def at(self, k: int) -> float:
        """The probability P[K = k]; zero outside the support."""
        i = k - self.start
        return float(self.mass[i]) if 0 <= i < self.mass.size else 0.0


def trinomial(n: int, q: float) -> IntegerLaw:
    """The law of a sum of n signs delta_j: +1 or -1 with probability q/2 each, 0 otherwise.

    Parameters
    ----------
    n, q : int, float

    Raises
    ------
    ValueError
        If n is no integer of at least 0, q lies outside [0, 1], or the range exceeds 2^26 integers.
    """
    n = positive_int("n", n, minimum=0)
    q = probability("q", q)
    return IntegerLaw(-1, np.array([q / 2, 1 - q, q / 2])).times(n)


def _convolve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.size * b.size <= _DIRECT_PRODUCTS:
        return np.convolve(a, b)
    return np.clip(fftconvolve(a, b), 0.0, None)


def _affordable(size: int) -> int:
    if size > _LARGEST_RANGE:
        raise ValueError(f"a law must range over at most {_LARGEST_RANGE} integers, got {size}")
    return size
