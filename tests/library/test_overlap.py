"""Learning without the sets: the rule that compares overlaps, and its limits as the patches grow."""

from itertools import combinations, product
from math import exp, factorial

import numpy as np
import pytest
from scipy.stats import poisson

from patch_lab.transfer.overlap import overlap_rule
from patch_lab.transfer.sample_bounds import genie_error
from patch_lab.transfer.sample_limits import (
    all_sets_known,
    elementary_symmetric,
    far_sets_known,
    small_errors,
    weights_by_count,
)


def subsets_inside(patches, weights, C):
    """sum over C-subsets of the product of their weights, one by one."""
    return sum(np.prod([weights[j] for j in S]) for S in combinations(np.flatnonzero(patches), C))


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize(("D", "C"), [(6, 2), (9, 3), (8, 4)])
def test_the_score_counts_subsets_one_by_one(D, C, equal):
    rng = np.random.default_rng(D)
    active, U = rng.random((7, D)) < 0.6, rng.random((20, D)) < 0.6
    active[:, :C] = True  # every sample has a signal set
    rule, ones = overlap_rule(active, C, equal_weights=equal), np.ones(D)
    unseen = D / C * (1 - C / D) ** 7
    support = [
        sum(subsets_inside(a & u, ones, C) / subsets_inside(a, ones, C) for a in active)
        + unseen * subsets_inside(u, rule.weights, C) / max(subsets_inside(ones, rule.weights, C), 1e-300)
        for u in U
    ]
    assert np.allclose(rule.score(U, np.zeros_like(U)), support)
    assert np.allclose(rule.score(U[:10], U[10:]), np.subtract(support[:10], support[10:]))


def test_no_rule_beats_the_best_over_all_partitions():
    """D = 4, C = 2, one sample, everything enumerated: partitions, coefficients, both labels."""
    D, C, q, L = 4, 2, 0.6, 2
    partitions = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    patterns = np.array(list(product((-1, 0, 1), repeat=D)))
    clutter = np.where(patterns == 0, 1 - q, q / 2)

    def law(partition):  # P[s | y = +1]
        sets = [np.isin(np.arange(D), members) for members in partition]
        return sum((patterns[:, S] == 1).all(1) * clutter[:, ~S].prod(1) for S in sets) / L

    best = ours = 0.0
    flipped = [int(np.flatnonzero((patterns == -p).all(1))[0]) for p in patterns]
    laws = np.array([law(P) for P in partitions])  # (3, 81)
    for sample in range(len(patterns)):
        joint = laws[:, sample] @ laws / len(partitions)  # of the sample and a test input at y = +1
        if joint.sum() == 0:
            continue
        best += np.minimum(joint, joint[flipped]).sum() / 2
        score = overlap_rule(patterns[[sample]] == 1, C).score(patterns == 1, patterns == -1)
        ours += (joint * np.where(np.abs(score) < 1e-12, 0.5, score < 0)).sum()
    assert genie_error(D, C, q, 1) <= best + 1e-12 <= ours + 2e-12
    assert ours < best + 0.02


@pytest.mark.parametrize(("law", "told"), [(weights_by_count, False), (far_sets_known, True)])
def test_the_limit_is_the_error_at_many_patches(law, told):
    """An input at D = 4000 with the real counts around its patches; false alarm below 1e-6, and bias 1/D."""
    D, C, t, rng = 4000, 4, 0.8, np.random.default_rng(1)
    L, N, errors = D // C, int(0.8 * D / C), []
    for _ in range(6):
        sets = rng.integers(0, L, N)
        active = rng.random((N, D)) < 8 / D
        active |= np.arange(D) // C == sets[:, None]
        seen = np.bincount(sets, minlength=L)
        single = seen[sets] == 1
        for _ in range(100):
            signal = rng.choice(np.flatnonzero(seen == 0))
            U = rng.random((2, D)) < np.array([[8 / D], [8 / D]])
            U[1] &= ~U[0]
            U[:, signal * C : signal * C + C] = [[True], [False]]
            patches = np.flatnonzero(U.any(0))
            met = active[:, patches].sum(1)
            far = single & (met != 1)  # their sets are told, as are those that two samples share
            known = np.isin(np.arange(D) // C, sets[far | ~single])
            weight = np.zeros(D)
            for j in patches[~known[patches]] if told else patches[seen[patches // C] < 2]:
                near = (
                    np.flatnonzero(single & ~far & active[:, j])
                    if told
                    else np.flatnonzero(single & active[:, j])
                )
                spare = active[near][:, ~known].sum(1) - 1 - C + 1
                with np.errstate(divide="ignore"):
                    odds = (C / spare).sum() if told else near.size * C * exp(t) / 8
                weight[j] = 1 / (1 + odds)
            plus, minus = (elementary_symmetric([(weight[u] ** i).sum() for i in (1, 2, 3, 4)], C) for u in U)
            errors.append(0.5 if abs(plus - minus) < 1e-12 else float(plus < minus))
    limit = law(4, 1.0, t).value * exp(t)
    assert abs(np.mean(errors) - limit) < 5 * (limit / 600) ** 0.5 + 5 / D


def _error_of_counted_weights(lam, t):
    """E(W) at C = 2 and what is cut off: every count of patches and of activations, up to a bound."""
    x, rate = lam * np.exp(-t), t * np.exp(-t) * lam / 2
    k = np.arange(4)
    active = poisson.pmf(k, rate)

    def weight(k):
        return 1 / (1 + 2 * k * np.exp(t) / lam)

    signal = list(zip(active, weight(k)))
    clutter = [(p / (1 + t), w) for p, w in signal] + [
        (p * t / (1 + t), w) for p, w in zip(active, weight(k + 1))
    ]

    def law(own, most):
        chances, values = [], []
        for count in range(most + 1):
            for kinds in product(*[signal] * own, *[clutter] * count):
                p, w = np.array(kinds).reshape(-1, 2).T
                chances.append(poisson.pmf(count, (1 + t) * x) * p.prod())
                values.append((w.sum() ** 2 - (w**2).sum()) / 2)
        return np.array(chances), np.array(values)

    (plus, high), (minus, low) = law(2, 2), law(0, 3)
    order = np.argsort(high)
    below = np.append(0.0, np.cumsum(plus[order]))
    under, upto = (below[np.searchsorted(high[order], low + e)] for e in (-1e-12, 1e-12))
    cut = 1 - minus.sum() + (1 - plus.sum()) * minus[low > 0].sum()
    return float(minus @ (under + upto) / 2), cut


@pytest.mark.parametrize(("lam", "t"), [(0.4, 2.0), (0.2, 1.0), (0.3, 3.0)])
def test_small_errors_lie_between_their_bounds(lam, t):
    """An input of C = 2 is misread where two clutter patches are not known to lie in sets that were seen."""
    error, cut = _error_of_counted_weights(lam, t)
    low, high = small_errors(2, lam / 2, t)
    assert cut < 0.05 * error
    assert low < np.exp(-t) * error < high
    assert low <= all_sets_known(2, lam / 2, t) < np.exp(-t) * (error + cut)
    if t == 2:
        sampled = weights_by_count(2, lam / 2, t, 400_000)
        assert abs(sampled.value - np.exp(-t) * error) < 2 * (sampled.high - sampled.low)


def test_the_bounds_of_small_errors_meet():
    for C in (2, 5):
        low, high = small_errors(C, 1.0, 40.0)
        told = np.exp(-40.0 * (C + 1)) * (C**2 / 2) ** C / factorial(C) / 2
        assert low == pytest.approx(told, rel=1e-6) and high == pytest.approx(told, rel=1e-6)
