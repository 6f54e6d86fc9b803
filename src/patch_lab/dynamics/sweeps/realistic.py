"""The sweep ``realistic``: the settings of Figure 4 (Theorem 4.2), trained over ten seeds each."""

from __future__ import annotations

from dataclasses import asdict

from patch_association.defaults import DEFAULT
from patch_association.training import Descent
from patch_lab.dynamics.realistic import (
    N_TEST,
    SET_SIZE,
    SETTINGS,
    frame_steps,
    make_law,
    train_setting,
)
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.sweeps.sweep import Sweep, grid

COLUMNS = (
    "loss",
    "test_error",
    "exact",
    "recall",
    "margin",
    "alpha",
    "cosine",
    "inside_mean",
    "outside_mean",
)


def realistic_cell(setting: str, layout: str, seed: int) -> dict:
    """The recorded columns of one run; seed 0 also keeps A, at six steps for one setting."""
    chosen = SETTINGS[setting]
    frames = frame_steps(chosen) if (setting, layout) == ("D36", "blocks") else (chosen.steps,)
    how = Descent(snapshots=frames if seed == 0 else ())
    run = train_setting(chosen, layout, seed, how=how, on_divergence="flag")
    result = {name: getattr(run, name)[:, 0].astype(float) for name in COLUMNS}
    if seed == 0:
        result["scores"] = {str(t): rounded(A[0], 3) for t, A in run.scores.items()}
    return rounded({"steps": run.steps, **result})


SWEEPS = (
    Sweep(
        name="realistic",
        summary="Gradient descent on N samples from a Gaussian start: association, error, cos(v, w*).",
        cells=(
            *grid(setting=("D16", "D36", "D64"), layout=("blocks", "random"), seed=range(10)),
            *grid(setting="single-rate", layout="blocks", seed=range(10)),
        ),
        run=realistic_cell,
        config={
            "set_size": SET_SIZE,
            "n_test": N_TEST,
            "degree": DEFAULT.degree,
            "linear": DEFAULT.linear,
            "random_sets_seed": 1,
            "settings": {name: asdict(setting) for name, setting in SETTINGS.items() if name != "D196"},
        },
        data=lambda: sample_source(make_law(SETTINGS["D16"]), 0),
    ),
)
