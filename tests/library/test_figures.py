"""The drawings run and say what they should; the palette can be read."""

import io
import itertools

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


# Machado, Oliveira & Fernandes (2009): how linear sRGB looks to a complete deuteranope and protanope.
SIGHT = {
    "all": np.eye(3),
    "deuteranope": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanope": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}


def linear(color):
    return np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)])


def luminance(color):
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    return linear(color) @ [0.2126, 0.7152, 0.0722]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def oklab(rgb):
    """Ottosson's OKLab of linear sRGB: distances in it follow what is seen."""
    to_cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return to_lab @ np.cbrt(to_cones @ np.clip(rgb, 0, 1))


def nearest(colors, sight):
    seen = [oklab(SIGHT[sight] @ linear(color)) for color in colors]
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))


def test_contrast_and_distance_of_known_pairs():
    assert contrast("black", "white") == pytest.approx(21)
    assert contrast("#777777", "white") == pytest.approx(4.48, abs=0.01)
    assert nearest(["black", "white"], "all") == pytest.approx(1, abs=1e-3)
    # The first edition's green and crimson, which a deuteranope could not tell apart.
    assert (
        nearest(["#117A48", "#A8174B"], "all") > 0.2 > 0.05 > nearest(["#117A48", "#A8174B"], "deuteranope")
    )


@pytest.mark.parametrize("quantity", COLORS)
def test_every_quantity_can_be_read_on_its_page(quantity):
    assert contrast(COLORS[quantity], "white") >= 4.9  # some stand on tinted boxes
    assert contrast(DARK[COLORS[quantity]], DARK[PAPER]) >= 5


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_stands_out_on_its_page(category):
    assert contrast(category, "white") >= 3 and contrast(DARK[category], DARK[PAPER]) >= 4.5


@pytest.mark.parametrize("palette", [tuple(COLORS.values()), CATEGORIES], ids=["quantities", "categories"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("sight", "least"), [("all", 0.15), ("deuteranope", 0.1), ("protanope", 0.09)])
def test_colors_of_a_palette_can_be_told_apart(palette, theme, sight, least):
    assert nearest([DARK[color] for color in palette] if theme == "dark" else palette, sight) >= least


def texts(ax):
    return [text.get_text() for text in ax.texts]


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
