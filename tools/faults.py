"""What the world does to long work: ``tools/faults.py [kills disk readonly network two]``, by default all.

``kills``     kill -9 at a hundred random moments of training, sweeps, records, certification and chapters
``disk``      files that may not grow, as on a full disk
``readonly``  a checkout that may only be read
``network``   no network
``two``       two builds at once

After each fault nothing is lost that was counted, nothing is half-written, and what is said is a sentence.
Moments are counted in steps done, from a seed; chapters alone are killed after a random time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
CHAPTER = "book/setting/linear_models.md"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
COMMAND = [sys.executable, "-m", "patch_association"]
PATIENCE_S = 120.0
SEEDS = tuple({"seed": seed} for seed in range(60))


def main() -> int:
    """Run the faults that were named; the exit status says whether all was well."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join(FAULTS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if unknown := set(arguments.faults) - set(FAULTS):
        parser.error(f"no such fault: {', '.join(sorted(unknown))}; there are {', '.join(FAULTS)}")
    failed = []
    for name in arguments.faults or FAULTS:
        for check in FAULTS[name]:
            start = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="faults-") as folder:
                try:
                    said = check(Path(folder), random.Random(arguments.seed))
                except AssertionError as error:
                    said = f"FAILED: {error}"
                    failed.append(check.__name__)
            print(f"{name:<9} {check.__name__:<24} {time.monotonic() - start:5.0f} s  {said}", flush=True)
    print(f"Faults FAILED: {', '.join(failed)}" if failed else "Every fault was survived.")
    return 1 if failed else 0


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
    from patch_association.sweeps import Sweep, run_sweep

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
    from patch_association.records import Record, read

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

    from patch_association.certify.cover import Inequality, cover
    from patch_association.certify.law import atoms
    from patch_association.certify.rounded import RoundedField

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
    execute = [sys.executable, "tools/execute.py", CHAPTER]
    environment = ENVIRONMENT | {"PYTHONPATH": str(tree / "src")}

    def files():
        names = [*(tree / "book/setting").iterdir(), *tree.glob("src/*/claims/evidence/setting/*")]
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


def full_disk(folder: Path, chance: random.Random) -> str:
    """No file may grow beyond 2 kB: training, a sweep, a record."""

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    smoke = ["train", "--preset", "smoke", "--out", "run", "--quiet", "--set", "epochs=1"]
    said = []
    sweep = ["sweep", "limits", "--out", "limits.json", "--quiet"]
    for words in ([*smoke, "train_size=300", "checkpoint_seconds=0"], sweep):
        done = subprocess.run(
            [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, preexec_fn=small_files,
            capture_output=True, text=True,
        )  # fmt: skip
        said.append(one_line(done, 2))
    assert not list(folder.rglob(".*.tmp")), "half-written files are left"
    return " | ".join(said)


def read_only(folder: Path, chance: random.Random) -> str:
    """Commands in a tree that may only be read: what reads works, what writes says so."""
    tree = copy_of_the_tree(folder)
    for path in (*tree.rglob("*"), tree):
        path.chmod(0o555 if path.is_dir() else 0o444)
    # Root may write everywhere, unless it gives up what lets it.
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []
    environment = ENVIRONMENT | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words):
        return subprocess.run([*drop, *words], cwd=tree, env=environment, capture_output=True, text=True)

    try:
        assert run(*COMMAND, "claims", "--json").returncode == 0, "the ledger cannot be read"
        said = [
            one_line(run(*COMMAND, "train", "--preset", "smoke", "--out", "run", "--quiet"), 2),
            one_line(run(*COMMAND, "sweep", "limits", "--quiet", "--out", "limits.json"), 2),
            one_line(run(sys.executable, "tools/set_up.py"), 1),
            one_line(run(sys.executable, "tools/build_book.py"), 1),
        ]
    finally:
        for path in (tree, *tree.rglob("*")):
            path.chmod(0o755)
    return " | ".join(said)


def no_network(folder: Path, chance: random.Random) -> str:
    """Every address leads nowhere: what is here works, a download says which and why."""
    closed = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")

    def run(*words):
        return subprocess.run(
            [*COMMAND, *words], cwd=folder, env=ENVIRONMENT | closed, capture_output=True, text=True
        )

    assert run("claims").returncode == 0 and run("certify", "--list").returncode == 0
    quick = ("epochs=1", "train_size=300", "test_size=100")
    done = run("train", "--preset", "smoke", "--out", "a", "--quiet", "--set", *quick)
    assert done.returncode == 0, done.stderr
    words = ("train", "--preset", "cifar10", "--out", "b", "--quiet", "--set", "download=true")
    said = one_line(run(*words, f"root={folder / 'data'}"), 2)
    assert not list((folder / "data").iterdir()), "a part of a download is left"
    return said


BUILD = """
import subprocess, sys, time
sys.path.insert(0, "tools")
import build_book

def build(command, **options):
    with open(sys.argv[1], "a") as file:
        file.write("begun ")
        file.flush()
        time.sleep(1)
        file.write("ended ")
    return subprocess.CompletedProcess(command, 0)

build_book.subprocess.run = build
sys.exit(build_book.main())
"""


def two_builds(folder: Path, chance: random.Random) -> str:
    """The second build waits until the first has ended."""
    tree, log = copy_of_the_tree(folder), folder / "log"
    command = [sys.executable, "-c", BUILD, str(log)]
    both = [subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = "".join(process.communicate(timeout=PATIENCE_S)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert log.read_text() == "begun ended begun ended ", log.read_text()
    return next(line for line in said.splitlines() if line.startswith("Another"))


def one_line(done, status: int) -> str:
    """What a command said when it refused: one line, and this exit status."""
    lines = done.stderr.strip().splitlines()
    assert done.returncode == status and len(lines) == 1, (
        f"{done.args}: {done.returncode}, {done.stderr[-800:]}"
    )
    return lines[0]


def copy_of_the_tree(folder: Path) -> Path:
    """The files that git tracks."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, names.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "tree" / name)
    return folder / "tree"


FAULTS = {
    "kills": (training, sweeps, records, certification, chapters),
    "disk": (full_disk,),
    "readonly": (read_only,),
    "network": (no_network,),
    "two": (two_builds,),
}

if __name__ == "__main__":
    sys.path.insert(0, str(SOURCE))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
