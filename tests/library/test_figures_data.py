"""What the drawings of the laboratory put on their axes, read off from inputs of a few numbers."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from scipy.stats import norm

from patch_association.intervals import Estimate
from patch_association.structure import Partition
from patch_lab.beyond import figures as beyond
from patch_lab.dynamics import figures as dynamics
from patch_lab.dynamics import lifetime_figures as lifetime
from patch_lab.images import figures as images
from patch_lab.images import pretrained_figures as pretrained
from patch_lab.kit.figures import COLORS, label_ends
from patch_lab.setting import figures as setting
from patch_lab.shallow_vit import figures as shallow
from patch_lab.transfer import figures as transfer

pytestmark = pytest.mark.usefixtures("book_style")


def estimate(value, reach=0.1):
    return Estimate(value, value - reach, value + reach, 9)


LOW, HIGH = estimate(0.25), estimate(0.75)
NEVER = Estimate(np.inf, 5.0, np.inf, 9)


def curves(ax) -> dict:
    """The points (2, n) of each labeled curve, or series of marks with intervals."""
    found = {}
    for handle, name in zip(*ax.get_legend_handles_labels()):
        line = handle[0] if isinstance(handle, ErrorbarContainer) else handle
        found[name] = np.array(line.get_xydata()).T
    return found


#: A drawing, what it gets, and the curves that it names.
DRAWN = [
    (lifetime.draw_margins, ([0, 9], {500: [[1, 3], [3, 5]], 1000: [[0, 2], [2, 4]]}),
     {"500": ([0, 9], [2, 4]), "1,000": ([0, 9], [1, 3])}),
    (lifetime.draw_losing, ([0, 9], np.array([1, -1]), np.array([0.5, 0.1])),
     {"margin": ([0, 9], [1, -1]), r"10 $\times$ error": ([0, 9], [5, 1])}),
    (lifetime.draw_dying, ([1, 9], [2, 3], [0, 3], 3.0),
     {r"$\gamma$": ([1, 9], [2, 3]), r"$\rho$": ([1, 9], [0, 3])}),
    (pretrained.draw_accuracy, ({"moved": ([1, 4], [LOW, HIGH])}, 0.9, "count"),
     {"moved": ([1, 4], [25, 75])}),
    (pretrained.draw_sinks, ({"a": {"value": [0.2, 0.4], "low": [0.1, 0.3], "high": [0.3, 0.5]}}, 3),
     {"a": ([3, 4], [0.2, 0.4])}),
    (pretrained.draw_heads, ([[0.1], [0.2], [0.3], [0.4], [0.5]], [[0.9], [0.8], [0.7], [0.6], [0.5]], 0.1),
     {"layers 1 to 2": ([0.1, 0.2], [0.9, 0.8]), "layers 3 to 4": ([0.3, 0.4], [0.7, 0.6]),
      "layers 5 to 5": ([0.5], [0.5])}),
    (pretrained.draw_shares, ({"value": [[0.2, 0.4]], "low": [[0.1, 0.3]], "high": [[0.3, 0.5]]},),
     {"head 1": ([0.85], [0.2]), "head 2": ([1], [0.4])}),
    (transfer.plot_limits, ([1, 2], {"a": [0.4, 0.2], "b": [0.3, 0.1]}, 0.05),
     {"a": ([1, 2], [0.4, 0.2]), "b": ([1, 2], [0.3, 0.1])}),
    (transfer.plot_dilution, ([4, 8], {"a": [0.1, 0.12]}, 0.05), {"a": ([4, 8], [0.1, 0.12])}),
    (transfer.plot_mismatch, ([0, 1], {16: [[0.1, 0.3], [0.4, 0.6]]}, {16: ([0, 2], [0.2, 0.8])}),
     {"$D = 16$": ([0, 2], [0.2, 0.8])}),
    (transfer.plot_heads, ({(2, 1): ([1, 3], [[0.4, 0.2], [0.2, 0]]), (2, 2): ([1, 3], [[0.2, 0], [0, 0]])},),
     {"$K = 2$, 1 head": ([1, 3], [0.3, 0.1]), "$K = 2$, 2 heads": ([1, 3], [0.1, 0])}),
    (transfer.plot_complexities,
     ([4, 8], [10, 20], {next(iter(transfer.LEARNERS)): {4: estimate(9, 1), 8: NEVER}}),
     {"needed without the sets": ([4, 8], [10, 20]),
      next(iter(transfer.LEARNERS)): ([4], [9])}),
    (setting.draw_normal_error, ([1, 4],),
     {"equal weights, limit": ([1, 4], [norm.cdf(-1), norm.cdf(-0.5)])}),
    (beyond.plot_linear_share, ([4, 8], [0.1, 0.2], 0.23),
     {r"error of sign$\,\sum_\ell h_\ell$": ([4, 8], [0.1, 0.2])}),
    (beyond.plot_first_step, ([0, 1, 2], [estimate(-2e-4), estimate(0), estimate(3e-4)]),
     {"toward the own set": ([2], [3]), "away from it": ([0], [-2]),
      "neither: uniform attention": ([1], [0])}),
    (images.plot_losses, ({"vanilla": [1] * 10 + [11]},), {images.MODELS["vanilla"]: ([10, 11], [1, 2])}),
    (images.draw_study_accuracy,
     ([{"model": kind, "metrics": [{"val_accuracy": 0.3 + off}, {"val_accuracy": 0.5 + off}]}
       for kind, offsets in (("vanilla", (0, 0.2)), ("positional", (0.1,))) for off in offsets],),
     {images.MODELS["vanilla"]: ([0, 1, 2], [10, 40, 60]),
      images.MODELS["positional"]: ([0, 1, 2], [10, 40, 60])}),
    (images.draw_study_shares,
     ([{"model": kind,
        "metrics": [{"val_accuracy": 0.2, "recall": 0.4}, {"val_accuracy": 0.3, "recall": top}]}
       for kind, top in (("vanilla", 0.4), ("positional", 0.6))], "positional", 0.2, 1, 0.25),
     {"neighbors": ([0, 1], [0, 50]), "classes": ([0, 1], [0, 50])}),
    (dynamics.draw_overshooting, ({1 / 7: [0, 3], 1 / 8: [0, 2, 0], 1 / 16: [0, 1]},),
     {"1/7: grows": ([0, 1], [0, 3]), "1/8: to and fro": ([0, 1, 2], [0, 2, 0]),
      "1/16: settles": ([0, 1], [0, 1])}),
    (dynamics.draw_creeping, ([0, 1, 1], [0, 0.5, 0.75]),
     {r"$u = D\alpha$": ([0, 1, 2], [0, 1, 1]), "score $a$": ([0, 1, 2], [0, 0.5, 0.75])}),
    (dynamics.draw_drift, ([1, 2], [[1, -2], [8, -8]], 1.5, "drift"),
     {letter: ([1, 2], y) for letter, y in zip((r"$\gamma$", r"$\rho$"), ([1, 1], [-2, -1]))}),
]  # fmt: skip


@pytest.mark.parametrize(("draw", "given", "wanted"), DRAWN, ids=lambda x: getattr(x, "__name__", ""))
def test_the_named_curves_run_through_their_numbers(draw, given, wanted):
    _, ax = plt.subplots()
    draw(ax, *given)
    seen = curves(ax)
    constant = {name for name in seen if name not in wanted}
    assert wanted.keys() <= seen.keys()
    for name, points in wanted.items():
        np.testing.assert_allclose(seen[name], points, atol=1e-9, err_msg=name)
    for name in constant:  # a level, across the whole panel
        assert len(set(seen[name][1])) == 1, name


def test_a_dot_marks_the_first_time_that_a_curve_is_halfway():
    _, ax = plt.subplots()
    epochs = [{"val_accuracy": accuracy, "recall": recall} for accuracy, recall in ((0.2, 0.6), (0.5, 0.6))]
    images.draw_study_shares(ax, [{"model": "vanilla", "metrics": epochs}], "vanilla", 0.2, 2, 0.5)
    dots = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "o"]
    assert dots == [[[pytest.approx(0.5), 50]], [[pytest.approx(1 + 1 / 3), 50]]]


def test_a_pair_is_drawn_at_the_epochs_of_its_looks_with_the_difference_beside_it():
    _, axes = plt.subplots(1, 2)
    looks = {"vanilla": [0.1, 0.4], "positional": [0.2, 0.3]}
    images.draw_pair(axes, {k: {"train_loss": [0] * 10, "val_accuracy": look} for k, look in looks.items()})
    left, right = curves(axes[0]), curves(axes[1])
    np.testing.assert_allclose(left[images.MODELS["vanilla"]], [[5, 10], [10, 40]])
    np.testing.assert_allclose(left[images.MODELS["positional"]], [[5, 10], [20, 30]])
    np.testing.assert_allclose(right["positional minus vanilla"], [[5, 10], [10, -10]])


def test_a_patch_is_drawn_as_the_sum_of_its_row_and_its_column():
    rows, columns = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[10.0, 20.0], [30.0, 40.0]])
    whole = np.arange(16.0).reshape(4, 4)
    maps = [ax.images[0].get_array().tolist() for ax in pretrained.plot_sum(rows, columns, whole, 2).axes]
    assert maps == [[[3, 3], [4, 4]], [[10, 20], [10, 20]], [[13, 23], [14, 24]], [[8, 9], [10, 11]]]


def test_dashes_tell_what_is_reached_from_what_bounds_and_one_head_from_many():
    _, (left, right) = plt.subplots(1, 2)
    transfer.plot_limits(left, [1, 2], {name: [0.4, 0.2] for name in "abc"}, 0.05)
    dashes = {handle.get_label(): handle.get_linestyle() for handle in left.get_legend_handles_labels()[0]}
    assert [dashes[name] for name in "abc"] == ["-", "-", "--"]
    tables = {(2, 1): ([1, 3], [[0.4, 0.2], [0.2, 0]]), (2, 2): ([1, 3], [[0.2, 0], [0, 0]])}
    transfer.plot_heads(right, tables)
    one, many = (handle[0].get_linestyle() for handle in right.get_legend_handles_labels()[0][-2:])
    assert (one, many) == ("--", "-")


def test_a_sample_has_its_label_and_both_sums_with_their_verdicts_below():
    _, axes = plt.subplots(1, 2)
    samples = np.array([[-1, -1, -1, 1, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1, -1, 0, 0]])
    transfer.draw_samples(axes, samples, [-1, 1], [0, 1], Partition([0, 0, 0, 1, 1, 1, 2, 2, 2]), 3)
    below = [[text for text in ax.texts if text.get_position()[1] > 3] for ax in axes]
    assert [[text.get_text() for text in texts] for texts in below] == [
        ["label \N{MINUS SIGN}1", "all patches: +1, wrong", "sets, cubed: \N{MINUS SIGN}11, right"],
        ["label +1", "all patches: +2, right", "sets, cubed: +26, right"],
    ]
    colors = [[text.get_color() for text in texts[1:]] for texts in below]
    assert colors == [[COLORS["label"], COLORS["signal"]], [COLORS["signal"]] * 2]
    assert [ax.get_title(loc="left") for ax in axes] == ["Sample 1 shows set 1", "Sample 2 shows set 2"]
    framed = [patch.get_xy() for patch in axes[0].patches if not patch.get_fill()]
    np.testing.assert_allclose(framed, [(0.04, 0.04), (1.04, 0.04), (2.04, 0.04)])  # set 1


def test_a_row_of_products_is_folded_into_the_grid_of_its_patches():
    _, axes = plt.subplots(1, 3)
    products = np.array([[4, 3, 2, 0], [3, 4, 1, 2], [2, 1, 4, 3], [0, 2, 3, 4]])
    pretrained.draw_products(axes, products, 1)
    words = [{text.get_text(): text.get_position() for text in ax.texts} for ax in (axes[0], axes[2])]
    places = [(0.5, 0.5), (1.5, 0.5), (0.5, 1.5), (1.5, 1.5)]
    assert words == [dict(zip(names, places)) for names in ("1234", "3412")]
    assert np.asarray(axes[1].collections[0].get_array()).tolist() == products.tolist()
    frames = [[patch.get_xy() for patch in ax.patches if not patch.get_fill()] for ax in axes]
    assert frames == [[(1, 0)], [(0, 1)], [(1, 0)]]
    grounds = [np.mean(patch.get_facecolor()[:3]) for patch in axes[2].patches[:4]]
    assert grounds[1] < grounds[0] < grounds[3] < grounds[2]  # the larger, the deeper
    assert axes[2].get_title(loc="left") == "Row 2 is high nearby"


def test_the_tokens_of_a_twin_are_those_of_the_original_in_the_other_order():
    _, axes = plt.subplots(1, 2)
    images.draw_twins(axes, [2, 1], [1, 0])
    seen = []
    for ax in axes:
        boxes = [patch.get_facecolor() for patch in ax.patches]
        numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
        seen.append(list(zip(numbers, boxes)))
    assert [number for number, _ in seen[0]] == ["2", "1", "1", "0", "3", "1"]
    assert seen[1] == [seen[0][k] for k in (1, 0, 3, 2, 5, 4)], "numbers and colors change places"


def test_networks_are_named_at_their_means_over_runs_of_each_tile():
    _, (left, right) = plt.subplots(1, 2)
    runs = [
        {"model": model, "tile": tile, "test_accuracy": level + off + tile / 1000}
        for model, level in (("vanilla", 0.2), ("positional", 0.4), ("small_cnn", 0.6))
        for tile in (4, 32)
        for off in (0, 0.1)
    ]
    images.plot_shuffle_accuracy(left, runs)
    larger = [run | {"model": run["model"].replace("small", "residual")} for run in runs]
    images.plot_study_shuffles(right, larger, longer=larger[:1])
    named = [{text.get_text(): text.xy for text in ax.texts if hasattr(text, "xy")} for ax in (left, right)]
    ends = {"positional ViT": (4, 45.4), "vanilla ViT": (32, 28.2), "small CNN": (32, 68.2)}
    assert named[0] == {name: pytest.approx(point) for name, point in ends.items()}
    ends = {"positional ViT": (32, 48.2), "vanilla ViT": (32, 28.2), "residual CNN": (32, 68.2)}
    assert named[1] == {name: pytest.approx(point) for name, point in ends.items()}


def test_a_run_arrives_where_its_margin_and_its_error_first_pass():
    _, ax = plt.subplots()
    margins = [[-1, 1, 1, 1], [-1, -1, 1, 1], [-1, -1, 1, 1]]
    errors = [[1, 1, 0.02, 0.001], [1, 1, 0.005, 0.001], [1, 1, 0.01, 0.001]]
    dynamics.draw_arrivals(ax, {"nine": ([0, 10, 20, 30], margins, errors)}, level=0.01)
    whole, *drawn = (line.get_xydata().tolist() for line in ax.lines)
    assert whole == [[0, 0], [30, 0]]
    assert drawn == [[[10, 0], [20, 0]], [[20, 0]], [[20, 0], [30, 0]], [[30, 0]]], "bars, and medians"
    named = {text.get_text(): (text.xy, text.get_color()) for text in ax.texts}
    assert named == {
        "association is exact": ((20, 0), COLORS["same set"]),
        "error below 1%": ((30, 0), COLORS["label"]),
    }


def test_valleys_part_at_a_dot_whose_color_says_on_which_side_runs_start():
    _, ax = plt.subplots()
    margins = np.array([-1.0, -0.4, 0.0, 0.4, 1.0])
    dynamics.draw_valleys(
        ax, margins, {0.5: margins / 1e3 + 1e-4, 0.75: margins / 1e3}, {0.5: -0.1, 0.75: 0.0}
    )
    seen = curves(ax)
    np.testing.assert_allclose(seen["$q = 0.5$"], ([-0.4, 0, 0.4], [-0.3, 0.1, 0.5]))
    dots = [(line.get_xdata()[0], line.get_color()) for line in ax.lines if line.get_marker() == "o"]
    assert dots == [(-0.1, COLORS["same set"]), (0.0, COLORS["label"])]


def test_names_stand_at_their_points_or_else_off_the_ends_by_a_gap():
    _, (left, right) = plt.subplots(1, 2)
    errors = {"a": [0.1, 0.02], "b": [0.1, 0.11]}
    transfer.plot_dilution(left, [4, 8], errors, 0.05, {"b": (1, (3, 7), "left"), "a": (0, (0, 5), "center")})
    named = {text.get_text(): (text.xy, text.get_position()) for text in left.texts if hasattr(text, "xy")}
    assert named == {"b": ((8, 0.11), (3, 7)), "a": ((4, 0.1), (0, 5))}
    right.plot([0, 1], [0, 1], label="c")
    label_ends(right, gap=20)
    assert right.texts[0].xy == (1, 1) and right.texts[0].get_position() == (20, pytest.approx(0, abs=1e-9))


def test_events_are_rings_on_the_curves_that_make_them():
    _, axes = plt.subplots(3, 1)
    course = {"alpha": [1, 3, 2], "gamma": [0, 1, 2], "rho": [0, -1, -1], "loss": [0.9, 0.5, 0.1]}
    run = SimpleNamespace(steps=np.array([0, 9, 99]), **{name: np.array(y) for name, y in course.items()})
    runs = {1.0: run, 4.0: run}
    dynamics.draw_events(axes, runs, {1.0: {"T0": None, "T1": 99}, 4.0: {"T0": 9, "T1": None}})
    dynamics.name_events(axes, runs)
    drawn = [[line.get_xydata().T.tolist() for line in ax.lines if line.get_marker() != "o"] for ax in axes]
    t = [1, 10, 100]
    assert drawn[0] == [[t, course["alpha"]]] * 2 and drawn[2] == [[t, course["loss"]]] * 2
    assert drawn[1] == [[t, course["gamma"]], [t, course["rho"]]] * 2
    rings = [[line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "o"] for ax in axes]
    assert rings == [[[[10, 3]]], [[[100, 2]]], []]
    assert [ax.texts[-1].get_text() for ax in axes] == [r"$\beta = 4$", r"$\rho$", r"$\beta = 4$"]


def test_lifetimes_are_measured_against_predicted_ones_and_hollow_where_they_last():
    _, axes = plt.subplots(1, 2)
    runs, predicted = {"N = 500": ([1, 2], [0.5, 1])}, {"N = 500": ([1, 2], [0.4, 0.9])}
    lifetime.draw_predicted_lifetimes(axes, 9, runs, predicted, [(60, 70, False), (90, 80, True)], (50, 3000))
    measured, forecast = (line.get_xydata().T.tolist() for line in axes[0].lines)
    assert (measured, forecast) == ([[1, 2], [0.5, 1]], [[1, 2], [0.4, 0.9]])
    gone, lasting = axes[1].collections
    assert gone.get_offsets().tolist() == [[60, 70]] and lasting.get_offsets().tolist() == [[90, 80]]
    assert to_hex(gone.get_facecolor()[0]) == COLORS["same set"].lower() and not len(lasting.get_facecolor())
    assert axes[1].lines[0].get_xydata().tolist() == [[50, 50], [3000, 3000]]
    assert axes[1].get_xticks().tolist() == [60, 120, 240, 480, 960, 3000]


def test_fewer_patches_are_drawn_with_all_runs_and_against_the_square():
    _, axes = plt.subplots(1, 2)
    accuracy = {64: np.array([[0.2, 0.3], [0.3, 0.4]]), 36: np.array([[0.3, 0.4], [0.5, 0.6]])}
    shallow.draw_kept(axes, [500, 2000], accuracy, {64: 0.5, 36: 1.0}, {64: [2000, 2000], 36: [700, 900]})
    drawn = {name.split(",")[0]: curve.tolist() for name, curve in curves(axes[0]).items()}
    assert drawn == {"64": [[500, 2000], pytest.approx([0.25, 0.35])], "36": [[500, 2000], [0.4, 0.5]]}
    needed, *_caps, everything, square = (line.get_xydata() for line in axes[1].lines)
    assert needed.tolist() == [[1.0, 800.0]] and everything.tolist() == [[0.5, 2000.0]]
    assert square[[0, -1]].tolist() == [[0.5, 2000.0], [1.0, 500.0]]
    assert axes[1].collections[0].get_segments()[0].tolist() == [[1.0, 700.0], [1.0, 900.0]]


def test_reach_is_a_share_with_its_interval_for_each_number_of_inputs():
    _, axes = plt.subplots(1, 2)
    lifetime.draw_reach(axes, {"small": {10: LOW, 20: HIGH}, "large": {10: HIGH, 20: LOW}})
    assert [ax.get_title(loc="left") for ax in axes] == ["small", "large"]
    assert axes[0].lines[0].get_xydata().tolist() == [[10, 0.25], [20, 0.75]]
    assert axes[1].lines[0].get_xydata().tolist() == [[10, 0.75], [20, 0.25]]
    bars = [segment for part in axes[0].collections for segment in part.get_segments()]
    np.testing.assert_allclose(bars, [[[10, 0.15], [10, 0.35]], [[20, 0.65], [20, 0.85]]])


def test_shares_are_stacked_and_networks_lie_in_rows():
    _, axes = plt.subplots(1, 4)
    names = list(beyond._RELATIONS)[:2]
    beyond.draw_shares(axes[0], [[[0.2, 0.8], [0.4, 0.6]], [[1, 0]]], names, ["a", "b"])
    edges = [(bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_width()) for bar in axes[0].patches]
    np.testing.assert_allclose(edges, [(0, 0, 0.3), (0, 0.3, 0.7), (1, 0, 1), (1, 1, 0)], atol=1e-9)
    row = {"name": "a", "error": [0.2, 0.4], "auc": [[[0.6], [0.9]]], "probe_recall": [0.5, 0.7]}
    beyond.draw_networks(
        axes[1:], [row, row | {"gram_recall": [0.1, 0.3]}], {"floor": 0.1, "chance": 0.2}, 100
    )
    colors = {line.get_color(): line.get_xydata().tolist() for line in axes[2].lines[:2]}
    lifted = {COLORS["same set"]: [[0.6, -0.09]], COLORS["feature"]: [[0.9, -0.09 + 0.18]]}
    assert colors.keys() == lifted.keys()
    for color, points in lifted.items():
        np.testing.assert_allclose(colors[color], points)
    means = {
        line.get_label(): line.get_xydata()[0].tolist()
        for line in axes[3].lines
        if line.get_label()[0] != "_"
    }
    assert means == {"function": pytest.approx([0.6, 1.15]), "$P P^T$": pytest.approx([0.2, 0.85])}
    assert [tick.get_text() for tick in axes[1].get_yticklabels()] == ["a", "a"]
    assert curves(axes[1])["floor"][0].tolist() == [0.1, 0.1]
