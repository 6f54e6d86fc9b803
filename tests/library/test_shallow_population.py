"""The exact population against enumeration over every token sequence, and descent on it."""

import importlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shallow_oracle import every_sequence, mean_loss, printed_mass, printed_output

from patch_association.shallow import (
    VARIANTS,
    PatternData,
    Sgd,
    Weights,
    initial_weights,
    loss_and_gradient,
    mean_fractions,
    measure,
    output,
    population,
    train,
)
from patch_association.shallow.network import chunk_size
from patch_lab.shallow_vit.assumption import AssumptionCheck
from patch_lab.shallow_vit.extensions import mixture, samples_of
from patch_lab.shallow_vit.robustness import noise_gain

NAMES = ("output", "value", "key", "query")


def stirred(data, seed, m=12):
    """A start off all symmetries, with attention that matters."""
    start = initial_weights(data, [seed], num_neurons=m, output_std=0.5, score_error=0.9, value_error=0.6)
    return Weights(start.head, start.output, start.value, 1.5 * start.key, start.query)


@settings(max_examples=8)
@given(
    L=st.integers(1, 5),
    M=st.integers(3, 4),
    ties=st.sampled_from(["redraw", "coin"]),
    attention=st.sampled_from(["softmax", "uniform", "identity"]),
    seed=st.integers(0, 100),
)
def test_the_multinomial_population_is_the_sum_over_all_sequences(L, M, ties, attention, seed):
    data = PatternData(L, 0.45, 0.25, num_patterns=M, dim=M, noise=0.0, counts="multinomial", ties=ties)
    law, weights = population(data), stirred(data, seed)
    assert abs(float(law.probability.sum()) - 1) < 1e-12 and (law.probability > 0).all()
    rows = every_sequence(data)
    inputs = [data.patterns[list(sequence)] for sequence, _, _ in rows]
    labels, chances = [y for _, y, _ in rows], [p for _, _, p in rows]
    value, _, gradient = loss_and_gradient(weights, law, attention)
    wanted, slopes = mean_loss(weights, 0, inputs, labels, chances, attention)
    assert abs(value[0] - wanted) < 1e-12
    for name in NAMES:
        assert (getattr(gradient, name)[0] - slopes[name]).abs().max() < 1e-12, name
    found = measure(weights, law, attention)
    matrices = [getattr(weights, name)[0] for name in NAMES]
    F = torch.stack([printed_output(weights.head[0], *matrices, X, attention) for X in inputs])
    yF, p = torch.tensor(labels) * F, torch.tensor(chances, dtype=torch.float64)
    assert abs(found.error[0] - float((p * ((yF < 0) + 0.5 * (yF == 0))).sum())) < 1e-12
    assert abs(found.margin[0] - float(yF.min())) < 1e-12
    if attention == "softmax":
        for shown, sign in ((found.mass, 1), (found.confused, -1)):  # the left side of (15), and its like
            mass = sum(
                p * printed_mass(*matrices[2:], X, torch.tensor(sequence) == (sign * y < 0))
                for X, (sequence, y, p) in zip(inputs, rows)
            )
            assert abs(shown[0] - float(mass)) < 1e-12


@pytest.mark.parametrize("variant", VARIANTS)
def test_descent_on_two_points_is_descent_on_all_noiseless_inputs(variant):
    """With fixed counts and no noise, one input a class gives the population's whole path: N = 2."""
    data = PatternData(12, 0.5, 0.25, dim=6, noise=0.0)
    start = initial_weights(data, [0, 1], num_neurons=16, output_std=0.3)
    exact = train(population(data), start, steps=30, rate=0.5, variant=variant)
    pair = train(data.balanced(2, seed=3), start, steps=30, rate=0.5, variant=variant)
    many = train(data.balanced(40, seed=4), start, steps=30, rate=0.5, variant=variant)
    for name in NAMES:
        for other in (pair, many):
            assert (getattr(exact.weights, name) - getattr(other.weights, name)).abs().max() < 1e-12
    assert np.abs(exact.mass - pair.mass).max() < 1e-12


def test_probabilities_of_counts_are_those_of_draws():
    data = PatternData(8, 0.5, 0.3, num_patterns=3, dim=3, counts="multinomial", ties="coin")
    law, n = population(data), 40_000
    tokens = data.sample(n, seed=1)
    drawn = torch.stack([torch.bincount(row, minlength=3) for row in tokens.pattern])
    key = {
        (tuple((8 * share).round().int().tolist()), float(y)): k
        for k, (share, y) in enumerate(zip(law.share, law.y))
    }
    found = np.zeros(len(law))
    for counts, y in zip(drawn.tolist(), tokens.y.tolist()):
        found[key[tuple(counts), y]] += 1
    p = law.probability.numpy()
    # Chi square over all atoms: mean len - 1, standard deviation sqrt(2 len); six of them.
    chi = ((found - n * p) ** 2 / (n * p)).sum()
    assert abs(chi - len(p)) < 6 * (2 * len(p)) ** 0.5
    alpha, confusion = mean_fractions(law)
    assert alpha > 0.5 and confusion < 0.3 and alpha + confusion == pytest.approx(0.8)


@pytest.mark.parametrize("attention", ["softmax", "uniform", "identity"])
def test_noise_moves_the_output_as_the_first_order_says(attention):
    data = PatternData(20, 0.4, 0.2, noise=1e-4, shuffled=True)
    weights = stirred(data, 5, m=40)
    gain = noise_gain(weights, population(data), 20, attention)[0]  # (2,), one a class
    tokens = data.sample(4000, seed=2)
    F = output(weights, tokens, attention)[0]
    for k, sign in enumerate((1, -1)):
        deviation = float(F[tokens.y == sign].std()) / 1e-4
        assert deviation == pytest.approx(float(gain[k]), rel=6 / (2 * 1900) ** 0.5)
    own = initial_weights(data, [0], num_neurons=4, head="per position")
    with pytest.raises(ValueError, match="weights must share one head over positions"):
        noise_gain(own, population(data), 20)


def test_training_stops_where_every_hinge_is_zero():
    data = PatternData(10, 0.5, 0.1)
    start = initial_weights(data, [0, 1, 2], num_neurons=50)
    run = train(population(data), start, steps=2000, rate=0.2, record=25)
    assert (run.fitted_at > 0).all() and run.steps[-1] == run.fitted_at.max()
    assert (run.loss[-1] == 0).all() and (run.risk[-1] == 0).all() and (run.margin[-1] >= 1).all()
    shorter = train(population(data), start, steps=int(run.fitted_at.min()) - 1, rate=0.2)
    assert (shorter.fitted_at == -1).all() and (shorter.loss[-1] > 0).all()


def test_a_sample_of_a_law_weighs_each_kind_by_how_often_it_was_drawn():
    law = population(PatternData(10, 0.4, 0.2, num_patterns=3, noise=0.0))
    drawn, samples = samples_of(law, 4, trials=3)
    assert drawn.shape == (3, 2) and (drawn.sum(axis=1) == 4).all() and len({*drawn[:, 0].tolist()}) > 1
    np.testing.assert_array_equal(samples.probability, drawn / 4)
    np.testing.assert_array_equal(samples.y, [law.y.tolist()] * 3)


def test_a_mixture_has_the_risk_of_its_parts():
    laws = [population(PatternData(20, *f, num_patterns=3, noise=0.0)) for f in ((0.4, 0.1), (0.25, 0.15))]
    weights = stirred(PatternData(20, 0.4, 0.1, num_patterns=3), 5)
    together = measure(weights, mixture(laws, [0.9, 0.1])).risk
    apart = 0.9 * measure(weights, laws[0]).risk + 0.1 * measure(weights, laws[1]).risk
    assert np.abs(together - apart).max() < 1e-12
    with pytest.raises(ValueError, match="chances must be one for each of the 2 laws and sum to one"):
        mixture(laws, [0.5, 0.4])
    other = population(PatternData(20, 0.4, 0.1, num_patterns=4, noise=0.0))
    with pytest.raises(ValueError, match="laws must be populations over the same patterns"):
        mixture([laws[0], other], [0.5, 0.5])


# --- The second theory by hand: small numbers worked out on paper, ends of ranges, and what is recorded when


LAW = PatternData(10, 0.5, 0.1, num_patterns=4, dim=5)


def start(seeds=(0,), **options):
    return initial_weights(LAW, seeds, **{"num_neurons": 20, "output_std": 0.3, **options})


# --- laws, starts, populations: ends of what is allowed


@pytest.mark.parametrize(
    ("sigma", "delta", "holds"),
    [(0.2, 0.49, True), (0.21, 0.1, False), (0.1, 0.5, False), (0.3, 0.6, False)],
)
def test_the_constants_of_assumption_1(sigma, delta, holds):
    """sigma at most 1/M, delta below one half."""
    assert AssumptionCheck(np.array([sigma]), np.array([delta]), np.ones(1)).holds(5).tolist() == [holds]


def test_inputs_in_parts_give_what_they_give_together(monkeypatch):
    weights, tokens = start((0, 1)), LAW.sample(7, seed=1)
    assert chunk_size(weights, tokens, entries=2 * 20 * 10 * 3) == 3
    assert chunk_size(weights, tokens, entries=2 * 20 * 10 * 3 - 1) == 2
    assert chunk_size(weights, tokens, entries=1) == 1
    whole, found = output(weights, tokens), measure(weights, tokens)
    for name in ("network", "population"):
        module = importlib.import_module(f"patch_association.shallow.{name}")
        monkeypatch.setattr(module, "chunk_size", lambda *_: 3)
    assert (output(weights, tokens) - whole).abs().max() < 1e-14
    for name, value in vars(measure(weights, tokens)).items():
        assert value == pytest.approx(getattr(found, name), abs=1e-14)


# --- what is recorded, and when a run stops


@pytest.mark.parametrize(
    ("record", "steps"),
    [(None, [10]), (4, [0, 4, 8, 10]), (5, [0, 5, 10]), ([3], [3, 10]), ([0, 10], [0, 10])],
)
def test_the_steps_that_are_recorded(record, steps):
    run = train(population(LAW), start(), steps=10, rate=1e-3, record=record)
    assert run.steps.tolist() == steps and run.loss.shape == (len(steps), 1)
    for t in steps[:-1]:
        alone = train(population(LAW), start(), steps=t, rate=1e-3)
        k = steps.index(t)
        assert (alone.loss[-1, 0], alone.mass[-1, 0]) == (run.loss[k, 0], run.mass[k, 0])


def test_a_batch_of_everything_is_no_batch_and_a_fit_is_seen_after_a_quiet_epoch():
    law = population(PatternData(6, 0.5, 1 / 6, num_patterns=3, counts="multinomial"))
    small = initial_weights(PatternData(6, 0.5, 1 / 6, num_patterns=3), [0], num_neurons=4)
    whole = train(law, small, steps=3, rate=0.1)
    assert torch.equal(
        train(law, small, steps=3, rate=0.1, how=Sgd(batch=len(law))).weights.value, whole.weights.value
    )
    noisy = PatternData(10, 0.5, 0.1, noise=0.05, num_patterns=4, dim=5)
    run = train(
        noisy.sample(30, seed=0), start(num_neurons=50), steps=5000, rate=0.2, how=Sgd(batch=7, seed=1)
    )
    # Five batches of 7 are an epoch of 30: only after so many quiet steps are all inputs looked at.
    assert run.fitted_at[0] > 0 and (run.steps[-1] - run.fitted_at[0]) % 5 == 4
    full = train(noisy.sample(30, seed=0), start(num_neurons=50), steps=5000, rate=0.2)
    assert full.steps[-1] == full.fitted_at[0] > 0
