"""Several processes that train together agree with one."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from two_processes import CONFIG

import patch_association
from patch_lab.images.training.run import train

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
# One thread for each process: with more, small matrix products are summed in another order.
PACKAGE = Path(patch_association.__file__).parents[1]  # the tested tree, wherever a subprocess starts
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE)}


def test_two_processes_give_the_loss_curve_of_one(tmp_path):
    """torchrun with two gloo processes, stopped after an epoch and resumed, against one process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={port}",
         "two_processes.py", str(tmp_path)],
        cwd=HERE, env=ENVIRONMENT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('{"finished": true}') == 2
    record = json.loads((tmp_path / "record.json").read_text())
    one = train(CONFIG, progress=False).record
    assert record["provenance"]["processes"] == 2 and len(record["metrics"]) == 2
    for two_row, row in zip(record["metrics"], one["metrics"]):
        assert two_row == pytest.approx(row, rel=1e-5)
    assert record["test"] == pytest.approx(one["test"], rel=1e-5)
    assert one["metrics"][1]["train_loss"] < one["metrics"][0]["train_loss"] - 0.01  # a curve, not a line
