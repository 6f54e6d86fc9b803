"""Change the numerical core one expression at a time and see whether its tests notice.

``tools/mutants.py [MODULE ...] [--sample N]``: each module (``structure``, ``exact/risk``, ...) with its own
tests. A mutant turns one comparison, operator, constant or truth value into another; it is killed
when a test fails. What survives is listed with its line: a gap in the tests, or a change without
effect. It works on a copy of the tree. All modules take hours; a sample is drawn from a seed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kills import ROOT, copy_of_the_tree

PACKAGE = Path("src/patch_association")
ROOMS = ("structure", "data", "model", "exact", "training", "certify", "shallow_vit")
#: The tests of a module, where their names do not say it: what runs first is what kills most.
TESTS = {
    "structure": ["structure", "association"],
    "data": ["spatial_data", "gaussian_data"],
    "exact/risk": ["exact_risk"],
    "exact/laws": ["laws", "linear"],
    "exact/linear": ["linear"],
    "exact/costs": ["costs"],
    "exact/gaussian": ["gaussian_exact"],
    "exact/types_law": ["exact_risk", "too_large"],
    "shallow_vit/population": ["shallow_population"],
    "shallow_vit/data": ["shallow_data"],
    "shallow_vit/network": ["shallow_network"],
    "shallow_vit/sparsify": ["shallow_removal"],
}
DEFAULT = {
    "exact": ["exact_*", "linear", "laws", "constructions", "optimality", "sign", "sums", "theorem*"],
    "training": ["descent*", "dynamics_*", "events", "valley", "reduced", "learners"],
    "certify": ["certify", "shallow_certificate"],
    "shallow_vit": ["shallow_*"],
}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def main() -> int:
    """Test the mutants of the named modules; 1 if fewer than the share that is asked for are killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="by default all of the core")
    parser.add_argument("--sample", type=int, help="so many mutants of each module, drawn from --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.85, help="share to be killed (default: 0.85)")
    arguments = parser.parse_args()
    modules = arguments.modules or list(core())
    if unknown := [name for name in modules if not (ROOT / PACKAGE / f"{name}.py").is_file()]:
        parser.error(f"no such module: {', '.join(unknown)}; there are {', '.join(core())}")
    killed = tried = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copy_of_the_tree(Path(folder))
        for name in modules:
            a, b = try_module(tree, name, arguments.sample, arguments.seed)
            killed, tried = killed + a, tried + b
    share = killed / max(tried, 1)
    print(f"{killed} of {tried} mutants killed ({share:.0%}); at least {arguments.least:.0%} were asked for.")
    return 0 if share >= arguments.least else 1


def core():
    """The modules of the numerical core."""
    for room in ROOMS:
        path = ROOT / PACKAGE / room
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
            if file.name not in ("__init__.py", "cli.py"):
                yield str(file.relative_to(ROOT / PACKAGE).with_suffix(""))


def tests_of(name: str) -> list[str]:
    """The test files of a module."""
    patterns = TESTS.get(name) or [name.rpartition("/")[2], *DEFAULT.get(name.partition("/")[0], [])]
    found = [p for pattern in patterns for p in sorted((ROOT / "tests/library").glob(f"test_{pattern}.py"))]
    return list(dict.fromkeys(str(path.relative_to(ROOT)) for path in found))


def try_module(tree: Path, name: str, sample: int | None, seed: int) -> tuple[int, int]:
    """(Killed, tried) mutants of a module; survivors are printed."""
    file = tree / PACKAGE / f"{name}.py"
    text = file.read_text(encoding="utf-8")
    chosen = mutants(text)
    if sample is not None:
        chosen = random.Random(seed).sample(chosen, min(sample, len(chosen)))
    # No .pyc: two mutants of one size within a second would share it.
    fresh = {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    environment = os.environ | fresh | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-x", *tests_of(name)]

    def passes() -> bool:
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=600)
        except subprocess.TimeoutExpired:  # a loop without an end is noticed, too
            return False
        return done.returncode == 0

    if not passes():
        raise SystemExit(f"the tests of {name} fail without any change: {' '.join(command)}")
    survivors = []
    for line, what, changed in chosen:
        file.write_text(changed, encoding="utf-8")
        if passes():
            survivors.append(f"  {name}.py:{line}: {what}")
    file.write_text(text, encoding="utf-8")
    print(f"{name}: {len(chosen) - len(survivors)} of {len(chosen)} killed", *survivors, sep="\n", flush=True)
    return len(chosen) - len(survivors), len(chosen)


def mutants(text: str) -> list[tuple[int, str, str]]:
    """Every change of one expression: its line, what it is, and the text with it."""
    tree, found = ast.parse(text), []
    left_out = unmeasured(tree)
    for node in list(ast.walk(tree)):
        for change in () if id(node) in left_out else changes(node):
            before = ast.unparse(node)
            restore = change(node)
            after = ast.unparse(node)
            if before != after:
                found.append((node.lineno, f"{before} -> {after}", ast.unparse(tree)))  # type: ignore[attr-defined]
            restore()
    return found


def unmeasured(tree: ast.AST) -> set[int]:
    """What no test measures: the messages of errors, and annotations, which are never evaluated."""
    roots: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.JoinedStr):
            roots.append(node)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            roots.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            roots.append(node.returns)
    return {id(node) for root in roots if root is not None for node in ast.walk(root)}


def changes(node: ast.AST):
    """What can be changed at this node: functions that change it and give back what undoes it."""

    def put(name, value):
        def change(node):
            before = getattr(node, name)
            setattr(node, name, value)
            return lambda: setattr(node, name, before)

        return change

    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield put("ops", [COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield put("op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield put("op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield put("op", ast.UAdd())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield put("value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield put("value", node.value + 1)


if __name__ == "__main__":
    sys.exit(main())
