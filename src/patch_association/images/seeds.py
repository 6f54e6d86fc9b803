"""The same run with several seeds, one after another, over data that are read once.

Seeds are not batched into one step. On a CPU the step of several small ViTs at once, with stacked
parameters and a mapped gradient, takes longer than their steps in turn: at the presets' batch sizes
nearly all of a step is arithmetic, which batching does not reduce, and the mapped operations are
slower than those that they replace. ``bench_seeds_together`` in benchmarks/images.py measures the
ratio (``python benchmarks/run.py images``). One after another each seed also keeps checkpoints of
its own. Several machines, or cores, are used best with one seed each.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from patch_association._files import write_atomically
from patch_association.images.config import TrainConfig
from patch_association.images.train import RECORD, Run, load_data, train


def train_seeds(config: TrainConfig, seeds, out, resume: bool = False, **options) -> list[Run]:
    """Train once per seed, each in ``out``/seed-K, and write their means to ``out``/record.json.

    The record's metrics are the means over the seeds, one object per epoch; ``test_accuracies`` has
    one number per seed and ``runs`` names the folders. A run that ``minutes`` stops ends the series.

    Parameters
    ----------
    seeds : sequence of int
        They take the place of ``config.seed``.
    options
        Handed to :func:`train`: progress, name, command, provenance.

    Raises
    ------
    ValueError
        If the seeds are not distinct, and where :func:`train` does.
    """
    seeds = list(seeds)
    if not seeds or len(set(seeds)) != len(seeds):
        raise ValueError(f"seeds must be distinct and at least one, got {seeds}")
    out, data, runs = Path(out), load_data(config), []
    for seed in seeds:
        run = train(replace(config, seed=seed), out / f"seed-{seed}", resume=resume, data=data, **options)
        runs.append(run)
        if not run.record["finished"]:
            break
    records = [run.record for run in runs]
    finished = len(runs) == len(seeds) and all(record["finished"] for record in records)
    epochs = min(len(record["metrics"]) for record in records)
    summary = {
        **{key: records[0][key] for key in ("name", "command", "data", "parameters", "provenance")},
        "finished": finished,
        "config": config.as_dict() | {"seed": seeds},
        "runs": [f"seed-{seed}" for seed in seeds[: len(runs)]],
        "metrics": [
            {
                key: float(np.mean([record["metrics"][k][key] for record in records]))
                for key in records[0]["metrics"][k]
            }
            for k in range(epochs)
        ],
        "test_accuracies": [record["test"]["accuracy"] for record in records if record["test"]],
    }
    summary["provenance"] = summary["provenance"] | {
        "wall_s": sum(r["provenance"]["wall_s"] for r in records)
    }
    write_atomically(out / RECORD, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    return runs
