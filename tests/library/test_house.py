"""The house: who may import whom, how long a file may be, and what the package needs."""

import ast
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
PACKAGE = ROOT / "src" / "patch_association"

#: From the ground up; a room imports only what stands below it. Rooms of one row do not know each other.
ORDER = [
    {"_validate", "_files"},
    {"_streams", "conventions"},
    {"structure", "intervals"},
    {"data", "prose"},
    {"attention"},
    {"model"},
    {"exact"},
    {"training", "learners"},
    {"transfer"},
    {"images", "shallow_vit"},
    {"records", "claims"},
    {"sweeps"},
    {"figures"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(source: str) -> set[str]:
    """The rooms of this package that a source imports, in functions too."""
    rooms = set()
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            if parts[0] == "patch_association" and len(parts) > 1 and parts[1] != "__version__":
                rooms.add(parts[1])
    return rooms


def wrong_imports(room: str, source: str) -> list[str]:
    """Sentences on the imports that go up, sideways or to the figures."""
    said = []
    for other in sorted(imported_rooms(source) - {room}):
        if other not in FLOOR:
            said.append(f"{room} imports {other}, which has no place in the order")
        elif FLOOR[other] >= FLOOR[room]:
            said.append(f"{room} imports {other}, which does not stand below it")
        elif other == "figures":
            said.append(f"{room} imports figures")
    return said


SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_run_downwards(path):
    assert room_of(path) in FLOOR, f"give {room_of(path)} its place in the order"
    assert wrong_imports(room_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("room", "source", "wrong"),
    [
        ("data", "from patch_association.structure import Partition", []),
        ("structure", "from patch_association.data import SpatialData", ["does not stand below"]),
        ("structure", "def f():\n    import patch_association.model", ["does not stand below"]),
        ("images", "from patch_association import shallow_vit", ["does not stand below"]),
        ("cli", "from patch_association.figures import style", ["imports figures"]),
        ("exact", "from patch_association.attic import x", ["no place"]),
        ("cli", "from patch_association import __version__", []),
        ("exact", "from patch_association.exact.laws import trinomial", []),
    ],
)
def test_a_wrong_import_is_seen(room, source, wrong):
    said = wrong_imports(room, source)
    assert len(said) == len(wrong) and all(part in sentence for part, sentence in zip(wrong, said))


def tracked_sources():
    folders = ("src", "tests", "tools", "benchmarks", "book")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def test_no_file_is_too_long_and_no_line_too_wide():
    for path in tracked_sources():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 400, f"{path} has {len(lines)} lines: split it"
        wide = [number for number, line in enumerate(lines, 1) if len(line) > 120]
        assert not wide, f"{path} has lines over 120 characters: {wide}"


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
]
# torchvision follows torch release by release, and no test of ours imports it: torch's pin chooses it.
NEEDED = [
    Requirement(text)
    for text in (
        *PROJECT["dependencies"],
        *(
            t
            for extra in ("book", "test", "images", "parallel")
            for t in PROJECT["optional-dependencies"][extra]
        ),
    )
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


def test_the_readmes_files_and_folders_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", readme)
    folders = re.findall(r"`((?:book|src|tests|benchmarks)/[\w/]*)`", readme)
    missing = [name for name in (*links, *folders) if "://" not in name and not (ROOT / name).exists()]
    assert missing == []


def test_the_command_is_installed_under_its_name():
    assert PROJECT["scripts"] == {"patch-association": "patch_association.cli:main"}
