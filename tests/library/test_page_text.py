"""What the reader of pages finds, and what it lets pass; each pattern is broken once."""

import pytest
from page_text import GIVEN, LEFTOVERS, leftovers, typed_numbers


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
        ("ratios to it. *Attention* is", "emphasis that was not read"),
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


@pytest.mark.parametrize(
    ("formula", "number"),
    [
        ("0.200", "0.200"),
        (r"5.9\%", r"5.9\%"),
        (r"37\%", r"37\%"),
        ("-0.7", "-0.7"),
        (r"\approx 36.9", r"\approx36.9"),
        (r"4{,}000.5", "4,000.5"),
        (r"1.4 \cdot 10^{-4}", r"1.4\cdot10^{-4}"),
        (r"|\hat\alpha| \approx 0.01", r"\approx0.01"),
    ],
)
@pytest.mark.parametrize("holder", ["<p>It is {}.</p>", "<table><tr><td>{}</td></tr></table>"])
def test_a_number_alone_in_a_formula_is_typed(formula, number, holder):
    (found,) = typed_numbers(page(holder.format(rf'<span class="math">\({formula}\)</span>')))
    assert f"»{number}«" in found


@pytest.mark.parametrize(
    "formula", ["q = 0.3", r"q \in \{0.1, 0.3\}", "(36, 4, 0.2)", r"0.9\,C", "4000", r"5\%"]
)
def test_a_formula_that_says_what_is_put_in(formula):
    assert typed_numbers(page(rf'<p>At <span class="math">\({formula}\)</span>.</p>')) == []


@pytest.mark.parametrize(
    "holder",
    [
        '<div class="proof theorem admonition"><p>{}</p></div>',
        '<div class="exercise admonition"><p>Is it below {}?</p></div>',
        "<p><strong>What to try.</strong> Set <code>q</code> to {}.</p>",
        '<div class="cell_output"><p>{}</p></div>',
    ],
)
def test_where_a_number_alone_in_a_formula_may_stand(holder):
    formula = r'<span class="math">\(0.66\)</span>'
    assert typed_numbers(page(holder.format(formula))) == []
    assert len(typed_numbers(page(f"<p>{formula}</p>"))) == 1


def test_an_exercise_may_end_its_arithmetic_with_about():
    formula = r'<p><span class="math">\(3/59 \approx 5.1\%\)</span></p>'
    assert typed_numbers(page(f'<div class="solution">{formula}</div>')) == []
    assert len(typed_numbers(page(formula))) == 1


def test_what_is_given_is_a_short_list_with_reasons():
    assert len(GIVEN) < 15 and all(len(reason) > 8 for reason in GIVEN.values())
    for number in GIVEN:
        assert typed_numbers(page(rf'<p>Above <span class="math">\({number}\)</span>.</p>')) == []


def test_numbers_in_the_cells_of_a_table_that_was_written():
    cells = "<table><tr><td>{}</td></tr></table>"
    assert len(typed_numbers(page(cells.format("an error of 0.75")))) == 1
    assert typed_numbers(page(cells.format("Theorem 4.2, of 64 patches"))) == []


def test_cards_tables_of_results_and_captions():
    assert typed_numbers(page('<div class="pa-verdict"><p>0.75</p></div>')) == []
    assert typed_numbers(page('<div class="cell_output"><p>0.75</p></div>')) == []
    assert len(typed_numbers(page("<figure><figcaption><p>At 0.75.</p></figcaption></figure>"))) == 1


def test_a_number_is_named_once_though_its_list_holds_a_paragraph():
    assert len(typed_numbers(page("<ul><li><p>At 0.75.</p></li></ul>"))) == 1
