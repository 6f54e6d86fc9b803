"""A plugin of pytest: which test reaches which line of the core, and how long each test takes.

``tools/mutants.py`` loads it (``-p reach``) and names the file it writes in ``REACH``. What a fixture of a
whole file runs counts for every test of that file; caches are emptied before each test, or a line would
count for the first test alone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import coverage
import pytest

PACKAGE = Path("src/patch_association").resolve()
measured = coverage.Coverage(data_file=None, source=[str(PACKAGE)], config_file=False)
measured.start()
seconds: dict[str, float] = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """One test, its fixtures and its end."""
    for name, module in list(sys.modules.items()):
        if name.startswith("patch_association"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()
    measured.switch_context(item.nodeid)
    start = time.process_time()
    try:
        return (yield)
    finally:
        seconds[item.nodeid] = time.process_time() - start
        measured.switch_context("")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """A fixture that outlives its test."""
    if fixturedef.scope == "function":
        return (yield)
    measured.switch_context(request.node.nodeid.partition("::")[0] + "::")
    try:
        return (yield)
    finally:
        measured.switch_context(request._pyfuncitem.nodeid)


def pytest_sessionfinish():
    """Write {"seconds": {test: s}, "lines": {module: {line: [test, ...]}}}; "" is the import."""
    measured.stop()
    data = measured.get_data()
    lines = {
        str(Path(file).relative_to(PACKAGE).with_suffix("")): data.contexts_by_lineno(file)
        for file in data.measured_files()
    }
    Path(os.environ["REACH"]).write_text(json.dumps({"seconds": seconds, "lines": lines}), encoding="utf-8")
