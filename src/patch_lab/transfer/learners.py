"""The learners as they are compared: from a number of samples and a seed to a test error.

A seed names the training samples and the start; validation samples and test draws take the seeds
10,000 and 20,000 above it, so that no learner meets a test draw twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from patch_association.checks import finite, function, int_list, made_of, one_of, positive_int, seed_list
from patch_association.data import SpatialData, assumption_one
from patch_association.streams import Stream, generator
from patch_association.structure import association
from patch_association.training.empirical import Descent, EmpiricalRun, Start, descend
from patch_association.training.evaluate import HeldOut
from patch_association.training.samples import Samples
from patch_association.training.steps import Constant
from patch_lab.kit.conventions import TRANSFER
from patch_lab.kit.seeds import TEST, VALIDATION
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.block_error import exact_error
from patch_lab.transfer.clipped import Clipped
from patch_lab.transfer.discovery import (
    FoundSets,
    coactivation,
    coactivation_rows,
    first_moment,
    likelihood_sets,
    refined_feature,
)
from patch_lab.transfer.fine_tuning import draw_reads, fine_tune, usual_step
from patch_lab.transfer.logistic import PENALTIES, linear_test_error, tuned_logistic
from patch_lab.transfer.many_values import errors_under, feature_and_rest
from patch_lab.transfer.overlap import OverlapRule, overlap_rule

_SEARCHES = ("likelihood", "overlap", "overlap, equal weights", "coactivation", "coactivation, refined")


@dataclass(frozen=True)
class FixedAttentionFit:
    """Fine-tuning with one fixed attention, for S seeds and K training-set sizes.

    Attributes
    ----------
    errors : (S, K) array
        Test errors.
    alpha, cosine : (S, K) arrays
        <v, w*> and cos(v, w*).
    loss : (S, K) array
        The training loss at the end.
    best_direction : float
        The error of w* itself, at the median length of the values trained on the largest size.
    """

    errors: np.ndarray
    alpha: np.ndarray
    cosine: np.ndarray
    loss: np.ndarray
    best_direction: float

    @property
    def wrong_sign(self) -> np.ndarray:
        """(K,) the share of seeds whose value vector points away from w*."""
        return (self.alpha < 0).mean(axis=0)


@dataclass(frozen=True)
class Outcome:
    """What one learner reached with one training set.

    Attributes
    ----------
    error : float
        The test error.
    recall : float or None
        The share of companions that its scores name, or of sets that it found; None where it looks for none.
    loss, penalty : float or None
        The training loss at the end; the chosen penalty.
    """

    error: float
    recall: float | None = None
    loss: float | None = None
    penalty: float | None = None


def learn_with_fixed_attention(
    data: SpatialData,
    attention,
    sizes,
    seeds,
    step: Constant | None = None,
    *,
    steps: int,
    linear: float = TRANSFER.linear,
    draws: int = 50_000,
) -> FixedAttentionFit:
    """Fine-tune under a fixed attention and measure every value vector on one set of test draws.

    Parameters
    ----------
    data : SpatialData
        The downstream law.
    attention : BlockAttention or DenseAttention
    sizes : list of K int
        Training-set sizes, nested in each seed.
    seeds : list of S int
    step, steps, linear
        As :func:`~patch_lab.transfer.fine_tuning.fine_tune` takes them.
    draws : int
        Test draws, common to all. Hard attention to the data's own sets needs none: its error is exact.

    Raises
    ------
    ValueError
        If data and attention do not fit, or a number is out of range.
    """
    sizes = int_list("sizes", sizes)
    draws = positive_int("draws", draws)
    reads = draw_reads(data, attention, max(sizes), seeds)
    tuned = fine_tune(reads, attention, sizes, seeds, step, steps=steps, linear=linear)
    alpha, tau = feature_and_rest(tuned.value, data)
    test = HeldOut(data, draws, TEST)
    # w* itself comes last: alpha at its median, and no noise.
    alphas = np.append(alpha, np.median(alpha[:, -1]))
    noises = np.append(tau, 0.0)
    all_errors = errors_under(test, attention, alphas, noises, linear=linear)
    best_direction = float(all_errors[-1])
    errors = all_errors[:-1].reshape(alpha.shape)
    if (
        isinstance(attention, BlockAttention)
        and attention.is_hard
        and np.array_equal(attention.partition.same_set, data.partition.same_set)
    ):
        # Below tau = 0.02 alpha the quadrature stops; there the error no longer depends on tau to four
        # digits.
        floored = np.maximum(tau, 0.02 * np.abs(alpha))
        for place in np.ndindex(alpha.shape):
            a = float(alpha[place])
            noise = float(floored[place])
            errors[place] = exact_error(attention, data.q, a, noise, linear=linear)
    return FixedAttentionFit(
        errors=errors,
        alpha=alpha,
        cosine=alpha / np.hypot(alpha, tau / data.noise_std),
        loss=tuned.loss.numpy(),
        best_direction=best_direction,
    )


def train_from_scratch(
    data: SpatialData,
    samples: int,
    seed: int,
    step: Constant | None = None,
    *,
    steps: int,
    diagonal: float = TRANSFER.diagonal,
    linear: float = TRANSFER.linear,
    init_std: float = TRANSFER.init_std,
    dtype: torch.dtype = torch.float64,
) -> EmpiricalRun:
    """Model (T), A and v together, from a small random start (Parametrization 3.1, case 2), to its end.

    A starts as N(0, omega^2) off its diagonal and v as N(0, (omega / D)^2 I), as in fine-tuning.
    ``step`` is :func:`~patch_lab.transfer.fine_tuning.usual_step` by default.

    Raises
    ------
    ValueError
        If ``data`` is no SpatialData, or a number is out of range.
    """
    made_of("data", data, "SpatialData", "partition", "feature", "sample")
    D = data.partition.num_patches
    omega = finite("init_std", init_std, minimum=0)
    draws = generator(seed, Stream.SCRATCH_START)
    A = torch.from_numpy(draws.standard_normal((1, D, D))) * omega
    v = torch.from_numpy(draws.standard_normal((1, data.dim))) * (omega / D)
    A.diagonal(dim1=1, dim2=2).fill_(finite("diagonal", diagonal))
    X, y = data.sample(samples, seed, dtype=dtype)
    return descend(
        Samples(data, X[None], y[None], seed),
        Start(A, v),
        usual_step(D) if step is None else step,
        steps=steps,
        record=[steps],
        how=Descent(linear=linear),
        progress=False,
    )


def learn_from_scratch(
    data: SpatialData, samples: int, seed: int, draws: int = 10_000, validation: bool = False, **training
) -> Outcome:
    """What :func:`train_from_scratch` reaches on test draws, or on validation draws.

    ``training`` goes to it. With ``dtype`` single precision, which halves the time of a large run, the error
    is still measured in double.
    """
    run = train_from_scratch(data, samples, seed, **training)
    test = HeldOut(data, draws, seed + (VALIDATION if validation else TEST))
    attention = DenseAttention(run.final.scores[0])
    (error,) = errors_under(
        test,
        attention,
        *feature_and_rest(run.final.value.double(), data),
        linear=training.get("linear", TRANSFER.linear),
    )
    return Outcome(float(error), float(run.recall[-1, 0]), loss=float(run.loss[-1, 0]))


def learn_by_search(
    data: SpatialData, samples: int, seed: int, search: str = "likelihood", draws: int = 4000
) -> Outcome:
    """A learner without the sets (:mod:`patch_lab.transfer.discovery`, ``.overlap``).

    Parameters
    ----------
    search : "likelihood", "overlap", "overlap, equal weights", "coactivation" or "coactivation, refined"
        The sets that best explain the samples; the rule that compares overlaps and looks for no sets; or for
        each patch the companions that it is most often active with, with the plain or the refined estimate of
        w*.
    """
    one_of("search", search, *_SEARCHES)
    X, y = (t.numpy() for t in data.sample(samples, seed))
    C = data.partition.set_size
    D = data.partition.num_patches
    w, threshold = refined_feature(X, y, C)
    active = y[:, None] * (X @ w) > threshold
    if search.startswith("overlap"):
        rule = overlap_rule(active, C, equal_weights=search.endswith("equal weights"))
        return Outcome(_set_rule_error(rule, w, threshold, data, draws, seed + TEST))
    if search == "likelihood":
        sets = likelihood_sets(active, C)
        true = {tuple(s) for s in data.partition.sets.tolist()}
        return Outcome(
            _set_rule_error(sets, w, threshold, data, draws, seed + TEST),
            sum(s in true for s in sets.sets) / data.partition.num_sets,
        )
    if search == "coactivation":
        w = first_moment(X, y)
    A = coactivation_rows(coactivation(X, y, w), C)
    alpha, noise = feature_and_rest(torch.from_numpy(w), data)
    # nu only breaks ties here: the length of v is free, so it takes the value that fine-tuning ends at.
    scale = 1.5 / D
    error = errors_under(
        HeldOut(data, draws, seed + TEST),
        DenseAttention(A),
        scale * alpha,
        scale * noise,
        linear=TRANSFER.linear,
    )
    return Outcome(float(error), float(association(A, data.partition).recall))


def learn_by_logistic_regression(
    data: SpatialData, samples: int, seed: int, validation: int = 1000, draws: int = 4000, penalties=PENALTIES
) -> Outcome:
    """Logistic regression on all D d inputs, its penalty chosen on ``validation`` samples of their own."""
    X, y = data.sample(samples, seed)
    X_val, y_val = data.sample(validation, seed + VALIDATION)
    W, penalty = tuned_logistic(X.numpy(), y.numpy(), X_val.numpy(), y_val.numpy(), penalties)
    return Outcome(linear_test_error(W, data, draws=draws, seed=seed + TEST), penalty=penalty)


def learn_plain_sum(data: SpatialData, samples: int, seed: int) -> Outcome:
    """The sign of <w, sum_j X_j>, w the first moment of the samples: no sets, no attention; exact."""
    X, y = (t.numpy() for t in data.sample(samples, seed))
    alpha, noise = feature_and_rest(torch.from_numpy(first_moment(X, y)), data)
    # Uniform attention reads the plain sum, and the activation keeps its sign.
    return Outcome(exact_error(BlockAttention.uniform(data.partition), data.q, float(alpha), float(noise)))


def errors_without_the_sets(data: SpatialData, seeds: int, *, linear: float = TRANSFER.linear) -> dict:
    """Errors of three learners that are not told the sets: name -> (sizes (K,), errors (S, K)).

    The likelihood of sets has an eighth of the ``seeds``, the two that are trained a 24th. Training from
    scratch has the rates and the diagonal that validation sets chose at 36 patches.
    """
    seeds = positive_int("seeds", seeds, minimum=24)
    D = data.partition.num_patches
    step = Clipped(0.5 / D**2, score_rate=512 * 0.5)
    scratch = partial(learn_from_scratch, step=step, steps=250, diagonal=3.0, linear=linear, draws=4000)
    learners = {
        "likelihood of sets": (learn_by_search, [D // 2, 3 * D // 4, D, 3 * D // 2], seeds // 8),
        "from scratch": (scratch, [200, 400, 800], seeds // 24),
        "logistic regression": (
            partial(learn_by_logistic_regression, penalties=(1e-2, 1e-1, 1.0)),
            [32, 128],
            seeds // 24,
        ),
    }
    return {
        name: (sizes, error_table(learner, data, sizes, range(count)))
        for name, (learner, sizes, count) in learners.items()
    }


def error_table(learner: Callable[..., Outcome], data: SpatialData, sizes, seeds) -> np.ndarray:
    """(S, K) test errors of a learner: ``learner(data, samples, seed)`` for every seed and size.

    Raises
    ------
    ValueError
        If ``learner`` cannot be called, or data, sizes or seeds are not what it takes.
    """
    function("learner", learner)
    made_of("data", data, "SpatialData", "partition", "feature", "sample")
    sizes = int_list("sizes", sizes)
    seeds = seed_list(seeds)
    return np.array([[learner(data, samples, seed).error for samples in sizes] for seed in seeds])


def _set_rule_error(rule: FoundSets | OverlapRule, w, threshold, data, draws, seed) -> float:
    assumption_one("data", data)
    alpha, noise = feature_and_rest(torch.from_numpy(w), data)
    s, y, _ = data.sample_coefficients(draws, seed)
    u = alpha * s + noise * generator(seed, Stream.SET_RULE_NOISE).standard_normal(s.shape)
    margin = y * rule.score(u > threshold, u < -threshold)
    return float((margin < 0).mean() + 0.5 * (margin == 0).mean())
