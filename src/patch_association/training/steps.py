"""Steps of gradient descent as values, which of them are recorded, the bar, and how a run diverges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from patch_association.checks import finite, fits_memory, positive_int
from patch_association.defaults import DEFAULT

if TYPE_CHECKING:
    from typing_extensions import Self

# A mean logistic loss beyond this is on its way to infinity: it starts at log 2.
LOSS_LIMIT = 1e6


@dataclass(frozen=True)
class Constant:
    """(GD) with constant rates: v <- v - rate dL/dv, A <- A - score_rate dL/dA.

    Attributes
    ----------
    rate : float
        eta, of v.
    score_rate : float, optional
        eta_A, of the scores. By default D^2 rate: what one common rate for A and v becomes when the
        factor D is taken out of the activation, and with which both move in times of one order. The
        paper's single rate is ``score_rate=rate``.

    Raises
    ------
    ValueError
        If a rate is negative or not finite.

    Examples
    --------
    >>> Constant(0.02).for_patches(16)
    Constant(rate=0.02, score_rate=5.12)
    """

    rate: float
    score_rate: float | None = None

    def __post_init__(self):
        finite("rate", self.rate, minimum=0)
        if self.score_rate is not None:
            finite("score_rate", self.score_rate, minimum=0)

    def for_patches(self, num_patches: int) -> Self:
        """The same step with its score rate written out."""
        return replace(self, score_rate=self.rates(num_patches)[1])

    def rates(self, num_patches: int) -> tuple[float, float]:
        """Both rates, of v and of A."""
        usual = DEFAULT.score_rate(num_patches, self.rate)
        return self.rate, usual if self.score_rate is None else self.score_rate

    def share(self, norm, gradient_norm):
        """The share of both rates that a step takes, given |v| and |dL/dv|: all of them."""
        return 1.0


class Diverged(ArithmeticError):
    """A run whose loss left all bounds.

    Attributes
    ----------
    at : int
        The first step at whose parameters the loss is not a number or beyond 1e6.
    step : Constant
        What it ran with.
    seeds : tuple of int
        The seeds concerned, in a batch; empty for the population risk.
    run
        What was recorded up to then.
    """

    def __init__(self, at: int, step: Constant, seeds=(), run=None):
        self.at = at
        self.step = step
        self.seeds = tuple(seeds)
        self.run = run
        names = ", ".join(map(str, self.seeds))
        who = f"seed{'s' if len(self.seeds) > 1 else ''} {names} " if self.seeds else ""
        super().__init__(
            f"{who}diverged at step {at} with rate {step.rate:g} for v and {step.score_rate:g} for A: "
            "try a smaller rate"
        )

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback: where it happened is where the rate is."""
        return [f"This run stops: {self}, or values closer to those that stood here."]


def recorded_steps(steps: int, record=None) -> np.ndarray:
    """The steps to record, in increasing order, among 0, ..., ``steps``.

    ``record`` is None for all of them, a whole number k for every k-th (0 and the last included), or
    a list of steps.

    Parameters
    ----------
    steps : int (T)
    record : None, int or list of int

    Raises
    ------
    ValueError
        If ``steps`` is no integer of at least 0, or ``record`` names no steps within 0, ..., ``steps``.
    """
    steps = positive_int("steps", steps, minimum=0)
    if record is None or isinstance(record, Integral):
        every = 1 if record is None else positive_int("record", record)
        fits_memory(f"a record of {steps // every + 1:,} steps", 16 * (steps // every + 1))
        return np.unique(np.append(np.arange(0, steps + 1, every), steps))
    chosen = np.asarray(record)
    if chosen.ndim != 1 or chosen.size == 0 or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"record must be None, a whole number or a list of steps, got {record!r}")
    if chosen.min() < 0 or chosen.max() > steps:
        raise ValueError(f"record must lie within 0, ..., {steps}, got {chosen.min()} to {chosen.max()}")
    return np.unique(chosen)


def check_step(step, num_patches: int) -> Constant:
    """``step`` with its score rate written out; anything but a step is refused.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not isinstance(step, Constant):
        raise ValueError(f"step must be Constant(rate), got {step!r}")
    return step.for_patches(num_patches)


def check_on_divergence(value: str) -> None:
    """Refuse anything but "raise" and "flag"."""
    if value not in ("raise", "flag"):
        raise ValueError(f'on_divergence must be "raise" or "flag", got {value!r}')


def bar(steps: int, progress: bool | None, what: str):
    """0, ..., steps, under a progress bar that appears once a run has lasted five seconds.

    ``progress`` None shows it on a terminal only, False never.
    """
    disable = None if progress is None else not progress
    return tqdm(range(steps + 1), desc=what, unit="step", delay=5, disable=disable, leave=False)
