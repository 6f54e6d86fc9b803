"""The five programs of the page `quickstart`: as they stand, from the wheel, in one folder, none long."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from strategies import write_pictures

from patch_association.images.locality import encoding_locality
from patch_association.images.pretrained import encodings_of
from patch_lab.images.training import TrainConfig, load_run, train

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "book" / "quickstart.md"
FIVE = PAGE.read_text("utf-8").partition("\n## Yours\n")[0]  # what a reader brings is tested in `test_yours`
PROGRAMS = re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```", FIVE, re.M | re.S)
SAYS = ["recall", "that of a plain sum", "looks like", "Locality", "gap"]


def run_it(program: str, folder: Path, wheel: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(wheel)}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


def test_each_runs_as_it_stands(tmp_path, wheel):
    """In the order of the page and in one folder: the fourth looks at what the third has trained."""
    write_pictures(tmp_path / "pictures")
    for (title, program), says in zip(PROGRAMS, SAYS, strict=True):
        done = run_it(program, tmp_path, wheel)
        assert done.returncode == 0, f"{title}: {done.stderr}"
        assert says in done.stdout, f"{title}: {done.stdout}"


def test_the_fourth_looks_at_the_model_that_the_third_has_trained(tmp_path, wheel):
    (_, trains), (_, looks) = PROGRAMS[2:4]
    missing = run_it(looks, tmp_path, wheel)
    assert missing.returncode and "holds no training run" in missing.stderr
    write_pictures(tmp_path / "pictures")
    assert run_it(trains, tmp_path, wheel).returncode == 0
    learned = load_run(tmp_path / "runs" / "mine").model
    assert run_it(looks, tmp_path, wheel).stdout.endswith(f"{encoding_locality(encodings_of(learned))}\n")


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
