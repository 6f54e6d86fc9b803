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
def test_the_first_cell_takes_what_a_comment_offers_and_refuses_nonsense(path):
    notebook, name = notebook_from_text(path), name_of(path)
    parameters = play.read_parameters(play.parameters_cell(notebook).source)
    assert parameters, "a chapter without parameters cannot be played with"
    assert play.begun(notebook) is None
    for each in parameters:
        for value in each.tries:
            assert play.begun(notebook, **{each.name: ast.literal_eval(value)}) is None, each.name
        assert play.nonsense(name, each.name), f"nothing would be nonsense for {each.name}"
    assert play.unrefused(notebook, name) == []


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
