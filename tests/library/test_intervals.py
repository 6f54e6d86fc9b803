"""Confidence intervals: coverage by enumeration, and scipy's own intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from patch_association.intervals import (
    mean,
    proportion,
)
from patch_lab.estimates import odds_ratio, power_law, shared_error


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_clopper_pearson_covers_every_proportion(n, level):
    """Coverage at p is the chance of the counts whose interval holds p: summed, not sampled."""
    intervals = [proportion(k, n, level) for k in range(n + 1)]
    coverages = []
    for p in np.linspace(0, 1, 401):
        coverages.append(
            sum(
                math.comb(n, k) * p**k * (1 - p) ** (n - k)
                for k, interval in enumerate(intervals)
                if interval.low <= p <= interval.high
            )
        )
    assert min(coverages) >= level - 1e-12
    # Each end gives away exactly half of what the level allows.
    for k, interval in enumerate(intervals):
        if k > 0:
            assert stats.binom.sf(k - 1, n, interval.low) == pytest.approx((1 - level) / 2, abs=1e-9)
        if k < n:
            assert stats.binom.cdf(k, n, interval.high) == pytest.approx((1 - level) / 2, abs=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12), st.sampled_from([0.5, 0.95]))
def test_mean_against_scipy(values, level):
    interval = mean(values, level)
    x = np.array(values)
    assert interval.value == pytest.approx(x.mean()) and interval.n == len(values)
    if x.std() > 1e-9:
        low, high = stats.t.interval(level, len(x) - 1, loc=x.mean(), scale=stats.sem(x))
        assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("likeness", [0.5, 0.8])
def test_pictures_that_all_seeds_share_widen_the_interval(likeness):
    """Five seeds on the same 2,000 pictures, as the record of one layer: both kinds of chance are covered.

    A picture is right where what makes it easy for all, and chance of its own, are below a seed's threshold:
    so seeds are right on the same pictures. ``first`` and ``second`` are two networks.
    """
    rng, seeds, pictures, runs = np.random.default_rng(0), 5, 2000, 400
    own, gap = np.zeros(2), np.zeros(2)  # covered: with pictures, without
    middle = np.array([-0.25, -0.2])
    truth = stats.norm.cdf(middle / math.hypot(1, 0.02))
    for _ in range(runs):
        ease = rng.standard_normal(pictures) * math.sqrt(likeness)
        chance = rng.standard_normal((2, seeds, pictures)) * math.sqrt(1 - likeness)
        threshold = middle[:, None, None] + 0.02 * rng.standard_normal((2, seeds, 1))
        first, second = (ease + chance < threshold).mean(axis=2)  # the shares of each seed
        for k, shared in enumerate((True, False)):
            found = mean(first, shared=shared * shared_error(pictures, first.mean()))
            own[k] += found.low <= truth[0] <= found.high
            error = shared * shared_error(pictures, first.mean(), second.mean())
            found = mean(second - first, shared=error)
            gap[k] += found.low <= truth[1] - truth[0] <= found.high
    # A coverage of 95% is missed as far as this once in a million.
    assert min(own[0], gap[0]) >= stats.binom.ppf(1e-6, runs, 0.95)
    assert own[1] < stats.binom.ppf(1e-6, runs, 0.95)
    with pytest.raises(ValueError, match="shared must be"):
        mean([1, 2], shared=-1)
    with pytest.raises(ValueError, match="shares must lie between 0 and 1, got"):
        shared_error(10, 1.5)


def test_the_odds_ratio_of_one_table_and_of_copies_is_woolfs():
    # For one table the interval of Robins et al. is Woolf's; copies leave the ratio and shrink the variance.
    a, b, c, d = 17, 5, 9, 23
    for copies in (1, 4):
        found = odds_ratio([[[a, b], [c, d]]] * copies)
        reach = math.exp(1.959963985 * math.sqrt((1 / a + 1 / b + 1 / c + 1 / d) / copies))
        ratio = a * d / (b * c)
        assert found.value == pytest.approx(ratio) and found.n == copies * (a + b + c + d)
        assert (found.low, found.high) == pytest.approx((ratio / reach, ratio * reach))


def test_a_power_law_with_noise_equals_polyfit_and_its_interval_covers():
    """Normal noise in the logarithm, 8 seeds at 6 sizes: a 95% bootstrap interval with few seeds covers
    about 90% of the time, and 60 of 100 is missed with a chance below 1e-12."""
    x, covered = 2.0 ** np.arange(6), 0
    for trial in range(100):
        values = x[:, None] ** -0.5 * np.exp(0.3 * np.random.default_rng(trial).standard_normal((6, 8)))
        law = power_law(x, values, resamples=200)
        slope, intercept = np.polyfit(np.log(x), np.log(values).mean(axis=1), 1)
        assert law.exponent.value == pytest.approx(slope) and math.log(law.factor) == pytest.approx(intercept)
        covered += law.exponent.low <= -0.5 <= law.exponent.high
    assert 60 <= covered < 100
