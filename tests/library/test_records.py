"""Recorded runs: whole, reproducible, and with their provenance."""

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from patch_lab import records
from patch_lab.records import (
    Record,
    decode,
    encode,
    fingerprint,
    hardware,
    load,
    names,
    parse,
    provenance,
    read,
    rounded,
)
from patch_lab.records import record as module

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


def test_equal_records_are_equal_files():
    again = Record(
        RECORD.name,
        RECORD.command,
        dict(reversed(RECORD.config.items())),
        RECORD.results,
        RECORD.provenance,
        RECORD.data,
    )
    assert again.to_json() == RECORD.to_json()


def test_provenance():
    made = RECORD.provenance
    assert set(made) == {"commit", "date", "hardware", "python", "versions", "wall_s"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"]) and made["wall_s"] == 83.2
    assert set(made["versions"]) == {"patch-association", "numpy", "scipy", "torch"}
    assert all(re.match(r"\d", version) for version in made["versions"].values())
    assert made["python"] == ".".join(map(str, sys.version_info[:3]))
    assert re.match(r"\d+ cores of \S", hardware())
    assert re.fullmatch(r"[0-9a-f]{12}(\+changes)?|installed", made["commit"])


def test_an_installed_package_inside_another_projects_repository_is_not_that_project(tmp_path, monkeypatch):
    """As in a virtual environment that lies in the repository of whoever uses this package."""
    if shutil.which("git") is None:
        pytest.skip("not compared: no git here")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "theirs"], check=True)
    package = tmp_path / "env" / "package"
    installed = package / "records" / "record.py"
    installed.parent.mkdir(parents=True)
    shutil.copy(module.__file__, installed)
    monkeypatch.setattr(module, "__file__", str(installed))
    assert provenance(0)["commit"] == "installed"
    (package / "other.py").write_text("theirs")
    (package / "records" / "data.json").write_text("{}")
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "ours"], check=True)
    assert re.fullmatch(r"[0-9a-f]{12}", provenance(0)["commit"])
    (package / "records" / "data.json").write_text("[]")  # no code
    assert re.fullmatch(r"[0-9a-f]{12}", provenance(0)["commit"])
    (package / "other.py").write_text("changed")  # anywhere in the package
    assert provenance(0)["commit"].endswith("+changes")


def test_origin():
    assert "in 83 seconds; the command “patch-association sweep demo” makes it again" in RECORD.origin()
    assert "2 results, made from fresh draws (sha256 0123456789ab…) on 20" in RECORD.origin()
    assert RECORD.where(D=16).origin() == RECORD.where(D=16).where(error=0.125).origin() == RECORD.origin()
    slow = Record("demo", "make it", {}, [], {**RECORD.provenance, "wall_s": 7200.0})
    assert "in 120 minutes" in slow.origin() and "0 results, made on 20" in slow.origin()
    unknown = Record("demo", "make it", {}, [], RECORD.provenance, {"source": "a lost file", "sha256": None})
    assert "made from a lost file on 20" in unknown.origin()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        RECORD.to_json()[:100],
        "[]",
        "3",
        "[" * 100_000,
        "9" * 5000,
        '{"name": "a"}',
        '{"name": "a", "unknown": 1}',
        "null",
    ],
)
def test_damaged_records(tmp_path, text):
    path = tmp_path / "demo.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} is not a whole record: "):
        read(path)
    with pytest.raises(ValueError, match="^here is not a whole record: "):
        parse(text, origin="here")


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", 3), ("results", {}), ("results", [1]), ("provenance", []), ("config", None), ("data", "?")],
)
def test_fields_of_another_type(field, value):
    text = json.dumps({**json.loads(RECORD.to_json()), field: value})
    with pytest.raises(ValueError, match="^here is not a whole record: (a result|" + field + ") has another"):
        parse(text, origin="here")


def test_what_json_does_not_have_is_refused():
    text = RECORD.to_json().replace("0.125", "NaN")
    with pytest.raises(ValueError, match="^here is not a whole record: NaN is no number of JSON"):
        parse(text, origin="here")


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "demo.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="demo.json is not a whole record"):
        read(path)


def test_results_that_are_no_numbers_are_not_written(tmp_path):
    path = tmp_path / "demo.json"
    RECORD.save(path)
    with pytest.raises(ValueError, match="JSON"):
        Record("demo", "", {}, [{"error": math.nan}]).save(path)
    assert read(path) == RECORD


def test_lists_of_numbers_stand_on_one_line():
    text = Record("demo", "", {}, [{"a": [1, 2.5, None], "b": [[1, 2], [3, 4]], "c": "[\n1\n]"}]).to_json()
    assert '"a": [1, 2.5, null]' in text and "    [1, 2],\n" in text and json.loads(text)["results"][0]["c"]


def test_every_record_that_ships_is_whole():
    for name in names():
        record = load(name)
        assert record.name == name and record.results and record.command == f"patch-association sweep {name}"
        # "jobs" came later: how many cells ran side by side.
        assert set(record.provenance) - {"jobs"} == set(RECORD.provenance)
        text = (Path(records.__file__).parent / "data" / f"{name}.json").read_text(encoding="utf-8")
        assert text == record.to_json()


def test_a_record_that_does_not_ship():
    with pytest.raises(ValueError, match="there is no recorded run 'nothing'; the package ships "):
        load("nothing")


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


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (dict(D=17), "no cell of record 'grid' has D = 17; there D is 16, 36"),
        (dict(part="b", D=16), "has D = 16 among cells with part = 'b'; there D is 36"),
        (dict(part="b", q=0.5), "has 'q' among cells with part = 'b'; there is part, D, path, omega 0.1"),
        (dict(size=3), "no cell of record 'grid' has 'size'; there is part, D, q, at, path, P, omega 0.1"),
        (dict(q=lambda q: q > 1), "has q = a value that fits; there q is 0.25, 0.5"),
    ],
)
def test_a_choice_that_fits_nothing_says_what_there_is(settings, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        GRID.where(**settings)


def test_views_by_a_setting():
    views = GRID.by("q")
    assert list(views) == [0.25, 0.5] and views[0.5].where(D=36).column("at.end.error").tolist() == [18.0]
    with pytest.raises(ValueError, match="has 'seed'; there is part"):
        GRID.by("seed")


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


def test_differences_pair_the_cells():
    """By hand: at q = 0.5 and 0.25, in this order, 36 q - 16 q."""
    turned = Record("turned", "", {}, GRID.results[::-1])
    large, small = dict(part="a", D=36), dict(part="a", D=16)
    assert turned.differences("at.end.error", large, small, by="q").tolist() == [10.0, 5.0]
    swapped = Record("swapped", "", {}, [*GRID.results[:2], GRID.results[3], GRID.results[2]])
    assert swapped.differences("at.end.error", large, small, by="q").tolist() == [10.0, 5.0]
    for other in (dict(part="b"), dict(D=16, q=0.5), dict(q=0.5)):
        with pytest.raises(ValueError, match="cells must pair by q, got"):
            GRID.differences("D", dict(D=16), other, by="q")


def test_a_frame_has_a_row_for_each_cell():
    frame = GRID.where(part="a").frame()
    assert frame.columns.tolist() == ["part", "D", "q", "at.end.error", "path", "P"]
    assert frame.pivot(index="D", columns="q", values="at.end.error").loc[36, 0.5] == 18.0


def test_a_view_leaves_its_record_alone():
    before = len(GRID)
    GRID.where(D=16).results.clear()
    assert len(GRID) == before and list(GRID) == GRID.results


# --- numbers --------------------------------------------------------------------------------------


@given(st.lists(st.floats(-6e4, 6e4, width=16), max_size=8))
def test_what_is_encoded_is_decoded(values):
    array = torch.tensor(values, dtype=torch.float64).reshape(1, -1)
    for dtype in ("f2", "f4", "f8"):
        assert np.array_equal(decode(encode(array, dtype)), array.numpy())


def test_arrays_that_cannot_be_encoded_or_decoded():
    with pytest.raises(ValueError, match="array must be finite in f2, got 2 that are not"):
        encode([1e5, np.nan, 1])
    with pytest.raises(ValueError, match="dtype must be f2, f4 or f8, got 'i4'"):
        encode([1], "i4")
    for text in ("", "64x64:AAAA", "f2:2:AA=A", "f3:1:AAAA"):
        with pytest.raises(ValueError, match="an encoded array looks like"):
            decode(text)
    for text in ("f2:3:AAAA", "f2:1:AAA"):
        with pytest.raises(ValueError):
            decode(text)


def test_rounding_keeps_digits_and_types():
    values = {"a": np.array([123456.0, 0.000123456]), "b": [True, None, "x"], "n": np.int64(123456789)}
    found = rounded(values, 3)
    assert found == {"a": [123000.0, 0.000123], "b": [True, None, "x"], "n": 123456789}
    assert json.dumps(rounded(torch.tensor([1 / 3, math.inf, math.nan]))) == "[0.33333, null, null]"


def test_a_fingerprint_sees_numbers_shapes_and_order_and_not_the_last_bits():
    x = np.random.default_rng(0).standard_normal((4, 3))
    same = fingerprint(x, [1, -1])
    assert fingerprint(torch.from_numpy(x) * (1 + 1e-15), [1, -1]) == same and len(same) == 64
    assert (
        len({same, fingerprint(x.T, [1, -1]), fingerprint([1, -1], x), fingerprint(x + 1e-3, [1, -1])}) == 4
    )
