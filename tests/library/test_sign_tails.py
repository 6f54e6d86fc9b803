"""Tails of sums of signs, H(s) = max(1/4 - s/3, 0.217 - s/4, 0), and what it proves for linear models."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from patch_lab.setting.linear_bounds import rademacher_tail


def H(s):
    s = np.asarray(s, dtype=float)
    return np.maximum(np.maximum(0.25 - s / 3, 0.217 - s / 4), 0.0)


def _tail(a):
    """(values of Z / |a|, sorted; P[Z > value]) from every sign pattern."""
    a = np.asarray(a, dtype=float)
    signs = np.array(list(itertools.product((-1, 1), repeat=len(a))))
    return np.sort(signs @ a / np.linalg.norm(a))


def _slack(a):
    """The least of P[Z > s|a|] - H(s): H falls, so it is enough to look at the atoms s >= 0, and at 0."""
    z = _tail(a)
    at = np.concatenate([[0.0], z[z >= 0]])
    above = len(z) - np.searchsorted(z, at + 1e-9)  # atoms are rounded: count those above by more than that
    return float((above / len(z) - H(at)).min())


def test_no_weights_beat_the_tail_bound():
    rng = np.random.default_rng(0)
    least = min(
        _slack(np.r_[np.ones(k), np.full(m, x)])
        for k in range(1, 7)
        for m in range(6)
        for x in (0.5, 1 / math.sqrt(2), 0.9)
    )
    least = min(least, min(_slack(np.ones(n)) for n in range(1, 13)))
    for _ in range(150):
        a = np.abs(rng.standard_normal(rng.integers(1, 11))) ** rng.choice([0.3, 1, 3])
        least = min(least, _slack(a))
        if rng.random() < 0.1:  # an adversary: greedy moves of one weight
            for _ in range(20):
                b = a.copy()
                b[rng.integers(len(b))] *= rng.choice([0.5, 0.8, 1.25, 2])
                if _slack(b) < _slack(a):
                    a = b
            least = min(least, _slack(a))
    assert 0 <= least < 0.01  # two equal weights reach 1/4 at s = 0


def test_the_three_steps_of_the_proof_on_a_grid():
    s = np.linspace(0, 1, 200_001)
    bell = np.minimum(0.25, norm.cdf(-s) - 0.56 * s)
    fourth = (1 - s**2) ** 2 / 6
    assert (np.maximum(bell, fourth) - H(s)).min() >= 0
    assert np.allclose(H(s), rademacher_tail(s), rtol=0, atol=1e-15)
    assert H(0) == 0.25 and H(0.868) == 0 and (np.diff(H(s), 2) > -1e-12).all()


def test_the_constant_of_the_theorem():
    def share(chi):
        return quad(lambda x: float(H(1 / math.sqrt(chi * x))), 1 / chi, 1)[0]

    low, high = 2.0, 66.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < 1 / 8 else (low, middle)
    assert high == pytest.approx(19.66, abs=0.01)
    # No tail bound gets this argument below 2 / (sqrt(2) - 1)^2: (0, 1/4) and (1, 0) are reached.
    assert high > 1 / (1 - math.sqrt(0.5)) ** 2 > 11.65
