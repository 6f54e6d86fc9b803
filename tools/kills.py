"""kill -9 at a hundred random moments: what ``tools/faults.py kills`` does, and a copy of the tree.

Moments are counted in steps done; chapters alone are killed after a random time.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
CHAPTER = "book/setting/attention.md"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
PATIENCE_S = 120.0
SEEDS = tuple({"seed": seed} for seed in range(60))


def copy_of_the_tree(folder: Path) -> Path:
    """The files that git tracks."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, names.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "tree" / name)
    return folder / "tree"


def killed(work, steps: int, share: float) -> bool:
    """Fork, let ``work(tell)`` go until it has told ``steps`` times and a share of a step more, and kill it.

    True if it ended before.
    """
    listen, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(listen)
        status = 1
        try:
            work(lambda *_: os.write(tell, b"."))
            status = 0
        finally:
            os._exit(status)
    os.close(tell)
    seen, last, took = 0, time.monotonic(), 0.01
    while seen < steps:
        ready, _, _ = select.select([listen], [], [], PATIENCE_S)
        if not ready or not os.read(listen, 1):
            break
        seen, took, last = seen + 1, time.monotonic() - last, time.monotonic()
    time.sleep(share * took)
    os.kill(child, signal.SIGKILL)
    os.close(listen)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a life ended with an error"
    return not os.WIFSIGNALED(status)


def training(folder: Path, chance: random.Random) -> str:
    """Thirty kills: the same bits in the end as without any."""
    command = [sys.executable, "kill_repeatedly.py", str(folder), "30", str(chance.randint(0, 999))]
    done = subprocess.run(
        command, cwd=ROOT / "tests" / "images", env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-500:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["metrics"] and found["test"] and found["model"] and not found["litter"], found
    assert found["steps"] == sorted(found["steps"]), found["steps"]
    return f"{found['kills']} kills; the last one had {found['steps'][-1]} steps to lose and lost none"


def sweeps(folder: Path, chance: random.Random) -> str:
    """Twenty-five kills of a sweep: every cell that was counted is kept, and the record is the same."""
    from patch_lab.sweeps import Sweep, run_sweep

    def square(seed):
        return {"square": seed**2}

    def measure(seed):
        time.sleep(0.005)
        return square(seed)

    out, kept = folder / "killed.json", [0]
    whole = run_sweep(Sweep("slow", "", SEEDS, square), folder / "whole.json", progress=False)
    for _ in range(25):

        def work(tell):
            def run(seed):
                tell()
                return measure(seed)

            run_sweep(Sweep("slow", "", SEEDS, run), out, resume=True, progress=False)

        killed(work, chance.randint(1, 4), chance.random())
        partial = Path(f"{out}.partial")
        lines = partial.read_bytes().split(b"\n") if partial.exists() else []
        kept.append(60 if out.exists() else max(0, len(lines) - 2))
    last = run_sweep(Sweep("slow", "", SEEDS, square), out, resume=True, progress=False)
    assert kept == sorted(kept), kept
    assert last.results == whole.results, "the results differ"
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["killed.json", "whole.json"], left
    return f"25 kills, {kept[-1]} of 60 cells kept by then; the record is that of a sweep nobody stopped"


def records(folder: Path, chance: random.Random) -> str:
    """Twenty kills while a record is written over and over: it is the old one or the new one."""
    from patch_lab.records import Record, read

    path = folder / "record.json"

    def record(number):
        return Record("demo", "make it", {}, [{"number": number, "long": list(range(20_000))}])

    record(-1).save(path)
    for _ in range(20):

        def work(tell):
            for number in range(1000):
                record(number).save(path)
                tell()

        killed(work, chance.randint(0, 5), chance.random())
        assert len(read(path)[0]["long"]) == 20_000
    record(0).save(path)
    left = [p.name for p in folder.iterdir()]
    assert left == ["record.json"], left
    return "20 kills; whole each time, and nothing left beside it"


def certification(folder: Path, chance: random.Random) -> str:
    """Fifteen kills of a cover with checkpoints: the same boxes as without any."""
    from fractions import Fraction

    from patch_lab.certify.cover import Inequality, cover
    from patch_lab.certify.law import atoms
    from patch_lab.certify.rounded import RoundedField

    field = RoundedField(atoms(6, 2, "2/5"), 1, Fraction(1, 10))
    problem = Inequality("towards", "rho", 1, (0.05, 0.1), (0.3, 0.6), (0.3, 0.6))
    whole, path, ended = cover(problem, field), folder / "cover.json", 0
    for _ in range(15):
        ended += killed(
            lambda tell: cover(problem, field, checkpoint=path, every=0.0, tell=tell),
            chance.randint(0, 3), chance.random(),
        )  # fmt: skip
        assert not path.exists() or json.loads(path.read_text()), "the checkpoint is half-written"
    again = cover(problem, field, checkpoint=path, every=0.0)
    assert (again.boxes, again.least) == (whole.boxes, whole.least), "another cover"
    assert list(folder.iterdir()) == [], sorted(p.name for p in folder.iterdir())
    return f"15 kills ({ended} came after the end); {whole.boxes} boxes, as without"


def chapters(folder: Path, chance: random.Random) -> str:
    """Ten kills while a chapter is executed: its files are the old ones or whole new ones."""
    tree = copy_of_the_tree(folder)
    execute = [sys.executable, "tools/execute.py", "--allow-slow", CHAPTER]
    environment = ENVIRONMENT | {"PYTHONPATH": str(tree / "src")}

    def files():
        names = [*(tree / "book/setting").iterdir(), *tree.glob("src/*/ledger/evidence/setting/*")]
        return {path.name: path.read_bytes() for path in names if path.is_file()}

    started = time.monotonic()
    done = subprocess.run(execute, cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    length, whole = time.monotonic() - started, files()
    for _ in range(10):
        life = subprocess.Popen(execute, cwd=tree, env=environment, stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, length))
        life.kill()
        life.wait()
        now = files()
        changed = [name for name in whole if now.get(name) != whole[name]]
        assert not changed, f"{changed} differ after a kill"
    subprocess.run(execute, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert files() == whole, sorted(set(files()) ^ set(whole)) or "another notebook or other evidence"
    return "10 kills; notebook and evidence as before, to the byte"
