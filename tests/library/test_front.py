"""Descriptions and quotations of pages: TeX as far as plain letters carry it."""

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "book" / "_ext" / "front.py"
spec = importlib.util.spec_from_file_location("front", SOURCE)
front = importlib.util.module_from_spec(spec)
spec.loader.exec_module(front)


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("the feature,\\alpha; how high", "the feature, α; how high"),
        (r"a step \eta and sets \Gamma", "a step η and sets Γ"),
        (r"\textcolor{#0550B1}{\gamma}", "γ"),
        (r"\mathbf{X}_i", "Xi"),
        ("at 1,000 inputs; see https://x", "at 1,000 inputs; see https://x"),
    ],
)
def test_plain(tex, text):
    assert front.plain(tex) == text


def test_short_formulas_are_quoted_and_long_ones_hinted_at():
    assert (
        front.short(r"\(D = 16\)") == "D = 16" and front.short(r"\[\sum_i \sigma(z_i) + \dots + 1\]") == "…"
    )
