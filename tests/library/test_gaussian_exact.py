"""The cubic label on Gaussian patches: its linear part, equal weights, the blind vote, the critical diagonal.

What stands against the library here is counted on plain draws of the answers, in their own coordinates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from enumeration import all_partitions
from scipy.optimize import minimize
from scipy.special import ndtr

from patch_association.streams import Stream, generator
from patch_lab.beyond import gaussian
from patch_lab.beyond.gaussian import linear_disagreement, sample_linear_disagreement
from patch_lab.beyond.known_filter import blind_errors


@pytest.mark.parametrize("L", [3, 4])
def test_quadrature_agrees_with_counting(L):
    h = np.random.default_rng(L).standard_normal((1_000_000, L))
    counted = (np.sign(h.sum(1)) != np.sign((h**3).sum(1))).mean()
    # Six standard errors: a false alarm with probability 2e-9, were the seed not fixed.
    assert abs(counted - linear_disagreement(L)) < 6 * math.sqrt(0.1 / 1e6)
    assert linear_disagreement(L, nodes=60) == pytest.approx(linear_disagreement(L, nodes=300), abs=1e-12)
    estimate = sample_linear_disagreement(L, 50_000)
    assert abs(estimate.value - linear_disagreement(L)) < 3.1 * (estimate.high - estimate.low) / 2


# --- equal weights are best


def _sphere(n: int) -> np.ndarray:
    """(2 n^2, 3): points of equal areas on the sphere."""
    z, angle = np.meshgrid((np.arange(n) + 0.5) / n * 2 - 1, (np.arange(2 * n) + 0.5) / n * np.pi)
    ring = np.sqrt(1 - z**2)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=-1).reshape(-1, 3)


def test_no_weights_at_three_sets_come_near_the_proved_bound():
    """Areas on the sphere, counted, for weights around the whole circle at each angle."""
    h = _sphere(500)
    y, equal = (h**3).sum(1) > 0, np.ones(3) / math.sqrt(3)
    a, b = np.array([1, -1, 0]) / math.sqrt(2), np.array([1, 1, -2]) / math.sqrt(6)
    least = ((h @ equal > 0) != y).mean()
    assert least == pytest.approx(linear_disagreement(3), abs=3e-4)
    for angle in (0.1, 0.2, 0.35, 0.46, 0.6, 1.0, 1.5):
        for turn in np.arange(6) * math.pi / 3 + 0.1:
            c = math.cos(angle) * equal + math.sin(angle) * (math.cos(turn) * a + math.sin(turn) * b)
            assert ((h @ c > 0) != y).mean() - least > gaussian.proved_excess(angle, 3) - 3e-4


@pytest.mark.parametrize("L", [3, 4, 7])
def test_excess_agrees_with_counting(L):
    c = np.full(L, 0.05)
    c[0] = 1.0  # far from equal: the odd part of the excess is large
    h = np.random.default_rng(L).standard_normal((1_000_000, L))
    y = np.sign((h**3).sum(1))
    paired = (np.sign(h @ c) != y).astype(float) - (np.sign(h.sum(1)) != y)
    (estimate,) = gaussian.sample_excess(c, n=100_000)
    noise = math.hypot(paired.std() / 1000, (estimate.high - estimate.low) / 3.9)
    assert abs(paired.mean() - estimate.value) < 6 * noise  # false alarms at a rate of 2e-9


@pytest.mark.parametrize("L", [3, 4, 6])
def test_an_adversary_finds_no_better_weights(L):
    """Minimize excess / angle^2 over the weights; at three and four sets the proved bound stands below."""
    rng, equal = np.random.default_rng(L), np.ones(L) / math.sqrt(L)

    def score(c):
        size = np.linalg.norm(c)
        angle = math.acos(min(1.0, c @ equal / size)) if size and c.sum() > 0 else 0.0
        if not 0.05 < angle < 1.55:
            return 1.0
        return gaussian.sample_excess(c, n=3000)[0].value / angle**2

    for _ in range(3):
        found = minimize(
            score, equal + 0.3 * rng.standard_normal(L), method="Nelder-Mead", options={"maxfev": 60}
        )
        assert found.fun > 0.1
        c = found.x
        angle = math.acos(c @ equal / np.linalg.norm(c))
        if L < 5:
            assert found.fun * angle**2 > gaussian.proved_excess(angle, L)


def test_the_proved_bound_is_positive_at_every_angle_and_where_its_pieces_meet():
    for L in (3, 4):
        assert min(gaussian.proved_excess(angle, L) for angle in np.linspace(1e-3, 1.57, 500)) > 0
    assert math.sqrt(2) / 3 > 2 * math.pi * linear_disagreement(3)
    assert 2 / math.pi > 2 * math.pi * linear_disagreement(4)
    with pytest.raises(ValueError, match="3 and 4 sets, got 5"):
        gaussian.proved_excess(0.1, 5)
    with pytest.raises(ValueError, match="positive sum"):
        gaussian.sample_excess([1.0, -1.0, 0.0])


# --- the vote of all partitions


def _every_partition(L: int, C: int) -> np.ndarray:
    """(P, L, C): the patches of every set of every partition."""
    return np.array([[sorted(one) for one in p] for p in all_partitions(list(range(L * C)), C)])


@pytest.mark.parametrize(("L", "C"), [(3, 2), (4, 2)])
def test_the_vote_counted(L, C):
    """Labels of all partitions on plain draws: their majority errs as often as the library says."""
    sets = _every_partition(L, C)
    eta = np.random.default_rng(3).standard_normal((30_000, L * C))
    labels = np.sign((eta[:, sets].sum(axis=3) ** 3).sum(axis=2))  # (n, P, L, C) -> (n, P)
    vote, plain = np.sign(labels.sum(axis=1)), np.sign(eta.sum(axis=1))
    found = blind_errors(L, C, n=20_000)
    assert found.exact and found.saved.low > 0
    pairs = ((vote, found.blind), (plain, found.linear))
    for prediction, estimate in pairs:
        wrong = (labels != prediction[:, None]).mean(axis=1)
        noise = math.hypot(wrong.std() / math.sqrt(len(eta)), (estimate.high - estimate.low) / 3.9)
        assert abs(wrong.mean() - estimate.value) < 6 * noise  # false alarms at a rate of 2e-9


def test_no_threshold_beats_the_vote():
    """On the library's own draws: thresholds by bisection, and the best among them, input by input."""
    L, C, n = 3, 2, 60
    sets = _every_partition(L, C)
    eta = generator(4, Stream.SET_BLIND).standard_normal((n, L * C))
    eta -= eta.mean(axis=1, keepdims=True)
    h = eta[:, sets].sum(axis=3) / math.sqrt(C)  # (n, P, L)
    low, high = np.full(h.shape[:2], -20.0), np.full(h.shape[:2], 20.0)
    for _ in range(80):
        middle = (low + high) / 2
        positive = ((h + middle[:, :, None]) ** 3).sum(axis=2) > 0
        low, high = np.where(positive, low, middle), np.where(positive, middle, high)
    shares = ndtr(math.sqrt(L) * low)
    best = np.abs(shares[:, :, None] - shares[:, None, :]).mean(axis=1).min(axis=1)
    found = blind_errors(L, C, n=n, seed=4)
    assert found.blind.value == pytest.approx(best.mean(), abs=1e-10)
    assert found.linear.value == pytest.approx(np.abs(shares - 0.5).mean(), abs=1e-10)


# --- the critical diagonal


def test_the_ratio_by_areas_on_the_sphere():
    """k3, k12 and k111 from their definitions, with moments of the radius; no turn to the diagonal."""
    h = _sphere(1000)
    y = np.sign((h**3).sum(1))

    def moment(degree):  # E|h|^degree at three coordinates
        return 2 ** (degree / 2) * math.gamma((3 + degree) / 2) / math.gamma(1.5)

    first = moment(1) * (y * h[:, 0]).mean()
    k3 = moment(3) * (y * h[:, 0] ** 3).mean() - 3 * first
    k12 = moment(3) * (y * h[:, 0] ** 2 * h[:, 1]).mean() - first
    k111 = moment(3) * (y * h.prod(axis=1)).mean()
    assert gaussian.critical_ratio(3) == pytest.approx(-(k3 - k111) / (k3 - k12), rel=2e-3)


@pytest.mark.parametrize(("L", "C"), [(3, 2), (4, 4), (6, 3)])
def test_the_critical_diagonal_by_simulation(L, C):
    """The first move at a small value vector is b (b P + 2 R); its root, from counted P and R."""
    rng, P, R = np.random.default_rng([L, C]), [], []
    for _ in range(40):
        eta = rng.standard_normal((20_000, L, C))
        h = eta.sum(axis=2, keepdims=True)
        y, U = np.sign((h**3).sum(axis=1))[:, :, None], h.sum(axis=1, keepdims=True)
        pull = y * ((h - eta) / (C - 1) - (U - h) / (L * C - C))  # mean companion less mean stranger
        P.append((eta**2 * pull).mean())
        R.append((eta * U * pull).mean())
    b = math.expm1(gaussian.critical_diagonal(L, C))
    parts = b * np.array(P) + 2 * np.array(R)
    assert abs(parts.mean()) < 8 * parts.std(ddof=1) / math.sqrt(40)  # 39 degrees of freedom: below 1e-8
    # It could have failed: a tenth more or less of the diagonal's exponential is seen.
    assert np.mean(P) > 0 > np.mean(R)
