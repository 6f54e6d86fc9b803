"""Play with the chapters: ``tools/play.py [--all] [book/part/chapter.md ...]``.

A chapter's cell tagged ``parameters`` holds plain assignments, and the comment of each ends in what a
reader may try: ``q = 0.3  # chance of a feature; try 0.1, 0.5``. This script changes one parameter at a
time and runs the chapter alone in an empty folder: every cell must run, or the library must refuse with
a sentence, and no sentence may show a number that is not the run's. By default each chapter gets one of its
changes; ``--all`` takes every change, and nonsense too;
``--full`` takes the preset "full" in place of them: where it needs a larger machine, the library must say so.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import sys
import tempfile
import time
import tokenize
import zlib
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from book_labels import read_book
from edition import make
from notebooks import ROOT, chapters, name_of

from patch_lab.prose import BANNER, UNKNOWN

CELL_TIMEOUT_S = 300
#: What the library says of a size that needs more memory than there is: a full preset may want more.
TOO_SMALL = "and this machine has"
#: Values that the library must refuse with a sentence, by the name of the parameter; where a name means
#: different things, by chapter and name.
NONSENSE = {
    "q": ("2.0",), "degree": ("4",), "D": ("0", "17"), "N": ("0",), "set_size": ("3.5",),
    "num_patches": ("0", "17"), "size": ("(16, 5)",), "small": ("(9, 4)",), "wide": ("(88, 12, 0.5)",),
    "side": ("5",), "sides": ("(0, 4)",), "block": ("(5, 5)",), "image": ("(6, 6, 5, 5)",), "rate": ("-1.0",),
    "score_rate": ("-1.0",), "steps": ("-1",), "seed": ("-1",), "seeds": ("0",),
    "diagonal": ("float('nan')",), "PRESET": ("'fast'",),
    "hard": ("2.0",), "edge": ("2.0",), "omega": ("-1.0",), "init_std": ("-1.0",), "relevant": ("2.0",),
    "dynamics/idealized linear": ("-1.0",), "setting/spatial_data dim": ("0",),
    "setting/spatial_data large": ("(17, 4, 0.25)",),
    "confusion": ("2.0",), "beyond/deeper heads": ("0",),
}  # fmt: skip
#: Where some changes take a minute, the parameter whose changes take least: it is the one that is changed
#: when a chapter gets only one change.
QUICK = {
    "beyond/two_theories": "steps", "dynamics/three_scalars": "q", "images/permuted": "heads",
    "images/positional_vit": "seed", "transfer/fine_tuning": "diagonal", "transfer/mismatch": "moved",
    "setting/without_structure": "set_size",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One assignment of the parameters cell: its name, value and alternatives as source text."""

    name: str
    value: str
    tries: tuple[str, ...]


class NotPlayable(Exception):
    """The parameters cell does not say what can be changed."""


def parameters_cell(notebook):
    """The one code cell tagged ``parameters``."""
    found = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ())]
    if len(found) != 1:
        raise NotPlayable(f"expected one cell tagged parameters, found {len(found)}")
    return found[0]


def read_parameters(source: str) -> list[Parameter]:
    """The assignments of a parameters cell.

    Raises
    ------
    NotPlayable
        If a statement is no plain assignment, or its comment names fewer than two values to try (one for
        PRESET).
    """
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found = []
    for statement in ast.parse(source).body:
        line = ast.get_source_segment(source, statement)
        if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
            raise NotPlayable(f"the parameters cell holds plain assignments only, got: {line}")
        name, comment = statement.targets[0].id, comments.get(statement.end_lineno or 0, "")
        said = re.search(r"\btry (.+)$", comment)
        if said is None and name != "PRESET":
            raise NotPlayable(f"the comment of {name} must end in 'try A, B', got {comment!r}")
        tries = _values(said.group(1).rstrip(". ")) if said else ()
        if len(tries) < 2 and name != "PRESET":
            raise NotPlayable(f"the comment of {name} must name two values to try, got {comment!r}")
        found.append(Parameter(name, ast.unparse(statement.value), tries))
    return found


def _values(text: str) -> tuple[str, ...]:
    """The elements of "0.1, (2, 4), 'x'" as source text."""
    try:
        values = ast.parse(f"({text},)", mode="eval").body
    except SyntaxError as error:
        raise NotPlayable(f"what to try must be Python values between commas, got {text!r}") from error
    assert isinstance(values, ast.Tuple)
    return tuple(map(ast.unparse, values.elts))


def changed(notebook, parameter: Parameter, value: str):
    """A copy of the notebook with another value of one parameter."""
    import copy

    other = copy.deepcopy(notebook)
    cell = parameters_cell(other)
    lines = cell.source.splitlines()
    for statement in ast.parse(cell.source).body:
        if statement.targets[0].id == parameter.name:
            old, first, last = statement.value, statement.value.lineno - 1, statement.value.end_lineno - 1
            head, tail = lines[first][: old.col_offset], lines[last][old.end_col_offset :]
            lines[first : last + 1] = [head + value + tail]
            break
    cell.source = "\n".join(lines)
    return other


def run(notebook, refusal: bool = False, timeout: int | None = CELL_TIMEOUT_S) -> str | None:
    """Run a notebook in an empty folder; None if every cell ran, else what went wrong in a line.

    ``refusal`` accepts, and wants, a ValueError of the library; ``timeout`` is in seconds for each cell.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    environment = {key: value for key, value in os.environ.items() if key != "PATCH_ASSOCIATION_RECORD"}
    with tempfile.TemporaryDirectory(prefix="play-") as folder:
        client = NotebookClient(
            notebook, timeout=timeout, kernel_name="python3", record_timing=False,
            extra_arguments=["--Application.log_level=ERROR"], resources={"metadata": {"path": folder}},
        )  # fmt: skip
        try:
            client.execute(env={**environment, "PYTHONHASHSEED": "0"})
        except CellExecutionError as error:
            said = f"{error.ename}: {error.evalue}"
            refused = (
                error.ename == "ValueError"
                and re.search("patch_(association|lab)", str(error))
                and len(error.evalue) > 15
            )
            return None if refusal and refused else said
        except (CellTimeoutError, DeadKernelError) as error:
            return str(error).strip().splitlines()[0]
    return "nothing refused it" if refusal else unsaid(notebook)


def unsaid(notebook) -> str | None:
    """The first sentence that shows a number which the run has not computed, or none that is a number."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            text = output.get("data", {}).get("text/markdown", "")
            for line in text.splitlines():
                if line.startswith(BANNER):
                    continue
                if UNKNOWN in line or re.search(r"(?<![\w-])(?:nan|-?inf)(?![\w-])", line):
                    return f"shows no number in: {line[:160]}"
    return None


def changes(notebook, everything: bool, name: str) -> list[tuple[Parameter, str, bool]]:
    """(parameter, value, whether it is nonsense): one of the changes, or all of them."""
    found = read_parameters(parameters_cell(notebook).source)
    sensible = [(p, value, False) for p in found for value in p.tries]
    if everything:
        nonsense = {p: (*NONSENSE.get(p.name, ()), *NONSENSE.get(f"{name} {p.name}", ())) for p in found}
        return sensible + [(p, value, True) for p in found for value in nonsense[p]]
    # Another one for each chapter, the same at every run.
    sensible = [change for change in sensible if QUICK.get(name) in (None, change[0].name)]
    return sensible[zlib.crc32(name.encode()) % len(sensible) :][:1]


def full(notebook) -> list[tuple[Parameter, str, bool]]:
    """The change of PRESET to "full"."""
    found = read_parameters(parameters_cell(notebook).source)
    return [(parameter, "'full'", False) for parameter in found if parameter.name == "PRESET"]


def play(path: Path, everything: bool = False, only: str | None = None, in_full: bool = False) -> list[str]:
    """The changes of a chapter, or of its parameter ``only``, that end in a red cell, each in a line."""
    notebook, problems = make(f"book/{name_of(path)}", read_book(), images=False), []
    chosen = full(notebook) if in_full else changes(notebook, everything, name_of(path))
    for parameter, value, nonsense in chosen:
        if only not in (None, parameter.name):
            continue
        start = time.monotonic()
        timeout = None if in_full else CELL_TIMEOUT_S
        trouble = run(changed(notebook, parameter, value), refusal=nonsense, timeout=timeout)
        line = f"{name_of(path)}: {parameter.name} = {value} instead of {parameter.value}"
        red, verdict = judged(trouble, nonsense, in_full)
        print(f"{line}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
        if red:
            problems.append(f"{line}: {trouble}")
    return problems


def judged(trouble: str | None, nonsense: bool, in_full: bool) -> tuple[bool, str]:
    """Whether what :func:`run` found is a red cell, and the words for it."""
    if in_full and trouble and trouble.startswith("ValueError: ") and TOO_SMALL in trouble:
        return False, f"refused: {trouble}"
    return trouble is not None, (
        f"RED: {trouble}" if trouble else "refused with a sentence" if nonsense else "runs"
    )


def main() -> int:
    """Play with the chapters that were named, by default all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", type=Path, metavar="book/PART/CHAPTER.md")
    parser.add_argument("--all", action="store_true", help="every change, and nonsense: hours")
    parser.add_argument("--full", action="store_true", help="PRESET = 'full' alone, however long it takes")
    parser.add_argument("--only", metavar="NAME", help="change this parameter alone, in every way")
    arguments = parser.parse_args()
    everything, only = arguments.all or arguments.only is not None, arguments.only
    paths = [path.resolve().with_suffix(".md") for path in arguments.chapters] or chapters(ROOT)
    problems = [problem for path in paths for problem in play(path, everything, only, arguments.full)]
    print(
        f"{len(problems)} changes end in a red cell."
        if problems
        else "Every change runs, or is refused in a sentence."
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
