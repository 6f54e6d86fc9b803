"""Code below a chapter's parameters: no parameter is typed again."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import play  # noqa: E402
from notebooks import chapters, name_of, notebook_from_text  # noqa: E402
from test_exercises import CODE as SOLUTION  # noqa: E402

CHAPTERS = pytest.mark.parametrize("path", chapters(), ids=name_of)
#: Where a number is that of a record, or of something drawn once, whatever the reader sets.
EXCEPTIONS = {
    "beyond/two_theories": ["CrossedData(set_size=3)"] * 3,  # the recorded laws and their titles
    "dynamics/coupling": ["descend_population(steps=120)"],  # the descent beside the recorded runs
    "setting/spatial_data": ["Partition.random(seed=0)"],  # any partition: only the sizes matter
}


def code_of(notebook) -> Iterator[ast.AST]:
    """The syntax trees of the code cells below the parameters; magics are passed over."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    first = cells.index(play.parameters_cell(notebook)) + 1
    for cell in cells[first:]:
        yield ast.parse("\n".join(line for line in cell.source.splitlines() if not line.startswith("%")))


def is_literal(node: ast.AST) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def typed_again(notebook) -> list[str]:
    """Keyword arguments that are called like a parameter and given its value as a literal.

    Another value is another setting, which the page names; ``where`` and ``one`` choose recorded runs, whose
    settings do not follow the parameters.
    """
    parameters = play.read_parameters(play.parameters_cell(notebook).source)
    values = {each.name: ast.literal_eval(each.value) for each in parameters}
    calls = (node for tree in code_of(notebook) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [
        f"{ast.unparse(call.func)}({keyword.arg}={ast.unparse(keyword.value)})"
        for call in calls
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("where", "one"))
        for keyword in call.keywords
        if keyword.arg in values and is_literal(keyword.value)
        and ast.literal_eval(keyword.value) == values[keyword.arg]
    ]  # fmt: skip


@CHAPTERS
def test_no_parameter_is_typed_again(path):
    assert typed_again(notebook_from_text(path)) == EXCEPTIONS.get(name_of(path), [])


@CHAPTERS
def test_no_lambda_has_a_name_or_a_default(path):
    """A function with a name is written with ``def``; what a default would hold, an argument holds."""
    notes = path.with_name(f"{path.stem}_notes.md").read_text(encoding="utf-8")
    solutions = [ast.parse(block["code"]) for block in SOLUTION.finditer(notes)]
    for tree in (*code_of(notebook_from_text(path)), *solutions):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                assert not isinstance(node.value, ast.Lambda), ast.unparse(node)
            if isinstance(node, ast.Lambda):
                assert not node.args.defaults, ast.unparse(node)


TAIL = "## What the notes and the verdicts measure"


@CHAPTERS
def test_the_page_above_its_tail_is_short_in_code(path):
    """Twelve cells and a hundred lines, the cell that installs the library in Colab left out."""
    cells = notebook_from_text(path).cells
    tail = next(k for k, cell in enumerate(cells) if cell.cell_type == "markdown" and TAIL in cell.source)
    code = [cell.source for cell in cells[:tail] if cell.cell_type == "code"]
    shown = [source for source in code if "invalidate_caches" not in source]
    lines = [line for source in shown for line in source.splitlines() if line.strip()]
    assert len(shown) <= 12
    assert len(lines) <= 100
