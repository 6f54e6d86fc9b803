"""A chapter is a function of its parameters: every one can be changed, and nothing turns red."""

from __future__ import annotations

import ast
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


@pytest.mark.slow
@PLAYABLE
def test_one_change_leaves_no_red_cell(path):
    assert play.play(path) == []


TOO_SMALL = f"ValueError: the runs need 90 GB, {play.TOO_SMALL} 8 GB"


@pytest.mark.parametrize(
    ("trouble", "in_full", "wrong"),
    [
        (None, True, False),
        (TOO_SMALL, True, False),
        (TOO_SMALL, False, True),
        (TOO_SMALL.replace("ValueError", "KeyError"), True, True),
        ("ValueError: q must be a chance", True, True),
    ],
)
def test_only_a_full_preset_may_ask_for_a_larger_machine(trouble, in_full, wrong, monkeypatch, capsys):
    path = chapters()[0]
    monkeypatch.setattr(play, "make", lambda name, book, images: notebook_from_text(path))
    monkeypatch.setattr(play, "timed", lambda notebook, timeout=None: (trouble, 1.0))
    monkeypatch.setattr(play, "unrefused", lambda notebook, name: [])
    assert bool(play.play(path, in_full=in_full)) == wrong
    said = capsys.readouterr().out
    assert ("RED" in said) == wrong and ("refused" in said) == (trouble is not None and not wrong)
