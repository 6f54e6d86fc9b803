"""What both descents share: which steps are recorded, the bar, and the end of a run that diverges."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from tqdm import tqdm

from patch_association._validate import finite, positive_int

# A mean logistic loss beyond this is on its way to infinity: it starts at log 2.
LOSS_LIMIT = 1e6


class Diverged(ArithmeticError):
    """A run whose loss left all bounds.

    Attributes
    ----------
    step : int
        The first step at whose parameters the loss is not a number or beyond 1e6.
    rate, score_rate : float
        Of v and of A.
    seeds : tuple of int
        The seeds concerned, in a batch; empty for the population risk.
    run
        What was recorded up to then.
    """

    def __init__(self, step: int, rate: float, score_rate: float, seeds=(), run=None):
        self.step, self.rate, self.score_rate = step, rate, score_rate
        self.seeds, self.run = tuple(seeds), run
        names = ", ".join(map(str, self.seeds))
        who = f"seed{'s' if len(self.seeds) > 1 else ''} {names} " if self.seeds else ""
        super().__init__(
            f"{who}diverged at step {step} with rate {rate:g} for v and {score_rate:g} for A: "
            "try a smaller rate"
        )


def recorded_steps(steps: int, record=None) -> np.ndarray:
    """The steps to record, in increasing order, among 0, ..., ``steps``.

    ``record`` is None for all of them, a whole number k for every k-th (0 and the last included), or
    a list of steps.
    """
    steps = positive_int("steps", steps, minimum=0)
    if record is None:
        return np.arange(steps + 1)
    if isinstance(record, Integral):
        every = positive_int("record", record)
        return np.unique(np.append(np.arange(0, steps + 1, every), steps))
    chosen = np.asarray(record)
    if chosen.ndim != 1 or chosen.size == 0 or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"record must be None, a whole number or a list of steps, got {record!r}")
    if chosen.min() < 0 or chosen.max() > steps:
        raise ValueError(f"record must lie within 0, ..., {steps}, got {chosen.min()} to {chosen.max()}")
    return np.unique(chosen)


def rates(rate, score_rate) -> tuple[float, float]:
    """Both rates, checked; the rate of A is that of v where none is given, as in (GD)."""
    rate = finite("rate", rate, minimum=0)
    return rate, rate if score_rate is None else finite("score_rate", score_rate, minimum=0)


def bar(steps: int, progress: bool | None, what: str):
    """0, ..., steps, under a progress bar that appears once a run has lasted five seconds.

    ``progress`` None shows it on a terminal only, False never.
    """
    disable = None if progress is None else not progress
    return tqdm(range(steps + 1), desc=what, unit="step", delay=5, disable=disable, leave=False)


def check_on_divergence(value: str) -> str:
    if value not in ("raise", "flag"):
        raise ValueError(f'on_divergence must be "raise" or "flag", got {value!r}')
    return value
