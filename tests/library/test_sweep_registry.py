"""The registered sweeps: every one can be run, and every shipped record is one of them."""

import json
import sys
from pathlib import Path

import pytest
from small_sweeps import measure, sweep

from patch_lab.records import load, names
from patch_lab.sweeps import journal, registry, rerun
from patch_lab.sweeps.catalog import FILES


def test_every_registered_sweep_can_be_run_and_recorded():
    for name, entry in registry().items():
        assert entry.name == name and entry.summary.endswith(".") and callable(entry.run)
        keys = [json.dumps(dict(cell), sort_keys=True) for cell in entry.cells]
        assert len(set(keys)) == len(keys) > 0
        json.dumps(dict(entry.config))
        if name in names():
            assert entry.minutes == pytest.approx(load(name).provenance["wall_s"] / 60)
        else:
            assert entry.minutes is None


def test_every_record_that_ships_is_its_sweeps():
    for name in names():
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
    folder = Path(journal.__file__).parent
    own = {"__init__", "sweep", "outcomes", "journal", "catalog", "transfer_cells", "vit_tiny"}
    assert {path.stem for path in folder.glob("*.py")} - own == set(FILES)
    for file, ours in FILES.items():
        assert all(registry()[name].name == name for name in ours)
        module = sys.modules[f"patch_lab.sweeps.{file}"]
        assert [entry.name for entry in module.SWEEPS] == list(ours)


def test_a_recorded_cell_is_run_again(monkeypatch):
    monkeypatch.setattr("patch_lab.sweeps.catalog.registry", lambda: {"demo": sweep()})
    row = {"seed": 1, "q": 0.5, "error": 0.0}
    assert rerun("demo", row) == json.loads(json.dumps(measure(1, 0.5)))
    for row, count in (({"q": 0.5}, 3), ({"q": 2}, 0)):
        with pytest.raises(ValueError, match=f"{count} cells of sweep 'demo' fit .*, not one"):
            rerun("demo", row)
