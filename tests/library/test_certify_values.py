"""What certificates rest on, by hand: bounds on rounding, the law of the votes, how a cover goes on."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from patch_lab.certify import rounded
from patch_lab.certify.polynomials import bracket
from patch_lab.certify.rounded import logistic

U = 2.0**-53

pytestmark = pytest.mark.usefixtures("sixty_four_bits")


# --- rounding: each radius is the worst case to first order, and no more than a hair above it


def hugs(radius, worst):
    """At least the worst case, and within 10^-8 of it."""
    radius, worst = np.asarray(radius), np.asarray(worst)
    return bool((radius >= worst).all() and (radius <= worst * (1 + 1e-8) + 1e-290).all())


def test_the_radius_of_a_sum_a_product_and_a_dot_product():
    rng = np.random.default_rng(0)
    x, y, z = ((rng.standard_normal((5, 1)), rng.random((5, 1)) * 1e-9) for _ in range(3))
    mid, rad = rounded._plus(x, y, z)
    partial = x[0] + y[0]
    assert np.array_equal(mid, partial + z[0])
    assert hugs(rad, x[1] + y[1] + z[1] + U * (np.abs(partial) + np.abs(mid)))
    mid, rad = rounded._times(x, y)
    assert np.array_equal(mid, x[0] * y[0])
    # |x||ry| + rx (|y| + ry), and half a unit in the last place of the product.
    assert hugs(rad, np.abs(x[0]) * y[1] + x[1] * (np.abs(y[0]) + y[1]) + U * np.abs(mid))
    N = rng.integers(-50, 50, (7, 5)).astype(float)
    mid, rad = rounded._apply(N, np.abs(N), x)
    assert mid == pytest.approx(N @ x[0]) and hugs(rad, np.abs(N) @ (x[1] + 6 * U * np.abs(x[0])))
    mid, rad = rounded._total(x)
    assert mid == pytest.approx(x[0].sum(axis=0))
    assert hugs(rad, x[1].sum(axis=0) + 6 * U * np.abs(x[0]).sum(axis=0))
    exact = np.zeros((2, 1)), np.zeros((2, 1))
    assert (rounded._times(exact, exact)[1] > 0).all()  # underflow has a bound as well
    low, high = np.array([1.0, -2.0]), np.array([1.5, 7.0])
    mid, rad = rounded._between(low, high)
    assert (mid - rad <= low).all() and (mid + rad >= high).all() and hugs(rad, (high - low) / 2)
    minus = rounded._negative((low, high))
    assert (minus[0] == -low).all() and (minus[1] == high).all()


@pytest.mark.parametrize("mid", [0.0, 0.3, -2.0, 30.0, -40.0, 650.0, -900.0])
@pytest.mark.parametrize("rad", [0.0, 1e-9, 0.5, 300.0])
def test_the_logistic_function_on_an_interval_is_tight(mid, rad):
    """It holds the exact range, and is hardly wider."""
    (w, dw), (s, ds) = logistic((np.array([mid]), np.array([rad])))
    ends = [1 / (1 + arb(x).exp()) for x in (mid - rad, mid + rad)]
    least, most = float(ends[1].lower()), float(ends[0].upper())
    assert w[0] - dw[0] <= least * (1 + 1e-15) and most <= (w[0] + dw[0]) * (1 + 1e-15)
    assert 2 * dw[0] <= (most - least) * (1 + 1e-8) + 2e-12 * most + 1e-290
    falls = [arb(-abs(x)).exp() for x in (mid - rad, mid + rad)]
    slopes = [float((e / (1 + e) / (1 + e)).mid()) for e in falls]  # even in x
    top = 0.25 if mid - rad < 0 < mid + rad else max(slopes)
    assert s[0] - ds[0] <= min(slopes) * (1 + 1e-11) and top <= (s[0] + ds[0]) * (1 + 1e-11)
    assert 2 * ds[0] <= (top - min(slopes)) * (1 + 1e-8) + 1e-10 * top + 1e-290


# --- charts and brackets, by Euler's formula on one input


@pytest.mark.parametrize("name", ["alpha", "gamma", "rho"])
def test_the_brackets_are_the_derivatives_of_a_homogeneous_form(name):
    """For one form h in (l, g, x), with its partial derivatives by central differences."""
    D, C, p = 12, 4, 3
    exponents = tuple((i, j, p - i - j) for i in range(p, -1, -1) for j in range(p - i, -1, -1))
    N = np.random.default_rng(2).integers(-5, 6, len(exponents)).astype(float)
    at = np.array([0.7, 0.4, 0.3])

    def h(t):
        return sum(n * t[0] ** a * t[1] ** b * t[2] ** c for n, (a, b, c) in zip(N, exponents))

    own, g, x = at
    hl, hg, hx = ((h(at + d) - h(at - d)) / 2e-5 for d in 1e-5 * np.eye(3))
    expected = {
        "alpha": p * h(at),
        "gamma": own * (hg - (C - 1) * hl) + x * ((D - C) * hg - (C - 1) * hx),
        "rho": g * ((C - 1) * hx - (D - C) * hg) + own * (hx - (D - C) * hl),
    }[name]
    matrix = bracket(name, D, C, exponents)
    made = sum(v * N[column] * np.prod(at ** np.array(exponents[row])) for (row, column), v in matrix.items())
    assert made == pytest.approx(expected, rel=1e-7)
