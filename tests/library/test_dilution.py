"""What imperfect attention costs a perfect value vector: against brute force, and the limit."""

import math

import numpy as np
import pytest
from enumeration import positive_inputs

from patch_association.structure import Partition
from patch_lab.transfer import dilution
from patch_lab.transfer.block_attention import BlockAttention

EIGHT = Partition([0, 0, 1, 1, 2, 2, 3, 3])


def enumerated_error(S, signal, q, alpha, linear):
    """P[F < 0] + P[F = 0] / 2 at y = +1, v = alpha w*, attention S, over all coefficients off ``signal``."""
    s, chance = positive_inputs(8, 2, q, anywhere=False)
    by_patch = np.empty_like(s)
    by_patch[:, [*signal, *sorted({*range(8)} - {*signal})]] = s
    z = 8 * alpha * by_patch @ S.T
    F = (z**3 + linear * z).sum(axis=1)
    return chance @ np.where(abs(F) <= 1e-12, 0.5, F < 0)


@pytest.mark.parametrize(
    "gamma, q, linear, response",
    [
        (0.4, 0.6, 0.0, 1.0),
        (0.4, 0.6, 0.5, 1.0),
        (1.5, 0.5, 0.0, 0.7),
        (2.0, 0.9, 0.1, 1.0),
        (0.05, 0.3, 0.1, 0.2),
    ],
)
def test_the_diluted_error_is_that_of_all_inputs(gamma, q, linear, response):
    """400,000 draws against enumeration at D = 8: 6 standard errors are passed less than once in 10^8."""
    D, C, draws = 8, 2, 400_000
    g = math.expm1(gamma)
    alpha = response * (D + C * g) / (g * C * D)  # the signal set's response is alpha g C D / (D + C g)
    S = BlockAttention(EIGHT, gamma, gamma).matrix().numpy()
    expected = enumerated_error(S, (0, 1), q, alpha, linear)
    mu = dilution.linear_weight(D, C, gamma, linear, response)
    drawn = dilution.diluted_error(D, C, q, gamma, mu, draws=draws, seed=3)
    assert abs(drawn - expected) < 6 * math.sqrt(expected * (1 - expected) / draws)
    assert expected > 0.001


def test_the_limit_by_counting_poisson_votes():
    """All pairs of counts, instead of the law of their difference."""
    C, chi, c, mu = 3, 0.8, 0.1185, 0.25  # h(-2) lies just below 0
    mean = chi * C**2 / 2
    mass = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(60)]
    expected = 0.0
    for i, plus in enumerate(mass):
        for j, minus in enumerate(mass):
            T = C + i - j
            h = C**3 - C + (1 + mu) * T + T**3 / (c * C)
            expected += plus * minus * ((h < 0) + 0.5 * (h == 0))
    assert dilution.diluted_limit(C, chi, c, mu) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("signal, moved", [((0, 1), 0), ((0, 2), 1), ((2, 4), 2)])
def test_the_error_of_a_broken_set_is_that_of_all_inputs(signal, moved):
    """Hard attention to the old sets; the signal set (0, 2) has lost 2; (2, 4) has nobody left in (0, 1)."""
    S = BlockAttention.hard(EIGHT).matrix().numpy()
    expected = enumerated_error(S, signal, 0.5, 1.0, 0.0)
    assert dilution.broken_set_error(8, 2, 0.5, moved) == pytest.approx(expected, rel=1e-12)
