"""Sweeps stopped from outside, by signals and by kill -9, resumed as if nothing had happened."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_sweeps import kept, run_quietly, sweep

import patch_association
from patch_lab.kit.records import read

# --- stopped from outside ------------------------------------------------------------------------------

pytestmark = pytest.mark.slow

PACKAGE = Path(patch_association.__file__).parents[1]
SEEDS = tuple({"seed": seed} for seed in range(12))
STOPPED = """
import os, signal, sys, time
from pathlib import Path
from patch_lab import cli
from patch_lab.kit import sweeps

WHAT, NUMBER, MAIN = int(sys.argv[1]), int(sys.argv[2]), os.getpid()

def measure(seed):
    Path(f"worker-{os.getpid()}").touch()
    if seed == NUMBER:
        os.kill(MAIN, WHAT)
        while Path(f"/proc/{MAIN}").exists():  # until it has ended, or has ended us
            time.sleep(0.01)
    return {"square": seed**2}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, where the tests run in the background
    entry = sweeps.Sweep("slow", "", tuple({"seed": seed} for seed in range(12)), measure)
    sweeps.registry = lambda: {"slow": entry}
    sys.exit(cli.main(["sweep", "slow", "--out", "slow.json", "--quiet", *sys.argv[3:]]))
"""


def square(seed):
    return {"square": seed**2}


def stopped(folder, what, number, *options):
    """Run a sweep of twelve cells in which cell ``number`` sends the signal ``what`` to its sweep."""
    (folder / "stopped.py").write_text(STOPPED)
    command = [sys.executable, "stopped.py", str(int(what)), str(number), *options]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def resumed(folder):
    """The results after the sweep of :func:`stopped` has gone on to its end; nothing else may lie there."""
    record = run_quietly(sweep(square, SEEDS, "slow"), folder / "slow.json", resume=True)
    left = {p.name for p in folder.iterdir() if not p.name.startswith("worker-")}
    assert left - {"stopped.py"} == {"slow.json"} and read(folder / "slow.json") == record
    return record.results


@pytest.mark.parametrize(
    ("what", "status", "number", "jobs"),
    [(signal.SIGINT, 130, 5, "1"), (signal.SIGTERM, 143, 0, "1"), (signal.SIGTERM, 143, 5, "2")],
)
def test_ctrl_c_and_sigterm_keep_the_finished_cells_and_say_how_many(tmp_path, what, status, number, jobs):
    done = stopped(tmp_path, what, number, "--jobs", jobs)
    assert done.returncode == status, done.stderr
    cells = [cell["seed"] for cell in kept(tmp_path / "slow.json")] if number else []
    assert number not in cells and (jobs == "2" or cells == list(range(number)))
    said = f"stopped; {len(cells)} of 12 cells are kept in slow.json.partial, and --resume goes on"
    nothing = "stopped; no cell was finished, so that there is nothing to resume"
    assert done.stderr == f"patch-association: {said if cells else nothing}\n"
    assert (tmp_path / "slow.json.partial").exists() == bool(cells)
    assert not any(running(int(p.name.split("-")[1])) for p in tmp_path.glob("worker-*"))
    assert resumed(tmp_path) == [{"seed": seed, "square": seed**2} for seed in range(12)]


def running(process):
    """Whether a process still runs (one that ended and was not fetched does not)."""
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def test_killed_outright_in_one_cell_after_the_other_and_resumed(tmp_path):
    """SIGKILL in every cell of twelve: each life goes on where the last one ended, and nothing is left."""

    def killed(seed):
        if seed == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"square": seed**2}

    for number in range(12):
        life = os.fork()
        if life == 0:
            run_quietly(sweep(killed, SEEDS, "slow"), tmp_path / "slow.json", resume=True)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(life, 0)[1]) == -signal.SIGKILL
        assert [cell["seed"] for cell in kept(tmp_path / "slow.json")] == list(range(number))
    assert resumed(tmp_path) == [{"seed": seed, "square": seed**2} for seed in range(12)]
