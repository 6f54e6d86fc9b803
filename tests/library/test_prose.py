"""Numbers as a reader sees them."""

import numpy as np
import pytest
from myst_nb.core.variables import format_plain_text

from patch_association.intervals import Estimate, proportion
from patch_lab.prose import glue, number, show, with_interval


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0.123456, 3, "0.123"),
        (0.5, 3, "0.5"),
        (1.0, 3, "1"),
        (0, 3, "0"),
        (12.3456, 3, "12.3"),
        (-0.25, 3, "−0.25"),
        (1.2345e-5, 3, "1.23 × 10⁻⁵"),
        (1e-7, 3, "10⁻⁷"),
        (-1e-7, 3, "−10⁻⁷"),
        (-2.5e-12, 2, "−2.5 × 10⁻¹²"),
        (123456, 3, "123,000"),
        (-2.2e2, 2, "−220"),
        (1.2e7, 2, "1.2 × 10⁷"),
        (2e20, 1, "2 × 10²⁰"),
        (0.00012, 2, "0.00012"),
    ],
)
def test_number(x, digits, text):
    assert number(x, digits) == text


@pytest.mark.parametrize(
    ("estimate", "options", "text"),
    [
        (Estimate(0.1234567, 0.1, 0.15, 9), {}, "0.123 [0.100, 0.150]"),
        (Estimate(2e-5, 1e-5, 3e-5, 9), {}, "0.000020 [0.000010, 0.000030]"),
        (Estimate(0.1234567, 0.1, 0.15, 9), {"as_percent": True}, "12.3% [10.0, 15.0]"),
        (proportion(10, 10), {"as_percent": True}, "100% [69, 100]"),
        (Estimate(-0.0999, -0.12, -0.089, 9), {"as_percent": True, "unit": ""}, "−10.0 [−12.0, −8.9]"),
        (Estimate(3.0, 2.0, 4.5, 9), {"unit": " steps"}, "3.0 steps [2.0, 4.5]"),
        (Estimate(3e-9, 0.0, 5e-9, 9), {"as_percent": True}, "3 × 10⁻⁷% [0, 5 × 10⁻⁷]"),
    ],
)
def test_with_interval(estimate, options, text):
    assert with_interval(estimate, **options) == text


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
