"""The inventory names what a page holds, whatever directive holds it, and tells what a change has lost."""

import json
import sys

import inventory
import pytest

PAGE = """
(sec-first)=
::::{prf:theorem} A title
:label: thm-first
:claim: ours-first

{claim}`ours-second` at {number}`first_share` and {glue:text}`first_error`.
:::{prf:proof}
:::
::::

:::{proof-of} thm-other
:::

:::{exercise} By hand
:label: ex-first
:::

:::{explorable} descent
:::

$$ (eq-first)
"""
HELD = {
    "claim": ["ours-first"],
    "claim shown": ["ours-first", "ours-second"],
    "equation": ["eq-first"],
    "exercise": ["ex-first"],
    "explorable": ["descent"],
    "glued": ["first_error", "first_share"],
    "label": ["sec-first"],
    "proof": ["thm-first", "thm-other"],
    "record": ["limits.json"],
    "statement": ["thm-first"],
}


@pytest.fixture
def root(tmp_path):
    files = {
        "book/part/page.md": PAGE,
        "book/_static/note.md": "{claim}`ours-hidden`",
        "src/room/claims.toml": '[[claim]]\nid = "ours-first"\n',
        "src/room/records/limits.json": "{}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_all_that_a_tree_holds_is_named(root):
    assert {kind: names for kind, names in inventory.inventory(root).items() if names} == HELD


def test_what_is_lost_is_said_unless_it_went_on_purpose(root, monkeypatch, capsys):
    before, gone = root / "before.json", root / "gone.txt"
    before.write_text(json.dumps(HELD | {"exercise": ["ex-first", "ex-lost", "ex-given-up"]}))
    gone.write_text("exercise\tex-given-up\tIt was the same as another.\nexercise\tex-lost\n")
    monkeypatch.setattr(inventory, "GONE", gone)
    monkeypatch.setattr(sys, "argv", ["inventory.py", str(root), "--compare", str(before)])
    assert inventory.main() == 1
    assert [line for line in capsys.readouterr().out.splitlines() if "lost" in line] == [
        "lost: exercise ex-lost"
    ]
