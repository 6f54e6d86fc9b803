"""environment.yml names the same dependencies, with the same ranges, as pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]

#: PyPI's name -> conda-forge's, where they differ.
CONDA = {"torch": "pytorch"}


def wanted() -> dict[str, str]:
    """Name -> range of everything that the library, the book and its tests need.

    Conda's files have no markers: what only some Pythons need is installed for all of them.
    """
    extras = PROJECT["optional-dependencies"]
    used = [text for extra in ("book", "test", "images", "parallel") for text in extras[extra]]
    parsed = map(Requirement, [*PROJECT["dependencies"], *used])
    ranges = {canonicalize_name(r.name): str(r.specifier) for r in parsed}
    return {CONDA.get(name, name): specifier for name, specifier in ranges.items()}


def found() -> dict[str, str]:
    """The same of environment.yml, whether conda or pip installs it."""
    (pip,) = (entry["pip"] for entry in ENVIRONMENT if isinstance(entry, dict))
    names = [entry for entry in ENVIRONMENT if isinstance(entry, str)] + [
        e for e in pip if not e.startswith("-e")
    ]
    parsed = [Requirement(entry) for entry in names]
    ranges = {canonicalize_name(r.name): str(r.specifier) for r in parsed}
    return {name: specifier for name, specifier in ranges.items() if name not in ("python", "pip")}


def test_same_dependencies_with_the_same_ranges():
    assert found() == wanted()
