"""Change the numerical core one expression at a time and see whether the tests notice.

``tools/mutants.py [ROOM | MODULE ...] [--sample N] [--seed S]``: a mutant turns one comparison,
operator, constant or truth value into another; it is killed when a test fails. The tests that reach its
line run, those of its module first, then the quick ones, fifteen seconds' worth. ``--sample`` draws N of
each room; all of them take a day. What was tried is kept in ``_build/mutants`` until the module changes
(for what survived: or a test), so a run that was stopped goes on. Intervals are exact (Clopper, Pearson).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy import stats

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kills import ROOT, copy_of_the_tree
from mutate import Mutant, mutants
from trial import Trials, preload

PACKAGE = Path("src/patch_association")
ROOMS = ("structure", "data", "model", "exact", "training", "certify", "shallow_vit")
EXPLAINED = ROOT / "tools" / "survivors.toml"
FOLDER = ROOT / "_build" / "mutants"
BUDGET_S = 15.0
# They look at what an import has made, at defaults say, and need not run a line of the module.
LOOK = "tests/library/test_fixed_values.py::"


def main() -> int:
    """Try the mutants of the named rooms; 1 if a smaller share than is asked for is killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="ROOM|MODULE", help="by default all of the core")
    parser.add_argument("--sample", type=int, help="so many mutants of each room, drawn from --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.85, help="share to be killed (default: 0.85)")
    arguments = parser.parse_args()
    rooms = {room: list(core(room)) for room in ROOMS}
    chosen = {
        room: [name for name in rooms[room] if not arguments.names or {room, name} & {*arguments.names}]
        for room in ROOMS
    }
    known = {*ROOMS}.union(*rooms.values())
    if unknown := [name for name in arguments.names if name not in known]:
        parser.error(f"no such room or module: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    if arguments.sample is not None and arguments.sample < 1:
        parser.error(f"--sample must be at least 1, got {arguments.sample}")
    preload()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copy_of_the_tree(Path(folder))
        reach = reached(tree)
        found = [
            try_room(tree, room, names, reach, arguments.sample, arguments.seed)
            for room, names in chosen.items()
            if names
        ]
    killed, reasoned, tried = (sum(counts) for counts in zip(*found))
    share = killed / max(tried - reasoned, 1)
    print(
        f"{killed} of {tried} mutants killed, {reasoned} survive for a reason that is written down: "
        f"{share:.0%} of the others; at least {arguments.least:.0%} were asked for."
    )
    return 0 if share >= arguments.least else 1


def core(room: str):
    """The modules of a room; not the command line's."""
    path = ROOT / PACKAGE / room
    for file in sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
        if file.name not in ("__init__.py", "cli.py"):
            yield str(file.relative_to(ROOT / PACKAGE).with_suffix(""))


def test_files(tree: Path) -> list[str]:
    """The tests that import a room of the core or what is shared by its tests."""
    imports = tuple(f"patch_association.{room}" for room in ROOMS)
    files = sorted((tree / "tests/library").glob("test_*.py"))
    return [str(p.relative_to(tree)) for p in files if any(x in p.read_text("utf-8") for x in imports)]


def digest(*paths: Path) -> str:
    """The state of these files, in 16 letters."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def reached(tree: Path) -> dict:
    """What :mod:`reach` finds, from the last time if neither a test nor the library has changed since."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    tests = sorted((tree / "tests/library").glob("*.py"))
    state = digest(*tests, *sorted((tree / PACKAGE).rglob("*.py")))
    kept = FOLDER / f"reach-{state}.json"
    if not kept.is_file():
        print("Which test reaches which line: some minutes.", flush=True)
        environment = os.environ | {
            "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'tools'}",
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "REACH": str(kept),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "reach", *test_files(tree)]
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        if done.returncode:
            kept.unlink(missing_ok=True)
            raise SystemExit(f"the tests fail without any change:\n{done.stdout[-3000:]}")
    return json.loads(kept.read_text(encoding="utf-8")) | {"tests": digest(*tests)}


def tests_of(mutant: Mutant, reach: dict) -> list[str]:
    """The tests that reach a mutant: its module's own first, then the quickest, up to ``BUDGET_S``.

    A line that is read at import is reached by every test of the module, and by those that look at it.
    """
    lines = reach["lines"].get(mutant.module, {})
    found = {name for line in mutant.lines for name in lines.get(str(line), ())}
    seconds = reach["seconds"]
    if "" in found or mutant.at_import:
        found = {name for names in lines.values() for name in names}
        found |= {name for name in seconds if LOOK in name}
    whole = tuple(name for name in found if name.endswith("::"))
    found = {name for name in seconds if name in found or (whole and name.startswith(whole))}
    own = mutant.module.rpartition("/")[2]
    ordered = sorted(found, key=lambda name: (f"test_{own}.py" not in name, seconds[name]))
    chosen, total = [], 0.0
    for name in ordered:
        if chosen and total + seconds[name] > BUDGET_S:
            continue
        chosen, total = [*chosen, name], total + seconds[name]
    return chosen


def try_room(
    tree: Path, room: str, names: list[str], reach: dict, sample: int | None, seed: int
) -> tuple[int, int, int]:
    """(Killed, surviving for a written reason, tried) of a room; what survived is printed."""
    texts = {name: (tree / PACKAGE / f"{name}.py").read_text(encoding="utf-8") for name in names}
    every = [mutant for name in names for mutant in mutants(name, texts[name])]
    random.Random(f"{seed} {room}").shuffle(every)  # a larger sample begins with the smaller one
    journal, outcomes = FOLDER / "tried.jsonl", []
    why = explained()
    before, trials, reasoned = read_journal(journal), Trials(tree, reach["seconds"]), 0
    for mutant in every[:sample]:
        state = digest(tree / PACKAGE / f"{mutant.module}.py")
        key = f"{state} {mutant}"
        outcome = before.get((key, "")) or before.get((key, reach["tests"]))
        if outcome is None:
            tests = tests_of(mutant, reach)
            outcome = trials.outcome(tree / PACKAGE / f"{mutant.module}.py", mutant.text, tests)
            line = {
                "key": key,
                "tests": "" if outcome.startswith("killed") else reach["tests"],
                "is": outcome,
            }
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        outcomes.append(outcome)
        if not outcome.startswith("killed"):
            reasoned += mutant.name in why
            print(f"  {mutant}: {outcome}. {why.get(mutant.name, 'No reason is written down.')}", flush=True)
    killed, tried = sum(outcome.startswith("killed") for outcome in outcomes), len(outcomes)
    low, high = stats.binomtest(killed, tried).proportion_ci(method="exact")
    print(
        f"{room}: {killed} of {tried} killed, {killed / tried:.0%} [{low:.0%}, {high:.0%}]; "
        f"it has {len(every)} mutants",
        flush=True,
    )
    return killed, reasoned, tried


def read_journal(path: Path) -> dict[tuple[str, str], str]:
    """What was tried: {(mutant, tests): outcome}; a last line cut short by a kill is left out."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[row["key"], row["tests"]] = row["is"]
    return found


def explained() -> dict[str, str]:
    """Why a survivor survives, where that was found out."""
    return tomllib.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.is_file() else {}


if __name__ == "__main__":
    sys.exit(main())
