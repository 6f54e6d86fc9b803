"""The house: how long files may be, what the package needs, that its papers agree. See also `make lint`."""

import re
import sys
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
]
NEEDED = [
    Requirement(text)
    for texts in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for text in texts
]
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("needed", NEEDED, ids=str)
def test_every_dependency_has_one_tested_version_within_its_range(needed, python):
    environment = {**default_environment(), "python_version": python, "python_full_version": f"{python}.5"}
    if needed.marker and not needed.marker.evaluate(environment):
        return
    pins = [
        c
        for c in CONSTRAINTS
        if canonical(c.name) == canonical(needed.name)
        and (c.marker is None or c.marker.evaluate(environment))
    ]
    assert len(pins) == 1, f"{needed} has {len(pins)} pins for Python {python}"
    specifiers = list(pins[0].specifier)
    assert len(specifiers) == 1 and specifiers[0].operator == "=="
    assert needed.specifier.contains(specifiers[0].version), f"{pins[0]} is outside {needed}"


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_supported_pythons_are_the_classifiers():
    assert PROJECT["requires-python"] == ">=3.10,<3.14"
    named = [c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert named == PYTHONS


def test_the_readmes_commands_are_in_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z-]+)", " ".join(re.findall(r"```.*?```|`[^`]+`", readme, re.S))))
    assert {"book", "test"} <= named <= targets
