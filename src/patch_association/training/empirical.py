"""Gradient descent on the empirical risk: the paper's realistic process, many seeds in one batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from patch_association.checks import finite, fits_memory, made_of, odd_degree, positive_int, seed_list
from patch_association.data import Law, check_law, feature_of
from patch_association.defaults import DEFAULT, initial_alpha
from patch_association.model import SimplifiedViT
from patch_association.structure import association
from patch_association.training.evaluate import HeldOut
from patch_association.training.gradients import score_gradient, total, workers
from patch_association.training.samples import Samples
from patch_association.training.steps import (
    LOSS_LIMIT,
    Constant,
    Diverged,
    bar,
    check_on_divergence,
    check_step,
    recorded_steps,
)


@dataclass(frozen=True)
class Start:
    """Where a batch of seeds starts: ``scores`` (S, D, D), diagonal included, and ``value`` (S, d)."""

    scores: torch.Tensor
    value: torch.Tensor

    def __repr__(self) -> str:
        return f"Start(scores {tuple(self.scores.shape)}, value {tuple(self.value.shape)})"


def idealized_start(
    law: Law,
    num_seeds: int = 1,
    diagonal=DEFAULT.diagonal,
    degree=DEFAULT.degree,
    linear=DEFAULT.linear,
    alpha=None,
) -> Start:
    """Parametrization 3.1, case 1: A = 0 off the diagonal and v = nu^(1/(p-1)) w*, for each seed.

    Parameters
    ----------
    law : Law (gives D, d and w*)
    num_seeds : int
    diagonal, degree, linear : float, int, float (sigma_A, p, nu)
    alpha : float, optional (in place of nu^(1/(p-1)))

    Returns
    -------
    Start of (S, D, D) scores and (S, d) values.

    Raises
    ------
    ValueError
        If an argument is out of range, the law has no feature, or the starts do not fit in memory.
    """
    w = feature_of(check_law(law))
    if w is None:
        raise ValueError("law must have a feature, along which v starts: try realistic_start")
    num_seeds = positive_int("num_seeds", num_seeds)
    D = law.partition.num_patches
    alpha = initial_alpha(degree, linear) if alpha is None else finite("alpha", alpha)
    fits_memory(f"{num_seeds:,} starts of {D:,} patches", (num_seeds + 1) * (D**2 + law.dim))
    A = torch.eye(D, dtype=torch.float64).mul_(finite("diagonal", diagonal)).repeat(num_seeds, 1, 1)
    return Start(A, (alpha * w).repeat(num_seeds, 1))


def realistic_start(law: Law, seeds, diagonal=DEFAULT.diagonal, init_std=DEFAULT.init_std) -> Start:
    """Parametrization 3.1, case 2: N(0, omega^2) off the diagonal and in v, as SimplifiedViT draws it.

    Parameters
    ----------
    law : Law
    seeds : list of int
    diagonal, init_std : float (sigma_A, omega)

    Raises
    ------
    ValueError
        If ``law`` or a number does not fit.

    Examples
    --------
    >>> from patch_association import Partition, SpatialData
    >>> start = realistic_start(SpatialData(Partition.blocks(4, 4, 2, 2), dim=8, q=0.3), seeds=[0, 1])
    >>> tuple(start.scores.shape), tuple(start.value.shape), start.scores[0].diagonal().unique().tolist()
    ((2, 16, 16), (2, 8), [1.0])
    """
    check_law(law)
    models = [
        SimplifiedViT(law.partition.num_patches, law.dim, diagonal=diagonal, init_std=init_std, seed=seed)
        for seed in seed_list(seeds)
    ]
    scores = torch.stack([model.scores.detach() for model in models])  # (S, D, D)
    values = torch.stack([model.value.detach() for model in models])  # (S, d)
    return Start(scores, values)


@dataclass(frozen=True)
class EmpiricalRun:
    r"""What :func:`descend` recorded: columns (R, S), a row a recorded step, a column a seed, and more.

    Attributes
    ----------
    loss, train_error : arrays
        Empirical risk; share misclassified, F = 0 counting half.
    test_error : array
        The same on the test inputs; NaN without.
    exact, recall, margin : arrays
        :func:`~patch_association.structure.association` of A with the true sets.
    alpha, orthogonal, cosine : arrays
        <v, w*>, \|v - alpha w*\|, alpha / \|v\|; NaN where the law has no feature.
    inside_mean, inside_std, outside_mean, outside_std : arrays
        Of the off-diagonal scores inside sets and across sets; NaN where there are none.
    steps : (R,) integers
    seeds : tuple of int
    step : Constant
        With its score rate written out.
    scores : dict of int to (S, D, D) array
        A at the steps named by ``snapshots``.
    final : Start
        Scores and value after the last step.
    diverged_at : (S,) integers
        The step at which a seed's loss left all bounds, -1 where none did. From there on its
        columns are NaN.
    """

    loss: np.ndarray
    train_error: np.ndarray
    test_error: np.ndarray
    exact: np.ndarray
    recall: np.ndarray
    margin: np.ndarray
    alpha: np.ndarray
    orthogonal: np.ndarray
    cosine: np.ndarray
    inside_mean: np.ndarray
    inside_std: np.ndarray
    outside_mean: np.ndarray
    outside_std: np.ndarray
    steps: np.ndarray
    seeds: tuple
    step: Constant
    scores: dict
    final: Start
    diverged_at: np.ndarray

    def __repr__(self) -> str:
        text = f"EmpiricalRun({len(self.seeds)} seeds, {len(self.steps)} records"
        if len(self.steps):
            ends = f"step {self.steps[-1]}: loss {self.loss[-1].mean():.3g}, test error "
            text += f", {ends}{self.test_error[-1].mean():.3g}, association exact in {self.exact[-1].sum()}"
        return text + ")"


#: What is recorded of every seed at a step: the columns of shape (R, S).
COLUMNS = (
    "loss",
    "train_error",
    "test_error",
    "exact",
    "recall",
    "margin",
    "alpha",
    "orthogonal",
    "cosine",
    "inside_mean",
    "inside_std",
    "outside_mean",
    "outside_std",
)


@dataclass(frozen=True)
class Descent:
    """How :func:`descend` goes, where it is not as usual.

    Attributes
    ----------
    degree, linear : int, float
        sigma(x) = x^p + nu x.
    prefactor : float, optional
        The factor inside the activation: D by default. With 1 and a common rate D^2 eta, D v runs
        as v does with D and (eta, D^2 eta).
    scale : float
        What the scores are divided by in the softmax; (T) has sqrt(d), section 4.1 has 1.
    snapshots : int or list of int
        Steps at which A is kept.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> Descent(snapshots=[0, 100]).linear
    0.01
    """

    degree: int = DEFAULT.degree
    linear: float = DEFAULT.linear
    prefactor: float | None = None
    scale: float = 1.0
    snapshots: Any = ()

    def __post_init__(self):
        odd_degree(self.degree)
        finite("linear", self.linear, minimum=0)
        if self.prefactor is not None:
            finite("prefactor", self.prefactor)
        if finite("scale", self.scale) <= 0:
            raise ValueError(f"scale must be positive, got {self.scale}")


USUAL = Descent()


def descend(
    samples: Samples,
    start: Start,
    step: Constant,
    *,
    steps: int,
    record=None,
    test: HeldOut | tuple | None = None,
    how: Descent = USUAL,
    on_divergence: str = "raise",
    progress: bool | None = None,
) -> EmpiricalRun:
    """Run (GD) on (E): every off-diagonal score and the whole value vector, full batch.

    Parameters
    ----------
    samples : Samples
        One set of inputs for each seed; their type and device are those of the run.
    start : Start
        :func:`idealized_start`, :func:`realistic_start`, or any scores and values.
    step : Constant
        The rates of v and of the scores.
    steps : int
        T.
    record : None, int or list of int
        Steps to record: all, every k-th, or these.
    test : HeldOut, or a pair of inputs (n, D, d) and labels (n,), optional
        For the test error.
    how : Descent
        The activation, the softmax, and what is kept of A.
    on_divergence : "raise" or "flag"
        "flag" lets the other seeds run on and marks the lost ones in ``diverged_at``.
    progress : bool, optional
        The bar of runs over five seconds; by default on a terminal only.

    Returns
    -------
    EmpiricalRun

    Raises
    ------
    Diverged
        When a seed's loss leaves all bounds: it says which seed, at which step, with which rate.
    ValueError
        On arguments that do not fit together.

    Examples
    --------
    >>> from patch_association import Partition, SpatialData
    >>> law = SpatialData(Partition.blocks(4, 4, 2, 2), dim=8, q=0.3)
    >>> run = descend(Samples.draw(law, 2000, [0]), idealized_start(law), Constant(0.02), steps=50)
    >>> bool(run.exact[-1, 0])
    True
    """
    made_of("samples", samples, "Samples", "num_patches", "seeds", "chunks")
    if not isinstance(how, Descent):
        raise ValueError(f"how must be a Descent, got {type(how).__name__}")
    check_on_divergence(on_divergence)
    D = samples.num_patches
    seeds = samples.seeds
    form = how.degree, how.linear, D if how.prefactor is None else how.prefactor
    wanted = set(recorded_steps(steps, record).tolist())
    kept = set(recorded_steps(steps, how.snapshots).tolist()) if np.size(how.snapshots) else set()
    step = check_step(step, D)
    rate, score_rate = step.rates(D)
    A, v = _check_start(samples, start)

    measure = _Measure(samples, test, form)
    recorded = []
    rows = []
    scores = {}
    diverged_at = np.full(len(seeds), -1)

    def finish() -> EmpiricalRun:
        columns = {}
        for name in COLUMNS:
            columns[name] = np.array([row[name] for row in rows]).reshape(-1, len(seeds))  # (R, S)
        columns["exact"] = columns["exact"] == 1
        at = np.array(recorded, dtype=np.int64)
        return EmpiricalRun(
            **columns, steps=at, seeds=seeds, step=step,
            scores=scores, final=Start(A, v), diverged_at=diverged_at,
        )  # fmt: skip

    with workers(A.device, -(-samples.n // samples.chunk)) as pool:
        for t in bar(steps, progress, "descent"):
            S = torch.softmax(A / how.scale, dim=-1)
            sums = total(samples.chunks(), pool, S, v, *form)
            loss = sums.loss / samples.n
            lost = (~(loss <= LOSS_LIMIT)).cpu().numpy()
            if (new := lost & (diverged_at < 0)).any():
                diverged_at[new] = t
                if on_divergence == "raise":
                    raise Diverged(t, step, np.array(seeds)[new].tolist(), finish())
                gone = torch.from_numpy(new).to(A.device)
                A[gone] = float("nan")
                v[gone] = float("nan")
            if t in wanted:
                rows.append(measure(loss, sums.wrong / samples.n, S, A, v))
                recorded.append(t)
            if t in kept:
                scores[t] = A.cpu().numpy().copy()
            if t == steps or (diverged_at >= 0).all():
                break
            dv = sums.dv / samples.n
            share = torch.as_tensor(step.share(v.norm(dim=1), dv.norm(dim=1))).to(A).view(-1, 1)  # or (1, 1)
            A = A - (score_rate / samples.n * share[..., None]) * score_gradient(S, sums.K, how.scale)
            v = v - (rate * share) * dv
    return finish()


class _Measure:
    """One row of the record: (S,) float64 by the name of the column."""

    def __init__(self, samples, test: Any, form):
        test = HeldOut.of(*test) if isinstance(test, tuple) and len(test) == 2 else test
        if test is not None:
            made_of("test", test, "HeldOut or a pair of inputs and labels", "errors_of", "num_patches", "dim")
            sizes = [(holder.num_patches, holder.dim) for holder in (test, samples)]
            if sizes[0] != sizes[1]:
                raise ValueError(f"test must have the samples' (D, d) = {sizes[1]}, got {sizes[0]}")
        self.law = samples.law
        self.test = test
        self.activation = form
        w = feature_of(self.law)
        w = torch.full((samples.dim,), float("nan")) if w is None else w
        self.feature = w.to(device=samples.device, dtype=samples.dtype)
        same = self.law.partition.same_set
        self.inside = same & ~np.eye(len(same), dtype=bool)
        self.outside = ~same

    def __call__(self, loss, wrong, S, A, v) -> dict[str, np.ndarray]:
        alpha = v @ self.feature  # (S,)
        orthogonal = (v - alpha[:, None] * self.feature).norm(dim=1)
        test_error = torch.full_like(alpha, float("nan"))
        if self.test is not None:
            errors = self.test.errors_of(S, v, *self.activation)
            test_error = torch.where(torch.isfinite(v).all(dim=1), errors, float("nan"))
        measured = {
            "loss": loss,
            "train_error": wrong,
            "test_error": test_error,
            "alpha": alpha,
            "orthogonal": orthogonal,
            "cosine": alpha / v.norm(dim=1),
        }
        row = {name: x.double().cpu().numpy() for name, x in measured.items()}
        return row | self._structure(A.double().cpu().numpy())

    def _structure(self, A: np.ndarray) -> dict[str, np.ndarray]:
        """Association, mean and spread of the scores inside and outside, each (S,); NaN for lost seeds."""
        names = ("exact", "recall", "margin", "inside_mean", "inside_std", "outside_mean", "outside_std")
        row = {name: np.full(len(A), np.nan) for name in names}
        ok = np.isfinite(A).all(axis=(1, 2))
        if not ok.any():
            return row
        found = association(A[ok], self.law.partition)
        row["exact"][ok] = found.exact
        row["recall"][ok] = found.recall
        row["margin"][ok] = found.margin
        for side, pairs in (("inside", self.inside), ("outside", self.outside)):
            if pairs.any():
                chosen = A[ok][:, pairs]  # (S, pairs)
                row[f"{side}_mean"][ok] = chosen.mean(axis=1)
                row[f"{side}_std"][ok] = chosen.std(axis=1)
        return row


def _check_start(samples, start):
    seeds = samples.num_seeds
    D = samples.num_patches
    d = samples.dim
    made_of("start", start, "Start", "scores", "value")
    expected = (seeds, D, D), (seeds, d)
    got = tuple(start.scores.shape), tuple(start.value.shape)
    if got != expected:
        raise ValueError(f"start must have scores and value of shapes {expected}, got {got}")
    return tuple(x.detach().to(samples.device, samples.dtype, copy=True) for x in (start.scores, start.value))
