"""Stored figures as the book's pages take them in: their own names, their colors by day and by night."""

import importlib.util
import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from patch_lab.figures import COLORS, draw_matrix, look, new_figure, use_style
from patch_lab.figures.style import DARK

SOURCE = Path(__file__).resolve().parents[2] / "book" / "_ext" / "drawings.py"
spec = importlib.util.spec_from_file_location("drawings", SOURCE)
drawings = importlib.util.module_from_spec(spec)
spec.loader.exec_module(drawings)


@pytest.fixture(scope="module")
def stored():
    """A figure with a line, a clipped area and a raster."""
    with plt.rc_context():
        use_style()
        fig, axes = new_figure(1, 2)
        axes[0].plot([0, 1], **look("signal"))
        axes[0].fill_between([0, 1], 0, 0.5, color="#ABCDEF")
        draw_matrix(axes[1], np.eye(3), colorbar=False)
        file = io.StringIO()
        fig.savefig(file, format="svg")
        plt.close(fig)
    return file.getvalue()


def test_every_name_that_is_used_is_there_and_the_figures_own(stored):
    shown = drawings.draw(stored, "f7-", "A line.")
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', shown))
    assert used and used == set(re.findall(r' id="([^"]+)"', shown))
    assert all(name.startswith("f7-") for name in used)


def test_every_color_has_a_counterpart(stored):
    shown = drawings.draw(stored, "f1-", "A line.")
    plain = re.sub(r"var\(--c[0-9a-f]{6},#[0-9a-f]{6}\)|<style>.*?</style>|base64,[^\"]*", "", shown)
    assert not re.search(r"(?<!\")#[0-9a-fA-F]{6}\b", plain)
    night = dict(re.findall(r"--c([0-9a-f]{6}):([^;]+);", re.search("<style>.*?</style>", shown)[0]))
    assert set(night) == set(re.findall(r"var\(--c([0-9a-f]{6}),", shown))
    signal = COLORS["signal"]
    assert night[signal[1:].lower()] == DARK[signal].lower()
    assert night["ffffff"] == "var(--pst-color-background)" and "#abcdef" in shown


def test_accessible_name_and_size(stored):
    shown = drawings.draw(stored, "f1-", 'A "line" & more.')
    assert 'role="img" aria-label="A &quot;line&quot; &amp; more."' in shown
    assert 'width="595"' in shown and "--wide:595px" in shown  # 6.2 inches at 96 pixels
    assert "<?xml" not in shown and "<metadata" not in shown


def test_paths_are_the_same_to_a_hundredth(stored):
    shown = drawings.draw(stored, "f1-", "")
    numbers = [
        np.array(
            [float(x) for path in re.findall(r' d="([^"]+)"', text) for x in re.findall(r"-?\d+\.?\d*", path)]
        )
        for text in (stored, shown)
    ]
    assert len(numbers[0]) == len(numbers[1]) and np.abs(numbers[0] - numbers[1]).max() <= 0.0051


def test_dark_counterparts_mirror_the_lightness():
    assert drawings.dark("#000000") == "#e8e8e8" and drawings.dark("#fefefe") < "#404040"
    red = drawings.dark("#f0c0c0")
    assert int(red[1:3], 16) > int(red[3:5], 16)  # a pale red stays red


@pytest.mark.parametrize("text", ["<p></p>", "<svg width='1'></svg>"])
def test_refuses_what_is_no_drawing(text):
    with pytest.raises(ValueError, match="SVG"):
        drawings.draw(text, "f1-", "")
