"""The quadrant that keeps its runs: the cover against signs counted on patches; a false claim must fail."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from patch_lab.certify.descent import Undecided
from patch_lab.certify.quadrant import quadrant


def _counted(D, C, q, beta, y, z):
    """(dL/dgamma, dL/drho) at alpha*, up to positive factors, from every input: no atoms, no brackets."""
    s = np.array(list(itertools.product((0, 1, -1), repeat=D - C)))
    P = np.prod(np.where(s == 0, 1 - q, q / 2), axis=1)
    s = np.hstack([np.ones((len(s), C)), s])
    n, M = s.reshape(len(s), -1, C).sum(2).repeat(C, axis=1), s.sum(1, keepdims=True)

    def F(gamma, rho):  # at D alpha = 1
        own, companion, stranger = math.exp(beta), math.exp(gamma), math.exp(rho)
        read = own * s + companion * (n - s) + stranger * (M - n)
        return ((read / (own + (C - 1) * companion + (D - C) * stranger)) ** 3).sum(1)

    gamma, rho = -math.log(y), math.log(z)
    h, low, high = F(gamma, rho), -20.0, 20.0
    for _ in range(90):
        middle = (low + high) / 2
        w = 1 / (1 + np.exp(np.clip(math.exp(middle) * h, -700, 700)))
        low, high = (middle, high) if (P * h) @ w > 0 else (low, middle)
    e = 1e-5
    return [
        -(P * w) @ (F(gamma + e * (k == 0), rho + e * (k == 1)) - F(gamma - e * (k == 0), rho - e * (k == 1)))
        for k in range(2)
    ]


@pytest.mark.parametrize("exact", [False, True])
def test_a_small_quadrant_by_both_arithmetics(exact):
    found = quadrant(8, 2, "1/5", 1, exact=exact)
    assert all(edge.least > 0 and edge.tried == 2 * edge.pieces - 1 for edge in found.values())
    for t in (0.003, 0.1, 0.4, 0.8, 1.0):
        assert _counted(8, 2, 0.2, 1.0, 1.0, t)[0] < 0 < _counted(8, 2, 0.2, 1.0, t, 1.0)[1]


def test_a_quadrant_that_leaks_is_not_certified():
    """At q = 0.9 the run crosses an edge; the cover must not say otherwise."""
    leaks = [
        _counted(8, 2, 0.9, 1.0, 1.0, t)[0] > 0 or _counted(8, 2, 0.9, 1.0, t, 1.0)[1] < 0
        for t in np.linspace(0.01, 1, 30)
    ]
    assert any(leaks)
    with pytest.raises(Undecided, match="no sign at alpha"):
        quadrant(8, 2, "9/10", 1)
