"""The tool that changes the core: what it changes, which tests it runs, what it keeps between two runs."""

from __future__ import annotations

import json

import pytest

TEXT = '''"""Words, 1."""
LIMIT = 7


def small(x: "1", most=LIMIT + 1) -> bool:
    """Not 2."""
    if x < most and not x == 3:  # a remark
        return True
    raise ValueError(f"{x + 1} is too large" + str(9))
'''


@pytest.fixture
def found():
    from mutate import mutants

    return mutants("room/small", TEXT)


def test_one_expression_changes_and_nothing_else(found):
    changes = {mutant.change for mutant in found}
    assert changes == {
        "7 -> 8",
        "LIMIT + 1 -> LIMIT - 1",
        "1 -> 2",
        "x < most and (not x == 3) -> x < most or not x == 3",
        "x < most -> x <= most",
        "not x == 3 -> +(x == 3)",
        "x == 3 -> x != 3",
        "3 -> 4",
        "True -> False",
    }
    assert len({mutant.text for mutant in found}) == len(found) == len(changes)
    for mutant in found:
        lines = list(zip(TEXT.splitlines(), mutant.text.splitlines(), strict=True))
        assert [k for k, (a, b) in enumerate(lines, 1) if a != b] == [mutant.line]
    assert {mutant.name for mutant in found if mutant.line == 2} == {"room/small: LIMIT = 7: 7 -> 8"}
    texts = {mutant.change: mutant.text for mutant in found}
    assert "return False" in texts["True -> False"] and "# a remark" in texts["3 -> 4"]


def test_a_negative_number_is_one_number_and_two_on_a_line_are_two():
    from mutate import mutants

    found = mutants("m", "x = y.reshape(-1, 2) + z[2]\n")
    assert [mutant.change for mutant in found] == [
        "y.reshape(-1, 2) + z[2] -> y.reshape(-1, 2) - z[2]", "-1 -> -0", "2 -> 3", "2 -> 3"
    ]  # fmt: skip
    assert len({str(mutant) for mutant in found}) == 4
    assert found[1].text == "x = y.reshape((-0), 2) + z[2]\n"


def test_a_mutant_knows_the_lines_of_its_statement_and_what_an_import_evaluates(found):
    at = {mutant.change: (list(mutant.lines), mutant.at_import) for mutant in found}
    assert (
        at["7 -> 8"] == ([2], True) and at["3 -> 4"] == ([7], False) and at["True -> False"] == ([8], False)
    )
    assert at["LIMIT + 1 -> LIMIT - 1"][1]


def test_the_tests_that_reach_it_its_own_first_and_the_quick_ones(found):
    from mutants import tests_of

    seconds = {"test_b.py::quick": 1, "test_b.py::slow": 9, "test_small.py::one": 5, "test_c.py::far": 80}
    lines = {
        "1": [""],
        "7": ["test_b.py::", "test_small.py::one"],
        "8": ["test_c.py::far", "test_b.py::slow"],
    }
    reach = {"seconds": seconds, "lines": {"room/small": lines}}
    by_change = {mutant.change: mutant for mutant in found}
    own, others = ["test_small.py::one"], ["test_b.py::quick", "test_b.py::slow"]
    assert tests_of(by_change["3 -> 4"], reach) == own + others
    assert tests_of(by_change["True -> False"], reach) == ["test_b.py::slow"]  # 80 s are too many
    assert tests_of(by_change["7 -> 8"], reach) == own + others  # read at import
    assert tests_of(by_change["3 -> 4"], reach | {"lines": {}}) == []


def test_what_was_tried_is_read_back_without_a_line_cut_short(tmp_path):
    from mutants import read_journal

    journal = tmp_path / "tried.jsonl"
    assert read_journal(journal) == {}
    journal.write_text(json.dumps({"key": "a", "tests": "t", "is": "survived"}) + '\n{"key": "b", "te')
    assert read_journal(journal) == {("a", "t"): "survived"}


@pytest.mark.parametrize(("untouched", "found"), [(0, "killed: it cannot be imported"), (4, None)])
def test_a_test_whose_name_is_out_of_date_kills_nothing(tmp_path, untouched, found):
    """pytest ends with 4 where a module cannot be imported, and where a test is not there."""
    from trial import Trials

    class Told(Trials):
        def run(self, tests):
            return (4 if file.read_text() == "changed" else untouched), ""

    file = tmp_path / "module.py"
    file.write_text("as it was")
    trials = Told(tmp_path, {})
    if found is None:
        with pytest.raises(SystemExit, match="not there: tests/t.py::one, tests/t.py::two"):
            trials.outcome(file, "changed", ["tests/t.py::one", "tests/t.py::two"])
    else:
        assert trials.outcome(file, "changed", ["tests/t.py::one", "tests/t.py::two"]) == found
    assert file.read_text() == "as it was"


def test_survivors_count_against_the_core_unless_a_reason_is_written_down(tmp_path, monkeypatch, capsys):
    import mutants as tool

    (tmp_path / tool.PACKAGE / "room").mkdir(parents=True)
    (tmp_path / tool.PACKAGE / "room" / "small.py").write_text(TEXT, encoding="utf-8")
    survive = {"7 -> 8", "x == 3 -> x != 3", "3 -> 4"}

    class Told:
        def __init__(self, *_): ...

        def outcome(self, file, text, tests):
            change = next(m.change for m in tool.mutants("room/small", TEXT) if m.text == text)
            return "survived 2 tests" if change in survive else "killed by one"

    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    monkeypatch.setattr(tool, "Trials", Told)
    monkeypatch.setattr(tool, "explained", lambda: {"room/small: LIMIT = 7: 7 -> 8": "A reason."})
    reach = {"seconds": {}, "lines": {}, "tests": "t"}
    assert tool.try_room(tmp_path, "room", ["room/small"], reach, None, 0) == (6, 1, 9)
    said = capsys.readouterr().out
    assert "7 -> 8: survived 2 tests. A reason." in said
    assert said.count("No reason is written down.") == 2 and "room: 6 of 9 killed, 67%" in said
