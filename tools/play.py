"""Play with the chapters: ``tools/play.py [--all] [book/part/chapter.md ...]``.

A chapter's cell tagged ``parameters`` holds plain assignments, and the comment of each ends in what a
reader may try: ``q = 0.3  # chance of a feature; try 0.1, 0.5``. This script changes one parameter at a
time and runs the chapter alone in an empty folder: every cell must run, and no sentence may show a number
that is not the run's. What ``patch_lab.kit.ledger.parameters`` calls nonsense must be refused by
``chapter(...)`` below the parameters. By default each chapter gets one of its changes; ``--all`` takes every
change; ``--full`` takes the preset "full" in place of them: where it needs a larger machine, the library
must say so.
"""

from __future__ import annotations

import argparse
import ast
import copy
import io
import os
import re
import sys
import tempfile
import tokenize
import zlib
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from book_labels import read_book
from edition import make
from notebooks import ROOT, chapters, name_of

from patch_lab.kit.ledger.parameters import nonsense, refuse_nonsense
from patch_lab.kit.prose import BANNER, UNKNOWN

CELL_TIMEOUT_S = 300
#: What the library says of a size that needs more memory than there is: a full preset may want more.
TOO_SMALL = "and this machine has"
#: How a comment says that a value takes its time.
COST = r"second|minute|slow|times as"
#: What a figure says of axes that show nothing, and the first cell that makes it say so.
EMPTY = "axes without data"
LOOK = f"""import numpy as np
from matplotlib.backend_bases import FigureCanvasBase as Canvas

def looked(self, *given, draw=Canvas.print_figure, **other):
    for ax in self.figure.axes:
        if ax.axison and ax.get_label() != "<colorbar>" and not np.isfinite(ax.dataLim.get_points()).all():
            print("{EMPTY}:", ax.get_title() or ax.get_ylabel())
    return draw(self, *given, **other)

Canvas.print_figure = looked"""
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
    comment: str


class NotPlayable(Exception):
    """The parameters cell does not say what can be changed."""


def parameters_cell(notebook):
    """The one code cell tagged ``parameters``."""
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ())]
    if len(tagged) != 1:
        raise NotPlayable(f"expected one cell tagged parameters, found {len(tagged)}")
    return tagged[0]


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
    parameters = []
    for statement in ast.parse(source).body:
        line = ast.get_source_segment(source, statement)
        if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
            raise NotPlayable(f"the parameters cell holds plain assignments only, got: {line}")
        name = statement.targets[0].id
        comment = comments.get(statement.end_lineno or 0, "")
        said = re.search(r"\btry (.+)$", comment)
        if said is None and name != "PRESET":
            raise NotPlayable(f"the comment of {name} must end in 'try A, B', got {comment!r}")
        tries = _values(said.group(1).rstrip(". ")) if said else ()
        if len(tries) < 2 and name != "PRESET":
            raise NotPlayable(f"the comment of {name} must name two values to try, got {comment!r}")
        parameters.append(Parameter(name, ast.unparse(statement.value), tries, comment))
    return parameters


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
    other = copy.deepcopy(notebook)
    cell = parameters_cell(other)
    lines = cell.source.splitlines()
    for statement in ast.parse(cell.source).body:
        if statement.targets[0].id == parameter.name:
            old = statement.value
            first = statement.value.lineno - 1
            last = statement.value.end_lineno - 1
            head = lines[first][: old.col_offset]
            tail = lines[last][old.end_col_offset :]
            lines[first : last + 1] = [head + value + tail]
            break
    cell.source = "\n".join(lines)
    return other


def begun(notebook, **other) -> str | None:
    """What ``chapter(...)`` says against these values, the others standing as they do; None if nothing.

    Raises
    ------
    NotPlayable
        If the cell below the parameters does not begin with ``chapter("part/name", q=q, ...)``, all told.
    """
    cell = parameters_cell(notebook)
    given = {parameter.name: ast.literal_eval(parameter.value) for parameter in read_parameters(cell.source)}
    below = ast.parse(notebook.cells[notebook.cells.index(cell) + 1].source).body[0]
    call = ast.unparse(below)
    words = {word.arg for word in below.value.keywords} if call.startswith("chapter(") else set()
    if words != given.keys() or any(f"{name}={name}" not in call for name in words):
        raise NotPlayable(f"below {', '.join(given)} must stand chapter(...), told each, got {call}")
    try:
        exec(call, {"chapter": lambda name, **words: refuse_nonsense(name, given, **words), **given, **other})
    except ValueError as error:
        return str(error)
    return None


def unrefused(notebook, name: str) -> list[str]:
    """The nonsense that the first cell of a chapter does not refuse under the parameter's own name."""
    problems = []
    for parameter in read_parameters(parameters_cell(notebook).source):
        for value in nonsense(name, parameter.name):
            output = begun(notebook, **{parameter.name: value})
            if not (output or "").startswith(f"{parameter.name} must be "):
                problems.append(f"{name}: {parameter.name} = {value!r} is not refused by name: {output}")
    return problems


def run(notebook, timeout: int | None = CELL_TIMEOUT_S) -> str | None:
    """Run a notebook in an empty folder; None if every cell ran, else what went wrong in a line.

    ``timeout`` is in seconds for each cell.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError
    from nbformat.v4 import new_code_cell

    notebook.cells.insert(0, new_code_cell(LOOK))

    environment = {key: value for key, value in os.environ.items() if key != "PATCH_ASSOCIATION_RECORD"}
    with tempfile.TemporaryDirectory(prefix="play-") as folder:
        client = NotebookClient(
            notebook, timeout=timeout, kernel_name="python3", record_timing=False,
            extra_arguments=["--Application.log_level=ERROR"], resources={"metadata": {"path": folder}},
        )  # fmt: skip
        try:
            client.execute(env={**environment, "PYTHONHASHSEED": "0"})
        except CellExecutionError as error:
            return f"{error.ename}: {error.evalue}"
        except CellTimeoutError as error:
            return str(error).strip().splitlines()[0]
        except Exception as error:  # a dying kernel speaks in many tongues: nbclient's, zmq's, asyncio's
            return f"the kernel died: {type(error).__name__}: {str(error).strip()[:160]}"
    return unsaid(notebook)


def unsaid(notebook) -> str | None:
    """The first sentence that shows a number which the run has not computed, or axes that show nothing."""
    for place, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            if EMPTY in (said := output.get("text", "")):
                return f"cell {place} has {said.strip()}"
            text = output.get("data", {}).get("text/markdown", "")
            for line in text.splitlines():
                if line.startswith(BANNER):
                    continue
                if UNKNOWN in line or re.search(r"(?<![\w-])(?:nan|-?inf)(?![\w-])", line):
                    return f"shows no number in: {line[:160]}"
    return None


def changes(notebook, everything: bool, name: str) -> list[tuple[Parameter, str]]:
    """(parameter, value): one of the changes, or all of them."""
    parameters = read_parameters(parameters_cell(notebook).source)
    if everything:
        return [(p, value) for p in parameters for value in p.tries]
    quick = [p for p in parameters if QUICK.get(name) in (None, p.name)]
    tries = [(p, value) for p in quick for value in p.tries]
    # Another one for each chapter, the same at every run.
    return tries[zlib.crc32(name.encode()) % len(tries) :][:1]


def full(notebook) -> list[tuple[Parameter, str]]:
    """The change of PRESET to "full"."""
    parameters = read_parameters(parameters_cell(notebook).source)
    return [(parameter, "'full'") for parameter in parameters if parameter.name == "PRESET"]


def play(path: Path, everything: bool = False, only: str | None = None, in_full: bool = False) -> list[str]:
    """What is wrong with the changes of a chapter, or of its parameter ``only``, each in a line."""
    name = name_of(path)
    notebook = make(f"book/{name}", read_book(), images=False)
    usual = float("inf")
    chosen = full(notebook) if in_full else changes(notebook, everything, name)
    problems = unrefused(notebook, name)
    as_it_stands = copy.deepcopy(notebook)
    if everything:
        trouble, usual = timed(as_it_stands)
        print(f"{name}: {trouble or 'runs'} as it stands ({usual:.0f} s)", flush=True)
        problems += [f"{name}, as it stands: {trouble}"] if trouble else []
    for parameter, value in chosen:
        if only not in (None, parameter.name):
            continue
        other = changed(notebook, parameter, value)
        trouble, seconds = timed(other, None if in_full else CELL_TIMEOUT_S)
        if trouble is None and everything:
            trouble = moved(as_it_stands, other, parameter.name)
        if trouble is None and seconds > 2 * usual + 10 and not re.search(COST, parameter.comment):
            trouble = f"takes {seconds:.0f} s, not {usual:.0f} s, and the comment does not say so"
        fits = not (in_full and trouble and trouble.startswith("ValueError: ") and TOO_SMALL in trouble)
        line = f"{name}: {parameter.name} = {value} instead of {parameter.value}"
        if trouble is None:
            verdict = "runs"
        else:
            verdict = f"RED: {trouble}" if fits else f"refused: {trouble}"
        print(f"{line}: {verdict} ({seconds:.0f} s)", flush=True)
        if trouble and fits:
            problems.append(f"{line}: {trouble}")
    return problems


def moved(before, after, parameter: str) -> str | None:
    """A figure whose caption is marked as following no change of a parameter, and which followed one."""
    for cell, caption, other in zip(before.cells, before.cells[1:], after.cells):
        follows = re.search(r"follows=(\[.*\])\)$", caption.source)
        pictures = [
            [out.get("data", {}).get("image/svg+xml") for out in chosen_cell.get("outputs", ())]
            for chosen_cell in (cell, other)
        ]
        if follows and parameter not in ast.literal_eval(follows[1]) and pictures[0] != pictures[1]:
            return f"changes a figure that is said not to follow it: {caption.source.splitlines()[2][:80]}"
    return None


def timed(notebook, timeout: int | None = CELL_TIMEOUT_S) -> tuple[str | None, float]:
    """What :func:`run` finds, and the seconds of a processor that it took, whatever runs beside it."""
    before = os.times()
    trouble = run(notebook, timeout)
    after = os.times()
    return trouble, sum(after[2:4]) - sum(before[2:4])


def main() -> int:
    """Play with the chapters that were named, by default all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", type=Path, metavar="book/PART/CHAPTER.md")
    parser.add_argument("--all", action="store_true", help="every change: hours")
    parser.add_argument("--full", action="store_true", help="PRESET = 'full' alone, however long it takes")
    parser.add_argument("--only", metavar="NAME", help="change this parameter alone, in every way")
    arguments = parser.parse_args()
    everything = arguments.all or arguments.only is not None
    only = arguments.only
    paths = [path.resolve().with_suffix(".md") for path in arguments.chapters] or chapters(ROOT)
    problems = [problem for path in paths for problem in play(path, everything, only, arguments.full)]
    print(
        "\n".join((f"{len(problems)} are wrong:", *problems))
        if problems
        else "Every change runs, and nonsense is refused."
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
