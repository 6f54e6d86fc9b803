"""The command line: what it prints, and how it refuses."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import patch_association
from patch_lab import cli, sweeps
from patch_lab.cli import Terminated, main
from patch_lab.ledger import VERDICTS, shipped
from patch_lab.sweeps import Sweep


def test_claims_as_json(capsys):
    assert main(["claims", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == [claim.as_dict() for claim in shipped()]
    assert all({"id", "source", "statement", "chapter", "verdict", "evidence"} <= row.keys() for row in rows)
    assert all((row["verdict"] in VERDICTS) == (row["kind"] == "claim") for row in rows)


def test_claims_as_csv(capsys):
    assert main(["claims", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["id"] for row in rows] == [claim.id for claim in shipped()]
    assert [row["statement"] for row in rows] == [claim.statement for claim in shipped()]
    for row, claim in zip(rows, shipped()):
        assert all(f"{number.name}: {number.show()}" in row["evidence"] for number in claim.evidence.values())


def test_claims_as_text(capsys):
    assert main(["claims"]) == 0
    out = capsys.readouterr().out
    assert all(f"{claim.id}  [{claim.standing}" in out for claim in shipped())
    last = out.splitlines()[-1]
    assert last.startswith(f"{len(shipped())} entries: ")
    assert all(f"{count} {word}" in last for word, count in shipped().totals().items())


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_claims_on_a_terminal_without_unicode(encoding):
    """Nothing stops, and what the encoding cannot say is spelled, not lost."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for form in ([], ["--json"], ["--csv"]):
        command = [sys.executable, "-m", "patch_lab", "claims", *form]
        shown = subprocess.run(command, capture_output=True, env=environment, check=True).stdout.decode(
            encoding
        )
        if form == ["--json"]:
            assert json.loads(shown) == [claim.as_dict() for claim in shipped()]
        elif form == ["--csv"]:
            evidence = "".join(row["evidence"] for row in csv.DictReader(io.StringIO(shown)))
            assert "?" not in evidence and " x 10^-" in evidence.replace("×", "x") and "[-0." in evidence
        else:
            assert shown.splitlines()[-1].startswith(f"{len(shipped())} entries: ")


def test_claims_of_a_ledger_of_ones_own(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    file.write_text('[[claim]]\nid = "ours-a"\nsource = "ours"\n')
    assert main(["claims", "--ledger", str(file)]) == 2
    assert capsys.readouterr().err == f"patch-association: {file}, claim 1 (ours-a): where is missing\n"
    entry = {"where": "x", "chapter": "a", "statement": "x", "verdict": "proved here", "because": "x"}
    with file.open("a") as end:
        end.write("\n".join(f"{key} = {value!r}" for key, value in entry.items()))
    assert main(["claims", "--ledger", str(file)]) == 0
    assert capsys.readouterr().out == "ours-a  [not examined yet]\n    x: x\n1 entries: 1 not examined yet\n"


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """One registered sweep of three cells, and a working folder of its own."""

    def run(seed):
        return {"square": seed**2}

    entry = Sweep("demo", "Squares.", tuple({"seed": seed} for seed in range(3)), run)
    monkeypatch.setattr(sweeps, "registry", lambda: {"demo": entry})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_list_of_sweeps(demo, capsys):
    assert main(["sweep"]) == 0
    assert capsys.readouterr().out == "demo  (3 cells, no record yet)\n    Squares.\n"


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


def test_interrupted_before_anything_is_kept(demo, capsys, monkeypatch):
    """Nothing is promised that is not so; what a sweep says when it is stopped is in test_sweeps.py."""
    for stop, status in ((KeyboardInterrupt, 130), (Terminated, 143)):

        def stopped(*arguments, stop=stop, **options):
            raise stop

        monkeypatch.setattr(sweeps, "run_sweep", stopped)
        assert main(["sweep", "demo", "--quiet"]) == status
        assert capsys.readouterr().err == "patch-association: stopped\n"


def test_a_finished_sweep_is_left_alone(demo, capsys):
    assert main(["sweep", "demo", "--quiet"]) == 0
    before = (demo / "runs" / "demo.json").read_bytes()
    assert main(["sweep", "demo", "--quiet"]) == 2
    assert "demo.json holds a record already: overwrite it" in capsys.readouterr().err
    assert main(["sweep", "demo", "--quiet", "--resume"]) == 0
    assert "demo.json is finished: 3 results; --overwrite makes it again" in capsys.readouterr().out
    assert (demo / "runs" / "demo.json").read_bytes() == before
    assert main(["sweep", "demo", "--quiet", "--overwrite", "--jobs", "2"]) == 0
    assert json.loads((demo / "runs" / "demo.json").read_text())["provenance"]["jobs"] == 2


def test_a_failing_cell_is_one_line_and_exit_1(demo, capsys, monkeypatch):
    def run(seed):
        raise RuntimeError("two\nlines")

    entry = Sweep("demo", "Squares.", ({"seed": 0},), run)
    monkeypatch.setattr(sweeps, "registry", lambda: {"demo": entry})
    assert main(["sweep", "demo", "--quiet"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(
        "patch-association: cell {\"seed\": 0} of sweep 'demo' failed: RuntimeError: two lines;"
    )
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [[], ["unknown"], ["claims", "--json", "--csv"], ["sweep", "demo", "--fast"]]
)
def test_unusable_arguments_exit_2_with_the_usage(capsys, arguments):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2 and "usage: patch-association" in capsys.readouterr().err


def test_version_and_help(capsys):
    for option, expected in (("--version", patch_association.__version__), ("--help", "the ledger")):
        with pytest.raises(SystemExit) as exit_:
            main([option])
        assert exit_.value.code == 0 and expected in capsys.readouterr().out


@pytest.mark.parametrize(("stop", "status"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_a_stop_while_a_command_is_imported(capsys, monkeypatch, stop, status):
    def stopped(room):
        raise stop

    monkeypatch.setattr(cli, "import_module", stopped)
    assert main(["claims"]) == status and capsys.readouterr().err == "patch-association: stopped\n"


def test_help_imports_nothing_that_takes_seconds():
    heavy = "{'torch', 'numpy', 'scipy', 'flint', 'pandas', 'matplotlib'} & set(sys.modules)"
    for words in (["--help"], ["--version"], ["sweep", "--help"]):
        code = f"import sys; from patch_lab.cli import main\ntry: main({words})\nfinally: assert not {heavy}"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@pytest.mark.slow
def test_the_installed_command_and_a_reader_who_leaves_early():
    """As with ``patch-association claims | head``: no traceback, whatever is left unread."""
    command = [str(Path(sys.executable).with_name("patch-association")), "claims", "--json"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        left = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write_end)
    assert (left.returncode, left.stderr) == (0, "")
    stayed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(json.loads(stayed.stdout)) == len(shipped())


@pytest.mark.slow
def test_the_module_runs_as_the_command_does():
    """``torchrun -m patch_association train`` needs the package itself to be runnable."""
    command = [sys.executable, "-m", "patch_lab", "train", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True)
    assert shown.returncode == 0 and "--preset" in shown.stdout and "--resume" in shown.stdout
