"""The six programs of the page `quickstart`: as they stand, from the wheel, in an empty folder, none long."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from patch_association.images.training import TrainConfig, train

PAGE = Path(__file__).resolve().parents[2] / "book" / "quickstart.md"
PROGRAMS = re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
SAYS = ["recall", "a plain sum errs", "looks like", "Locality", "", "gap"]


def pictures(root: Path) -> None:
    """Two classes, one bright and one dark, of odd sizes."""
    rng = np.random.default_rng(0)
    for split, count in (("train", 20), ("test", 3)):
        for name, light in (("day", 200), ("night", 40)):
            folder = root / split / name
            folder.mkdir(parents=True)
            for k in range(count):
                pixels = np.clip(rng.normal(light, 20, size=(40 + k, 50, 3)), 0, 255).astype(np.uint8)
                Image.fromarray(pixels).save(folder / f"{k}.png")


def test_there_are_six():
    assert len(PROGRAMS) == 6


@pytest.mark.parametrize(("title", "program", "says"), [(*p, s) for p, s in zip(PROGRAMS, SAYS)])
def test_each_runs_as_it_stands(title, program, says, tmp_path, wheel):
    statements = [
        line for line in program.splitlines() if line.strip() and not line.startswith(("from", "import"))
    ]
    assert len(statements) <= 15, title
    pictures(tmp_path / "pictures")
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(wheel)},
    )
    assert done.returncode == 0, done.stderr
    assert says in done.stdout, done.stdout


def test_predictions_are_those_of_the_test(tmp_path):
    pictures(tmp_path)
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
