"""Programs of somebody who brings a law, labels, attention, weights, a sweep or pictures.

Two of them stand on the page `quickstart`, under "Yours"; all run as they stand.
"""

import re
from pathlib import Path

import pytest
from strategies import write_pictures
from test_quickstart import PAGE, PROGRAMS

from patch_lab.cli import main

LAW, NETWORK = re.findall(
    r"^```python\n(.*?)^```", PAGE.read_text("utf-8").partition("\n## Yours\n")[2], re.M | re.S
)

LABELS = """
import patch_association as pa
law = pa.SpatialData(pa.Partition.blocks(4, 4, 2, 2), dim=8, q=0.3)
X, _ = law.sample(500)
y = X[..., 0].sum(dim=1).sign() + (X[..., 0].sum(dim=1) == 0)  # a plain sum
run = pa.descend(pa.Samples(law.partition, X, y), pa.realistic_start(law, [0]), pa.Constant(0.02), steps=20)
print(run)
"""
ATTENTION = """
import torch
import patch_association as pa
mine = torch.nn.MultiheadAttention(8, 2, batch_first=True)
tokens = torch.randn(5, 17, 8)  # a class token and 16 patches
S = mine(tokens, tokens, tokens, average_attn_weights=False)[1][..., 1:, 1:]
print(pa.association(S, pa.Partition.blocks(4, 4, 2, 2)).recall.shape)
"""
SWEEP = """
import numpy as np
from patch_lab.kit.sweeps import Sweep, grid, run_sweep
sweep = Sweep("mine", "roots", grid(k=np.arange(1, 4), power=[0.5, 2]), lambda k, power: k**power)
print(run_sweep(sweep, "roots.json", progress=False).column("value"))
"""


def ran(program, capsys):
    exec(compile(program, "<a program>", "exec"), {"__name__": "__main__"})
    return capsys.readouterr().out


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (LAW, r"EmpiricalRun\(1 seeds, 101 records, step 100: loss 0\.0\d+, test error 0\.?0*\d?,"),
        (LABELS, r"step 20: loss 0\.\d+, test error nan"),
        (ATTENTION, r"\(5, 2\)"),
        (SWEEP, r"\[1\.\s+1\.\s+1\.414\d+\s+4\.\s+1\.732\d+\s+9\.\s*\]"),
    ],
    ids=["law", "labels", "attention", "sweep"],
)
def test_a_program_of_ones_own(program, says, here, capsys):
    assert len(program.strip().splitlines()) <= 25
    said = ran(program, capsys)
    assert re.search(says, said), said


@pytest.mark.slow
def test_train_and_look(here, capsys):
    """A folder of pictures, fewer epochs than the preset's, on again by the folder, and a page at the end."""
    write_pictures(here / "pictures")
    config = ["--set", "dataset=folder", "root=pictures", "image_size=32", "val_size=8", "batch_size=16"]
    assert main(["train", "--preset", "smoke", "--epochs", "1", "--out", "runs/mine", "--quiet", *config,
                 "train_size=40", "test_size=6"]) == 0  # fmt: skip
    assert main(["train", "--resume", "runs/mine", "--quiet"]) == 0
    assert "attention" in NETWORK and "Locality" in ran(NETWORK, capsys)
    assert main(["look", "runs/mine", "--out", "mine.html", "--quiet"]) == 0
    assert "<th>its rows shuffled</th>" in Path("mine.html").read_text(encoding="utf-8")


def test_the_page_names_a_run_that_is_there():
    assert 'load_run("runs/mine")' in NETWORK and 'out="runs/mine"' in PROGRAMS[2][1]
