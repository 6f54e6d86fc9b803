"""Expected association of the truth plus noise, against counting and sampling."""

import itertools

import numpy as np
import pytest
from scipy import stats

from patch_association.structure import Partition, association
from patch_lab.setting.noisy_scores import noisy_association


@pytest.mark.parametrize("size", [(4, 2), (8, 2), (12, 3), (64, 4)])
def test_pure_noise_is_at_chance(size):
    D, C = size
    expected = noisy_association(D, C, 1e9)
    assert expected.recall == pytest.approx((C - 1) / (D - 1), abs=1e-8)
    assert expected.auc == pytest.approx(0.5, abs=1e-8)
    # All C! (D-C)! / D! orders put the own set first.
    rows = 1 / len(list(itertools.combinations(range(D), C))) if D < 20 else None
    if rows:
        assert expected.exact == pytest.approx(rows**D, rel=1e-6)


def test_two_by_two_in_closed_form():
    # D = 4, C = 2: recall is P[one shifted normal beats two others], an orthant probability.
    u = 0.7
    covariance = [[2, 1], [1, 2]]  # of (companion - stranger 1, companion - stranger 2)
    orthant = stats.multivariate_normal(mean=[-u, -u], cov=covariance).cdf([0, 0])
    assert noisy_association(4, 2, 1 / u).recall == pytest.approx(orthant, abs=1e-5)


@pytest.mark.parametrize("noise", [0.25, 0.6])
def test_agrees_with_sampled_matrices(noise):
    partition, n = Partition.random(16, 4, seed=3), 600
    draws = [
        association(
            partition.same_set + noise * np.random.default_rng(s).standard_normal((16, 16)), partition
        )
        for s in range(n)
    ]
    expected = noisy_association(16, 4, noise)
    for name in ("exact", "recall", "auc"):
        values = np.array([getattr(d, name) for d in draws], dtype=float)
        # Six standard errors, and 1e-4 where the draws never vary: false alarms below 1e-8.
        bound = 6 * values.std(ddof=1) / np.sqrt(n) + 1e-4
        assert abs(values.mean() - getattr(expected, name)) < bound
