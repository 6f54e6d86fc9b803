"""What the world does to long work: ``tools/faults.py [kills chapters disk readonly network two]``, or all.

``kills``     kill -9 at ninety random moments of training, sweeps, records and certification
``chapters``  kill -9 at ten random moments while a chapter is executed
``disk``      files that may not grow, as on a full disk
``readonly``  a checkout that may only be read
``network``   no network
``two``       two builds at once

After each fault nothing is lost that was counted, nothing is half-written, and what is said is a sentence.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kills import (
    ENVIRONMENT,
    PATIENCE_S,
    SOURCE,
    certification,
    chapters,
    copy_of_the_tree,
    records,
    sweeps,
    training,
)

COMMAND = [sys.executable, "-m", "patch_lab"]


def main() -> int:
    """Run the faults that were named; the exit status says whether all was well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
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


FAULTS = {
    "kills": (training, sweeps, records, certification),
    "chapters": (chapters,),
    "disk": (full_disk,),
    "readonly": (read_only,),
    "network": (no_network,),
    "two": (two_builds,),
}

if __name__ == "__main__":
    sys.path.insert(0, str(SOURCE))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
