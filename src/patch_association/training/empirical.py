"""Gradient descent on the empirical risk: the paper's realistic process, many seeds in one batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association._validate import finite, odd_degree, positive_int
from patch_association.data import SpatialData
from patch_association.training.gradients import score_gradient, total, workers
from patch_association.training.population import initial_alpha
from patch_association.training.samples import TestCoefficients
from patch_association.training.steps import (
    LOSS_LIMIT,
    Diverged,
    bar,
    check_on_divergence,
    rates,
    recorded_steps,
)
from patch_association.model import SimplifiedViT
from patch_association.structure import association

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
class Start:
    """Where a batch of seeds starts: ``scores`` (S, D, D), diagonal included, and ``value`` (S, d)."""

    scores: torch.Tensor
    value: torch.Tensor


def idealized_start(
    law: SpatialData, num_seeds: int = 1, diagonal=1.0, degree=3, linear=0.01, alpha=None
) -> Start:
    """Parametrization 3.1, case 1: A = 0 off the diagonal and v = nu^(1/(p-1)) w*, for each seed."""
    num_seeds = positive_int("num_seeds", num_seeds)
    alpha = initial_alpha(degree, linear) if alpha is None else finite("alpha", alpha)
    A = torch.eye(law.partition.num_patches, dtype=torch.float64) * finite("diagonal", diagonal)
    return Start(A.repeat(num_seeds, 1, 1), (alpha * law.feature).repeat(num_seeds, 1))


def realistic_start(law: SpatialData, seeds, diagonal=1.0, init_std=0.01) -> Start:
    """Parametrization 3.1, case 2: N(0, omega^2) off the diagonal and in v, as SimplifiedViT draws it."""
    models = [
        SimplifiedViT(law.partition.num_patches, law.dim, diagonal=diagonal, init_std=init_std, seed=seed)
        for seed in seeds
    ]
    return Start(
        torch.stack([model.scores.detach() for model in models]),
        torch.stack([model.value.detach() for model in models]),
    )


@dataclass(frozen=True)
class EmpiricalRun:
    """What :func:`descend` recorded: arrays of shape (R, S), a row a recorded step, a column a seed.

    Attributes
    ----------
    steps : (R,) integers
    seeds : tuple of int
    loss, train_error : arrays
        Empirical risk; share misclassified, F = 0 counting half.
    test_error : array
        The same on :class:`~patch_association.training.samples.TestCoefficients`; NaN without.
    exact, recall, margin : arrays
        :func:`~patch_association.structure.association` of A with the true sets.
    alpha, orthogonal, cosine : arrays
        <v, w*>, \\|v - alpha w*\\|, alpha / \\|v\\|.
    inside_mean, inside_std, outside_mean, outside_std : arrays
        Of the off-diagonal scores inside sets and across sets.
    scores : dict of int to (S, D, D) array
        A at the steps named by ``snapshots``.
    final : Start
        Scores and value after the last step.
    diverged_at : (S,) integers
        The step at which a seed's loss left all bounds, -1 where none did. From there on its
        columns are NaN.
    """

    steps: np.ndarray
    seeds: tuple
    rate: float
    score_rate: float
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
    scores: dict
    final: Start
    diverged_at: np.ndarray


def descend(
    samples,
    law: SpatialData,
    start: Start,
    *,
    steps: int,
    rate: float,
    score_rate: float | None = None,
    degree: int = 3,
    linear: float = 0.01,
    prefactor: float | None = None,
    scale: float = 1.0,
    record=None,
    snapshots=(),
    test: TestCoefficients | None = None,
    on_divergence: str = "raise",
    progress: bool | None = None,
) -> EmpiricalRun:
    """Run (GD) on (E): every off-diagonal score and the whole value vector, full batch.

    Parameters
    ----------
    samples : Samples or StreamedSamples
        One set of inputs for each seed; their type and device are those of the run.
    law : SpatialData
        Which sets and which w* the records are measured against.
    start : Start
        :func:`idealized_start`, :func:`realistic_start`, or any scores and values.
    steps : int
        T.
    rate, score_rate : float
        eta of v and eta_A of the scores; equal in the paper and by default.
    degree, linear : int, float
        sigma(x) = x^p + nu x.
    prefactor : float, optional
        The factor inside the activation: D by default. With 1 and a common rate D^2 eta, D v runs
        as v does with D and (eta, D^2 eta).
    scale : float
        What the scores are divided by in the softmax; (T) has sqrt(d), section 4.1 has 1.
    record, snapshots : None, int or list of int
        Steps to record, and steps at which A is kept as well.
    test : TestCoefficients, optional
        Fresh inputs for the test error.
    on_divergence : "raise" or "flag"
        "flag" lets the other seeds run on and marks the lost ones in ``diverged_at``.
    progress : bool, optional
        The bar of runs over five seconds; by default on a terminal only.

    Raises
    ------
    Diverged
        When a seed's loss leaves all bounds: it says which seed, at which step, with which rate.
    ValueError
        On arguments that do not fit together.
    """
    degree, linear = odd_degree(degree), finite("linear", linear, minimum=0)
    D, seeds = law.partition.num_patches, samples.seeds
    prefactor = D if prefactor is None else finite("prefactor", prefactor)
    scale = finite("scale", scale)
    if scale <= 0:
        raise ValueError(f"scale must be positive, got {scale}")
    chosen = recorded_steps(steps, record)
    kept = set(recorded_steps(steps, snapshots).tolist()) if np.size(snapshots) else set()
    rate, score_rate = rates(rate, score_rate)
    check_on_divergence(on_divergence)
    A, v = _check_start(samples, law, start)

    measure = _Measure(law, test, degree, linear, prefactor, A.device, A.dtype)
    wanted, rows, scores = set(chosen.tolist()), [], {}
    diverged_at = np.full(len(seeds), -1)
    recorded = []

    def finish() -> EmpiricalRun:
        table = np.array(rows).reshape(-1, len(COLUMNS), len(seeds)).transpose(1, 0, 2)  # (columns, R, S)
        columns = dict(zip(COLUMNS, table))
        columns["exact"] = columns["exact"] == 1
        return EmpiricalRun(
            np.array(recorded, dtype=np.int64),
            seeds,
            rate,
            score_rate,
            **columns,
            scores=scores,
            final=Start(A, v),
            diverged_at=diverged_at,
        )

    with workers(A.device, -(-samples.n // samples.chunk)) as pool:
        for t in bar(steps, progress, "descent"):
            S = torch.softmax(A / scale, dim=-1)
            last = t == steps
            sums = total(samples.chunks(), pool, S, v, degree, linear, prefactor)
            loss = sums.loss / samples.n
            lost = (~(loss <= LOSS_LIMIT)).cpu().numpy()
            if (new := lost & (diverged_at < 0)).any():
                diverged_at[new] = t
                if on_divergence == "raise":
                    raise Diverged(t, rate, score_rate, np.array(seeds)[new].tolist(), finish())
                gone = torch.from_numpy(new).to(A.device)
                A[gone], v[gone] = float("nan"), float("nan")
            if t in wanted:
                rows.append(measure(loss, sums.wrong / samples.n, S, A, v))
                recorded.append(t)
            if t in kept:
                scores[t] = A.cpu().numpy().copy()
            if last or (diverged_at >= 0).all():
                break
            A = A - (score_rate / samples.n) * score_gradient(S, sums.K, scale)
            v = v - (rate / samples.n) * sums.dv
    return finish()


class _Measure:
    """One row of the record: (columns, S) float64."""

    def __init__(self, law, test, degree, linear, prefactor, device, dtype):
        self.partition, self.test = law.partition, test
        self.activation = (degree, linear, prefactor)
        self.feature = law.feature.to(device=device, dtype=dtype)
        same = law.partition.same_set
        self.inside, self.outside = same & ~np.eye(len(same), dtype=bool), ~same

    def __call__(self, loss, wrong, S, A, v) -> np.ndarray:
        alpha = v @ self.feature  # (S,)
        rest = v - alpha[:, None] * self.feature  # (S, d)
        orthogonal, norm = rest.norm(dim=1), v.norm(dim=1)
        if self.test is None:
            test_error = torch.full_like(alpha, float("nan"))
        else:
            test_error = self.test.error(S, alpha, orthogonal, *self.activation)
            test_error = torch.where(torch.isfinite(alpha), test_error, float("nan"))
        rows = [loss, wrong, test_error, alpha, orthogonal, alpha / norm]
        loss, wrong, test_error, alpha, orthogonal, cosine = (x.double().cpu().numpy() for x in rows)
        structure = np.array([self._structure(scores) for scores in A.double().cpu().numpy()]).T
        exact, recall, margin, *spread = structure
        return np.array([loss, wrong, test_error, exact, recall, margin, alpha, orthogonal, cosine, *spread])

    def _structure(self, scores):
        if not np.isfinite(scores).all():
            return (float("nan"),) * 7
        found = association(scores, self.partition)
        spread = [
            f(scores[where]) if where.any() else float("nan")
            for where in (self.inside, self.outside)
            for f in (np.mean, np.std)
        ]
        return found.exact, found.recall, found.margin, *spread


def _check_start(samples, law, start):
    D, d = samples.num_patches, samples.dim
    if (D, d) != (law.partition.num_patches, law.dim):
        raise ValueError(
            f"samples must fit the law's {law.partition.num_patches} patches of dimension {law.dim}, "
            f"got {D} of {d}"
        )
    expected = (samples.num_seeds, D, D), (samples.num_seeds, d)
    got = tuple(start.scores.shape), tuple(start.value.shape)
    if got != expected:
        raise ValueError(f"start must have scores and value of shapes {expected}, got {got}")
    return tuple(x.detach().to(samples.device, samples.dtype, copy=True) for x in (start.scores, start.value))
