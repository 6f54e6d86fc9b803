"""The closed forms of the second theory, against searches, runs and draws that do not know them."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.stats import binom
from shallow_oracle import printed_mass, printed_output

from patch_association.shallow import (
    PatternData,
    Sgd,
    Weights,
    initial_weights,
    loss_and_gradient,
    measure,
    population,
    train,
)
from patch_lab.shallow_vit.certificate import noise_bound
from patch_lab.shallow_vit.extensions import ExtendedViT, train_appendix_g, train_extended
from patch_lab.shallow_vit.lucky import own_mass, planted_lucky, query_scores, still_lucky
from patch_lab.shallow_vit.slow import follow_logistic, reduced_gap
from patch_lab.shallow_vit.sparsify import (
    attention_received,
    fractions_after,
    least_risk_after_random_removal,
)
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
    usual = PatternData(100, a, b).num_patterns  # of inputs for which nothing else is said
    assert time_to_fit(a, b, variant) == time_to_fit(a, b, variant, usual)


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


def test_what_the_first_pattern_pays_itself_by_hand():
    # A key and a query that see the first pattern alone, with a score of log 3: 3 f / (3 f + 1 - f).
    data = PatternData(10, 0.4, 0.2, num_patterns=3)
    seen = math.sqrt(math.log(3)) * torch.from_numpy(data.patterns[:1].numpy())[None]  # (1, 1, d)
    weights = replace(initial_weights(data, [0], num_neurons=2), key=seen, query=seen)
    np.testing.assert_allclose(query_scores(data, weights)[0], [math.log(3), 0, 0], atol=1e-12)
    assert own_mass(data, weights) == pytest.approx(1.2 / 1.8)
    assert query_scores(data, weights, query=1).abs().max() < 1e-12


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


def test_training_of_the_extended_network_is_that_of_model_1_with_one_head_and_one_output():
    data = PatternData(10, 0.4, 0.2, dim=6)
    start, law = initial_weights(data, [3], num_neurons=12, output_std=0.4), population(data)
    model, ours = ExtendedViT([start]), train(law, start, steps=40, rate=0.3)
    run = train_extended(model, law, law.y[:, None], law.relevant, steps=40, rate=0.3)
    assert (model.key[0] - ours.weights.key[0]).abs().max() < 1e-12
    assert run.mass[-1] == pytest.approx(ours.mass[-1, 0], abs=1e-12)
    start = initial_weights(PatternData(20, 0.4, 0.1), [3], num_neurons=12)
    first = train_appendix_g("model (1)", num_neurons=12, rate=0.3, seed=3, steps=1)
    law = population(PatternData(20, 0.4, 0.1, noise=0.0))
    assert first.mass[0] == pytest.approx(measure(start, law).mass[0], abs=1e-12)
    with pytest.raises(ValueError, match="kind must be one of model .1., two heads, .*got 'three heads'"):
        train_appendix_g("three heads", 12, 0.3, seed=3)


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


def test_keys_and_queries_at_zero_get_no_gradient_on_any_data():
    data = PatternData(8, 0.5, 0.25, num_patterns=4, dim=6, noise=0.3)
    inputs = data.sample(5, seed=2)
    start = initial_weights(data, [3], num_neurons=12, output_std=0.5)
    none = torch.zeros_like(start.key)
    _, _, slopes = loss_and_gradient(replace(start, key=none, query=none), inputs)
    assert (slopes.key == 0).all() and (slopes.query == 0).all() and (slopes.value != 0).any()
    _, _, slopes = loss_and_gradient(replace(start, key=none), inputs)
    assert (slopes.key != 0).any(), "a saddle: with queries at work, keys move"


# --- The logistic loss followed far, and the flow of three numbers that can be solved


@pytest.mark.parametrize("odds", [0.3, 1.0, 5.0])
def test_the_solved_flow_is_that_of_an_integrator(odds):
    """Gradient flow of log(1 + exp(-F)) in u, v, k and q themselves, in the clock of u v."""

    def flow(x, state):
        u, v, k, q = state
        p = 1 / (1 + odds * np.exp(-k * q))
        slopes = np.array([v * p, u * p, u * v * p * (1 - p) * q, u * v * p * (1 - p) * k])
        return slopes / (v * slopes[0] + u * slopes[1])  # d(u v) = dx; the loss's slope cancels

    at = [2.0, 10.0, 100.0]
    start = [1.0, 1.0, 1.2**0.5, 1.2**0.5]
    end = solve_ivp(flow, (1.0, at[-1]), start, t_eval=at, rtol=1e-10, atol=1e-12).y
    p = 1 / (1 + odds * np.exp(-end[2] * end[3]))
    assert np.abs(reduced_gap(at, odds, start=1.2) / (1 - p) - 1).max() < 1e-6


def test_the_product_with_x_log_x_tends_to_one():
    x = np.array([1e20, 1e100, 1e250])
    away = np.abs(reduced_gap(x, 2.0) * x * np.log(x) - 1)
    assert (np.diff(away) < 0).all() and away[-1] < 0.02


@pytest.mark.slow
def test_relative_steps_follow_the_plain_descent():
    """Small relative steps and small plain steps go through the same masses at the same outputs and times."""
    data = PatternData(20, 0.5, 0.1, noise=0.0)
    law, start = population(data), initial_weights(data, [0], num_neurons=40)
    run = follow_logistic(law, start, until=2.0, step=0.002, growth=1.05)
    k = len(run.output) // 2
    steps = round(float(np.exp(run.log_time[k, 0])) / 0.01)
    plain = train(law, start, steps=steps, rate=0.01, how=Sgd(loss="logistic"))
    assert measure(plain.weights, law).mass[0] == pytest.approx(run.mass[k, 0], abs=2e-3)


# --- No noise that an adversary finds moves the output further than the bound


NAMES = ("output", "value", "key", "query")


@settings(max_examples=10)
@given(
    radius=st.sampled_from([0.01, 0.1, 0.3]),
    attention=st.sampled_from(["softmax", "uniform", "identity"]),
    seed=st.integers(0, 100),
)
def test_an_adversary_stays_within_the_bound(radius, attention, seed):
    """Projected gradient ascent on every token, through the printed formula."""
    data = PatternData(6, 0.5, 1 / 6, num_patterns=3, dim=4, noise=0.0)
    clean = data.sample(1, seed=seed).X[0]
    weights = initial_weights(data, [seed], num_neurons=8, output_std=0.5, score_error=0.9)
    matrices = [getattr(weights, name)[0] for name in NAMES]
    bound = noise_bound(weights, radius, attention)[0]
    before = printed_output(weights.head[0], *matrices, clean, attention)
    for sign in (1, -1):
        generator = torch.Generator().manual_seed(seed)
        shift = 1e-3 * torch.randn(clean.shape, generator=generator, dtype=torch.float64)
        for _ in range(60):
            shift.requires_grad_()
            F = printed_output(weights.head[0], *matrices, clean + shift, attention)
            (slope,) = torch.autograd.grad(sign * F, shift)
            shift = (shift + radius * slope / (slope.norm(dim=1, keepdim=True) + 1e-12)).detach()
            shift = shift * (radius / shift.norm(dim=1, keepdim=True)).clamp(max=1)
        moved = printed_output(weights.head[0], *matrices, clean + shift, attention) - before
        assert abs(float(moved)) <= bound


def test_two_inputs_are_enough_for_a_risk_of_zero():
    """The chapter's theorem: N = 2, margin 1 + g, twice the bound below g; then draws cannot refute it."""
    data = PatternData(20, 0.4, 0.1, noise=0.001, noise_kind="ball")
    start = initial_weights(data, [0], num_neurons=100)
    run = train(data.balanced(2, seed=1), start, steps=2000, rate=0.1, how=Sgd(margin=1.2))
    assert 2 * noise_bound(run.weights, 0.001)[0] <= 0.2
    assert measure(run.weights, data.sample(2000, seed=5)).risk[0] == 0


# --- What removing tokens does, against enumerations that were written without the library


@given(
    n=st.tuples(st.integers(1, 5), st.integers(0, 4), st.integers(0, 4)).filter(lambda n: n[1] < n[0]),
    kept=st.integers(1, 9),
)
def test_no_function_beats_the_floor_of_random_removal(n, kept):
    """Every subset of every class by hand; the best output for each bag of patterns by trying both kinks."""
    L = sum(n)
    kept = min(kept, L)
    chance = {}
    for side, counts in enumerate((n, (n[1], n[0], n[2]))):
        tokens = [j for j, many in enumerate(counts) for _ in range(many)]
        for subset in combinations(range(L), kept):
            bag = tuple(sorted(tokens[k] for k in subset))
            chance.setdefault(bag, [0, 0])[side] += 1 / math.comb(L, kept)
    # The hinge risk of a bag is convex and piecewise linear in the output, with kinks at -1 and 1.
    best = sum(
        min(0.5 * p * max(1 - F, 0) + 0.5 * q * max(1 + F, 0) for F in (-1, 1)) for p, q in chance.values()
    )
    assert least_risk_after_random_removal(L, n[0] / L, n[1] / L, kept) == pytest.approx(best, abs=1e-12)


@given(
    counts=st.tuples(st.integers(1, 6), st.integers(0, 5), st.integers(0, 4)).filter(lambda n: n[1] < n[0]),
    data=st.data(),
)
def test_fractions_after_removal_are_counted_and_the_margin_grows(counts, data):
    a, b, others = counts
    gone = data.draw(st.integers(0, 10))
    # Ten times the tokens, so that a tenth of every pattern can go.
    L, share = 10 * (a + b + others), gone / 10
    left = (10 * a, (10 - gone) * b, (10 - gone) * others)
    found = fractions_after(10 * a / L, 10 * b / L, share)
    assert found == pytest.approx((left[0] / sum(left), left[1] / sum(left)), abs=1e-12)
    more = fractions_after(10 * a / L, 10 * b / L, min(1.0, share + 0.05))
    if b + others and share < 1:
        assert more[0] - more[1] > found[0] - found[1]


@given(st.lists(st.integers(1, 5), min_size=3, max_size=5), st.floats(0.1, 3))
def test_a_token_receives_what_the_printed_softmax_gives_it(counts, score):
    M = len(counts)
    pattern = torch.tensor([j for j, n in enumerate(counts) for _ in range(n)])
    X = torch.eye(M, dtype=torch.float64)[pattern]
    root = score**0.5 * torch.eye(M, dtype=torch.float64)
    received = attention_received(torch.tensor(counts).double() / sum(counts), score)
    for j in range(M):
        # printed_mass averages over queries; one token gets that of its pattern over its count.
        by_hand = float(printed_mass(root, root, X, pattern == j)) * len(pattern) / counts[j]
        assert float(received[j]) == pytest.approx(by_hand, abs=1e-12)
    order = np.argsort(np.array(counts), kind="stable")
    assert (np.diff(received.numpy()[order]) > -1e-12).all(), "the common patterns receive most"


@pytest.mark.parametrize("cone", [0.02, 0.3])
def test_planted_rows_are_lucky_at_the_start_and_nothing_else_changes(cone):
    design = PatternData(20, 0.4, 0.1, noise=0.0)
    start = initial_weights(design, range(3), num_neurons=30, value_error=0.0)
    planted = planted_lucky(design, start, cone, rows=8)
    p = start.value @ design.patterns[0]  # (R, a); with sigma = 0 the image of mu_1 is p_1
    rows = planted.output[:, :8]
    angle = torch.acos((rows @ p[:, :, None])[..., 0] / rows.norm(dim=-1) / p.norm(dim=-1, keepdim=True))
    assert angle.max() <= cone and angle.min() < cone / 2 < angle.max()
    torch.testing.assert_close(planted.output.norm(dim=-1), start.output.norm(dim=-1))
    assert (planted.head[:, :8].sign() == torch.tensor([1.0, -1.0]).repeat(4)).all()
    torch.testing.assert_close(planted.head.abs(), start.head.abs())
    assert (planted.output[:, 8:] == start.output[:, 8:]).all() and (planted.value == start.value).all()
    # At a rate of next to nothing all of them are lucky still, and no hinge is zero.
    still = still_lucky(design, start, rate=1e-12, cone=cone, rows=8, steps=2)
    assert (still.planted, still.positive, still.negative, still.fitted) == (12, 12, 12, False)
    with pytest.raises(ValueError, match=r"rows must be at most 30, all that there are, got 40"):
        planted_lucky(design, start, cone, rows=40)


@pytest.mark.parametrize("patterns", [3, 5])
def test_the_noise_of_a_direction_from_one_token_by_counting(patterns):
    """With one token y f is a signed unit vector: E|y f|^2 = 1, less the mean's squared norm."""
    a, b = 0.5, 0.2
    rest = [(1 - a - b) / (patterns - 2)] * (patterns - 2)
    mean = (np.array([a, b, *rest]) - np.array([b, a, *rest])) / 2  # (M,)
    signal = mean @ mean
    assert direction_noise(a, b, 1, 1, patterns) == pytest.approx((1 - signal) / signal)
