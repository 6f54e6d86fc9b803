"""What can be read in the workflows: what they may do, whose code they run; all that they call is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
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
            assert job["if"] == "github.ref == 'refs/heads/main'" and "everything" in job["needs"]
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step.get("uses", f"actions/x@{'0' * 40}")), (
                step
            )
            ran = step.get("run", "")
            assert set(re.findall(r"\bmake ([a-z-]+)", ran)) <= TARGETS, ran
            assert "git push" not in ran
            for file in re.findall(r"(?:tools|\.ci)/\w+(?:\.py)?", ran):
                assert (ROOT / file).is_file(), file


@pytest.mark.parametrize("branch", ["main", "launch-notebooks", ""])
def test_no_branch_but_the_notebooks_is_replaced(tmp_path, branch):
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "publish_notebooks"
    script.write_bytes((ROOT / ".ci" / "publish_notebooks").read_bytes())
    (tmp_path / "_config.yml").write_text(f"repository:\n  branch: {branch}\n")
    (tmp_path / "_build" / "notebooks" / "book").mkdir(parents=True)
    done = subprocess.run(["bash", script], capture_output=True, text=True)
    assert done.returncode == 1 and "only 'notebooks' is replaced" in done.stdout, done.stderr
