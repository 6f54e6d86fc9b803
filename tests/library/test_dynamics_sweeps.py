"""The sweeps of the dynamics: a cell is what plain calls give, and the shipped records are whole."""

import numpy as np
import pytest

from patch_association.data import SpatialData
from patch_association.sweeps import coupling, limits, realistic
from patch_association.training import Constant, Samples, descend, idealized_start


def test_layouts_of_a_seed_count_once():
    runs = [{"seed": s, "e": [9.0, e]} for s, e in ((0, 0.2), (1, 0.4), (0, 0.6), (1, 0.4))]
    assert np.allclose(realistic.final_by_seed(runs, "e"), [0.4, 0.4])
    assert np.allclose(realistic.final_by_seed(runs[:2], "e"), [0.2, 0.4])


def test_both_layouts_have_the_same_sizes_and_other_sets():
    setting = realistic.SETTINGS["D36"]
    blocks, scattered = (realistic.make_law(setting, layout) for layout in ("blocks", "random"))
    assert (
        blocks.dim == scattered.dim == 36 and blocks.partition.num_sets == scattered.partition.num_sets == 9
    )
    assert not np.array_equal(blocks.partition.same_set, scattered.partition.same_set)
    assert realistic.make_law(setting, dim=50).dim == 50
    with pytest.raises(ValueError, match="got 'rows'"):
        realistic.make_law(setting, "rows")


def test_a_realistic_cell_is_its_run():
    small = realistic.Setting(side=4, q=0.4, n=300, steps=20, rate=0.02, ratio=256)
    run = realistic.train_setting(small, "blocks", seed=3, records=5)
    again = realistic.train_setting(small, "blocks", seed=3, records=5)
    assert run.steps.tolist() == [0, 5, 10, 15, 20] and run.step.score_rate == pytest.approx(256 * 0.02)
    assert np.array_equal(run.loss, again.loss) and np.isfinite(run.test_error).all()


def test_the_gap_of_entries_is_against_the_ideal_of_the_same_step():
    cell = coupling.coupling_cell("samples", seed=100, n=500)
    law, ideal = coupling.make_law(), coupling.ideal_run()
    samples = Samples.draw(law, 500, [100])
    run = descend(
        samples,
        idealized_start(law),
        Constant(coupling.RATE, coupling.RATIO * coupling.RATE),
        steps=coupling.STEPS,
        snapshots=[60],
    )
    at = ideal.steps.tolist().index(60)
    expected = np.where(law.partition.same_set, ideal.gamma[at], ideal.rho[at])
    gap = (run.scores[60][0] - expected)[~np.eye(16, dtype=bool)]
    assert cell["entry_rms"][at] == pytest.approx(np.sqrt((gap**2).mean()), rel=1e-4)
    assert cell["entry_max"][at] == pytest.approx(np.abs(gap).max(), rel=1e-4)
    assert cell["entry_rms"][0] == 0


def test_a_perturbed_start_keeps_the_diagonal_and_scales():
    law = coupling.make_law()
    small, large = (coupling.perturbed_start(law, 7, omega) for omega in (0.01, 0.02))
    assert (small.scores[0].diagonal() == 1).all()
    off = ~np.eye(16, dtype=bool)
    assert np.allclose(large.scores[0].numpy()[off], 2 * small.scores[0].numpy()[off])
    exact = coupling.perturbed_start(law, 7, 0.0)
    assert np.allclose(exact.value[0].numpy(), 0.1 * law.feature.numpy())


def test_a_fall_cell_says_what_wrong_votes_do():
    good, bad = limits.fall_cell(12, 0.5, 1.0), limits.fall_cell(12, 0.9, 1.0)
    assert good["drift_inside"] > good["drift_outside"] and good["valley"]["gamma"] > good["valley"]["rho"]
    assert bad["drift_inside"] < bad["drift_outside"] and bad["valley"]["gamma"] < bad["valley"]["rho"]


def test_a_lifetime_has_a_place_for_every_record():
    cell = limits.lifetime_cell(n=200, seed=1)
    assert {len(values) for values in cell.values()} == {41} and set(cell) == set(limits.LIFETIME_COLUMNS)


def test_shares_of_a_row_add_up(monkeypatch):
    monkeypatch.setitem(limits.LIFETIME, "steps", 50)
    cell = limits.zero_cell(seed=1, n=200, diagonal=0.0)
    assert np.allclose(np.sum(cell["shares"], axis=1), 1, atol=1e-3) and len(cell["steps"]) == 2


def test_selections_that_do_not_exist():
    with pytest.raises(ValueError, match="there is no run of setting 'D7'"):
        realistic.select([{"setting": "D16", "layout": "blocks"}], "D7")
    with pytest.raises(ValueError, match="there is no cell of part 'fall'"):
        limits.select([{"part": "valley", "D": 16}], "fall")


def test_the_laws_are_those_of_the_paper():
    assert isinstance(coupling.make_law(), SpatialData) and coupling.make_law().noise_std == pytest.approx(
        0.25
    )


def test_gaps_are_relative_for_means_and_absolute_for_scores():
    ideal, flat = coupling.ideal_run(), np.zeros(25)
    row = {
        "loss": ideal.loss + 0.1,
        "alpha": ideal.alpha,
        "inside_mean": 2 * ideal.gamma,
        "outside_mean": ideal.rho,
        "orthogonal": flat + 0.3,
        "entry_rms": flat + 0.2,
        "entry_max": flat + 0.5,
    }
    gaps = coupling.sup_gaps(
        [{"part": "samples", "n": n, **row} for n in coupling.SIZES for _ in range(2)], ideal
    )
    assert all(values.shape == (7, 2) for values in gaps.values())
    assert gaps["loss"] == pytest.approx(0.1 / ideal.loss.max()) and gaps["alpha"] == pytest.approx(0)
    assert gaps["inside_mean"] == pytest.approx(1) and gaps["entry_max"] == pytest.approx(0.5)


def test_a_delay_is_in_steps():
    row = {"base": {"inside_mean": [0.0, 0.2, 0.4]}, "gaussian": {"inside_mean": [0.0, 0.1, 0.3]}}
    assert coupling.delay(row, [0, 5, 10]) == pytest.approx(10 - 7.5)


def test_what_a_fall_cell_foretold():
    cell = {
        "D": 16,
        "q": 0.8,
        "diagonal": 2.0,
        "drift_inside": 0.1,
        "drift_outside": 0.2,
        "valley": {"gamma": 0.3, "rho": 0.1},
    }
    assert limits.margin(cell["valley"]) == pytest.approx(0.2) and not limits.foretold(cell)
    assert limits.foretold(cell | {"drift_inside": 0.3})
    assert limits.name_of_cell(cell) == "D = 16, q = 0.8 with diagonal 2"


def test_lifetimes_as_arrays_and_as_a_table():
    blank = {name: [0.5] * 3 for name in limits.LIFETIME_COLUMNS}
    rows = [
        {"part": "lifetime", "n": 100, "seed": seed, **blank, "margin": margin, "test_error": [0.5, 0.2, 0.1]}
        for seed, margin in enumerate(([-1.0, 1.0, -1.0], [-1.0, None, 1.0]))
    ]
    cells = limits.lifetimes(rows)
    assert cells[100]["margin"].shape == (2, 3) and np.isnan(cells[100]["margin"][1, 1])
    assert "| 100 | 2 of 2 | 1 of 2 | 1.0 of 3 | 10.00% | 50.00% |" in limits.lifetime_table(cells)


def test_watchers_give_a_set_more_than_half():
    assert limits.watchers({"shares": [[0.25] * 4, [0.1, 0.1, 0.7, 0.1], [0.5, 0.5, 0, 0]]}) == [(1, 2)]
