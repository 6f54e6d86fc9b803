"""The house: what the package needs, where chapters leave the default setting, and the table of criteria."""

import os
import re
import subprocess
from pathlib import Path

import conventions
import criteria
import notebooks
import pytest
import set_up
import test_all
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from patch_association.defaults import DEFAULT
from patch_lab.kit import records
from patch_lab.kit.ledger import shipped

ROOT = Path(__file__).resolve().parents[2]


PROJECT = conventions.tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
]
NEEDED = [
    Requirement(text)
    for texts in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for text in texts
]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
@pytest.mark.parametrize("needed", NEEDED, ids=str)
def test_every_dependency_has_one_tested_version_within_its_range(needed, python):
    environment = {**default_environment(), "python_version": python, "python_full_version": f"{python}.5"}
    if needed.marker and not needed.marker.evaluate(environment):
        return
    pins = [
        c
        for c in CONSTRAINTS
        if canonicalize_name(c.name) == canonicalize_name(needed.name)
        and (c.marker is None or c.marker.evaluate(environment))
    ]
    assert len(pins) == 1, f"{needed} has {len(pins)} pins for Python {python}"
    specifiers = list(pins[0].specifier)
    assert len(specifiers) == 1 and specifiers[0].operator == "=="
    assert needed.specifier.contains(specifiers[0].version), f"{pins[0]} is outside {needed}"


@pytest.mark.parametrize(
    "chapter",
    sorted(
        page
        for part in ("setting", "dynamics", "transfer")
        for page in (ROOT / "book" / part).glob("*.md")
        if page.with_suffix(".ipynb").exists()
    ),
)
def test_a_chapter_whose_parameters_differ_is_listed(chapter):
    """What a reader may change is the default setting at first, or the page lists the chapter."""
    cell = re.search(r":tags: \[parameters\]\n(.*?)```", chapter.read_text(encoding="utf-8"), re.DOTALL)
    assert cell is not None, chapter
    values = {}
    exec(cell[1], values)
    mine = {"degree": "degree", "linear": "linear", "set_size": "set_size", "diagonal": "diagonal",
            "rate": "rate", "init_std": "init_std", "omega": "init_std"}  # fmt: skip
    differ = [
        name
        for name, field in mine.items()
        if values.get(name, getattr(DEFAULT, field)) != getattr(DEFAULT, field)
    ]
    listed = {name for departure in conventions.load()["departure"] for name in departure["chapters"]}
    assert not differ or f"{chapter.parent.name}/{chapter.stem}" in listed, differ


def test_the_numbers_are_those_of_the_record_and_the_ledger():
    steps = records.load("realistic").config["settings"]["single-rate"]["steps"]
    cells = [row.split("|")[2].strip() for row in criteria.criteria_table().splitlines()[2:]]
    assert cells[0] == f"{steps:,}"
    assert cells[1] == shipped()["ours-single-rate-time"].evidence["single_16"].show()
    kept, of = map(int, criteria.computed()["held"]["0.05"].split(" of "))
    assert 0 < kept <= of <= 10 * len(records.load("transience").where(q=0.05))


# --- What can be read in the workflows: what they may do, whose code they run; all that they call is there


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
#: What a job may write, beside nothing.
WRITES = {"publish": {"pages": "write", "id-token": "write"}, "notebooks": {"contents": "write"}}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_and_runs_pinned_actions_and_targets_that_exist(path):
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions", {}) == WRITES.get(name, {}), name
        if name in WRITES:
            assert job["if"] == "github.ref == 'refs/heads/main' && !github.event.repository.fork"
            assert "everything" in job["needs"]
            assert (
                workflow["concurrency"]["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}"
            )
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step.get("uses", f"actions/x@{'0' * 40}")), (
                step
            )
            ran = step.get("run", "")
            assert set(re.findall(r"\bmake ([a-z-]+)", ran)) <= TARGETS, ran
            assert "git push" not in ran
            for file in re.findall(r"(?:tools|\.ci)/\w+(?:\.py)?", ran):
                assert (ROOT / file).is_file(), file
            for stages in re.findall(r"tools/test_all\.py ([a-z ]+)", ran):
                assert set(stages.split()) <= test_all.STAGES.keys(), stages


@pytest.mark.parametrize("command", ["play", "full"])
def test_the_jobs_of_the_parts_play_every_chapter_once(command, tmp_path):
    """The workflow's own lines, with a `make` that says what it was given."""
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "play.yml").read_text())["jobs"]["play"]
    (tmp_path / "make").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "make").chmod(0o755)
    played = []
    for part in job["strategy"]["matrix"]["part"]:
        path = f"{tmp_path}:{os.environ['PATH']}"
        how = dict(cwd=ROOT, check=True, capture_output=True, text=True)
        environment = {**os.environ, "PATH": path, "PART": part, "COMMAND": command}
        said = subprocess.run(["bash", "-e", "-c", job["steps"][-1]["run"]], env=environment, **how)
        first, given = said.stdout.splitlines()
        assert first == command
        played += given.removeprefix("CHAPTERS=").split()
    left_out = {"book/dynamics/realistic.md"} if command == "full" else set()
    assert sorted(played) == sorted({str(p.relative_to(ROOT)) for p in notebooks.chapters()} - left_out)


def test_the_conda_file_makes_the_tested_environment():
    """The tested range of Python; PyTorch and all that pip brings as in constraints.txt."""
    asked = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    (pip,) = [each["pip"] for each in asked if isinstance(each, dict)]
    oldest, newest = set_up.OLDEST, set_up.TESTED
    assert "python >={}.{},<{}.{}".format(*oldest, newest[0], newest[1] + 1) in asked and "pip" in asked
    assert PROJECT["requires-python"] == ">={}.{}".format(*oldest)
    (torch,) = [str(pin.specifier) for pin in CONSTRAINTS if pin.name == "torch"]
    assert f"pytorch {torch.removeprefix('==').rpartition('.')[0]}.*" in asked
    assert pip[0] == "-c constraints.txt"
    extras = set(re.fullmatch(r"-e \.\[([\w,]+)\]", pip[1])[1].split(","))
    assert {"book", "images"} <= extras <= set(PROJECT["optional-dependencies"])
    assert "environment.yml" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("branch", ["main", "launch-notebooks", ""])
def test_no_branch_but_the_notebooks_is_replaced(tmp_path, branch):
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "publish_notebooks"
    script.write_bytes((ROOT / ".ci" / "publish_notebooks").read_bytes())
    (tmp_path / "_config.yml").write_text(f"repository:\n  branch: {branch}\n")
    (tmp_path / "_build" / "notebooks" / "book").mkdir(parents=True)
    done = subprocess.run(["bash", script], capture_output=True, text=True)
    assert done.returncode == 1 and "only 'notebooks' is replaced" in done.stdout, done.stderr
