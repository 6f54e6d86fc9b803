"""What all tests share: tools and extensions of the book are importable; a test that does not run failed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Derandomized, so that a red run is red for everyone; without a deadline, since speed is asserted nowhere.
settings.register_profile("book", deadline=None, max_examples=30, derandomize=True, database=None)
settings.load_profile("book")

# Before torch and matplotlib are imported: tiny matrices gain nothing from threads, and two workers with two
# threads each wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.path.append(str(ROOT / "book" / "_ext"))


#: Left out of a run unless ``-m`` names them.
MARKERS = {
    "slow": "slow: part of `make test-all`, not of `make test`",
    "network": "network: fetches public weights",
}


def pytest_configure(config):
    """Know the markers. Not in pyproject.toml: a change there makes every set-up install again."""
    for line in MARKERS.values():
        config.addinivalue_line("markers", line)


def pytest_collection_modifyitems(config, items):
    """Leave out what is marked, unless ``-m`` or a test's own name asks for it."""
    named = any("::" in argument for argument in config.args)
    hidden = [
        name for name in MARKERS if name not in config.option.markexpr and not (named and name == "slow")
    ]
    left_out = [item for item in items if any(map(item.get_closest_marker, hidden))]
    items[:] = [item for item in items if not any(map(item.get_closest_marker, hidden))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    """A folder that holds the library as its wheel installs it, for PYTHONPATH."""
    import patch_association

    here = Path(patch_association.__file__).parents[1]
    if here.name != "src":
        return here  # these tests run on an installed wheel already
    from replay import install_wheel

    return install_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Fail a run with skipped tests: a missing browser, GPU or file must not look like a success.

    A library that ours is only compared with may be missing, and so may git or the history: the summary then
    has a line "not compared".
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if any("not compared: " not in str(report.longrepr) for report in skipped) and not exitstatus:
        reporter.write_line("A test was skipped, and a skipped test shows nothing: the run fails.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
