"""Starts compared seed by seed: the accuracy of one arm less that of another, in points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from patch_association.intervals import Estimate
from patch_lab.kit.estimates import mean_share
from patch_lab.kit.records import Record

_SETTINGS = ("data", "kind", "size", "pictures", "epochs")


def unfolded(record: Record) -> Record:
    """Every run of a record: of cells that hold several, each with the settings of its cell."""
    runs = []
    for cell in record:
        settings = {key: cell[key] for key in _SETTINGS if key in cell}
        runs += [{**settings, **run} for run in cell.get("runs", [cell])]
    return replace(record, results=runs)


def with_whole_seeds(record: Record) -> Record:
    """The runs of those seeds of which no cell is missing yet."""
    by_seed = record.by("seed")
    most = max(map(len, by_seed.values()))
    return record.where(seed={seed for seed, runs in by_seed.items() if len(runs) == most})


def at_best_rate(runs: Record) -> Record:
    """The runs at the rate with the highest accuracy on held-out pictures at the end, on average over seeds.

    Of equals, to six decimals, it is the smallest.
    """
    by_rate = runs.by("lr")
    held_out = {
        rate: round(float(np.mean([np.ravel(run["val_accuracy"])[-1] for run in found])), 6)
        for rate, found in by_rate.items()
    }
    return by_rate[max(sorted(by_rate), key=held_out.__getitem__)]


def at_own_rates(runs: Record) -> Record:
    """Each kind of attention and each arm at its own best rate."""
    cells = [cell for of_kind in runs.by("kind").values() for cell in of_kind.by("arm").values()]
    return replace(runs, results=[run for cell in cells for run in at_best_rate(cell)])


def paired(*records: Record, what: str = "test_accuracy") -> list[np.ndarray]:
    """``what`` of each record: (S, ...) arrays, a row a seed that all of them have."""
    values = [{run["seed"]: np.asarray(run[what]) for run in record} for record in records]
    seeds = sorted(set.intersection(*map(set, values)))
    return [np.array([of_seed[seed] for seed in seeds]) for of_seed in values]


def accuracies(record: Record, kind: str, arms, what: str = "test_accuracy") -> list[np.ndarray]:
    """Of each arm, a row a seed that all of them have."""
    return paired(*(record.where(kind=kind, arm=arm) for arm in arms), what=what)


def points_ahead(
    record: Record, kind: str, arm: str, other: str = "usual", what: str = "test_accuracy"
) -> np.ndarray:
    """(S, ...) points by which an arm is ahead of another, a row a seed."""
    first, second = accuracies(record, kind, (arm, other), what)
    return 100.0 * (first - second)


def gain(record: Record, kind: str, arm: str, other: str = "usual", level: float = 0.95) -> Estimate:
    """The mean of :func:`points_ahead`, its interval over seeds and over test pictures."""
    first, second = accuracies(record, kind, (arm, other))
    return mean_share(_tested(record), first, second, scale=100, level=level)


def change_of_gain(later: Record, sooner: Record, kind: str, arm: str, other: str) -> Estimate:
    """By how much a gain has changed from one record to another, paired by seed, in points."""
    late = accuracies(later, kind, (arm, other))
    early = accuracies(sooner, kind, (arm, other))
    seeds = min(len(late[0]), len(early[0]))  # 0, 1, ... are run in order
    plus = [late[0][:seeds], early[1][:seeds]]
    minus = [late[1][:seeds], early[0][:seeds]]
    return mean_share(_tested(later), plus, minus, scale=100)


def _tested(record: Record) -> int:
    """Test pictures, the same for all runs of a record."""
    if "test_n" in record[0]:
        return record[0]["test_n"]
    return record.config.get("set", {}).get("test", 10_000)  # all of CIFAR-10's
