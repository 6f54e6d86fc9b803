"""Writing a chapter's notebook: words alone need no run, and a run that fails leaves no evidence."""

import execute
import nbformat
import pytest
from notebooks import notebook_from_text, write_notebook

CHAPTER = """---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

A sentense.

```{code-cell} ipython3
1 + 1
```
"""


def test_words_are_written_and_outputs_stay_but_changed_code_is_refused(tmp_path):
    path = tmp_path / "part" / "chapter.md"
    path.parent.mkdir()
    path.write_text(CHAPTER, encoding="utf-8")
    notebook = notebook_from_text(path)
    (code,) = (cell for cell in notebook.cells if cell.cell_type == "code")
    code.outputs, code.execution_count = [nbformat.v4.new_output("stream", name="stdout", text="2")], 1
    write_notebook(notebook, path.with_suffix(".ipynb"))
    assert not execute.write_prose(path)
    path.write_text(CHAPTER.replace("sentense", "sentence"), encoding="utf-8")
    assert execute.write_prose(path)
    words, code = nbformat.read(path.with_suffix(".ipynb"), as_version=4).cells
    assert (words.source, code.outputs[0].text, code.execution_count) == ("A sentence.", "2", 1)
    written = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    path.write_text(CHAPTER.replace("1 + 1", "1 + 2"), encoding="utf-8")
    with pytest.raises(execute.ChapterFailed, match="changed in its code"):
        execute.write_prose(path)
    assert path.with_suffix(".ipynb").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("before", [b"{}", None])
def test_a_run_that_fails_leaves_the_evidence_of_the_run_before(tmp_path, monkeypatch, before):
    monkeypatch.setattr(execute, "EVIDENCE", tmp_path)
    path, file = tmp_path / "part" / "chapter.md", tmp_path / "part" / "chapter.json"
    path.parent.mkdir()
    if before is not None:
        file.write_bytes(before)
    code = f"open({str(file)!r}, 'w').write('new'); raise ValueError('later')"
    path.write_text(CHAPTER.replace("1 + 1", code), encoding="utf-8")
    with pytest.raises(execute.ChapterFailed, match="later"):
        execute.execute(path)
    assert (file.read_bytes() if file.exists() else None) == before
    assert not path.with_suffix(".ipynb").exists()
