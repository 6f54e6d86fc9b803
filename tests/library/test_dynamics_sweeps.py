"""The sweeps of the dynamics: a cell is what plain calls give, and the shipped records are whole."""

import numpy as np
import pytest

from patch_association.exact.risk import PopulationRisk
from patch_association.training import (
    Constant,
    Descent,
    Samples,
    descend,
    descend_population,
    idealized_start,
)
from patch_lab.dynamics.realistic import perturbed_start
from patch_lab.sweeps import coupling


def test_the_gap_of_entries_is_against_the_ideal_of_the_same_step():
    cell, law = coupling.coupling_cell("samples", seed=100, n=500), coupling.LAW
    ideal = descend_population(PopulationRisk(16, 4, 0.4), coupling.STEP, steps=120, record=5, alpha=0.1)
    samples, start = Samples.draw(law, 500, [100]), idealized_start(law)
    run = descend(samples, start, Constant(0.02, 256 * 0.02), steps=60, how=Descent(snapshots=[60]))
    at = ideal.steps.tolist().index(60)
    expected = np.where(law.partition.same_set, ideal.gamma[at], ideal.rho[at])
    gap = (run.scores[60][0] - expected)[~np.eye(16, dtype=bool)]
    assert cell["entry_rms"][at] == pytest.approx(np.sqrt((gap**2).mean()), rel=1e-4)
    assert cell["entry_max"][at] == pytest.approx(np.abs(gap).max(), rel=1e-4)
    assert cell["entry_rms"][0] == 0


def test_a_perturbed_start_keeps_the_diagonal_and_scales():
    law = coupling.LAW
    small, large = (perturbed_start(law, 7, omega) for omega in (0.01, 0.02))
    assert (small.scores[0].diagonal() == 1).all()
    off = ~np.eye(16, dtype=bool)
    assert np.allclose(large.scores[0].numpy()[off], 2 * small.scores[0].numpy()[off])
    assert np.allclose((small.value - 0.1 * law.feature) * 2, large.value - 0.1 * law.feature)
    exact = perturbed_start(law, 7, 0.0)
    assert np.allclose(exact.value[0].numpy(), 0.1 * law.feature.numpy())
