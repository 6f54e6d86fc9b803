"""The records that ship come out again: of each the cheapest cells, run here, and the hash of the data."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from patch_lab import records
from patch_lab.records.table import flattened
from patch_lab.sweeps import registry, rerun

#: Settings of a cheap cell of each record, and how far a number may be off where rounding takes its course.
CHEAP = [
    ("idealized", dict(part="grid", D=16, q=0.2, diagonal=1.0), 1e-5),
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
    "certified", "deeper-population", "idealized", "lifetime", "shallow-times", "vit_blocks", "vit_steps",
}  # fmt: skip


def test_every_record_says_what_data_it_was_made_from():
    """Drawn data come out again, bit for bit up to three decimals; a source without a hash says why."""
    for name in records.names():
        ours = records.load(name).data
        assert ours["source"] and set(ours) == {"source", "sha256"}, name
        if "drawn" in ours["source"]:
            assert registry()[name].data() == ours, name
        elif ours["sha256"] is None:
            assert name in UNDRAWN
        else:
            assert len(ours["sha256"]) == 64, name


#: Made on a branch that was rebased, or from an installed package: their commits are not in the history. The
#: command that each names makes it again.
ADRIFT = {
    "background-spurious", "certified", "cifar10_study_rates",
    "deeper-parts", "deeper-range", "deeper-simple", "deeper-vit", "lifetime", "reach", "shallow-multinomial",
    "shallow-positions", "shallow-removal", "shallow-samples", "shallow-start", "shallow-variants",
    "transfer-discovery", "transfer-scratch-tuning", "two-theories",
}  # fmt: skip


def test_every_other_record_names_a_commit_of_the_history():
    root = Path(__file__).resolve().parents[2]
    git = ["git", "-C", str(root)]
    if not (root / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not compared: no history here, a download or no git")
    shallow = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        pytest.skip("not compared: a shallow clone, without its history")
    history = set(subprocess.run([*git, "rev-list", "HEAD"], capture_output=True, text=True).stdout.split())
    named = {
        name: records.load(name).provenance["commit"].removesuffix("+changes") for name in records.names()
    }
    lost = {name for name, commit in named.items() if not any(one.startswith(commit) for one in history)}
    assert lost == ADRIFT, "a record that is made again leaves the list; no other joins it"
