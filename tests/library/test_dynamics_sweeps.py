"""The sweeps of the dynamics: a cell is what plain calls give, and the shipped records are whole."""

import numpy as np
import pytest

from patch_association.exact.risk import PopulationRisk
from patch_association.training import (
    Constant,
    Samples,
    descend,
    descend_population,
    idealized_start,
    perturbed_start,
)
from patch_lab.dynamics import realistic as settings
from patch_lab.sweeps import coupling, limits


def test_both_layouts_have_the_same_sizes_and_other_sets():
    setting = settings.SETTINGS["D36"]
    blocks, scattered = (settings.make_law(setting, layout) for layout in ("blocks", "random"))
    assert (
        blocks.dim == scattered.dim == 36 and blocks.partition.num_sets == scattered.partition.num_sets == 9
    )
    assert not np.array_equal(blocks.partition.same_set, scattered.partition.same_set)
    assert settings.make_law(setting, dim=50).dim == 50
    with pytest.raises(ValueError, match="got 'rows'"):
        settings.make_law(setting, "rows")


def test_a_realistic_cell_is_its_run():
    small = settings.Setting(side=4, q=0.4, n=300, steps=20, rate=0.02, ratio=256)
    run = settings.train_setting(small, "blocks", seed=3, records=5)
    again = settings.train_setting(small, "blocks", seed=3, records=5)
    assert run.steps.tolist() == [0, 5, 10, 15, 20] and run.step.score_rate == pytest.approx(256 * 0.02)
    assert np.array_equal(run.loss, again.loss) and np.isfinite(run.test_error).all()


def test_the_gap_of_entries_is_against_the_ideal_of_the_same_step():
    cell, law = coupling.coupling_cell("samples", seed=100, n=500), coupling.LAW
    ideal = descend_population(PopulationRisk(16, 4, 0.4), coupling.STEP, steps=120, record=5, alpha=0.1)
    samples, start = Samples.draw(law, 500, [100]), idealized_start(law)
    run = descend(samples, start, Constant(0.02, 256 * 0.02), steps=60, snapshots=[60])
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


def test_a_fall_cell_says_what_wrong_votes_do():
    good, bad = limits.fall_cell(12, 0.5, 1.0), limits.fall_cell(12, 0.9, 1.0)
    assert good["drift_inside"] > good["drift_outside"] and good["valley"]["gamma"] > good["valley"]["rho"]
    assert bad["drift_inside"] < bad["drift_outside"] and bad["valley"]["gamma"] < bad["valley"]["rho"]


def test_a_lifetime_has_a_place_for_every_record():
    cell = limits.lifetime_cell(n=200, seed=1)
    assert {len(values) for values in cell.values()} == {41} and {"recall", "margin", "test_error"} < set(
        cell
    )


def test_shares_of_a_row_add_up(monkeypatch):
    monkeypatch.setitem(limits.LIFETIME, "steps", 50)
    cell = limits.zero_cell(seed=1, n=200, diagonal=0.0)
    assert np.allclose(np.sum(cell["shares"], axis=1), 1, atol=1e-3) and len(cell["steps"]) == 2


def test_the_laws_are_those_of_the_paper():
    assert coupling.LAW.noise_std == limits.LAW.noise_std == pytest.approx(0.25)
