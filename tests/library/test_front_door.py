"""The front door: the names at the top, the README's code, and what the package says of itself."""

import ast
import doctest
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import conventions
import pytest
import yaml

import patch_association as pa
import patch_lab

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (pa, patch_lab)
#: What is imported where there is Triton, and there alone.
KERNELS = () if importlib.util.find_spec("triton") else ("training.kernels",)
MODULES = [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith(("__main__", *KERNELS))
]


def _names(package) -> dict[str, str]:
    """The names of a face, and the module of each, as its stub has them."""
    stub = Path(package.__file__).with_suffix(".pyi")
    if not stub.exists():
        return {}
    imports = [
        node
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)  # the front door's stub declares __all__ and the version as well
    ]
    return {alias.name: node.module for node in imports for alias in node.names}


#: The front door, and the rooms whose names are imported when they are first used.
FACES = [module for module in (pa, *map(importlib.import_module, MODULES)) if _names(module)]


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_every_name_opens_its_room(face):
    home = _names(face)
    assert sorted(home) == face.__all__
    for name, room in home.items():
        assert getattr(face, name) is getattr(importlib.import_module(f"{face.__name__}.{room}"), name)
    assert set(face.__all__) <= set(dir(face))


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_no_name_of_a_face_hides_a_module(face):
    """``images.locality`` is a module whatever was imported before it."""
    inside = {module.name for module in pkgutil.iter_modules(face.__path__)}
    assert not inside & set(face.__all__)


def test_a_name_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="No patch_association attribute Partitions"):
        pa.Partitions  # noqa: B018


def test_the_door_opens_without_the_rooms():
    code = (
        "import sys, patch_association; print([m for m in ('torch', 'numpy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(
    "thing", [getattr(pa, name) for name in pa.__all__], ids=lambda thing: thing.__name__
)
def test_the_docstring_of_each_has_an_example_that_is_run(thing):
    examples = doctest.DocTestParser().get_examples(thing.__doc__)
    run = [example for example in examples if not example.options.get(doctest.SKIP)]
    assert run and any(example.want for example in run), f"{thing.__name__} shows no example"
    assert thing.__module__ in MODULES, "its doctests are not run"


READMES = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "src/README.md"))
BLOCKS = re.findall(r"^```python\n(.*?)^```", READMES, re.M | re.S)


@pytest.mark.slow
@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_the_readmes_code_runs(code, tmp_path):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_projects_addresses_are_those_of_the_books_configuration():
    urls = conventions.tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    configured = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["repository-code"]
    assert urls["Repository"] == cited == configured and all(configured in url for url in urls.values())
