"""A chapter is a function of its parameters: every one can be changed, and nothing turns red."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import play  # noqa: E402
from notebooks import chapters, name_of, notebook_from_text  # noqa: E402

CHAPTERS = pytest.mark.parametrize("path", chapters(), ids=name_of)


def has_a_choice(path) -> bool:
    """Whether a chapter offers more than its preset."""
    cell = play.parameters_cell(notebook_from_text(path))
    return any(parameter.tries for parameter in play.read_parameters(cell.source))


PLAYABLE = pytest.mark.parametrize("path", [path for path in chapters() if has_a_choice(path)], ids=name_of)


@CHAPTERS
def test_every_parameter_says_what_to_try_and_is_known_to_the_ledger(path):
    notebook = notebook_from_text(path)
    cell = play.parameters_cell(notebook)
    names = {parameter.name for parameter in play.read_parameters(cell.source)}
    told = {
        keyword.arg
        for code in notebook.cells
        if code.cell_type == "code" and "chapter(" in code.source
        for node in ast.walk(ast.parse(code.source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "chapter"
        for keyword in node.keywords
    }
    assert names, "a chapter without parameters cannot be played with"
    assert told == names, f"chapter(...) is told {sorted(told)}, the parameters are {sorted(names)}"


VALUE = r"(?:\$[^$]+\$|`[^`A-Za-z][^`]*`|\d+(?:\.\d+)?)"
SET = re.compile(
    rf"`(\w+) = ([^`]+)`|`(\w+)` (?:in [^.]*? )?to ({VALUE}(?:,? (?:or|and|then)(?: to)? {VALUE})*)"
)


def told_to_try(text: str) -> list[tuple[str, str]]:
    """What a page tells its reader to set: name and value, as "`dim` to $16$ or $64$" and "`q = 0.6`" do."""
    found = []
    for name, value, other, values in SET.findall(text):
        given = [value] if name else re.findall(VALUE, values)
        found += [(name or other, each.strip("$`").replace("{,}", "")) for each in given]
    return found


def test_what_the_pages_tell_to_try_is_played():
    """Each value that "what to try" names is one of those that the parameter's comment offers."""
    seen = []
    for path in chapters():
        text = path.read_text(encoding="utf-8").replace("## What to try\n\n", "**What to try.** ")
        cell = play.parameters_cell(notebook_from_text(path))
        offered = {each.name: each for each in play.read_parameters(cell.source)}
        for paragraph in re.findall(r"^\*\*What to try\.\*\*.*", text, re.MULTILINE):
            for name, value in told_to_try(paragraph):
                if name in offered:
                    seen.append((name_of(path), name, value))
                    tries = [ast.literal_eval(each) for each in offered[name].tries]
                    assert ast.literal_eval(value) in tries, f"{name_of(path)}: {name} = {value}"
    assert len(seen) >= 30, f"the pages are hardly read: {seen}"


@pytest.mark.slow
@PLAYABLE
def test_one_change_leaves_no_red_cell(path):
    assert play.play(path) == []
