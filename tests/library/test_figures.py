"""The drawings run and say what they should; the palette can be read."""

import io
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from patch_association.structure import Partition
from patch_lab.dynamics.figures import (
    draw_border,
    draw_entries,
    draw_feedback,
    draw_first_moves,
    draw_first_steps,
    draw_image_steps,
    draw_loudness,
    draw_overshoot,
    draw_pull,
    draw_score_paths,
    draw_sketch,
    draw_trap,
    draw_turned_rows,
)
from patch_lab.images.figures import draw_montage, montage
from patch_lab.kit.figures import (
    CATEGORIES,
    COLORS,
    draw_matrix,
    draw_patches,
    new_figure,
    style_of,
)
from patch_lab.kit.figures.style import DARK, PAPER
from patch_lab.transfer.figures import LEARNERS, draw_pulls, plot_sample_curves

pytestmark = pytest.mark.usefixtures("book_style")


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
        ax.plot(np.linspace(0, 1, 9), **style_of("signal"))
        ax.fill_between([0, 8], 0, 1, alpha=0.3)
        draw_matrix(ax.inset_axes([0.1, 0.5, 0.4, 0.4]), np.eye(3), colorbar=False)
        file = io.BytesIO()
        fig.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(fig)
        return file.getvalue()

    assert drawn() == drawn()


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_the_table_of_first_steps_says_each_fraction_on_its_color():
    _, ax = new_figure()
    steps = np.where(np.eye(4) + np.eye(4)[::-1] > 0, 0.125, -0.375)  # companions {1, 4} and {2, 3}
    draw_first_steps(ax, steps, Partition([0, 1, 1, 0]))
    assert words(ax)[:4] == ["frozen", "−3/8", "−3/8", "+1/8"]  # the diagonal is never read
    centers = [(cell.get_center()[0], cell.get_center()[1]) for cell in ax.patches]
    assert centers == [text.get_position() for text in ax.texts]  # a fraction is in the middle of its cell
    cells = np.array([to_rgb(cell.get_facecolor()) for cell in ax.patches]).reshape(4, 4, 3)
    assert np.allclose(cells[0, 3], to_rgb(COLORS["same set"]))
    assert np.allclose(cells[2, 0], to_rgb(COLORS["other sets"]))


def test_scores_are_named_at_their_own_curves():
    from types import SimpleNamespace

    _, ax = new_figure()
    steps = np.array([0, 9, 99])
    draw_score_paths(ax, SimpleNamespace(steps=steps, gamma=steps / 100, rho=-steps / 300))
    ends = {text.get_text(): text.xy for text in ax.texts}
    assert ends["companions"] == (100, 0.99) and ends["strangers"] == (100, -0.33)


@pytest.mark.parametrize(("vote", "loudest"), [(1.0, "signal"), (-1.0, "label")])
def test_the_patch_that_agrees_with_the_vote_has_the_steepest_tangent(vote, loudest):
    _, ax = new_figure()
    draw_loudness(ax, vote, 0.5, "")
    pieces = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() > 3]
    slopes = {line.get_color(): np.ptp(line.get_ydata()) / np.ptp(line.get_xdata()) for line in pieces}
    assert len(slopes) == 3 and max(slopes, key=slopes.get) == COLORS[loudest]
    assert slopes[COLORS[loudest]] == pytest.approx(3 * 1.5**2)  # the cubic's, at one and a half


def test_an_image_shows_its_signs_and_its_two_steps():
    _, (top, bottom) = new_figure(2, 1)
    draw_image_steps((top, bottom), (1, 1, -1, 0), Partition([0, 0, 1, 1]), (0.5, -0.25), "a title")
    assert words(top) == ["+1", "+1", "−1"] and len(top.patches) == 5  # four patches and the frame
    frame = top.patches[-1]
    assert frame.get_x() < 0 and 2 < frame.get_x() + frame.get_width() < 2.35  # the signal set, no more
    assert [bar.get_width() for bar in bottom.patches] == [0.5, -0.25]
    assert words(bottom) == ["+0.50", "−0.25"]


def test_the_feedback_is_drawn_relative_to_its_first_step():
    _, ax = new_figure()
    growth, slope, pace = np.array([[2, 4, 8, 16], [0.5, 0.4, 0.2, 0.05], [1, 1.3, 0.9, 0.2]])
    draw_feedback(ax, [100, 200, 400, 800], growth, slope, pace)
    assert np.allclose([line.get_ydata() for line in ax.lines[:3]], [growth / 2, slope / 0.5, pace])
    assert ax.get_ylabel() == "relative to step 100"


def test_the_pull_of_wrong_votes_is_drawn_under_its_name_beside_the_border():
    _, ax = new_figure()
    steps = np.array([0, 9, 99, 999])
    pulls = {"small": np.array([0.0, -0.3, 0.2, 0.9]), "lost": np.array([-0.1, -0.6, -1.0, -1.3])}
    draw_pull(ax, {name: (steps, pull) for name, pull in pulls.items()})
    assert np.array_equal([line.get_xdata() for line in ax.lines[:2]], [1 + steps, 1 + steps])
    assert np.array_equal([line.get_ydata() for line in ax.lines[:2]], list(pulls.values()))
    assert [text.xy for text in ax.texts[:2]] == [(100, 0.2), (100, -1.0)]
    assert words(ax)[:2] == ["small", "lost"] and ax.lines[-1].get_ydata()[0] == -1


def test_the_lemma_runs_along_all_three_events():
    _, ax = new_figure()
    draw_sketch(ax)
    bar, *boxes = ax.patches[:4]
    assert "Lemma 4.3" in words(ax)[0] and [one for one in words(ax) if one.startswith("Event")] == [
        "Event I", "Event II", "Event III",
    ]  # fmt: skip
    lefts = [box.get_x() for box in boxes]
    assert lefts == sorted(lefts) and bar.get_x() <= lefts[0]
    assert bar.get_x() + bar.get_width() >= boxes[-1].get_x() + boxes[-1].get_width() - 1e-9


def test_pulls_are_arrows_of_one_length_on_the_side_of_their_cosines():
    _, ax = new_figure()
    draw_pulls(ax, {("first", "noise"): -0.6, ("cube", "same set"): 0.8}, "a title")
    tips = np.array([arrow.xy for arrow in ax.texts if arrow.arrow_patch is not None])
    assert np.allclose(tips, [(-0.6, 0.8), (0.8, 0.6)])
    named = {text.get_text(): text.get_ha() for text in ax.texts if text.get_text()}
    assert named == {"first": "right", "cube": "left"}


def test_the_trap_shows_each_run_from_its_start_to_the_right():
    _, ax = new_figure()
    runs = {24: (np.array([24.0, 1.0, 1e-6]), np.array([-0.1, 0.4, 0.0]))}
    draw_trap(ax, runs, (0.5, -2.0))
    curve, start, entry, floor = ax.lines
    assert np.allclose(curve.get_xydata(), np.transpose(runs[24])) and start.get_xydata().tolist() == [
        [24.0, -0.1]
    ]
    assert (
        set(entry.get_xdata()) == {0.5} and set(floor.get_ydata()) == {-2.0} and max(floor.get_xdata()) == 0.5
    )
    assert ax.xaxis_inverted() and ax.get_xscale() == "log"


def test_a_peak_is_written_at_its_height():
    _, ax = new_figure()
    draw_overshoot(ax, {48: ([1, 10, 100, 1000], [0.1, 2.0, 3.8, 0.2], 3.88)}, 0.1)
    assert words(ax) == ["3.88 at $D = 48$"] and ax.texts[0].xy == (10, 3.88)
    assert ax.collections[0].get_segments()[0].tolist() == [[10, 3.88], [100, 3.88]]
    assert set(ax.lines[-1].get_ydata()) == {0.1}


def test_runs_beside_the_border_are_told_apart():
    _, ax = new_figure()
    borders, meetings = {"a": [0.05, 0.0], "b": [0.01, 0.0]}, {"b": [0.004, 0.0], "a": [0.03, 0.0]}
    draw_border(ax, [0.1, 1.0], borders, meetings, [(0.3, 0.02, False), (0.3, 0.1, True)])
    assert [line.get_label() for line in ax.lines[:4:2]] == ["a", "b"]
    assert [line.get_ydata()[0] for line in ax.lines[1:4:2]] == [0.03, 0.004]
    assert ax.collections[1].get_paths()[0].vertices[:, 1].max() == 0.004  # shaded below the thin curve
    assert [(line.get_marker(), line.get_xydata().tolist()) for line in ax.lines[4:]] == [
        ("X", [[0.3, 0.02]]), ("o", [[0.3, 0.1]]),
    ]  # fmt: skip


def test_companions_and_strangers_keep_their_colors():
    _, ax = new_figure()
    same = Partition([0, 0, 1, 1]).same_set
    entries = np.stack([np.where(same, step, -step) for step in (0.0, 1.0)])  # (2, D, D)
    run = SimpleNamespace(steps=[0, 1], gamma=[0.0, 1.0], rho=[0.0, -1.0])
    draw_entries(ax, [0, 1], entries, same, run)
    drawn = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_label() != "_nolegend_"]
    ends = {(line.get_color(), line.get_ydata()[-1]) for line in drawn if abs(line.get_ydata()[-1]) == 1}
    assert ends == {(COLORS["same set"], 1.0), (COLORS["other sets"], -1.0)}
    names = {text.get_text(): (text.get_color(), text.xy[1]) for text in ax.texts}
    assert names == {
        r"$\gamma$, 4 entries": (COLORS["same set"], 1.0),
        r"$\rho$, 8 entries": (COLORS["other sets"], -1.0),
    }


def test_the_border_of_the_first_step_lies_between_the_margins():
    _, ax = new_figure()
    draw_first_moves(ax, [0.1, 0.2, 0.4], [10, 20], [[1, 1, -1], [1, 1, -1]])
    (border,) = [path.vertices for c in ax.collections for path in c.get_paths() if len(path.vertices) == 2]
    np.testing.assert_allclose(border[:, 0], 0.3)
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_a_row_of_blocks_that_turns_to_one_patch_of_each_set_gains_at_large_q():
    _, ax = new_figure()
    gains = draw_turned_rows(ax, 9, 3, 0.8, np.linspace(0, 1, 21))
    by_name = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert gains["to one patch of every set"] == by_name["to one patch of every set"].max() > 1e-3
    assert max(gains["to itself"], gains["to another set"], gains["to all patches"]) < 1e-9
    assert by_name["to another set"][-1] == pytest.approx(0, abs=1e-12), "by symmetry"
    assert "one row gains" in ax.get_title(loc="left") + ax.get_title()


def test_a_sample_curve_is_named_at_a_point_of_its_own():
    _, ax = new_figure()
    curves = {
        name: ([1, 2, 4], np.full((2, 3), level))
        for name, level in (("wrong sets", 0.2), ("from scratch", 0.1))
    }
    plot_sample_curves(ax, curves)
    assert [(t.get_text(), t.xy, t.get_color()) for t in ax.texts] == [
        ("wrong sets", (4, 0.2), COLORS["noise"]),
        ("from scratch", (1, 0.1), LEARNERS["from scratch"]["color"]),
    ]


def test_each_set_has_its_number_once_at_its_middle():
    _, ax = new_figure()
    draw_patches(ax, [1, 1, 0, -1, 0, 0], Partition([0, 0, 1, 2, 2, 1]), 2, 3, numbered=True)
    numbers = {text.get_text(): text.get_position() for text in ax.texts if text.get_bbox_patch()}
    assert numbers == {"1": (1.0, 0.5), "2": (2.5, 1.0), "3": (1.0, 1.5)}
    plt.close("all")


def test_a_thinned_montage_keeps_whole_small_pictures():
    rows = np.arange(16)[:, None] * 100 + np.arange(16)  # patch i's view of patch j is 100 i + j
    all_four = montage(rows)
    thinned = montage(rows, every=2)  # the patches 5, 7, 13, 15 of the four by four
    assert all_four.shape == (16, 16) and thinned.shape == (8, 8)
    assert thinned[:4, :4].ravel().tolist() == rows[5].tolist()
    assert thinned[4:, :4].ravel().tolist() == rows[13].tolist()
    _, ax = new_figure()
    draw_montage(ax, rows > 0, "a title", every=2)
    (rings,) = (line for line in ax.lines if line.get_marker() == "o")
    spots = rings.get_xydata().astype(int).tolist()
    assert [int(thinned[down, across]) for across, down in spots] == [505, 707, 1313, 1515], "its own patch"
