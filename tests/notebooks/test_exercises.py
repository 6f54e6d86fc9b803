"""Exercises: of three kinds in every chapter, and what a solution's code prints is what stands below it."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

import pytest
from book_labels import Block, pieces
from notebooks import chapters, name_of

KINDS = ("By hand: ", "By code: ", "By thought: ")
CODE = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.M | re.S)


def exercises(text: str):
    """The exercises of a chapter and their solutions, in order: label, title, solution."""
    found: dict[str, list[str]] = {}
    for piece in pieces(text.splitlines()):
        if isinstance(piece, Block) and piece.name == "exercise":
            found[piece.options["label"]] = [piece.title, ""]
        elif isinstance(piece, Block) and piece.name == "solution":
            found[piece.title][1] = "\n".join(piece.body) + "\n"
    return [(label, *rest) for label, rest in found.items()]


def with_notes(path) -> str:
    """A chapter and its notes, where the solutions stand."""
    notes = path.with_name(f"{path.stem}_notes.md")
    return path.read_text(encoding="utf-8") + "\n" + notes.read_text(encoding="utf-8")


CHAPTERS = {name_of(path): exercises(with_notes(path)) for path in chapters()}
PIECES = [
    pytest.param(block["code"], block["output"], id=f"{label}-{k}")
    for found in CHAPTERS.values()
    for label, _title, solution in found
    for k, block in enumerate(CODE.finditer(solution))
]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_exercises_of_three_kinds(name):
    found = CHAPTERS[name]
    assert len(found) >= 4
    unmarked = [title for _, title, _ in found if not title.startswith(KINDS)]
    assert unmarked == [], f"an exercise says its kind: {', '.join(KINDS)}"
    missing = [kind for kind in KINDS if not any(title.startswith(kind) for _, title, _ in found)]
    assert missing == [], f"{name} has no exercise {missing}"


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_exercise_is_solved_and_code_with_code(name):
    for label, title, solution in CHAPTERS[name]:
        assert solution, f"{label} has no solution"
        assert not title.startswith("By code: ") or CODE.search(solution), f"{label} is solved without code"
        assert solution.count("```python") == len(CODE.findall(solution))


@pytest.mark.slow
@pytest.mark.parametrize(("code", "output"), PIECES)
def test_code_of_a_solution_runs_alone_and_prints_what_it_says(code, output):
    shown = io.StringIO()
    with redirect_stdout(shown):
        exec(compile(code, "solution", "exec"), {"__name__": "solution"})
    assert output is not None, f"below the code stands what it prints, as text:\n{shown.getvalue()}"
    assert shown.getvalue() == output
