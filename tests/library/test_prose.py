"""Numbers as a reader sees them."""

import numpy as np
import pytest
from myst_nb.core.variables import format_plain_text

from patch_association.intervals import Estimate
from patch_lab.prose import glue, number, show


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
