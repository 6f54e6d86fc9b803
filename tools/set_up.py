"""Make the virtual environment .venv and install the package with all that the book and tests need.

Run by whatever `python3` the machine has, before anything is installed: only the standard library is
used. The environment is stamped with what it was made from, so that the next call returns at once when
nothing changed.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON, STAMP, LOG = VENV / "bin" / "python", VENV / "set-up.json", VENV / "set-up.log"
OLDEST, NEWEST = (3, 10), (3, 13)
NEEDED_GB = 3  # PyTorch for the CPU and the rest take 1.5 GB, downloads and unpacking as much again
CUDA_GB = 9  # PyPI's PyTorch for Linux brings CUDA: 5.5 GB, and its downloads
CPU_ONLY = "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
EXTRAS = ".[book,test,images,parallel,vision,compare,lint]"

#: What venv or pip says, and what to do about it; the first that fits is told. The network comes before the
#: versions: without one pip ends with "No matching distribution" all the same.
ADVICE = (
    (
        "ensurepip|No module named venv",
        "Python's venv module is not complete here. On Debian or Ubuntu install it with: "
        "sudo apt-get install python3-venv (for another version, python3.12-venv and so on).",
    ),
    (
        "No space left|Errno 28",
        f"the disk is full. Free some space ({NEEDED_GB} GB, or {CUDA_GB} GB where pip brings PyTorch "
        "with CUDA; "
        f"{CPU_ONLY} asks for the smaller build) and run the command again.",
    ),
    (
        "NewConnectionError|name resolution|Timeout|ProxyError|unreachable|refused|Max "
        "retries|SSLError|aborted",
        "pip could not reach the package index. Check the network (and HTTPS_PROXY), and run the "
        "command again.",
    ),
    (
        "ResolutionImpossible|No matching distribution",
        "pip found no set of versions for this machine within constraints.txt (the log's last lines name the "
        "package). Try another Python: make book PYTHON=python3.12",
    ),
    ("Permission denied", f"pip may not write to {VENV}. Run the command as the owner of that folder."),
)


class CannotSetUp(Exception):
    """A sentence for the reader: what is wrong, and what to do about it."""


def main():
    """Bring .venv up to date; the exit status."""
    try:
        check_python(sys.version_info)
        if not finished():
            with alone():
                if not finished():  # another set-up of this clone may just have done it
                    check_disk()
                    make_environment()
                    install()
    except CannotSetUp as error:
        print(f"Set-up failed: {error}", file=sys.stderr)
        return 1
    except OSError as error:  # a folder that may only be read, a disk that is full
        print(f"Set-up failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up stopped; the same command begins it again.", file=sys.stderr)
        return 130
    return 0


def finished():
    """Whether .venv is there and was made from what there is now."""
    return stamp() == wanted() and PYTHON.exists()


@contextmanager
def alone(what="set-up"):
    """Let one set-up (or build) at a time work in this clone: others wait. A lock goes with its process."""
    if fcntl is None:  # Windows has no such locks, and no make either
        yield
        return
    with (ROOT / f".{what}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another {what} works in this folder; waiting for it ...", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def check_python(version):
    """Refuse a Python that the package does not support, and say how to name another one."""
    if not OLDEST <= tuple(version[:2]) <= NEWEST:
        raise CannotSetUp(
            "this is Python {}.{}, and the book needs Python {}.{} to {}.{}. Install one of them, or "
            "name one "
            "that is there: make book PYTHON=python3.12".format(*version[:2], *OLDEST, *NEWEST)
        )


def wanted():
    """What the environment is made from: its place, the Python, the requirements and the tested versions."""
    files = b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt"))
    digest = hashlib.sha256(files).hexdigest()
    return {"root": str(ROOT), "python": "{}.{}".format(*sys.version_info), "requirements": digest}


def stamp():
    """What .venv was made from; nothing where it was never finished."""
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}


def check_disk():
    """Stop before a long download if it cannot fit; warn if it fits only without CUDA."""
    for place in (ROOT, tempfile.gettempdir()):
        free = shutil.disk_usage(place).free / 1e9
        if free < NEEDED_GB:
            raise CannotSetUp(
                f"{free:.1f} GB are free in {place}, and the set-up needs about {NEEDED_GB} GB. Free "
                "some space, or "
                "set TMPDIR to a larger disk if it is the temporary folder that is full."
            )
        if free < CUDA_GB and sys.platform.startswith("linux"):
            print(
                f"Only {free:.1f} GB are free in {place}: PyTorch with CUDA needs {CUDA_GB}; "
                f"{CPU_ONLY} avoids it."
            )


def make_environment():
    """Make .venv, unless a finished one of this place and Python is there; its packages are then updated."""
    if PYTHON.exists() and all(stamp().get(key) == wanted()[key] for key in ("root", "python")):
        return
    print("Making the virtual environment .venv with Python {}.{} ...".format(*sys.version_info), flush=True)
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        raise CannotSetUp(explain(made.stdout.decode("utf-8", "replace")))


def install():
    """Install with pip; its output goes to a log, whose last line is shown every ten seconds."""
    print(
        f"Installing the package and what it needs (minutes the first time; {LOG} tells all) ...", flush=True
    )
    options = ["--progress-bar", "off", "--disable-pip-version-check", "-c", "constraints.txt", "-e", EXTRAS]
    STAMP.unlink(missing_ok=True)  # unfinished from here on
    start = time.time()
    with LOG.open("wb") as log:
        process = subprocess.Popen(
            [str(PYTHON), "-m", "pip", "install", *options], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            while process.poll() is None:
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    print(f"  {time.time() - start:3.0f} s  {last_lines(1).strip()[:90]}", flush=True)
        finally:
            process.terminate()
    if process.returncode:
        print(last_lines(12))
        raise CannotSetUp(explain(last_lines(200)))
    STAMP.write_text(json.dumps(wanted()))
    print(f"Set-up done in {time.time() - start:.0f} s.")


def last_lines(count):
    """The end of the log."""
    return "\n".join(LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])


def explain(output):
    """Why venv or pip failed, in a sentence that says what to do."""
    for pattern, advice in ADVICE:
        if re.search(pattern, output):
            return advice
    return f"{(output.strip().splitlines() or ['it said nothing'])[-1]} (the whole output may be in {LOG})"


if __name__ == "__main__":
    sys.exit(main())
