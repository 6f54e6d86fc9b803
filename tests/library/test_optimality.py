"""The cubic form against enumeration of every input, and its search against what is known."""

import itertools
import math

import numpy as np
import pytest

from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.valley import best_alpha
from patch_lab.setting.optimality import cubic_form


def inputs(D, C, q):
    """(chance, s) of every input with y = +1."""
    for signal in range(D // C):
        for signs in itertools.product((-1, 0, 1), repeat=D - C):
            chance = math.prod(1 - q if x == 0 else q / 2 for x in signs) * C / D
            s = list(signs[: signal * C]) + [1] * C + list(signs[signal * C :])
            yield chance, np.array(s)


@pytest.mark.parametrize(("D", "C", "q"), [(6, 2, 0.3), (8, 2, 0.6), (9, 3, 0.4)])
def test_against_every_input(D, C, q):
    form = cubic_form(D, C, q)
    rows = np.random.default_rng(0).dirichlet(np.ones(D), 6) ** 2
    rows /= rows.sum(1, keepdims=True)
    total, whole, balance = np.zeros(len(rows)), 0.0, 0.0
    for chance, s in inputs(D, C, q):
        cubes = float((s.reshape(-1, C).sum(1) ** 3).sum())
        w = chance / (1 + math.exp(form.strength * cubes))
        total += w * (rows @ s) ** 3
        whole, balance = whole + w, balance + w * cubes
    assert abs(balance) < 1e-9
    assert form(rows) * whole == pytest.approx(total, rel=1e-8, abs=1e-12)


def test_blocks_are_stationary():
    form = cubic_form(16, 4, 0.3)
    block = np.repeat([0.25, 0, 0, 0], 4)
    assert abs(form(block)) < 1e-10
    risk = PopulationRisk(16, 4, 0.3, linear=0.0)
    alpha = best_alpha(risk, 0.0, 0.0, -60.0)
    assert (16 * alpha) ** 3 / 16 == pytest.approx(form.strength, rel=1e-6)
