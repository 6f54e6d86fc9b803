"""The command line: what it prints, and how it refuses."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import patch_association
from patch_lab.cli import COMMANDS, main
from patch_lab.kit import sweeps
from patch_lab.kit.ledger import OUTCOMES, VERDICTS, shipped
from patch_lab.kit.sweeps import Sweep


def test_claims_as_json(capsys):
    assert main(["claims", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == shipped().entries()
    by_id = {row["id"]: row for row in rows}
    for row in rows:  # who rests on whom, both ways
        assert all(row["id"] in by_id[ground]["carries"] for ground in row["rests_on"])
        assert all(row["id"] in by_id[other]["rests_on"] for other in row["carries"])
        assert set(row["carries"]) <= set(row["falls_with_it"])
        assert (row["outcome"] in OUTCOMES) == (row["kind"] == "claim") and row["horizon"]
        said = [row[key] for key in ("condition", "because", "reading", "horizon")]
        said += [knob[key] for knob in row["knobs"] for key in ("tried", "moved")]
        assert not re.search(r"\{[a-z_]\w*(:[^{}]*)?\}", re.sub(r"\$[^$]*\$", "", " ".join(said))), row["id"]
    assert all({"id", "source", "statement", "chapter", "verdict", "evidence"} <= row.keys() for row in rows)
    assert all((row["verdict"] in VERDICTS) == (row["kind"] == "claim") for row in rows)


def test_claims_as_csv(capsys):
    assert main(["claims", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["id"] for row in rows] == [claim.id for claim in shipped()]
    assert [row["statement"] for row in rows] == [claim.statement for claim in shipped()]
    for row, claim in zip(rows, shipped()):
        assert all(f"{number.name}: {number.show()}" in row["evidence"] for number in claim.evidence.values())


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """One registered sweep of three cells, and a working folder of its own."""

    def run(seed):
        return {"square": seed**2}

    entry = Sweep("demo", "Squares.", tuple({"seed": seed} for seed in range(3)), run)
    monkeypatch.setattr(sweeps, "registry", lambda: {"demo": entry})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sweep_writes_its_record(demo, capsys):
    assert main(["sweep", "demo", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert f"wrote {Path('runs') / 'demo.json'}: 3 results" in out and err == ""
    assert json.loads((demo / "runs" / "demo.json").read_text())["results"][2] == {"seed": 2, "square": 4}
    assert main(["sweep", "demo", "--out", "here.json"]) == 0
    assert "3/3" in capsys.readouterr().err and (demo / "here.json").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sweep", "nothing"], "there is no sweep 'nothing'; there are demo"),
        (["sweep", "--out", "x.json"], "name a sweep: without a name they are listed"),
        (["sweep", "--resume"], "name a sweep: without a name they are listed"),
        (["sweep", "demo", "--jobs", "0"], "jobs must be"),
        (["certify", "--checkpoints", "file"], "checkpoints must be a folder, got the file file"),
        (["sweep", "demo", "--out", "."], "out must be the file of the record, got the folder ."),
        (["sweep", "demo", "--quiet"], "holds an interrupted sweep: resume it"),
        (["sweep", "demo", "--out", "file/demo.json", "--quiet"], "file"),
    ],
)
def test_errors_are_a_sentence_and_exit_2(demo, capsys, arguments, sentence):
    (demo / "runs").mkdir()
    (demo / "runs" / "demo.json.partial").write_text("{}")
    (demo / "file").write_text("no folder")
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("patch-association: ") and sentence in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        *((words.split(), 2, "usage: patch-association") for words in ("", "unknown", "claims --json --csv")),
        (["--version"], 0, patch_association.__version__),
        (["--help"], 0, "the ledger"),
    ],
)
def test_what_ends_before_it_begins(capsys, arguments, status, said):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == status and said in "".join(capsys.readouterr())


def test_help_imports_nothing_that_takes_seconds():
    heavy = "{'torch', 'scipy.stats', 'pandas', 'matplotlib'} & set(sys.modules)"
    for words in (["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)):
        code = f"import sys; from patch_lab.cli import main\ntry: main({words})\nfinally: assert not {heavy}"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
