"""A chapter is a function of its parameters: every one can be changed, and nothing turns red."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import play  # noqa: E402
from notebooks import chapters, name_of, notebook_from_text  # noqa: E402

from patch_association._validate import fits_memory  # noqa: E402

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


def test_what_a_page_tells_to_try_is_read():
    text = "Set `dim` to $16$ or $64$, `q = 0.6`, or `N` to $2{,}000$, or `q` to $1$. Set `p` to 5 and to 7."
    assert told_to_try(text) == [
        ("dim", "16"), ("dim", "64"), ("q", "0.6"), ("N", "2000"), ("q", "1"),
        ("p", "5"), ("p", "7"),
    ]  # fmt: skip


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


def test_changes_are_read_from_the_comments():
    grid = "sides = (4, 4)  # a grid; try (2, 6), (6, 6)"
    source = f"q = 0.3  # a chance; try 0.1, 0.5\n{grid}\nPRESET = 'reader'  # or full"
    q, sides, preset = play.read_parameters(source)
    assert (q.name, q.value, q.tries) == ("q", "0.3", ("0.1", "0.5"))
    assert sides.tries == ("(2, 6)", "(6, 6)") and preset.tries == ()


@pytest.mark.parametrize(
    "source", ["q = 0.3", "q = 0.3  # try 0.1", "q = 0.3  # try 0.1 and 0.2", "print(1)  # try 1, 2"]
)
def test_a_cell_that_does_not_say_what_to_try_is_refused(source):
    with pytest.raises(play.NotPlayable):
        play.read_parameters(source)


def _notebook(*cells):
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.cells[0].metadata["tags"] = ["parameters"]
    return notebook


@pytest.mark.slow
def test_a_red_cell_is_seen_and_a_refusal_told_from_a_crash():
    notebook = _notebook("q = 0.3  # a chance; try 0.1, 0.5", "assert q < 0.4, 'too large'")
    (q,) = play.read_parameters(notebook.cells[0].source)
    assert play.run(play.changed(notebook, q, "0.1")) is None
    assert "too large" in play.run(play.changed(notebook, q, "0.5"))
    assert "too large" in play.run(play.changed(notebook, q, "0.5"), refusal=True)
    checked = _notebook(
        "q = 0.3  # a chance; try 0.1, 0.5",
        "from patch_association.exact.linear import linear_error\nlinear_error(16, 4, q)",
    )
    assert play.run(play.changed(checked, q, "2.0"), refusal=True) is None
    assert play.run(play.changed(checked, q, "0.1"), refusal=True) == "nothing refused it"


def test_a_full_preset_may_need_more_memory_and_nothing_else_may():
    with pytest.raises(ValueError) as refusal:
        fits_memory("a matrix", 2**60, bytes_each=8)
    too_large = f"ValueError: {refusal.value}"
    assert play.judged(too_large, nonsense=False, in_full=True) == (False, f"refused: {too_large}")
    for trouble, in_full in ((too_large, False), (f"Assertion{too_large}", True), ("ValueError: no", True)):
        assert play.judged(trouble, nonsense=False, in_full=in_full) == (True, f"RED: {trouble}")
    assert play.judged(None, nonsense=False, in_full=True) == (False, "runs")


def test_nonsense_is_for_parameters_that_there_are():
    offered = [
        (name_of(path), each.name)
        for path in chapters()
        for each in play.read_parameters(play.parameters_cell(notebook_from_text(path)).source)
    ]
    names = {name for _, name in offered} | {f"{chapter} {name}" for chapter, name in offered}
    assert set(play.NONSENSE) <= names, sorted(set(play.NONSENSE) - names)
    assert set(play.QUICK.items()) <= set(offered)
    notebook = _notebook("q = 0.3  # try 0.1, 0.2\nlarge = (16, 4)  # try (8, 4), (12, 4)")
    tried = {
        (p.name, value) for p, value, wrong in play.changes(notebook, True, "setting/spatial_data") if wrong
    }
    assert tried == {("q", "2.0"), ("large", "(17, 4, 0.25)")}


def test_the_full_preset_is_one_change():
    notebook = _notebook(
        'PRESET = "reader"  # "full" takes an hour\nq = 0.3  # try 0.1, 0.2', "assert PRESET == 'full'"
    )
    ((preset, value, nonsense),) = play.full(notebook)
    assert play.run(play.changed(notebook, preset, value), timeout=None) is None and not nonsense


@pytest.mark.parametrize("command", ["play", "full"])
def test_the_nightly_and_the_monthly_run_reach_every_chapter(command, tmp_path):
    """The steps of the workflow, with a ``make`` that says what it was given."""
    text = (ROOT / ".github" / "workflows" / "play.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["play"]
    script, reached = job["steps"][-1]["run"], []
    (tmp_path / "make").write_text("#!/bin/sh\necho $@\n")
    (tmp_path / "make").chmod(0o755)
    for part in job["strategy"]["matrix"]["part"]:
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "COMMAND": command, "PART": part}
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith(f"{command} CHAPTERS=")
        reached += done.stdout.split("CHAPTERS=")[1].split()
    left_out = {"dynamics/realistic"} if command == "full" else set()
    assert set(reached) == {
        f"book/{name_of(path)}.md" for path in chapters() if name_of(path) not in left_out
    }
    crons = re.findall(r"cron: \"(.*?)\" # make (\w+)", text)
    assert [name for _, name in crons] == ["play", "full"] and f"== '{crons[1][0]}'" in text
    assert crons[0][0].endswith("* * *")
