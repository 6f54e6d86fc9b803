"""The sweep ``reach``: how many inputs make association exact, at three sizes."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from patch_association.defaults import DEFAULT
from patch_lab.dynamics.realistic import SET_SIZE, SETTINGS, Setting, make_law, train_setting
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.sweeps.sweep import Sweep

#: Steps per step of Figure 4: half as many again, for whoever comes late.
LONGER = 1.5
RECORDS = 16  # the 11th is the last step of Figure 4
SEEDS = {"D16": range(420, 440), "D36": range(420, 440), "D64": range(420, 430)}
COUNTS = {
    "D16": (500, 1000, 2000, 4000, 8000, 16_000, 32_000),
    "D36": (1000, 2000, 3000, 4000, 6000, 8000, 12_000),
    "D64": (2000, 4000, 6000, 8000, 12_000),
}


def reach_setting(setting: str, n: int) -> Setting:
    """A setting of Figure 4 on n inputs, half as long again, in float32."""
    chosen = SETTINGS[setting]
    return replace(chosen, n=n, steps=round(LONGER * chosen.steps), dtype="float32")


def reach_cell(setting: str, n: int, seed: int) -> dict:
    """The recorded columns of one run."""
    run = train_setting(reach_setting(setting, n), "blocks", seed, records=RECORDS, on_divergence="flag")
    columns = {name: getattr(run, name)[:, 0].astype(float) for name in ("margin", "test_error")}
    return {"steps": run.steps.tolist(), **{name: rounded(np.array(x), 3) for name, x in columns.items()}}


REACH = Sweep(
    name="reach",
    summary="How many inputs make association exact, at D = 16, 36 and 64.",
    cells=tuple(
        {"setting": setting, "n": n, "seed": seed}
        for setting, counts in COUNTS.items()
        for n in counts
        for seed in SEEDS[setting]
    ),
    run=reach_cell,
    config={
        "set_size": SET_SIZE,
        "degree": DEFAULT.degree,
        "linear": DEFAULT.linear,
        "longer": LONGER,
        "settings": {
            name: {key: value for key, value in asdict(reach_setting(name, 1)).items() if key != "n"}
            for name in COUNTS
        },
    },
    data=lambda: sample_source(make_law(SETTINGS["D16"]), 0),
)
SWEEPS = (REACH,)
