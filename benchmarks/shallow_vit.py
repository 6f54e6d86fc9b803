"""What the second theory's part is measured against: autograd, one trial at a time, sampling."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from timing import close, compare

from patch_association.shallow import (
    PatternData,
    initial_weights,
    loss_and_gradient,
    measure,
    population,
    stack,
)

_MOVING = ("output", "value", "key", "query")


def _case(neurons, num_tokens, batch, trials=1):
    data = PatternData(num_tokens, 0.4, 0.1)
    weights = initial_weights(data, range(trials), num_neurons=neurons).to(torch.float32)
    return weights, stack(data.sample(batch, seed, dtype=torch.float32) for seed in range(trials))


def _slopes(gradient, trial=0):
    return [getattr(gradient, name)[trial] for name in _MOVING]


def _by_hand(weights, tokens):
    return _slopes(loss_and_gradient(weights, tokens)[2])


def bench_gradient_of_model_1() -> Iterator[dict]:
    """The gradient by hand against autograd of the same tensors, at the paper's size and a smaller one."""
    for neurons, num_tokens in ((1000, 100), (100, 50)):
        weights, tokens = _case(neurons, num_tokens, 20)
        X = tokens.X[0]
        y = tokens.y[0]

        def by_autograd(weights=weights, X=X, y=y):
            W_O, W_V, W_K, W_Q = leaves = [part.clone().requires_grad_() for part in _slopes(weights)]
            S = torch.softmax((X @ W_K.mT) @ (X @ W_Q.mT).mT, dim=1)  # (n, L, L), key by query
            F = (torch.relu(S.mT @ (X @ W_V.mT) @ W_O.mT) @ weights.head[0]).mean(dim=1)
            return torch.autograd.grad((1 - y * F).clamp(min=0).mean(), leaves)

        yield compare(
            f"gradient of model (1), m = {neurons}, L = {num_tokens}, B = 20",
            partial(_by_hand, weights, tokens),
            by_autograd,
            "torch autograd, float32",
            close(1e-3),
        )


def bench_trials_in_a_batch() -> Iterator[dict]:
    """Ten networks at once against one after the other: it pays for small ones."""
    for neurons, num_tokens, batch in ((32, 10, 4), (100, 50, 20), (1000, 100, 20)):
        weights, tokens = _case(neurons, num_tokens, batch, trials=10)
        data = PatternData(num_tokens, 0.4, 0.1)
        sets = [stack([data.sample(batch, seed, dtype=torch.float32)]) for seed in range(10)]

        def at_once(weights=weights, tokens=tokens):
            gradient = loss_and_gradient(weights, tokens)[2]
            return [_slopes(gradient, r) for r in range(10)]

        def one_by_one(weights=weights, sets=sets):
            return [_slopes(loss_and_gradient(weights.trial(r), each)[2]) for r, each in enumerate(sets)]

        yield compare(
            f"ten trials of model (1), m = {neurons}, L = {num_tokens}, B = {batch}",
            at_once,
            one_by_one,
            "the same code, a trial at a time",
            close(1e-3),
        )


def bench_exact_population() -> Iterator[dict]:
    """Risk, error and mass of the population against 1,000 drawn inputs, which only estimate them."""
    data = PatternData(50, 0.3, 0.2)
    weights = initial_weights(data, [0], num_neurons=1000)
    law = population(data)
    drawn = data.sample(1000, seed=1)

    def numbers(inputs):
        measures = measure(weights, inputs)
        return [[*measures.risk, *measures.error, *measures.mass, *measures.confused]]

    # The classes are drawn with chance 1/2: six standard errors of their shares are 0.095.
    yield compare(
        "population of model (1), fixed counts, m = 1000, L = 50",
        lambda: numbers(law),
        lambda: numbers(drawn),
        "1,000 drawn inputs",
        close(0.1),
        rounds=5,
    )
