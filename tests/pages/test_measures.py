"""What is folded is no open code, no figure and no way of reading."""

import pytest
from page_measures import measure

PAGE = """<!doctype html><style>body, pre {{ margin: 0 }}</style>
<article class="bd-article" style="position: relative; width: 1000px; height: 1000px">one two
  {fold}<div class="cell_input"><pre style="width: 500px; height: 400px">code</pre></div>
  <figure style="margin: 0; height: 50px"></figure>{end}
  <figure style="margin: 0; position: absolute; top: 900px; height: 50px; width: 50px"></figure>
</article>"""


@pytest.mark.parametrize(
    ("fold", "end", "code", "first"),
    [
        ("", "", 0.4, "the upper figure"),
        ("<details open><summary>Code</summary>", "</details>", 0.4, "the upper figure"),
        ("<details><summary>Code</summary>", "</details>", 0.0, "the lower figure"),
    ],
    ids=["open", "an open fold", "a closed fold"],
)
def test_what_counts(browser, tmp_path, fold, end, code, first):
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(fold=fold, end=end), encoding="utf-8")
    found = measure(browser, path)
    assert found.code_share == pytest.approx(code)
    assert found.screens is not None
    assert (found.screens == pytest.approx(1.0)) == (first == "the lower figure")
    assert found.words == 2
