"""How the cost of the exact computations grows, beside what it should be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import torch
from timing import growth

from patch_association import association
from patch_association.data import SpatialData
from patch_association.exact.linear import linear_error
from patch_association.exact.risk import PopulationRisk
from patch_association.shallow import PatternData, initial_weights, measure, population
from patch_association.structure import Partition
from patch_association.training import Samples, loss_and_gradients
from patch_lab.certify.descent import Descent
from patch_lab.certify.runs import Options, lead_run


def _association(D: int):
    scores, partition = np.random.default_rng(0).standard_normal((D, D)), Partition.random(D, 4)
    return lambda: association(scores, partition)


def _sample(n: int):
    law = SpatialData(Partition.random(36, 4), 36, 0.3)
    return lambda: law.sample(n, seed=0)


def _sample_of(D: int):
    law = SpatialData(Partition.random(D, 4), 36, 0.3)
    return lambda: law.sample(1000, seed=0)


def _empirical(n: int):
    samples = Samples.draw(SpatialData(Partition.random(36, 4), 36, 0.3), n, [0])
    A, v = torch.zeros(1, 36, 36, dtype=torch.float64), torch.ones(1, 36, dtype=torch.float64)
    return lambda: loss_and_gradients(samples.X, samples.y, A, v)


def _certified(D: int):
    """(atoms, a call): the first steps of a certified descent, the law made beforehand."""
    start = lead_run()
    run = replace(start, num_patches=D, score_rate=D**2 * start.rate)
    engine = run.field(Options())
    return engine.atoms.size, lambda: list(
        islice(Descent(engine, run.rate, run.score_rate, (run.alpha, Fraction(0), Fraction(0))), 5)
    )


def _model_1(neurons: int):
    data = PatternData(50, 0.3, 0.2)
    weights, law = initial_weights(data, [0], num_neurons=neurons), population(data)
    return lambda: measure(weights, law)


def _model_1_counts(num_tokens: int):
    """(atoms, a call): all counts of five patterns among so many tokens."""
    data = PatternData(num_tokens, 0.4, 0.2, counts="multinomial")
    weights, law = initial_weights(data, [0], num_neurons=100), population(data)
    return len(law), lambda: measure(weights, law)


def bench_growth() -> Iterator[dict]:
    """Fitted exponents: in D, N, the atoms of the law, the steps of a certified run, the neurons."""
    laws = {risk.probability.size: risk for risk in (PopulationRisk(D, 4, 0.1) for D in (36, 48, 64, 80))}
    certified = dict(_certified(D) for D in (16, 20, 24))
    counts = dict(_model_1_counts(num_tokens) for num_tokens in (10, 15, 20))
    point = {"alpha": 0.05, "beta": 1.0, "gamma": 0.5, "rho": -0.1}
    yield from (
        growth("association of a (D, D) matrix, in D", _association, (256, 512, 1024), "2"),
        growth(
            "linear_error with C = 16, in D",
            lambda D: lambda: linear_error(D, 16, 0.3),
            (512, 1024, 2048),
            "at most 2",
        ),
        growth("sampling the data, D = d = 36, in N", _sample, (1000, 2000, 4000), "1"),
        growth("sampling the data, d = 36, N = 1000, in D", _sample_of, (36, 72, 144), "1"),
        # No cache holds the least of these sets; from one that it holds, the times grow faster.
        growth("gradient of (T) on samples, D = d = 36, in N", _empirical, (8000, 16000, 32000), "1"),
        growth(
            "gradient of the population risk, in the atoms of the law",
            lambda size: lambda: laws[size].gradient(**point),
            tuple(laws),
            "1",
        ),
        growth(
            "certified run, in steps",
            lambda steps: lambda: lead_run(steps=steps).prove(Options()),
            (4, 8, 16),
            "1",
        ),
        growth("certified steps, in the atoms of the law", certified.__getitem__, tuple(certified), "1"),
        growth("population of model (1), fixed counts, in neurons", _model_1, (250, 500, 1000), "at most 1"),
        growth("population of model (1), in the atoms of its law", counts.__getitem__, tuple(counts), "1"),
    )
