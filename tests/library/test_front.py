"""Descriptions and quotations of pages: TeX as far as plain letters carry it."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

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
        (r"T \geq 4 \times 4 and\sigma_A", "T ≥ 4 × 4 and σA"),
        ("import patch_association as pa", "import patch_association as pa"),
        ("at 1,000 inputs; see https://x", "at 1,000 inputs; see https://x"),
    ],
)
def test_plain(tex, text):
    assert front.plain(tex) == text


def test_short_formulas_are_quoted_and_long_ones_hinted_at():
    assert (
        front.short(r"\(D = 16\)") == "D = 16" and front.short(r"\[\sum_i \sigma(z_i) + \dots + 1\]") == "…"
    )


ROOT = SOURCE.parents[2]
INDEX = (ROOT / "book" / "index.md").read_text(encoding="utf-8")


def test_all_of_it_is_every_chapter_once():
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [
        entry["file"].removeprefix("book/")
        for part in contents["parts"]
        if part.get("numbered")
        for entry in part["chapters"]
    ]
    listed = re.findall(r":::\{reading-time\}\n(.*?)\n:::", INDEX.partition("**All of it.**")[2], re.DOTALL)
    assert len(listed) == 1 and listed[0].split() == chapters


def test_the_front_page_says_which_source_is_missing():
    limits = re.search(r"## What was not done\n(.*?)\n## ", INDEX, re.DOTALL)[1]
    assert "The appendix of {cite:t}`jelassi2022` is not among our sources" in limits
    assert "main text" in limits
