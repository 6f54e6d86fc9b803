"""Recorded runs: whole, reproducible, and with their provenance."""

import errno
import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import patch_lab
from patch_lab.kit import files
from patch_lab.kit.files import write_atomically
from patch_lab.kit.records import (
    Record,
    decode,
    encode,
    fingerprint,
    load,
    parse,
    provenance,
    read,
    record_names,
)

LABORATORY = Path(patch_lab.__file__).parent
RECORD = Record(
    name="demo",
    command="patch-association sweep demo",
    config={"seeds": [0, 1], "q": 0.25},
    results=[{"D": 16, "error": 0.125}, {"D": 64, "error": 1e-300, "note": "ä"}],
    provenance=provenance(83.21),
    data={"source": "fresh draws", "sha256": "0123456789abcdef"},
)


def test_round_trip(tmp_path):
    path = tmp_path / "runs" / "demo.json"
    RECORD.save(path)
    assert read(path) == RECORD
    assert read(path).to_json() == path.read_text(encoding="utf-8") == RECORD.to_json()


DAMAGED = ["", "{", RECORD.to_json()[:100], "[]", "3", "[" * 100_000, "9" * 5000, '{"name": "a"}', "null"]


@pytest.mark.parametrize("text", [*DAMAGED, '{"name": "a", "unknown": 1}'], ids=range(len(DAMAGED) + 1))
def test_damaged_records(tmp_path, text):
    path = tmp_path / "demo.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} is not a whole record: "):
        read(path)
    with pytest.raises(ValueError, match="^here is not a whole record: "):
        parse(text, origin="here")


def test_every_record_that_ships_is_whole():
    for name in record_names():
        record = load(name)
        assert record.name == name and record.results and record.command == f"patch-association sweep {name}"
        # "jobs" came later: how many cells ran side by side.
        assert set(record.provenance) - {"jobs"} == set(RECORD.provenance)
        text = next(LABORATORY.glob(f"*/records/{name}.json")).read_text(encoding="utf-8")
        assert text == record.to_json()


# --- choosing and reading cells -----------------------------------------------------------------

GRID = Record(
    "grid",
    "",
    {},
    [
        {
            "part": "a",
            "D": D,
            "q": q,
            "at": {"end": {"error": D * q}},
            "path": [D, None],
            "P": encode([[q], [1]]),
        }
        for D in (16, 36)
        for q in (0.25, 0.5)
    ]
    + [{"part": "b", "D": 36, "path": [1.0], "omega 0.1": {"x": 2}}],
)


def test_cells_are_chosen_by_values_by_several_and_by_functions():
    assert [row["q"] for row in GRID.where(D=16)] == [0.25, 0.5]
    assert len(GRID.where(part="a", D=(16, 36), q={0.5})) == 2
    assert len(GRID.where(D=range(30, 40))) == 3 and len(GRID.where(D=lambda D: D > 16).where(part="b")) == 1
    assert GRID.where(D=36)[0]["q"] == 0.25 and GRID[-1]["part"] == "b"
    assert GRID.one(D=16, q=0.5)["at"] == {"end": {"error": 8.0}}
    assert GRID.where(path=[1.0]).results == [GRID.results[4]]  # a list is a value
    with pytest.raises(ValueError, match=r"record 'grid' has 2 cells with D = 16, not one"):
        GRID.one(D=16)


def test_columns_are_stacked_and_decoded():
    view = GRID.where(part="a")
    assert view.column("at.end.error").tolist() == [4.0, 8.0, 9.0, 18.0]
    assert view.column("P").shape == (4, 2, 1) and view.column("P")[1, 0, 0] == 0.5
    path = view.column("path")
    assert path.shape == (4, 2) and path[2, 0] == 36 and np.isnan(path[:, 1]).all()
    assert GRID.where(part="b").column("omega 0.1.x").tolist() == [2]
    assert GRID.column("path", at=0).tolist() == [16, 16, 36, 36, 1]
    assert np.isnan(view.column("path", at=-1)).all()
    with pytest.raises(ValueError, match="has no column 'at.end'; it has part, D, q, at.end.error, path, P"):
        view.column("at.end")
    with pytest.raises(ValueError, match="column 'path' of record 'grid' differs in shape"):
        GRID.column("path")


# --- numbers --------------------------------------------------------------------------------------


@given(st.lists(st.floats(-6e4, 6e4, width=16), max_size=8))
def test_what_is_encoded_is_decoded(values):
    array = torch.tensor(values, dtype=torch.float64).reshape(1, -1)
    for dtype in ("f2", "f4", "f8"):
        assert np.array_equal(decode(encode(array, dtype)), array.numpy())


def test_a_fingerprint_sees_numbers_shapes_and_order_and_not_the_last_bits():
    x = np.random.default_rng(0).standard_normal((4, 3))
    same = fingerprint(x, [1, -1])
    assert fingerprint(torch.from_numpy(x) * (1 + 1e-15), [1, -1]) == same and len(same) == 64
    assert (
        len({same, fingerprint(x.T, [1, -1]), fingerprint([1, -1], x), fingerprint(x + 1e-3, [1, -1])}) == 4
    )


# --- Files are replaced whole or not at all


def refuse(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize(
    ("step", "failure", "error"),
    [
        ("fsync", refuse, OSError),
        ("replace", refuse, OSError),
        ("fsync", interrupt, KeyboardInterrupt),
    ],
)
def test_a_failure_at_any_step_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path, monkeypatch, step, failure, error, existing
):
    path = tmp_path / "record.json"
    if existing:
        path.write_text("old")
    monkeypatch.setattr(files.os, step, failure)
    with pytest.raises(error) as raised:
        write_atomically(path, "new content")
    monkeypatch.undo()
    assert getattr(raised.value, "errno", errno.ENOSPC) == errno.ENOSPC
    assert os.listdir(tmp_path) == (["record.json"] if existing else [])
    assert not existing or path.read_text() == "old"
