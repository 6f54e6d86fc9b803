"""What all tests share: tools and extensions of the book are importable; a test that does not run failed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# Before torch and matplotlib are imported: tiny matrices gain nothing from threads, and two workers with two
# threads each wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.path.append(str(ROOT / "book" / "_ext"))


NETWORK = "network: fetches public weights; run only where asked for, by -m network"


def pytest_configure(config):
    """Know the marker. Not in pyproject.toml: a change there makes every set-up install again."""
    config.addinivalue_line("markers", NETWORK)


def pytest_collection_modifyitems(config, items):
    """Leave out what needs the network, unless ``-m`` names it."""
    if "network" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("network")]
    items[:] = [item for item in items if not item.get_closest_marker("network")]
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

    A library that ours is only compared with may be missing: the summary then has a line "not compared".
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if any("not compared: " not in str(report.longrepr) for report in skipped) and not exitstatus:
        reporter.write_line("A test was skipped, and a skipped test shows nothing: the run fails.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
