"""A small sweep that the tests of sweeps share."""

import json
from pathlib import Path

import numpy as np

from patch_lab.kit.sweeps import Sweep, run_sweep

CELLS = tuple({"seed": seed, "q": q} for seed in range(3) for q in (0.25, 0.5))


def measure(seed, q):
    return {"error": float(np.random.default_rng(seed).random() * q), "pair": (seed, q)}


def sweep(run=measure, cells=CELLS, name="demo", **config):
    return Sweep(name, "A demonstration.", cells, run, config)


def run_quietly(*arguments, **options):
    return run_sweep(*arguments, **options, progress=False)


def kept(out):
    """The cells that wait beside a record."""
    lines = Path(f"{out}.partial").read_text().splitlines()
    return [json.loads(line)["cell"] for line in lines[1:]]
