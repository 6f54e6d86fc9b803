"""What the reader of pages finds, and what it lets pass; each pattern is broken once."""

import pytest
from page_text import typed_numbers


def page(inner):
    return f'<html><body><main><article class="bd-article">{inner}</article></main></body></html>'


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
