"""Make the virtual environment .venv and install the package with all that the book and tests need.

Run by whatever `python3` the machine has, before anything is installed: only the standard library is
used, and the syntax is old enough for a Python that is too old to be told so. The environment is
stamped with what it was made from, so that the next call returns at once when nothing changed.
"""

from __future__ import print_function

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, "set-up.json")
LOG = os.path.join(VENV, "set-up.log")
OLDEST, NEWEST = (3, 10), (3, 13)
NEEDED_GB = 3  # PyTorch for the CPU and the rest take 1.5 GB, downloads and unpacking as much again
CUDA_GB = 9  # PyPI's PyTorch for Linux brings CUDA: 5.5 GB, and its downloads
CPU_ONLY = "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
EXTRAS = ".[book,test,images,parallel,vision,compare,lint]"


class CannotSetUp(Exception):
    """A sentence for the reader: what is wrong, and what to do about it."""


def main():
    """Bring .venv up to date; the exit status."""
    try:
        check_python(sys.version_info)
        if up_to_date():
            return 0
        check_disk()
        make_environment()
        install()
    except CannotSetUp as error:
        print("Set-up failed: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up stopped; the same command goes on with it.", file=sys.stderr)
        return 130
    return 0


def check_python(version):
    """Refuse a Python that the package does not support, and say how to name another one."""
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        return
    raise CannotSetUp(
        "this is Python %d.%d, and the book needs Python %d.%d to %d.%d. Install one of them, or name one "
        "that is there: make book PYTHON=python3.12" % (tuple(version[:2]) + OLDEST + NEWEST)
    )


def wanted():
    """What the environment is made from: its place, the Python, the requirements and the tested versions."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return {"root": ROOT, "python": "%d.%d" % sys.version_info[:2], "requirements": digest.hexdigest()}


def up_to_date():
    """Whether .venv was finished from just this."""
    return read_stamp() == wanted() and os.path.exists(venv_python())


def read_stamp():
    """What .venv was made from, or None when it was never finished."""
    try:
        with open(STAMP) as file:
            return json.load(file)
    except (IOError, OSError, ValueError):
        return None


def venv_python():
    """The environment's own Python."""
    return os.path.join(VENV, "bin", "python")


def check_disk():
    """Stop before a long download if it cannot fit; warn if it fits only without CUDA."""
    for place in (ROOT, tempfile.gettempdir()):
        free = shutil.disk_usage(place).free / 1e9
        if free < NEEDED_GB:
            raise CannotSetUp(
                "%.1f GB are free in %s, and the set-up needs about %d GB. Free some space, or set TMPDIR to a "
                "larger disk if it is the temporary folder that is full." % (free, place, NEEDED_GB)
            )
        if free < CUDA_GB and sys.platform.startswith("linux"):
            print(
                "Only %.1f GB are free in %s. If pip brings PyTorch with CUDA it needs %d GB; for the smaller "
                "build set %s" % (free, place, CUDA_GB, CPU_ONLY)
            )


def make_environment():
    """Make .venv, anew if it was made elsewhere, by another Python, or was not finished."""
    stamp = read_stamp() or {}
    if os.path.isdir(VENV):
        same = all(stamp.get(key, wanted()[key]) == wanted()[key] for key in ("root", "python"))
        if same and works():
            return
        print("Making .venv again: it is broken, was moved, or belongs to another Python ...")
        sys.stdout.flush()
    else:
        print("Making the virtual environment .venv with Python %d.%d ..." % sys.version_info[:2])
        sys.stdout.flush()
    process = subprocess.Popen(
        [sys.executable, "-m", "venv", "--clear", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = process.communicate()[0].decode("utf-8", "replace")
    if process.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        raise CannotSetUp(explain_venv(output))


def works():
    """Whether .venv has a Python of this version that can run pip."""
    code = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.check_output([venv_python(), "-c", code], stderr=subprocess.STDOUT)
    except (OSError, subprocess.CalledProcessError):
        return False
    return answer.decode("utf-8", "replace").strip() == wanted()["python"]


def explain_venv(output):
    """Why no virtual environment could be made, in a sentence."""
    if "ensurepip" in output or "No module named venv" in output:
        return (
            "Python's venv module is not complete here. On Debian or Ubuntu install it with: "
            "sudo apt-get install python3-venv (for another version, python3.12-venv and so on)."
        )
    return "python -m venv said: %s" % (output.strip().splitlines() or ["nothing"])[-1]


def install():
    """Install with pip, quietly but not silently; its full output goes to .venv/set-up.log."""
    print(
        "Installing the package and what it needs (minutes the first time; details in .venv/set-up.log) ..."
    )
    sys.stdout.flush()
    command = [
        venv_python(),
        "-m",
        "pip",
        "install",
        "--progress-bar",
        "off",
        "--disable-pip-version-check",
        "-c",
        "constraints.txt",
        "-e",
        EXTRAS,
    ]
    start = time.time()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    try:
        with open(LOG, "wb") as log:
            shown, collected = start, 0
            for line in iter(process.stdout.readline, b""):
                log.write(line)
                log.flush()
                lines.append(line.decode("utf-8", "replace").rstrip())
                collected += line.startswith(b"Collecting ")
                if line.startswith(b"Installing collected"):
                    print("  %3.0f s  unpacking all of them" % (time.time() - start))
                elif time.time() - shown > 5:
                    print(
                        "  %3.0f s  %d packages found; %s"
                        % (time.time() - start, collected, lines[-1].strip()[:70])
                    )
                else:
                    continue
                shown = time.time()
                sys.stdout.flush()
        status = process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
    if status:
        print("\n".join("  pip: " + line for line in lines[-12:]))
        raise CannotSetUp(explain_pip("\n".join(lines)))
    with open(STAMP, "w") as file:
        json.dump(wanted(), file)
    print("Set-up done in %.0f s." % (time.time() - start))


def explain_pip(output):
    """Why pip failed, in a sentence that says what to do."""
    if re.search("No space left|Errno 28", output):
        return (
            "the disk is full. Free some space (%d GB, or %d GB where pip brings PyTorch with CUDA; %s asks for "
            "the smaller build) and run the command again." % (NEEDED_GB, CUDA_GB, CPU_ONLY)
        )
    # Before the versions: without a network pip ends with "No matching distribution" all the same.
    if re.search(
        "NewConnectionError|name resolution|ConnectTimeout|Connection refused|ReadTimeout|ProxyError"
        "|Network is unreachable|Max retries|SSLError|Connection aborted|ConnectionResetError",
        output,
    ):
        return "pip could not reach the package index. Check the network (and HTTPS_PROXY), and run the command again."
    if re.search("ResolutionImpossible|No matching distribution", output):
        return (
            "pip found no set of versions for this machine within constraints.txt (the lines above name the "
            "package). Try another Python: make book PYTHON=python3.12"
        )
    if "Permission denied" in output:
        return "pip may not write to %s. Run the command as the owner of that folder." % VENV
    return "pip stopped with the lines above; all of its output is in .venv/set-up.log."


if __name__ == "__main__":
    sys.exit(main())
