"""The closed forms of the second theory, against searches, runs and draws that do not know them."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from shallow_oracle import printed_mass

from patch_association.exact.linear import linear_error
from patch_association.shallow import (
    PatternData,
    Weights,
    initial_weights,
    loss_and_gradient,
    measure,
    output,
    population,
    train,
)
from patch_lab.shallow_vit.extensions import ExtendedViT, train_extended
from patch_lab.shallow_vit.theory import (
    attention_ceiling,
    class_overlap,
    direction_noise,
    lucky_bound,
    lucky_share,
    samples_for_averages,
    time_to_fit,
)

fractions = st.tuples(st.integers(2, 8), st.integers(1, 7)).filter(lambda n: n[1] < n[0] and n[0] + n[1] < 12)


@given(counts=fractions, seed=st.integers(0, 10_000), scale=st.floats(0.1, 30))
def test_no_scores_pass_the_ceiling(counts, seed, scale):
    """Random key and query matrices, through the printed softmax on whole inputs."""
    n1, n2 = counts
    generator = torch.Generator().manual_seed(seed)
    K, Q = scale * torch.randn(2, 4, 4, generator=generator, dtype=torch.float64)
    patterns = torch.eye(4, dtype=torch.float64)
    first = [0] * n1 + [1] * n2 + [2 + k % 2 for k in range(12 - n1 - n2)]
    second = [{0: 1, 1: 0}.get(j, j) for j in first]
    masses = []
    for sequence, winner in ((first, 0), (second, 1)):
        masses.append(printed_mass(K, Q, patterns[sequence], torch.tensor(sequence) == winner))
        # No query passes the smaller ceiling in both classes; every query is checked below.
    smaller, mean = attention_ceiling(n1 / 12, n2 / 12)
    assert float(sum(masses)) / 2 < mean + 1e-12
    for j in range(4):
        if j in first and j in second:
            per_class = []
            for sequence, winner in ((first, 0), (second, 1)):
                S = torch.softmax(patterns[sequence] @ K.T @ Q @ patterns[j], dim=0)
                per_class.append(float(S[torch.tensor(sequence) == winner].sum()))
            assert min(per_class) <= smaller + 1e-12


def test_the_ceiling_is_approached_by_ascent_and_is_one_without_confusion():
    """Scores chosen by the formula's own optimum come within 1e-6: nothing else is needed for the sup."""
    a, b = 0.4, 0.1
    r = a / b
    t = (r + math.sqrt(r) + 1) / math.sqrt(r)
    half = 0.5 * math.log(t)
    G = torch.tensor([[half, -half, 0.0], [-half, half, 0.0], [-20.0, -20.0, -20.0]], dtype=torch.float64)
    data = PatternData(10, a, b, num_patterns=3, dim=3)
    weights = Weights(
        torch.ones(1, 2).double(),
        torch.ones(1, 2, 3).double(),
        torch.eye(3).double()[None],
        G.T[None],
        torch.eye(3).double()[None],
    )
    _, mean = attention_ceiling(a, b)
    assert measure(weights, population(data)).mass[0] == pytest.approx(mean, abs=1e-6)
    assert attention_ceiling(0.4, 0.0) == (1.0, 1.0)


@pytest.mark.parametrize("variant", ["identity", "uniform"])
@pytest.mark.parametrize(("a", "b"), [(0.3, 0.2), (0.5, 0.0), (0.2, 0.02)])
def test_the_time_to_fit_is_that_of_a_run(variant, a, b):
    """Small steps, many neurons with paired heads, W_O nearly 0: within 2%."""
    data = PatternData(100, a, b, num_patterns=4, dim=4, noise=0.0)
    start = initial_weights(data, [0], num_neurons=3000, value_error=0.0, output_std=1e-5)
    run = train(population(data), start, steps=20_000, rate=0.02, variant=variant)
    assert 0.02 * run.fitted_at[0] == pytest.approx(time_to_fit(a, b, variant, 4), rel=0.04)


def test_the_noise_of_the_first_direction_is_that_of_draws():
    a, b, L, N, M = 0.3, 0.15, 30, 8, 5
    generator = np.random.default_rng(1)
    p = PatternData(L, a, b, counts="multinomial").chances()
    for balanced in (False, True):
        side = np.tile([0, 1], (4000, N // 2)) if balanced else generator.integers(0, 2, (4000, N))
        f = generator.multinomial(L, p[side]) / L  # (4000, N, M)
        direction = ((1 - 2 * side)[..., None] * f).mean(axis=1)
        signal = (p[0] - p[1]) / 2
        ratio = ((direction - signal) ** 2).sum(axis=1).mean() / (signal**2).sum()
        assert direction_noise(a, b, L, N, M, balanced) == pytest.approx(ratio, rel=0.08)
    assert class_overlap(a, b, M) == pytest.approx(((p[0] + p[1]) ** 2).sum() / 2)


def test_lucky_neurons_are_counted_exactly():
    rows = np.random.default_rng(2).standard_normal((400_000, 4))
    angle = 0.6
    inside = rows[:, 0] / np.linalg.norm(rows, axis=1) >= math.cos(angle)
    p = lucky_share(angle, 4)
    assert inside.mean() == pytest.approx(p, abs=6 * (p / 400_000) ** 0.5)
    assert lucky_share(math.pi / 2, 7) == pytest.approx(0.5) and lucky_share(0.0, 3) == 0
    assert lucky_bound(0.0, 5) == pytest.approx(0.2)
    # Lemma 3's bound is that of uniform angles, the first the least by twice sigma + tau; for true angles
    # the share falls like the power d - 1.
    theta = np.random.default_rng(1).random((400_000, 5)) * 2 * math.pi
    least = (theta[:, 1:] >= theta[:, :1] + 2 * 0.1).all(axis=1).mean()
    told = (1 - 0.1 / math.pi) ** 5 / 5
    assert abs(least - told) < 6 * math.sqrt(told / 400_000) and told > lucky_bound(0.1, 5)
    slope = math.gamma(5) / (math.sqrt(math.pi) * 9 * math.gamma(4.5))
    assert slope == pytest.approx(0.129, abs=5e-4)
    assert lucky_share(0.01, 10) == pytest.approx(slope * 0.01**9, rel=1e-3)


def test_the_extended_network_is_model_1_with_one_head_and_one_output():
    data = PatternData(10, 0.4, 0.2, dim=6)
    start, tokens = initial_weights(data, [3], num_neurons=12, output_std=0.4), data.sample(5, seed=2)
    model = ExtendedViT([start])
    F, _ = model(tokens.X, tokens.share)
    assert (F[:, 0] - output(start, tokens)[0]).abs().max() < 1e-12
    rate, law = 0.3, population(data)
    ours = train(law, start, steps=40, rate=rate)
    run = train_extended(model, law, law.y[:, None], law.relevant, steps=40, rate=rate)
    assert (model.key[0] - ours.weights.key[0]).abs().max() < 1e-12
    assert run.mass[-1] == pytest.approx(ours.mass[-1, 0], abs=1e-12)


@given(
    weights=st.lists(st.floats(-3, 3), min_size=1, max_size=8).filter(lambda a: max(map(abs, a)) > 0.1),
    chance=st.floats(0.05, 0.95),
    height=st.floats(0, 12),
)
def test_hoeffding_holds_with_the_stated_constant(weights, chance, height):
    """All outcomes of a few two-point variables, whose norm is taken over a grid of moments up to 60."""
    values, odds = np.array([1 - chance, -chance]), np.array([chance, 1 - chance])
    moments = np.linspace(1, 60, 600)
    K = max((odds @ np.abs(values) ** p) ** (1 / p) / p**0.5 for p in moments)
    sums, weight = np.zeros(1), np.ones(1)
    for a in weights:
        sums = (sums[:, None] + a * values).ravel()
        weight = (weight[:, None] * odds).ravel()
    tail = weight[np.abs(sums) >= height].sum()
    assert tail <= 2 * math.exp(-(height**2) / (32 * K**2 * np.square(weights).sum())) + 1e-12


@given(mean=st.floats(0.01, 0.9), failure=st.floats(1e-6, 0.5))
def test_averages_need_no_square(mean, failure):
    """Bernoulli fractions, exactly: near the mean at the upper number, zero below the lower one."""
    few, enough = samples_for_averages(mean, failure)
    N = math.ceil(enough)
    low, high = math.ceil(N * mean / 2 - 1e-9) - 1, math.floor(1.5 * N * mean + 1e-9)
    assert binom.cdf(low, N, mean) + binom.sf(high, N, mean) <= failure
    assert enough > few and binom.pmf(0, math.ceil(few) - 1, mean) >= failure * (1 - 1e-9)
    with pytest.raises(ValueError, match="relevant and failure must be in"):
        samples_for_averages(mean, 1.0)


def test_patches_of_the_first_paper_have_these_fractions_and_another_label():
    """alpha_* - alpha_# = C/D, alpha_# = q(D-C)/2D; the vote errs like the sum; (8) bounds q(D-C)/C."""
    D, C, q = 8, 2, 0.3
    rest = np.array(list(itertools.product((-1, 0, 1), repeat=D - C)))
    weight = np.where(rest == 0, 1 - q, q / 2).prod(axis=1)
    own, other = (rest == 1).sum(axis=1) + C, (rest == -1).sum(axis=1)
    assert weight @ own / D == pytest.approx(C / D + q * (D - C) / (2 * D))
    assert weight @ other / D == pytest.approx(q * (D - C) / (2 * D))
    assert weight @ ((own < other) + (own == other) / 2) == pytest.approx(linear_error(D, C, q, "half"))
    assert linear_error(36, 4, 0.2, "half") == pytest.approx(0.059, abs=5e-4)
    for clutter in (0.1, 1.0, 1.17, 1.18, 3.0):  # q(D-C)/C
        assert (clutter / (2 + clutter) <= 0.37) == (clutter <= 2 * 0.37 / 0.63)


def test_keys_and_queries_at_zero_get_no_gradient_on_any_data():
    data = PatternData(8, 0.5, 0.25, num_patterns=4, dim=6, noise=0.3)
    inputs = data.sample(5, seed=2)
    start = initial_weights(data, [3], num_neurons=12, output_std=0.5)
    none = torch.zeros_like(start.key)
    _, _, slopes = loss_and_gradient(replace(start, key=none, query=none), inputs)
    assert (slopes.key == 0).all() and (slopes.query == 0).all() and (slopes.value != 0).any()
    _, _, slopes = loss_and_gradient(replace(start, key=none), inputs)
    assert (slopes.key != 0).any(), "a saddle: with queries at work, keys move"
