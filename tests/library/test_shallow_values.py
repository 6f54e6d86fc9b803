"""The second theory by hand: small numbers worked out on paper, ends of ranges, and what is recorded when."""

import importlib

import numpy as np
import pytest
import torch

from patch_association.shallow import (
    PatternData,
    initial_weights,
    measure,
    output,
    population,
    train,
)
from patch_association.shallow.initial import AssumptionCheck
from patch_association.shallow.network import chunk_size

LAW = PatternData(10, 0.5, 0.1, num_patterns=4, dim=5)


def start(seeds=(0,), **options):
    return initial_weights(LAW, seeds, **{"num_neurons": 20, "output_std": 0.3, **options})


# --- closed forms


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
        train(law, small, steps=3, rate=0.1, batch=len(law)).weights.value, whole.weights.value
    )
    noisy = PatternData(10, 0.5, 0.1, noise=0.05, num_patterns=4, dim=5)
    run = train(noisy.sample(30, seed=0), start(num_neurons=50), steps=5000, rate=0.2, batch=7, seed=1)
    # Five batches of 7 are an epoch of 30: only after so many quiet steps are all inputs looked at.
    assert run.fitted_at[0] > 0 and (run.steps[-1] - run.fitted_at[0]) % 5 == 4
    full = train(noisy.sample(30, seed=0), start(num_neurons=50), steps=5000, rate=0.2)
    assert full.steps[-1] == full.fitted_at[0] > 0
