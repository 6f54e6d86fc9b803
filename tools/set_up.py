"""Make the virtual environment .venv and install the package with all that the book and tests need.

Run by whatever `python3` the machine has: venv makes the environment, pip brings uv into it, and uv installs
the rest; where uv cannot be had, or does not find what pip is set up to find, pip does it all. Where that
Python is too old, or so new that packages are missing for it, uv brings another one. What was made is written
down, so that the next call returns at once while all of it is there.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = ROOT / ".set-up.log"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "set-up.json"
#: A newer Python than the newest that was tested is tried all the same.
OLDEST = (3, 10)
TESTED = (3, 14)
UV = "uv==0.13.9"
NEEDED_GB = 3  # 9 where PyTorch brings CUDA, as PyPI's does on Linux
EXTRAS = ".[book,test,images,parallel,vision,compare,lint]"
#: What uv reads where only pip's variable is set.
SAME_AS = {
    "UV_FIND_LINKS": "PIP_FIND_LINKS",
    "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
    "UV_INDEX": "PIP_EXTRA_INDEX_URL",
    "SSL_CERT_FILE": "PIP_CERT",
}
#: What venv, uv or pip say, and what to do about it; the first that fits is told. The network comes before
#: the versions: without one pip ends with "No matching distribution" all the same.
ADVICE = {
    "ensurepip|No module named venv": "Python's venv module is not complete here. On Debian or Ubuntu "
    "install it with: sudo apt-get install python3-venv (for another version, python3.12-venv and so on).",
    "No space left|Errno 28": f"the disk is full. Free some space ({NEEDED_GB} GB, or 9 GB with CUDA; "
    "UV_TORCH_BACKEND=cpu asks for the smaller PyTorch) and run the command again.",
    "NewConnectionError|name resolution|Timeout|ProxyError|unreachable|refused|Max retries|SSLError|aborted|"
    "dns error|error sending request": "the package index could not be reached. Check the network (and "
    "HTTPS_PROXY), and run the command again.",
    "ResolutionImpossible|No matching distribution|No solution found|Failed to build": "no set of versions "
    "for this machine lies within constraints.txt (the log's last lines name the package). Try another "
    "Python: make book PYTHON=python3.12",
    "Permission denied|Read-only": f"{ROOT} may not be written to. Run the command as the owner of that "
    "folder, or copy it to one that you may write to.",
}  # fmt: skip


class CannotSetUp(Exception):
    """A sentence for the reader: what is wrong, and what to do about it."""


def main():
    """Bring .venv up to date; the exit status."""
    try:
        if not finished():
            with alone() as lock:
                if not finished():  # another set-up of this clone may just have done it
                    check_disk()
                    install(lock)
    except CannotSetUp as error:
        print(f"Set-up failed: {error}", file=sys.stderr)
        return 1
    except OSError as error:  # a folder that may only be read, a disk that is full
        print(f"Set-up failed: {explain(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up stopped; the same command begins it again.", file=sys.stderr)
        return 130
    return 0


def finished(*keys):
    """Whether .venv was made from what there is now (or from these of it), and all installed is there."""
    try:
        made = json.loads(STAMP.read_text())
        same = all(made.get(key) == value for key, value in wanted().items() if not keys or key in keys)
        return same and PYTHON.exists() and set(made["installed"]) <= set(installed())
    except (OSError, ValueError, KeyError):
        return False


@contextmanager
def alone(what="set-up"):
    """Let one set-up (or build) at a time work in this clone; its lock lives as long as its commands."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `run` ends its command
    with (ROOT / f".{what}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another {what} works in this folder; waiting for it ...", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield file
        finally:
            signal.signal(signal.SIGTERM, before)


def run(command, lock, log=None):
    """Run a command that holds the lock as long as it lives; its exit status. Whoever ends this ends it."""
    start = time.time()
    process = subprocess.Popen(
        list(map(str, command)), cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=log,
        stderr=log and subprocess.STDOUT, pass_fds=[lock.fileno()], start_new_session=True,
    )  # fmt: skip
    try:
        while process.poll() is None:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                if log:
                    print(f"  {time.time() - start:3.0f} s  {last_lines(1).strip()[:90]}", flush=True)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode


def environment():
    """The variables of this process, and for uv what pip was told."""
    uv = {ours: os.environ[pips] for ours, pips in SAME_AS.items() if os.environ.get(pips)}
    uv = {key: ",".join(text.split()) if key == "UV_FIND_LINKS" else text for key, text in uv.items()}
    if "UV_INDEX" in uv:
        uv["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # as pip: the best version, whichever index has it
    return {**uv, **os.environ}


def check_disk():
    """Stop before a long download if it cannot fit."""
    for place in (ROOT, tempfile.gettempdir()):
        free = shutil.disk_usage(place).free / 1e9
        if free < NEEDED_GB:
            raise CannotSetUp(
                f"{free:.1f} GB are free in {place}, and the set-up needs about {NEEDED_GB} GB. Free some "
                "space, or set TMPDIR to a larger disk if it is the temporary folder that is full."
            )


def wanted():
    """What the environment is made from: its place, the Python, the requirements and the tested versions."""
    files = b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt"))
    python = "{}.{}".format(*sys.version_info)
    return {"root": str(ROOT), "python": python, "requirements": hashlib.sha256(files).hexdigest()}


def installed():
    """Packages and their records in the environment, without versions."""
    names = {path.name for path in VENV.glob("lib/python*/site-packages/*")}
    return sorted({re.sub(r"-.*\.dist-info$", ".dist-info", name) for name in names - {"__pycache__"}})


def install(lock):
    """Make .venv, unless a whole one of this place and Python is there to be updated, and install into it."""
    start = time.time()
    here = sys.version_info[:2]
    with LOG.open("wb") as log:
        if here < OLDEST:
            bring_python("too old", lock, log)
        elif not finished("root", "python"):
            print("Making the virtual environment .venv with Python {}.{} ...".format(*here), flush=True)
            if run([sys.executable, "-m", "venv", "--clear", VENV], lock, log):
                shutil.rmtree(VENV, ignore_errors=True)
                raise CannotSetUp(explain(last_lines(200)))
        print(f"Installing the package and what it needs ({LOG} tells all) ...", flush=True)
        STAMP.unlink(missing_ok=True)  # unfinished from here on
        if failed := fill(lock, log):
            if here <= TESTED or "package index" in explain(last_lines(200)):
                print(last_lines(12))
                raise CannotSetUp(explain(last_lines(200)))
            bring_python("so new that packages are missing for it", lock, log)
            failed = fill(lock, log)
        if failed:
            print(last_lines(12))
            raise CannotSetUp(explain(last_lines(200)))
    STAMP.write_text(json.dumps({**wanted(), "installed": installed()}))
    print(f"Set-up done in {time.time() - start:.0f} s.")


def fill(lock, log):
    """Install everything into .venv; non-zero if neither uv nor pip could."""
    what = ["-c", "constraints.txt", "-e", EXTRAS]
    pip, uv = ([PYTHON, "-m", *words, "install"] for words in (["pip"], ["uv", "pip"]))
    if run([*pip, "-q", UV], lock, log) or run([*uv, "--python", PYTHON, *what], lock, log):
        return run([*pip, "-q", *what], lock, log)
    return 0


def bring_python(why, lock, log):
    """Make .venv with a Python that uv finds here, or fetches."""
    span = "{}.{} to {}.{}".format(*OLDEST, *TESTED)
    print("This is Python {}.{}, {}; uv looks for another ...".format(*sys.version_info[:2], why), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        uv = shutil.which("uv")
        wanted_ = ">={}.{},<{}.{}".format(*OLDEST, TESTED[0], TESTED[1] + 1)
        failed = 0
        if uv is None:
            other = Path(folder) / "bin" / "python"
            failed = run([sys.executable, "-m", "venv", folder], lock, log)
            failed = failed or run([other, "-m", "pip", "install", "-q", UV], lock, log)
            uv = Path(folder) / "bin" / "uv"
        if failed or run([uv, "venv", "--clear", "--seed", "--python", wanted_, VENV], lock, log):
            raise CannotSetUp(
                "this is Python {}.{}, and the book needs one of Python {}; uv could not bring it ({}). "
                "Install one of them, or name one that is there: make book PYTHON=python3.12".format(
                    *sys.version_info[:2], span, last_lines(1).strip()[:120]
                )
            )


def last_lines(count):
    """The last lines of the log, for a failure's message."""
    return "\n".join(LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])


def explain(output):
    """Why venv, uv or pip failed, in a sentence that says what to do."""
    for pattern, advice in ADVICE.items():
        if re.search(pattern, output):
            return advice
    return f"{(output.strip().splitlines() or ['it said nothing'])[-1]} (the whole output may be in {LOG})"


if __name__ == "__main__":
    sys.exit(main())
