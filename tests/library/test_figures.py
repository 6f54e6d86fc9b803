"""The drawings run and say what they should; the palette can be read."""

import io
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib import font_manager
from matplotlib.colors import to_rgb

from patch_association.intervals import Estimate
from patch_association.structure import Partition
from patch_lab.figures import (
    CATEGORIES,
    COLORS,
    draw_estimate,
    draw_matrix,
    draw_patches,
    draw_sets,
    look,
    looks,
    new_figure,
    set_palette,
    use_style,
)
from patch_lab.figures.style import DARK, LETTERING, PAPER

BLOCKS = Partition.blocks(4, 4, 2, 2)


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


def test_categories_have_a_second_cue():
    styles = looks("abcdefg")
    assert len({style["marker"] for style in styles.values()}) == 7
    assert len({str(style["linestyle"]) for style in styles.values()}) == 7
    with pytest.raises(ValueError, match="at most 7"):
        looks("abcdefgh")


@pytest.mark.parametrize("horizontal", [False, True])
def test_an_estimate_is_drawn_with_its_own_interval(horizontal):
    _, ax = new_figure()
    estimate = Estimate(0.5, 0.2, 0.6, n=10)
    _, _, (bar,) = draw_estimate(ax, 3.0, estimate, horizontal=horizontal, fmt="o")
    ends = np.array([[3.0, 0.2], [3.0, 0.6]])
    assert np.allclose(bar.get_segments()[0], ends[:, ::-1] if horizontal else ends)


def test_every_quantity_has_its_own_color_marker_and_dash():
    assert len(set(COLORS.values())) == len(COLORS)
    cues = [(look(name)["marker"], str(look(name)["linestyle"])) for name in COLORS]
    assert len(set(cues)) == len(cues)
    fig, ax = new_figure()
    for quantity in COLORS:
        ax.plot([0, 1], [0, 1], label=quantity, **look(quantity))
    ax.legend()
    fig.canvas.draw()


@pytest.mark.parametrize("num_sets", [1, 2, 4, 16])
def test_set_palette_has_a_color_for_each_set_that_carries_dark_text(num_sets):
    palette = set_palette(num_sets)
    assert len(palette) == num_sets
    assert all(np.abs(np.subtract(a, b)).max() > 0.02 for a, b in itertools.combinations(palette, 2))
    assert all(contrast(color, "#222222") >= 4.5 for color in palette)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_draw_sets_numbers_every_patch_by_its_set():
    fig, ax = new_figure()
    draw_sets(ax, BLOCKS, 4, 4)
    fig.canvas.draw()
    assert texts(ax) == [str(label + 1) for label in BLOCKS.labels]
    assert len(ax.patches) == 16 and (ax.get_xlim(), ax.get_ylim()) == ((0, 4), (4, 0))
    draw_sets(bare := new_figure()[1], BLOCKS, 4, 4, numbers=False)
    assert texts(bare) == []


def test_draw_patches_shows_every_coefficient_and_frames_the_signal_set():
    fig, ax = new_figure()
    s = np.resize([1.0, -1.0, 0.0], 16)
    draw_patches(ax, s, BLOCKS, 4, 4, signal=2)
    fig.canvas.draw()
    assert texts(ax) == [{1: "+1", -1: "−1", 0: "0"}[int(value)] for value in s]
    frames = [patch for patch in ax.patches if not patch.get_fill()]
    assert len(frames) == 4 and all(
        to_rgb(frame.get_edgecolor()) == to_rgb(COLORS["signal"]) for frame in frames
    )
    corners = {(round(frame.get_y()), round(frame.get_x())) for frame in frames}
    assert corners == {divmod(int(patch), 4) for patch in BLOCKS.sets[2]}


def test_draw_matrix_is_symmetric_about_zero():
    fig, ax = new_figure(1, 2)
    scores = torch.tensor([[1.0, -3.0], [0.5, 2.0]], requires_grad=True)
    image = draw_matrix(ax[0], scores, title="scores")
    assert image.get_clim() == (-3, 3) and ax[0].get_title(loc="left") == "scores"
    assert ax[0].get_xlabel() == "patch $j$" and ax[0].get_ylabel() == "patch $i$"
    assert draw_matrix(ax[1], np.zeros((3, 3)), colorbar=False).get_clim() == (-1, 1)
    assert draw_matrix(ax[1], np.eye(3), limit=5, colorbar=False).get_clim() == (-5, 5)
    fig.canvas.draw()


@pytest.mark.parametrize(("width", "inches"), [("column", 6.2), ("wide", 7.8), ("half", 3.1)])
def test_new_figure_is_as_wide_as_the_page(width, inches):
    fig, axes = new_figure(2, 3, width=width, height=4)
    assert axes.shape == (2, 3) and tuple(fig.get_size_inches()) == (inches, 4)


def test_new_figure_refuses_other_widths():
    with pytest.raises(ValueError, match="one of column, wide, half, got 6.4"):
        new_figure(width=6.4)


def test_all_lettering_has_one_size_and_the_books_typeface():
    fig, ax = new_figure()
    ax.plot([0, 1], [0, 1], label="$q$ and q")
    ax.set(xlabel="x", ylabel="y", title="title")
    legend = ax.legend(title="legend")
    fig.canvas.draw()
    words = [ax.title, ax.xaxis.label, *ax.get_xticklabels(), *legend.get_texts(), legend.get_title()]
    assert {word.get_fontsize() for word in words} == {LETTERING}
    assert font_manager.findfont(ax.xaxis.label.get_fontproperties()).endswith("BookSans-Regular.ttf")


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
