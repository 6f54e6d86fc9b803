"""One mutant, tried in a process of its own that starts with everything heavy imported."""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import time
from pathlib import Path

HEAVY = (
    "numpy", "scipy.stats", "scipy.optimize", "scipy.special", "scipy.linalg", "pandas", "torch",
    "matplotlib.pyplot", "flint", "joblib", "pytest", "hypothesis", "_pytest.assertion.rewrite",
)  # fmt: skip
MEMORY = 12 * 2**30


def preload() -> None:
    """Import once what every test imports, on one thread; not the library, which is what changes."""
    os.environ.update(OMP_NUM_THREADS="1", MPLBACKEND="Agg", PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True  # two mutants of one size within a second would share a .pyc
    for name in HEAVY:
        importlib.import_module(name)
    if "patch_association" in sys.modules:
        raise RuntimeError("the library is imported already: every mutant would be the original")


class Trials:
    """A tree whose modules are changed one at a time, and how long its tests take."""

    def __init__(self, tree: Path, seconds: dict[str, float]):
        self.tree, self.seconds = tree, seconds
        self.sound: set[str] = set()

    def outcome(self, file: Path, text: str, tests: list[str]) -> str:
        """``killed by TEST``, ``killed: WHY`` or ``survived N tests``."""
        if not tests:
            return "no test reaches it"
        before = file.read_text(encoding="utf-8")
        file.write_text(text, encoding="utf-8")
        try:
            status, failed = self.run(tests)
        finally:
            file.write_text(before, encoding="utf-8")
        if status == 0:
            return f"survived {len(tests)} tests"
        # Nothing failed by name where a module breaks at its import, and where a test's name is out of date.
        witnesses = [failed] if failed else tests
        if not self.sound.issuperset(witnesses) and self.run(witnesses)[0] != 0:
            raise SystemExit(f"without any change these fail too, or are not there: {', '.join(witnesses)}")
        self.sound.update(witnesses)
        if status is None:
            return "killed: it does not end, or breaks the interpreter"
        return f"killed by {failed}" if failed else "killed: it cannot be imported"

    def run(self, tests: list[str]) -> tuple[int | None, str]:
        """The exit status of these tests, None if they did not end, and the first that failed."""
        limit = int(60 + 5 * sum(self.seconds[name] for name in tests))
        listen, tell = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(listen)
            _test(self.tree, tests, tell, limit)
        os.close(tell)
        status = _wait(child, 10 * limit)
        with os.fdopen(listen, encoding="utf-8") as pipe:
            failed = pipe.read()
        return None if status is None or os.WIFSIGNALED(status) else os.WEXITSTATUS(status), failed


def _wait(child: int, limit: float) -> int | None:
    """Its status; None if it was stopped after ``limit`` seconds on the clock."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _test(tree: Path, tests: list[str], tell: int, limit: int) -> None:
    """In the child: run the tests, tell the first that fails, and end."""
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.chdir(tree)
        sys.path[:0] = [str(tree / "src")]
        os.environ["PYTHONPATH"] = str(tree / "src")
        import pytest

        told: list[int] = []

        class First:
            def pytest_runtest_logreport(self, report):
                if report.failed and not told:
                    told.append(os.write(tell, report.nodeid.encode()))

        status = pytest.main(["-x", "-q", "--assert=plain", *tests], plugins=[First()])
        os._exit(int(status))
    except BaseException:
        os._exit(99)
