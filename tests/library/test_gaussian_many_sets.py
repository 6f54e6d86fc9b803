"""Equal weights at many sets: the law of the error, the small balls, counted without the library."""

from __future__ import annotations

import math

import numpy as np
import pytest

LIMIT = math.acos(math.sqrt(0.6)) / math.pi


def _weights(L, kind, angle):
    e = {
        "one": np.eye(L)[0],
        "pair": np.eye(L)[0] - np.eye(L)[1],
        "half": np.where(np.arange(L) < L // 2, 1.0, -1.0),
        "ramp": np.linspace(-1, 1, L) ** 3,
    }[kind]
    e = e - e.mean()
    return math.cos(angle) / math.sqrt(L) + math.sin(angle) * e / np.linalg.norm(e)


@pytest.mark.parametrize("kind", ["one", "pair", "half", "ramp"])
def test_the_error_of_any_weights_depends_on_their_angle_alone(kind):
    L, n, rng = 200, 20_000, np.random.default_rng(1)
    wrong = dict.fromkeys((0.0, 0.4, 0.9, 1.3), 0)
    for _ in range(5):
        h = rng.standard_normal((n // 5, L))
        y = np.sign((h**3).sum(1))
        for angle in wrong:
            wrong[angle] += (np.sign(h @ _weights(L, kind, angle)) != y).sum()
    for angle, count in wrong.items():
        limit = math.acos(math.sqrt(0.6) * math.cos(angle)) / math.pi
        # Six standard errors (2e-9 a comparison) and 0.004 for L = 200.
        assert abs(count / n - limit) < 6 * 0.5 / math.sqrt(n) + 0.004


@pytest.mark.parametrize("L", [12, 120])
@pytest.mark.parametrize("kind", ["one", "pair", "half"])
def test_the_excess_is_quadratic_uniformly_in_the_number_of_sets(L, kind):
    """2 (err - eps) = E|A - B| - E|A| given the shape; (arccos sqrt(.6) cos) grows like 0.195 angle^2."""
    rng, angle = np.random.default_rng(2), 0.25
    c = _weights(L, kind, angle)
    h = rng.standard_normal((20_000, L))
    g = h - h.mean(1, keepdims=True)
    omega = g / np.linalg.norm(g, axis=1, keepdims=True)
    m = (omega**3).sum(1)
    tau = m / 3
    for _ in range(30):
        tau -= (L * tau**3 + 3 * tau - m) / (3 * L * tau**2 + 3)
    x = np.linspace(0, 12 / math.sqrt(L), 4001)
    S = np.concatenate([[0], np.cumsum((1 + ((x[1:] + x[:-1]) / 2) ** 2) ** (-L / 2) * np.diff(x))])
    S /= math.sqrt(math.pi) / 2 * math.exp(math.lgamma((L - 1) / 2) - math.lgamma(L / 2))

    def share(z):
        return np.sign(z) * np.interp(np.abs(z), x, S)

    A, w = share(math.sqrt(L) * tau), omega @ c * math.sqrt(L) / c.sum()
    B = share(w)
    control = (B @ w) / (w @ w) * w * np.sign(m)  # mean zero by symmetry
    excess = (np.abs(A - B) - np.abs(A) + control) / 2
    noise = excess.std() / math.sqrt(len(excess))
    ratio = excess.mean() / angle**2
    assert ratio - 6 * noise / angle**2 > 0.05
