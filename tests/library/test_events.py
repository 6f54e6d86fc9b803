"""The events of a run of the idealized process, and the drawings of its chapter."""

from types import SimpleNamespace

import numpy as np

from patch_lab.dynamics.events import events


def run(alpha, gamma, rho, loss, steps=None):
    arrays = {
        name: np.array(values, dtype=float)
        for name, values in dict(alpha=alpha, gamma=gamma, rho=rho, loss=loss).items()
    }
    return SimpleNamespace(steps=np.arange(len(alpha)) if steps is None else np.array(steps), **arrays)


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
