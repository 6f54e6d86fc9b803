"""Try the library on the oldest and the newest versions that pyproject.toml admits: ``tools/versions.py``.

For each end: a new environment in an empty folder, the library as its wheel, nothing else of this
repository on the path; then the programs of the quickstart and the core tests run there, and the five
chapters of a new user, changed in every size. "Oldest" takes the lower bounds themselves on the oldest
Python, "newest" what pip finds on the newest one.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from packaging.requirements import Requirement
from set_up import NEWEST, OLDEST, ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHON = {"oldest": OLDEST, "newest": NEWEST}
#: Beside the library itself: what the tests below import.
NEEDED = ("pytest", "hypothesis", "pyyaml", "scikit-learn", "scikit-image", "pillow", "ipykernel")
CORE = (
    "quickstart", "structure", "spatial_data", "model", "association", "exact_risk", "linear", "descent",
    "shallow_network", "certify", "ledger",
)  # fmt: skip


def requirements(end: str) -> list[str]:
    """What to install beside the wheel: the names, at "oldest" with their lower bounds as versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [Requirement(text) for text in project["dependencies"]]
    tests = [Requirement(text) for extra in ("test", "images", "book") for text in extras[extra]]
    asked += [requirement for requirement in tests if requirement.name in NEEDED]
    if end == "newest":
        return [str(requirement) for requirement in asked]
    return [_oldest(requirement) for requirement in asked]


def _oldest(requirement: Requirement) -> str:
    (bound,) = (part.version for part in requirement.specifier if part.operator == ">=")
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}=={bound}{marker}"


def try_out(end: str, place: Path, tests: list[str]) -> int:
    """Make the environment of one end in ``place`` and run the tests there; pytest's exit status."""
    name = "python{}.{}".format(*PYTHON[end])
    python = shutil.which(name)
    if python is None or subprocess.run([python, "--version"], capture_output=True).returncode:
        print(f"There is no {name} here, and the {end} versions are tried on it.")
        return 1
    inside = place / "venv" / "bin" / "python"
    pip = [str(inside), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [sys.executable, *pip[1:], "wheel", "--no-deps", "--no-build-isolation", "-w", str(place)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for command in (
        [*build, str(ROOT)],
        [python, "-m", "venv", str(place / "venv")],
        [*pip, "install", "--prefer-binary", *requirements(end)],
    ):
        if subprocess.run(command, env=environment).returncode:
            print(f"The {end} versions could not be installed: the lines above say why.")
            return 1
    (wheel,) = place.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], env=environment, check=True)
    print(f"=== {end}: {name}, {_what_is_there(inside, environment)}", flush=True)
    files = [str(ROOT / "tests" / "library" / f"test_{test}.py") for test in tests]
    # A warning of another release is no fault of ours: only the locked versions are held to none.
    pytest = ["-m", "pytest", "-q", "-W", "default", "--no-header"]
    failed = subprocess.run([str(inside), *pytest, *files], cwd=ROOT, env=environment).returncode
    return _chapters(inside, place, environment, pytest) or failed


def _chapters(inside: Path, place: Path, environment: dict[str, str], pytest: list[str]) -> int:
    """Five chapters, changed, in kernels of that environment; the notebooks are made by this one."""
    kernels = [str(inside), "-m", "ipykernel", "install", "--name", "python3", "--prefix", str(place)]
    subprocess.run(kernels, env=environment, check=True, capture_output=True)
    environment = environment | {"JUPYTER_PATH": str(place / "share" / "jupyter")}
    which = "from jupyter_client.kernelspec import get_kernel_spec; print(get_kernel_spec('python3').argv[0])"
    found = subprocess.run([sys.executable, "-c", which], env=environment, capture_output=True, text=True)
    if found.stdout.strip() != str(inside):
        print(f"The chapters would not run in {inside} but in {found.stdout or found.stderr}")
        return 1
    file = ROOT / "tests" / "notebooks" / "test_new_user.py"
    return subprocess.run(
        [sys.executable, *pytest, str(file), "-k", "five_chapters"], cwd=ROOT, env=environment
    ).returncode


def _what_is_there(python: Path, environment: dict[str, str]) -> str:
    listed = subprocess.run(
        [str(python), "-m", "pip", "list", "--format=freeze"], env=environment, capture_output=True, text=True
    ).stdout
    names = "|".join(re.escape(Requirement(text).name) for text in requirements("newest"))
    return ", ".join(re.findall(rf"^(?:{names})==.*$", listed, re.MULTILINE | re.IGNORECASE))


def main() -> int:
    """Try the ends that were named, by default both; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ends", nargs="*", metavar="END", help="oldest or newest; both by default")
    parser.add_argument(
        "--tests", nargs="+", default=list(CORE), metavar="NAME", help="tests/library/test_NAME.py"
    )
    arguments = parser.parse_args()
    ends = arguments.ends or list(PYTHON)
    if unknown := set(ends) - set(PYTHON):
        parser.error(f"expected oldest or newest, got {', '.join(sorted(unknown))}")
    failed = []
    for end in ends:
        with tempfile.TemporaryDirectory(prefix=f"{end}-") as folder:
            if try_out(end, Path(folder), arguments.tests):
                failed.append(end)
    print(f"The {' and the '.join(failed)} versions FAILED." if failed else f"Passed on: {', '.join(ends)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
