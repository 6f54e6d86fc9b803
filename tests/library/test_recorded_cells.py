"""The records that ship come out again: of each the cheapest cells, run here, and the hash of the data."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from small_sweeps import measure, sweep

import patch_lab
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
from patch_lab.dynamics.sweeps import coupling
from patch_lab.kit import records
from patch_lab.kit.records import load, record_names
from patch_lab.kit.records.table import flattened
from patch_lab.kit.sweeps import registry, rerun

#: Settings of a cheap cell of each record, and how far a number may be off where rounding takes its course.
CHEAP = [
    ("idealized", dict(part="grid", D=16, q=0.2, diagonal=1.0), 1e-5),
    ("large-lead", dict(part="border", D=768, features=0.3, diagonal=0.02), 1e-5),
    ("coupling", dict(part="samples", n=1000, seed=101), 1e-4),
    ("limits", dict(part="fall", D=12, q=0.9, diagonal=1.0), 1e-4),
    ("limits", dict(part="valley", D=24), 1e-4),
    ("limits", dict(part="lifetime", n=500, seed=201), 1e-3),
    ("shallow-multinomial", dict(N=4), 1e-4),
]


@pytest.mark.parametrize(("name", "cell", "tolerance"), CHEAP, ids=lambda x: x if isinstance(x, str) else "")
def test_a_recorded_cell_comes_out_again(name, cell, tolerance):
    recorded = flattened(records.load(name).where(**cell)[0])
    fresh = flattened(rerun(name, records.load(name).where(**cell)[0]))
    assert fresh.keys() == recorded.keys() - registry()[name].cells[0].keys() - cell.keys()
    for key, value in fresh.items():
        ours, theirs = (np.array(x, dtype=np.float64) for x in (value, recorded[key]))
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=key)


#: Made from an exactly known law, or timings.
UNDRAWN = {
    "certified", "deeper-population", "idealized", "idealized-degree", "large-lead", "large-lead-wide",
    "lifetime", "shallow-times", "vit_blocks", "vit_steps",
}  # fmt: skip


def test_every_record_says_what_data_it_was_made_from():
    """Drawn data come out again, bit for bit up to three decimals; a source without a hash says why."""
    for name in records.record_names():
        ours = records.load(name).data
        assert ours["source"] and set(ours) == {"source", "sha256"}, name
        if "drawn" in ours["source"]:
            assert registry()[name].data() == ours, name
        elif ours["sha256"] is None:
            assert name in UNDRAWN
        else:
            assert len(ours["sha256"]) == 64, name


# --- The shipped records of the part on transfer fit their sweeps, and cells come out again


def test_a_shipped_cell_comes_out_again():
    """One cheap cell of each of two records, recomputed."""
    for name, pick in (
        ("transfer-discovery", dict(num_patches=36, learner="likelihood", samples=18)),
        ("transfer-fixed-attention", dict(num_patches=36, attention="gamma = 4")),
    ):
        result = next(r for r in load(name).results if pick.items() <= r.items())
        cell = {key: result[key] for key in registry()[name].cells[0]}
        fresh = np.array(registry()[name].run(**cell)["errors"])
        # Another machine's rounding may tip a draw on the boundary (1 in 4000 draws is 2.5e-4), or, rarely, a
        # run that started between the two signs of the feature.
        assert (np.abs(fresh - np.array(result["errors"])) < 1e-3).mean() >= 0.97


# --- The sweeps of the dynamics: a cell is what plain calls give, and the shipped records are whole


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


# --- The registered sweeps: every one can be run, and every shipped record is one of them


def test_every_registered_sweep_can_be_run_and_recorded():
    for name, entry in registry().items():
        assert entry.name == name and entry.summary.endswith(".") and callable(entry.run)
        keys = [json.dumps(dict(cell), sort_keys=True) for cell in entry.cells]
        assert len(set(keys)) == len(keys) > 0
        json.dumps(dict(entry.config))
        if name in record_names():
            assert entry.minutes == pytest.approx(load(name).provenance["wall_s"] / 60)
        else:
            assert entry.minutes is None


def test_every_record_that_ships_is_its_sweeps():
    for name in record_names():
        entry, record = registry()[name], load(name)
        assert record.config == json.loads(json.dumps(dict(entry.config)))
        assert len(record) == len(entry.cells) or (entry.grows and 0 < len(record) < len(entry.cells))
        of_rows = [
            next(cell for cell in map(plain, entry.cells) if cell.items() <= row.items()) for row in record
        ]
        assert of_rows == [cell for cell in map(plain, entry.cells) if cell in of_rows]


def plain(cell):
    return json.loads(json.dumps(dict(cell)))


def test_every_file_of_sweeps_is_registered():
    for folder in Path(patch_lab.__file__).parent.glob("*/sweeps"):
        if folder.parent.name == "kit":
            continue
        sweeps = import_module(f"patch_lab.{folder.parent.name}.sweeps")
        found = {path.stem for path in folder.glob("*.py")}
        assert found - {"__init__", "side_by_side", "transfer_cells", "vit_tiny"} == set(sweeps.FILES)
        for file, ours in sweeps.FILES.items():
            assert all(registry()[name].name == name for name in ours)
            module = sys.modules[f"{sweeps.__name__}.{file}"]
            assert [entry.name for entry in module.SWEEPS] == list(ours)


def test_a_recorded_cell_is_run_again(monkeypatch):
    monkeypatch.setattr("patch_lab.kit.sweeps.catalog.registry", lambda: {"demo": sweep()})
    row = {"seed": 1, "q": 0.5, "error": 0.0}
    assert rerun("demo", row) == json.loads(json.dumps(measure(1, 0.5)))
    for row, count in (({"q": 0.5}, 3), ({"q": 2}, 0)):
        with pytest.raises(ValueError, match=f"{count} cells of sweep 'demo' fit .*, not one"):
            rerun("demo", row)
