"""What the reader of pages finds, and what it lets pass; each pattern is broken once."""

import pytest
from page_text import LEFTOVERS, leftovers, typed_numbers


def page(inner):
    return f'<html><body><main><article class="bd-article">{inner}</article></main></body></html>'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the error is 0.0000True [0, 1]", "a truth value behind a number"),
        ("a mean of nan [nan, nan]", "not a number"),
        ("between 3 and inf [1, inf]", "an infinite number as Python writes it"),
        ("it takes None steps", "a missing value"),
        ("None", "a missing value"),
        ("agrees to 1.5e-05", "a number in e-notation"),
        ("see {glue:text}`x`", "a role that was not read"),
        ("see Theorem ??", "a reference to nothing"),
        (r"where \gamma grows", "a bare backslash"),
        ("Figure 6© shows both", "a letter in brackets read as a sign"),
        ("a value of np.float64(0.5)", "an object as Python writes it"),
    ],
)
def test_every_leftover_is_found(text, name):
    found = leftovers(page(f"<p>{text}</p>"))
    assert name in LEFTOVERS and found and all(line.startswith(f"{name}: ") for line in found)


@pytest.mark.parametrize(
    "text",
    [
        "None of the learners finds it. None did.",
        "infinitely many, a nano-scale, banana",
        "the color #1e90ff and the preset <code>1e-5</code>",
        r'<span class="math">\(10^{-5} \gamma\)</span>',
        "Is it true? It is.",
    ],
)
def test_sound_text_leaves_nothing(text):
    assert leftovers(page(f"<p>{text}</p>")) == []


def test_code_is_not_text_but_what_it_printed_is_read():
    assert leftovers(page("<pre>x = None + 1e-5</pre>")) == []
    assert leftovers(page('<div class="cell_output"><p>the gap is 1e-5</p></div>'))


@pytest.mark.parametrize(
    "number", ["0.75", "37", "12%", "20,000", "10⁻⁵", "2.5 × 10⁻⁷", "−0.3", "95%", "1.5"]
)
def test_typed_numbers_are_found(number):
    (found,) = typed_numbers(page(f"<p>It errs at {number} there.</p>"))
    assert f"»{number}«" in found


@pytest.mark.parametrize(
    "text",
    [
        "Theorem 4.1 and Figures 13 and 14; Lemma 4.3(b), section 5.2",
        "since 2022, in the years 1996 to 2024",
        "with twelve seeds, of which 3 failed; patch 1 and set 2",
        "CIFAR-10, ViT-tiny/16, float64, 2D, H100, L2",
        "a 95% interval, with a 95% confidence interval, 95% bootstrap intervals",
        '<span class="pasted-text">0.123 [0.1, 0.2]</span>, and <span class="math">\\(D = 36\\)</span>',
        'as <a href="x.html">Theorem 13.2</a> says, in <code>0.5</code>',
    ],
)
def test_what_is_no_typed_number(text):
    assert typed_numbers(page(f"<p>{text}</p>")) == []


def test_cards_tables_of_results_and_captions():
    assert typed_numbers(page('<div class="pa-verdict"><p>0.75</p></div>')) == []
    assert typed_numbers(page('<div class="cell_output"><p>0.75</p></div>')) == []
    assert len(typed_numbers(page("<figure><figcaption><p>At 0.75.</p></figcaption></figure>"))) == 1


def test_a_number_is_named_once_though_its_list_holds_a_paragraph():
    assert len(typed_numbers(page("<ul><li><p>At 0.75.</p></li></ul>"))) == 1
