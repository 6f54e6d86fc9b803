"""The programs of the page `quickstart`: as they stand, from the wheel, in one folder, none long."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from strategies import write_pictures

from patch_lab.images.training import TrainConfig, train

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "book" / "quickstart.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
#: What each of them prints, the last two of what a reader brings.
SAYS = [
    "recall", "that of a plain sum", "looks like", "Locality", "gap",
    "EmpiricalRun(1 seeds, 101 records, step 100: loss 0.0", "Locality",
]  # fmt: skip


def run_it(program: str, folder: Path, wheel: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(wheel)}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


def test_each_runs_as_it_stands(tmp_path, wheel):
    """In the order of the page and in one folder: the fourth looks at what the third has trained."""
    write_pictures(tmp_path / "pictures")
    for program, says in zip(PROGRAMS, SAYS, strict=True):
        done = run_it(program, tmp_path, wheel)
        assert done.returncode == 0, f"{program}: {done.stderr}"
        assert says in done.stdout, f"{program}: {done.stdout}"


def test_predictions_are_those_of_the_test(tmp_path):
    write_pictures(tmp_path)
    config = TrainConfig(dataset="folder", root=str(tmp_path), image_size=32, vit="reader", val_size=4,
                         epochs=8, batch_size=12, warmup_epochs=0, workers=0, threads=1)  # fmt: skip
    run = train(config, progress=False)
    files = sorted((tmp_path / "test").glob("*/*"))
    named = run.predict(files)
    right = np.mean([path.parent.name == name for path, name in zip(files, named)])
    assert right == pytest.approx(run.record["test"]["accuracy"])
    assert run.predict([]) == []
    with pytest.raises(ValueError, match=r"uint8 of shape \(n, 3, 32, 32\), got torch.float32"):
        run.predict(torch.rand(1, 3, 32, 32))
    (tmp_path / "no.png").write_text("no picture")
    with pytest.raises(ValueError, match=r"no.png is not a whole picture"):
        run.predict([tmp_path / "no.png"])
