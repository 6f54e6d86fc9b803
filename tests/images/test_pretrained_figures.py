"""The drawings of ViTs that others trained show the numbers that they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from patch_association.intervals import mean
from patch_lab.figures.pretrained import (
    PART_LABELS,
    draw_accuracy,
    draw_heads,
    draw_parts,
    draw_shares,
    draw_sinks,
    plot_grams,
    plot_looks,
)


@pytest.fixture
def ax():
    yield plt.subplots()[1]
    plt.close("all")


def test_looks_are_the_rows_as_pictures(ax):
    rows = {"signed": np.arange(9.0) - 4, "attention": np.arange(9.0) / 36}
    shown = plot_looks(rows, patch=5).axes
    for one, (title, row) in zip(shown, rows.items()):
        assert one.get_title() == title
        assert (one.images[0].get_array() == row.reshape(3, 3)).all()
        assert (one.lines[0].get_xdata()[0], one.lines[0].get_ydata()[0]) == (2, 1)
    assert shown[0].images[0].get_clim() == (-4, 4)  # the patch's own entry does not set the scale
    assert shown[1].images[0].get_clim()[0] == 0


def test_bars_stack_to_one(ax):
    shares = np.array([[0.5, 0.2, 0.1, 0.2], [0.9, -0.02, 0.02, 0.1]])
    draw_parts(ax, shares, "title")
    tops = [bar.get_y() + bar.get_height() for bar in ax.containers[-1]]
    assert tops == pytest.approx([1.0, 1.02]) and ax.get_title() == "title"
    assert [c.get_label() for c in ax.containers] == list(PART_LABELS)


def test_shares_have_their_intervals(ax):
    share = {
        "value": [[0.5, 0.6], [0.7, 0.8]],
        "low": [[0.4, 0.5], [0.6, 0.7]],
        "high": [[0.6, 0.7], [0.8, 0.9]],
    }
    draw_shares(ax, share)
    drawn = [container.lines[0].get_ydata().tolist() for container in ax.containers]
    assert drawn == [[0.5, 0.7], [0.6, 0.8]]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["head 1", "head 2"]


def test_heads_are_points(ax):
    share, recall = np.arange(12.0).reshape(6, 2) / 12, np.arange(12.0)[::-1].reshape(6, 2) / 12
    draw_heads(ax, share, recall, chance=0.25)
    assert [line.get_label() for line in ax.lines[:3]] == ["layers 1 to 2", "layers 3 to 4", "layers 5 to 6"]
    assert (ax.lines[1].get_xdata() == share[2:4].ravel()).all()
    assert (ax.lines[1].get_ydata() == recall[2:4].ravel()).all()
    assert ax.lines[3].get_ydata()[0] == 0.25


def test_accuracies_are_percent(ax):
    estimates = [mean([0.0, 1.0] * 50), mean([1.0, 1.0, 0.0] * 50)]
    draw_accuracy(ax, {"one": ([1, 2], estimates)}, own=0.8, xlabel="layers")
    assert ax.containers[0].lines[0].get_ydata() == pytest.approx([50, 200 / 3])
    assert ax.lines[-1].get_ydata()[0] == pytest.approx(80) and ax.get_xlabel() == "layers"


def test_sinks_and_grams(ax):
    ends = {"low": [0.0, 0.1], "high": [0.3, 0.8]}
    draw_sinks(ax, {"a": {"value": [0.1, 0.7], **ends}, "b": {"value": [0.0, 0.2], **ends}})
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.1, 0.7], [0.0, 0.2]]
    shown = plot_grams({"rows": np.array([[4.0, -2.0], [-2.0, 1.0]])}).axes[0]
    assert shown.images[0].get_array().tolist() == [[1.0, -0.5], [-0.5, 0.25]]
