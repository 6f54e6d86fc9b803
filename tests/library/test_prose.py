"""Numbers as a reader sees them."""

import subprocess
import sys

import nbformat
import numpy as np
import pytest
from myst_nb.core.variables import format_plain_text
from nbclient import NotebookClient

from patch_association.intervals import Estimate
from patch_lab.kit.prose import glue, number, show


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0.123456, 3, "0.123"),
        (1.0, 3, "1"),
        (12.3456, 3, "12.3"),
        (-0.25, 3, "−0.25"),
        (1.2345e-5, 3, "1.23 × 10⁻⁵"),
        (1e-7, 3, "10⁻⁷"),
        (-2.5e-12, 2, "−2.5 × 10⁻¹²"),
        (123456, 3, "123,000"),
        (2e20, 1, "2 × 10²⁰"),
        (0.00012, 2, "0.00012"),
    ],
)
def test_number(x, digits, text):
    assert number(x, digits) == text


def shown(monkeypatch, **texts):
    bundles = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, raw, metadata: bundles.append((data, metadata))
    )
    glue(**texts)
    return bundles


def test_glue_stores_what_myst_reads(monkeypatch):
    """The form that MyST-NB takes from outputs: a papermill record whose metadata names the key."""
    (data, metadata), (count, _), (trailing, _) = shown(
        monkeypatch, linear_error=Estimate(0.5, 0.4, 0.6, 9), linear_draws=np.int64(20_000), linear_q="0.250"
    )
    assert data == {"application/papermill.record/text/plain": "'0.50 [0.40, 0.60]'"}
    assert metadata == {"scrapbook": {"name": "linear_error", "mime_prefix": "application/papermill.record/"}}
    # MyST-NB evaluates the stored text as a literal: these come out as they went in.
    assert [format_plain_text(text, "") for text in (*count.values(), *trailing.values())] == [
        "20,000",
        "0.250",
    ]


def test_shown_prose_takes_the_live_number_and_else_the_recorded_one(capsys):
    show("A share of «prose_later» and «prose_live».", prose_later="12%", prose_live="1")
    glue(prose_live=2000)
    show("A share of «prose_later» and «prose_live».", prose_later="12%", prose_live="1")
    with pytest.raises(ValueError, match="prose_none"):
        show("«prose_none»")


CHAPTER = """from patch_lab.kit.prose import begin_chapter, glue, show
begin_chapter({changed})"""
SHOW = 'show("It is «prose_x», and «prose_y».", prose_x="1", prose_y="7")'


def run_cells(*sources):
    """What the cells show as Markdown, in a kernel of their own, once all have run."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    return [[o["data"].get("text/markdown") for o in cell.outputs if "data" in o] for cell in notebook.cells]


@pytest.mark.parametrize(
    ("changed", "then"), [({}, "It is 2, and 7."), ({"q": (0.6, 0.3)}, "▷ It is 2, and ⟨?⟩.")]
)
def test_a_sentence_takes_the_number_that_is_computed_below_it(changed, then):
    begun, shown, *_ = run_cells(CHAPTER.format(changed=changed), SHOW, "glue(prose_x=1)", "glue(prose_x=2)")
    assert shown == [then]
    assert bool(begun) == bool(changed) and all("`q = 0.6` (recorded: `0.3`)" in text for text in begun)


def test_words_of_the_record_say_so_and_what_they_claim_is_judged():
    say = "from patch_lab.kit.prose import note_requirement, show\n"
    said = say + 'show("First.", "a")\nshow("Second.", "a", "b")\nshow("| Third. |")'
    said += '\nshow("Of q and N.", "a", follows=["q", "N"])\nshow("Of N.", "a", follows=["N"])'
    verdict = say + "note_requirement('a', True)\nnote_requirement('b', False)"
    there, here = (
        run_cells(CHAPTER.format(changed=changed), said, verdict)[1] for changed in ({}, {"q": (0.6, 0.3)})
    )
    assert there == ["First.", "Second.", "| Third. |", "Of q and N.", "Of N."]
    assert [text[0] for text in here] == ["✓", "✗", "▷", "✓", "▣"] and here[0].endswith("First.")
    assert here[2].endswith("\n\n| Third. |"), "a table begins its own line"


def test_a_second_run_forgets_the_numbers_of_the_first():
    begin = CHAPTER.format(changed={"q": (0.6, 0.3)})
    assert run_cells(begin, "glue(prose_x=1, prose_y=1)", begin, SHOW)[-1] == ["▷ It is ⟨?⟩, and ⟨?⟩."]


def test_a_plain_script_prints_its_sentences_with_its_numbers():
    script = f"{CHAPTER.format(changed={})}\n{SHOW}\nglue(prose_x=3, prose_y=4)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "It is 3, and 4." in said and "It is 1" not in said
