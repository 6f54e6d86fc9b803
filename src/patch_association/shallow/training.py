"""Algorithm 1: mini-batch SGD on the hinge loss, for several networks at once.

On a :func:`~patch_association.shallow.population.population` with full batches it is exact descent on
the population risk: the same loop, on inputs that count with their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association.checks import finite, one_of, positive_int
from patch_association.shallow.network import Weights, check_inputs, loss_and_slope, one_pass, output
from patch_association.shallow.population import measure
from patch_association.shallow.tokens import Tokens
from patch_association.streams import Stream, generator

#: variant: (how tokens attend, whether W_K and W_Q are trained). Section 3 has "trained"; Proposition 1
#: says that W_K and W_Q "are not updated" ("frozen"); the other two have no W_K and W_Q at all.
VARIANTS = {
    "trained": ("softmax", True),
    "frozen": ("softmax", False),
    "uniform": ("uniform", False),
    "identity": ("identity", False),
}
#: A hinge loss beyond this is no training any more.
LOSS_LIMIT = 1e6
COLUMNS = ("risk", "error", "mass", "confused", "margin")


@dataclass(frozen=True)
class TrainingRun:
    """What :func:`train` did; arrays have a column a trial.

    Attributes
    ----------
    steps : (T,) integers
        The recorded steps.
    loss : (T, R)
        The training loss on all training inputs.
    risk, error, mass, confused, margin : (T, R)
        :func:`~patch_association.shallow.population.measure` on the test inputs.
    fitted_at : (R,) integers
        The step from which on the training loss is exactly 0 on every training input, -1 where that
        was not reached. A hinge that is zero has no gradient, so the weights stay there for good.
    weights : Weights
        After the last step.
    """

    steps: np.ndarray
    loss: np.ndarray
    risk: np.ndarray
    error: np.ndarray
    mass: np.ndarray
    confused: np.ndarray
    margin: np.ndarray
    fitted_at: np.ndarray
    weights: Weights


@dataclass(frozen=True)
class Sgd:
    """The batches of Algorithm 1 and its loss, where they are not as usual.

    Attributes
    ----------
    batch : int, optional
        B inputs a step, drawn without repetition within a step and independently between steps. All of
        them where there are no more than B, or where B is not given.
    seed : int
        Of the batches.
    loss, margin : str, float
        "hinge", max(margin - y F, 0), the paper's at margin 1; or "logistic".

    Raises
    ------
    ValueError
        If a number is out of range, or ``loss`` another word.
    """

    batch: int | None = None
    seed: int = 0
    loss: str = "hinge"
    margin: float = 1.0

    def __post_init__(self):
        if self.batch is not None:
            positive_int("batch", self.batch)
        positive_int("seed", self.seed, minimum=0)
        one_of("loss", self.loss, "hinge", "logistic")
        finite("margin", self.margin)


USUAL = Sgd()


def train(
    tokens: Tokens,
    weights: Weights,
    *,
    steps: int,
    rate: float,
    variant: str = "trained",
    test: Tokens | None = None,
    record=None,
    how: Sgd = USUAL,
) -> TrainingRun:
    """Train R networks by Algorithm 1; they stop early once every hinge is zero.

    Parameters
    ----------
    tokens : Tokens
        The training inputs: of all networks alike, or stacked, one set a network.
    weights : Weights
        The start. a is never trained.
    steps, rate : int, float
        T, eta.
    variant : str
        One of ``VARIANTS``.
    test : Tokens, optional
        What the records are measured on; the training inputs by default.
    record : None, int or sequence of int
        Steps to record: the last alone, every k-th and the last, or these and the last.
    how : Sgd
        The batches and the loss.

    Returns
    -------
    TrainingRun

    Raises
    ------
    ValueError
        On bad arguments, and when the loss leaves all bounds: the rate is too large.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    attention, moves = VARIANTS[variant]
    steps = positive_int("steps", steps, minimum=0)
    rate = finite("rate", rate, minimum=0)
    if not isinstance(how, Sgd):
        raise ValueError(f"how must be an Sgd, got {type(how).__name__}")
    loss = how.loss
    margin = how.margin
    check_inputs(weights, tokens)
    N = len(tokens)
    R = weights.num_trials
    B = N if how.batch is None else min(how.batch, N)
    if B < N and tokens.probability.unique().numel() > 1:
        raise ValueError("batch must be left out where inputs count differently: SGD draws them alike")
    wanted = _recorded(steps, record)
    draw = generator(how.seed, Stream.BATCHES)
    rows = []
    kept = []
    # The step since which no hinge of a batch was active, and with it no weight moved.
    quiet_since = np.full(R, -1)
    fitted_at = np.full(R, -1)
    window = 1 if B == N else -(-N // B)

    def note(t):
        F = output(weights, tokens, attention)
        full, _ = loss_and_slope(F, tokens.y, tokens.probability, loss, margin)
        measures = measure(weights, tokens if test is None else test, attention)
        rows.append([full.double().cpu().numpy(), *(getattr(measures, name) for name in COLUMNS)])
        kept.append(t)

    for t in range(steps + 1):
        if t in wanted:
            note(t)
        if t == steps:
            break
        part = tokens if B == N else tokens.take(_batch(draw, tokens, N, B))
        value, _, slope, gradient = one_pass(weights, part, attention, loss, margin, moves)
        if not bool((value < LOSS_LIMIT).all()):
            raise ValueError(f"rate must be smaller than {rate:g}: the loss left all bounds at step {t}")
        if loss == "hinge":
            still = ~(slope != 0).any(-1).cpu().numpy()
            quiet_since = np.where(still, np.where(quiet_since < 0, t, quiet_since), -1)
            check = still & (fitted_at < 0) & ((t - quiet_since + 1) % window == 0)
            if check.any():
                full = slope if B == N else _full_slope(weights, tokens, attention, margin)
                done = check & ~(full != 0).any(-1).cpu().numpy()
                fitted_at[done] = quiet_since[done]
            fitted_at[~still] = -1
            if (fitted_at >= 0).all():
                break
        weights = weights.moved(gradient, rate, moves)
    if not kept or kept[-1] != t:
        note(t)
    table = np.array(rows).transpose(1, 0, 2)  # (T, columns, R) -> (columns, T, R)
    columns = dict(zip(("loss", *COLUMNS), table))
    return TrainingRun(steps=np.array(kept), **columns, fitted_at=fitted_at, weights=weights)


def _full_slope(weights, tokens, attention, margin):
    F = output(weights, tokens, attention)
    return loss_and_slope(F, tokens.y, tokens.probability, "hinge", margin)[1]


def _batch(draw, tokens, N, B):
    if tokens.y.ndim == 1:
        return torch.from_numpy(draw.choice(N, B, replace=False))
    return torch.from_numpy(np.stack([draw.choice(N, B, replace=False) for _ in range(len(tokens.y))]))


def _recorded(steps, record) -> set[int]:
    if record is None:
        return set()
    if np.ndim(record) == 0:
        return set(range(0, steps + 1, positive_int("record", record)))
    chosen = {positive_int("every recorded step", t, minimum=0) for t in np.asarray(record).tolist()}
    if max(chosen, default=0) > steps:
        raise ValueError(f"record must name steps up to {steps}, got {max(chosen)}")
    return chosen
