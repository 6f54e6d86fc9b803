"""The drawings run and say what they should; the palette can be read."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from patch_lab.figures import (
    CATEGORIES,
    COLORS,
    draw_matrix,
    look,
    new_figure,
    use_style,
)
from patch_lab.figures.style import DARK, PAPER


@pytest.fixture(autouse=True)
def book_style():
    with plt.rc_context():
        use_style()
        yield
    plt.close("all")


def linear(color):
    return np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)])


def luminance(color):
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    return linear(color) @ [0.2126, 0.7152, 0.0722]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_quantity_and_category_can_be_read_on_its_page():
    for color in COLORS.values():
        assert contrast(color, "white") >= 4.9 and contrast(DARK[color], DARK[PAPER]) >= 5  # on tinted boxes
    for color in CATEGORIES:
        assert contrast(color, "white") >= 3 and contrast(DARK[color], DARK[PAPER]) >= 4.5


def test_a_figure_is_the_same_bytes_every_time():
    def drawn():
        fig, ax = new_figure()
        ax.plot(np.linspace(0, 1, 9), **look("signal"))
        ax.fill_between([0, 8], 0, 1, alpha=0.3)
        draw_matrix(ax.inset_axes([0.1, 0.5, 0.4, 0.4]), np.eye(3), colorbar=False)
        file = io.BytesIO()
        fig.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(fig)
        return file.getvalue()

    assert drawn() == drawn()
