"""Tips over links and symbols: what is copied from a page, and what a symbol's tip says."""

from __future__ import annotations

import notation
import pytest
import tips

PAGE = """<div class="proof theorem admonition" id="thm-a"><p class="title">Theorem 1</p>
<div class="proof-content"><p>All <a class="reference internal" href="x.html#b">b</a> are
<span class="math" tabindex="0">\\(c\\)</span>.</p></div></div>
<div class="proof admonition" id="proof"><p>Proof.</p></div>
<figure class="align-default" id="fig-a"><div class="pa-drawing"><svg><path id="p1"/></svg></div>
<figcaption>A caption.<a class="headerlink" href="#fig-a" title="Link">#</a></figcaption></figure>
<section id="text"><p>No box.</p></section>"""


def test_boxes_are_found_whole_and_stand_alone(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(PAGE, encoding="utf-8")
    boxes = tips._boxes(page)
    assert set(boxes) == {"thm-a", "fig-a"}
    theorem = boxes["thm-a"]
    assert theorem.endswith("</div></div>") and theorem.count("<div") == theorem.count("</div") == 2
    assert "All b are" in theorem and "\\(c\\)" in theorem
    for left in ("href", "id=", "tabindex", "<svg", "headerlink"):
        assert left not in theorem + boxes["fig-a"]
    assert "A caption." in boxes["fig-a"]


def test_what_is_not_closed_is_refused():
    with pytest.raises(ValueError, match="not closed"):
        tips._whole("<div><div></div>", 0, "div")


def test_a_symbol_says_what_it_is_and_what_the_code_calls_it():
    symbols = notation.spoken("book/setting/structure")
    said = tips.meaning(symbols["\\gamma"])
    assert "\\textcolor{#0550B1}{\\gamma}" in said and "<code>gamma</code>" in said
    assert said.count("\\(") == said.count("\\)") >= 2
    assert "<code>" not in tips.meaning(symbols["\\chi"]), "the clutter has no name in the code"
