"""The drawings run and say what they should; the palette can be read."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from patch_association.figures import (
    COLORS,
    SHADES,
    draw_estimate,
    draw_matrix,
    draw_patches,
    draw_sets,
    new_figure,
    set_palette,
    use_style,
)
from patch_association.intervals import Estimate
from patch_association.structure import Partition

BLOCKS = Partition.blocks(4, 4, 2, 2)


@pytest.fixture(autouse=True)
def book_style():
    with plt.rc_context():
        use_style()
        yield
    plt.close("all")


def luminance(color):
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_known_pairs():
    assert contrast("black", "white") == pytest.approx(21) and contrast("#777777", "white") == pytest.approx(
        4.48, abs=0.01
    )


@pytest.mark.parametrize("quantity", COLORS)
def test_every_quantity_can_be_read_on_white(quantity):
    assert contrast(COLORS[quantity], "white") >= 4.5


@pytest.mark.parametrize("horizontal", [False, True])
def test_an_estimate_is_drawn_with_its_own_interval(horizontal):
    _, ax = new_figure()
    estimate = Estimate(0.5, 0.2, 0.6, n=10)
    _, _, (bar,) = draw_estimate(ax, 3.0, estimate, horizontal=horizontal, fmt="o")
    ends = np.array([[3.0, 0.2], [3.0, 0.6]])
    assert np.allclose(bar.get_segments()[0], ends[:, ::-1] if horizontal else ends)


def test_every_quantity_has_its_own_color_marker_and_dash():
    assert set(SHADES) == set(COLORS)
    assert len(set(COLORS.values())) == len(COLORS)
    looks = [(shade["marker"], str(shade["linestyle"])) for shade in SHADES.values()]
    assert len(set(looks)) == len(looks)
    fig, ax = new_figure()
    for quantity, color in COLORS.items():
        ax.plot([0, 1], [0, 1], color=color, label=quantity, **SHADES[quantity])
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


def test_new_figure_has_the_size_that_was_asked_for():
    fig, axes = new_figure(2, 3, width=7, height=4)
    assert axes.shape == (2, 3) and tuple(fig.get_size_inches()) == (7, 4)
