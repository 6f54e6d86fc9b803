"""The events of a run of the idealized process, and the drawings of its chapter."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from patch_association.exact.risk import PopulationRisk
from patch_lab import figures
from patch_lab.dynamics.events import events, run_to_the_horizon, spread_steps
from patch_lab.dynamics.valley import best_alpha


def run(alpha, gamma, rho, loss, steps=None):
    arrays = {
        name: np.array(values, dtype=float)
        for name, values in dict(alpha=alpha, gamma=gamma, rho=rho, loss=loss).items()
    }
    return SimpleNamespace(steps=np.arange(len(alpha)) if steps is None else np.array(steps), **arrays)


@pytest.mark.parametrize("horizon", [0, -5.0])
def test_a_horizon_behind_the_start_is_refused(horizon):
    with pytest.raises(ValueError, match=f"horizon must be positive, got {horizon}"):
        run_to_the_horizon(PopulationRisk(6, 2, 0.3), 1.0, horizon)


def test_events_of_a_run_that_shows_all_three():
    found = events(
        run(
            alpha=[0.1, 0.94, 0.96, 1.0, 1.0, 1.3, 1.2],
            gamma=[0, 0.01, 0.02, 0.1, 0.4, 0.9, 1.0],
            rho=[0, 0, -0.1, -0.2, -0.3, -0.4, -0.35],
            loss=[0.7, 0.5, 0.4, 0.39, 0.37, 0.35, 0.1],
            steps=[0, 1, 2, 10, 20, 30, 40],
        ),
        alpha_star=1.0,
    )
    assert found == {
        "T0": 2,
        "T1": 30,
        "plateau": 30,
        "alpha_T0": 0.96,
        "alpha_T1": 1.3,
        "alpha_end": 1.2,
        "alpha_late": 1.3,
        "companions_lose": 0,
    }


def test_events_that_do_not_happen_are_none():
    found = events(run([0.1, 0.5, 0.9], [0, 0.1, -0.2], [0, -0.1, -0.1], [0.7, 0.6, 0.5]), 1.0)
    assert found["T0"] is found["T1"] is found["plateau"] is found["alpha_late"] is None
    assert found["companions_lose"] == 1 and found["alpha_end"] == 0.9
    # |rho| of the whole run counts, the future included.
    short = run([1.0] * 3, [0, 0.2, 0.3], [0, -0.1, -0.15], [1] * 3)
    longer = run([1.0] * 4, [0, 0.2, 0.3, 0.5], [0, -0.1, -0.15, -0.4], [1] * 4)
    assert events(short, 1.0)["T1"] == 1 and events(longer, 1.0)["T1"] == 3


@pytest.mark.parametrize("steps, count", [(1, 10), (7, 100), (10_000, 40)])
def test_spread_steps_begins_and_ends_where_the_run_does(steps, count):
    chosen = spread_steps(steps, count)
    assert chosen[0] == 0 and chosen[-1] == steps and len(chosen) <= min(count, steps + 1)
    assert (np.diff(chosen) > 0).all()


def test_the_rate_is_stable_and_small():
    for q, diagonal in ((0.1, 1.0), (0.3, 4.0)):
        risk = PopulationRisk(16, 4, q, linear=1e-4)
        alpha = run_to_the_horizon(risk, diagonal, 200).alpha
        assert (np.diff(alpha)[:3] > 0).all()
        assert alpha.max() <= 1.01 * best_alpha(risk, diagonal)  # no overshoot


@pytest.fixture
def axes():
    fig, axes = figures.new_figure(3, 2)
    yield axes
    fig.canvas.draw()
    plt.close(fig)


def test_draw_events_marks_what_happened(axes):
    shown = run([0.1, 1, 1.1], [0, 0.1, 0.5], [0, -0.1, -0.2], [0.7, 0.4, 0.1])
    found = {"T0": 1, "T1": None}
    figures.draw_events(axes[:, 0], shown, found, "title")
    figures.label_events(axes[0, 0], found)
    assert [text.get_text() for text in axes[0, 0].texts] == [r"$\mathcal{T}_0$"]
    dotted = [line for line in axes[1, 0].lines if line.get_linestyle() == ":"]
    assert len(dotted) == 1 and dotted[0].get_ydata()[0] == 0.2  # max |rho|
    marks = [line for line in axes[2, 0].lines if list(line.get_xdata()) == [2, 2]]
    assert len(marks) == 1


def test_draw_constants_shows_the_sign(axes):
    ax = axes[0, 0]
    figures.draw_constants(ax, [1, 2, 3], [0.5, -0.25, 0.1], [0.5, 0.5, 0.1], xlabel="$D$")
    full, hollow = ax.lines[1], ax.lines[2]
    assert list(full.get_xdata()) == [1, 3] and list(hollow.get_xdata()) == [2]
    assert hollow.get_ydata()[0] == 0.25 and ax.lines[3].get_ydata()[2] == pytest.approx(1.0)


def test_the_other_drawings(axes):
    partition_same = np.kron(np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool))
    scalars = run([1, 1], [0, 1], [0, -1], [1, 1])
    figures.draw_entries(axes[0, 0], [0, 1], np.zeros((2, 4, 4)), partition_same, scalars)
    assert len(axes[0, 0].lines) == 4 + 8 + 2 + 1  # companions, strangers, two scalars, zero
    figures.draw_atoms(axes[0, 1], [8, 12], {"a": [10, 100], "b": [5, None]})
    assert list(axes[0, 1].lines[1].get_xdata()) == [8]
    figures.draw_drift(axes[1, 0], [0.1, 0.2], [[1e-3, 0], [8e-3, 0]], 0.15, "q")
    assert axes[1, 0].lines[0].get_ydata() == pytest.approx([1, 1])
    flow = [*np.meshgrid([1.0, 2.0, 3.0], [-1.0, 0.0]), np.array([[0.1, 0.2, 0.3], [0.2, np.nan, 0.4]])]
    path, mark = ([0, 1.5], [0, -0.5]), (1, -0.3)
    figures.draw_portrait(axes[1, 1], [0, 1, 2], [-1, 0], flow, path, "title", mark)
    assert list(axes[1, 1].lines[0].get_xdata()) == [0, 1.5] and axes[1, 1].get_xlim() == (0, 2)
