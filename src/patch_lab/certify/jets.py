"""Balls with their first derivatives by three coordinates: forward differentiation, and nothing more."""

from __future__ import annotations

from flint import arb


class Jet:
    """A value and its slope by three coordinates; ``slope`` is None for a constant."""

    __slots__ = ("slope", "value")

    def __init__(self, value: arb, slope):
        self.value, self.slope = value, slope

    def __add__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.slope)
        return Jet(self.value + other.value, [a + b for a, b in zip(self.slope, other.slope)])

    def __sub__(self, other):
        return Jet(self.value - other.value, [a - b for a, b in zip(self.slope, other.slope)])

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value * other, [a * other for a in self.slope])
        u, v = self.value, other.value
        return Jet(u * v, [a * v + u * b for a, b in zip(self.slope, other.slope)])

    def inverse(self):
        over = 1 / self.value
        minus = -(over * over)
        return Jet(over, [minus * a for a in self.slope])

    def exp(self):
        e = self.value.exp()
        return Jet(e, [e * a for a in self.slope])


def constant(value) -> Jet:
    """A jet that does not depend on the coordinates."""
    return Jet(value, [arb(0)] * 3)


def variables(point):
    """The three coordinates themselves."""
    return [Jet(x, [arb(int(i == k)) for i in range(3)]) for k, x in enumerate(point)]


def powers(x: Jet, largest: int):
    """[1, x, x^2, ...]: by multiplication, as ``**`` on a ball that contains zero gives NaN."""
    result = [constant(arb(1))]
    for _ in range(largest):
        result.append(result[-1] * x)
    return result
