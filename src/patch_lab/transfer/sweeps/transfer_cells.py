"""What one cell of the sweeps on transfer runs: every learner, and structure shared only in part.

Everything is at C = 4, q = 16 / D (so that q D = C^2), sigma^2 = 1 / d, p = 3, nu = 0.1. Seeds name the
data, the start and, where it is random, the partition; the same seed means the same data for every
learner of one (D, d).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

from patch_association.data import SpatialData, random_feature
from patch_association.structure import Partition
from patch_association.training.evaluate import HeldOut
from patch_lab.kit.conventions import TRANSFER
from patch_lab.kit.seeds import TEST
from patch_lab.transfer import learners
from patch_lab.transfer.block_attention import BlockAttention, DenseAttention
from patch_lab.transfer.fine_tuning import draw_reads, fine_tune, usual_step
from patch_lab.transfer.many_values import errors_under, feature_and_rest
from patch_lab.transfer.mismatch import (
    Heads,
    SeveralFeatures,
    draw_several,
    pairs_kept,
    reassign,
    several_errors,
)

SET_SIZE = TRANSFER.set_size
STEPS = 200
COMMON = {
    "set_size": SET_SIZE,
    "q": "16 / num_patches",
    "degree": 3,
    "linear": TRANSFER.linear,
    "init_std": TRANSFER.init_std,
    "rate": 0.5,  # D^2 times that of v
    "clip": 0.1,
    "steps": STEPS,
}

#: What the validation sets chose for training from scratch: (diagonal, ratio) by D, from the record of
#: ``transfer-scratch-tuning`` and ``transfer-scratch-large-tuning``.
SCRATCH_CHOICE = {
    36: (3.0, 512.0),
    64: (4.0, 1024.0),
    100: (3.0, 256.0),
    144: (4.0, 1024.0),
    196: (4.0, 1024.0),
    256: (5.0, 2048.0),
    400: (5.0, 2048.0),
}
SCRATCH_STEPS = 250
#: How the two largest sizes are trained: 250 steps would not fit their samples, and single precision gives
#: the same errors (to four digits where both were run) in half the time.
LARGE = {"steps": 500, "dtype": "float32"}


def downstream_data(num_patches: int, dim: int, partition: Partition | None = None) -> SpatialData:
    """The downstream distribution; contiguous sets unless told otherwise."""
    if partition is None:
        partition = Partition(np.repeat(np.arange(num_patches // SET_SIZE), SET_SIZE))
    return SpatialData(partition, dim, 16 / num_patches)


def attention_called(name: str, partition: Partition):
    """The fixed attentions that are compared, by name."""
    D = partition.num_patches
    if name == "uniform":
        return BlockAttention.uniform(partition)
    if name == "hard":
        return BlockAttention.hard(partition)
    if name == "wrong sets":
        # Every set takes one patch from each of C true sets: no two patches of a set belong together.
        partition = Partition(np.arange(D) % partition.num_sets)
    gamma = {"gamma = 4": 4.0, "gamma = log D": float(np.log(D)), "wrong sets": float(np.log(D))}[name]
    return BlockAttention(partition, gamma, gamma)


@lru_cache(maxsize=1)
def pretrained_scores(num_patches: int, samples: int, seed: int, steps: int) -> tuple[torch.Tensor, dict]:
    """A after pre-training (section 4.2): model (T) from scratch on another feature, and what A is like.

    Diagonal 4; the scores move min(1024, D^2 / 4) times faster than D v. Above 1024 the steps of A overshoot.
    """
    sets = downstream_data(num_patches, 32).partition
    feature = random_feature(32, seed)
    data = SpatialData(sets, 32, 16 / num_patches, feature=feature)
    step = usual_step(num_patches, min(1024.0, num_patches**2 / 4))
    run = learners.train_from_scratch(data, samples, seed, step, steps=steps)
    A = run.final.scores[0]
    same = data.partition.same_set
    off = ~np.eye(num_patches, dtype=bool)
    inside = A.numpy()[same & off]
    outside = A.numpy()[~same]
    test = HeldOut(data, 10_000, seed + TEST)
    own_errors = errors_under(
        test, DenseAttention(A), *feature_and_rest(run.final.value, data), linear=TRANSFER.linear
    )
    return A, {
        "gamma": [float(inside.mean()), float(inside.std())],
        "rho": [float(outside.mean()), float(outside.std())],
        "exact": bool(run.exact[-1, 0]),
        "recall": float(run.recall[-1, 0]),
        "pretraining_samples": samples,
        "pretraining_loss": float(run.loss[-1, 0]),
        "pretraining_error": float(own_errors[0]),
    }


def pretraining_samples(num_patches: int) -> int:
    """How many samples the recorded pre-trainings take: enough for the sets at every D."""
    return max(4000, 24 * num_patches)


def _rounded(errors, digits: int = 4) -> list:
    return np.round(np.asarray(errors), digits).tolist()


def fine_tuning_cell(num_patches, dim, attention, sizes, seeds, linear=TRANSFER.linear) -> dict:
    """Fine-tuning with a fixed attention; errors (seeds, sizes)."""
    data = downstream_data(num_patches, dim)
    model = attention_called(attention, data.partition)
    return {**_fine_tuned(data, model, sizes, seeds, linear), "in_set_mass": model.in_set_mass}


def pretrained_attention_cell(num_patches, dim, sizes, seeds, pretraining, steps) -> dict:
    """Fine-tuning with the attention that a pre-training of this seed and so many steps left."""
    A, described = pretrained_scores(num_patches, pretraining_samples(num_patches), pretraining, steps)
    return {
        **_fine_tuned(downstream_data(num_patches, dim), DenseAttention(A), sizes, seeds, TRANSFER.linear),
        **described,
    }


def _fine_tuned(data, model, sizes, seeds, linear) -> dict:
    outcome = learners.learn_with_fixed_attention(
        data, model, sizes, range(seeds), steps=STEPS, linear=linear
    )
    return {
        "errors": _rounded(outcome.errors),
        "wrong_sign": _rounded(outcome.wrong_sign),
        "best_direction": outcome.best_direction,
        "loss": _rounded(outcome.loss.mean(axis=0), 6),
        "cosine": _rounded(outcome.cosine.mean(axis=0)),
    }


def _mean(outcomes: list[learners.Outcome], name: str) -> float | None:
    """None for a learner that has no such number."""
    values = [getattr(outcome, name) for outcome in outcomes]
    return None if None in values else float(np.mean(values))


def discovery_cell(num_patches, dim, learner, samples, seeds) -> dict:
    """The learners that look for the sets, each seed with a partition of its own; one error per seed."""
    outcomes = [
        learners.learn_by_search(
            downstream_data(num_patches, dim, Partition.random(num_patches, SET_SIZE, seed)),
            samples,
            seed,
            learner,
        )
        for seed in range(seeds)
    ]
    return {"errors": _rounded([f.error for f in outcomes]), "recall": _mean(outcomes, "recall")}


def logistic_cell(num_patches, dim, samples, seeds) -> dict:
    """Logistic regression on all inputs, its penalty chosen on 1000 validation samples."""
    outcomes = [
        learners.learn_by_logistic_regression(downstream_data(num_patches, dim), samples, seed)
        for seed in range(seeds)
    ]
    return {"errors": _rounded([f.error for f in outcomes]), "penalties": [f.penalty for f in outcomes]}


def scratch_cell(
    num_patches,
    dim,
    samples,
    first_seed,
    seeds,
    diagonal=None,
    ratio=None,
    validation=False,
    steps=None,
    dtype="float64",
) -> dict:
    """Model (T) from scratch; errors on fresh draws, or on 2000 validation draws."""
    data = downstream_data(num_patches, dim)
    if diagonal is None or ratio is None:
        diagonal, ratio = SCRATCH_CHOICE[num_patches]
    # One seed at a time: at these sizes a batch of seeds no longer fits the cache and gains nothing.
    outcomes = []
    for seed in range(first_seed, first_seed + seeds):
        outcome = learners.learn_from_scratch(
            data,
            samples,
            seed,
            2000 if validation else 10_000,
            validation,
            step=usual_step(num_patches, ratio),
            steps=steps or SCRATCH_STEPS,
            diagonal=diagonal,
            dtype=getattr(torch, dtype),
        )
        outcomes.append(outcome)
    return {
        "errors": _rounded([f.error for f in outcomes]),
        "recall": _mean(outcomes, "recall"),
        "loss": _mean(outcomes, "loss"),
    }


def mismatch_cell(num_patches, dim, fraction, sizes, seeds) -> dict:
    """Fixed attention to sets of which a fraction of the patches has moved, another draw per seed."""
    upstream = downstream_data(num_patches, dim).partition
    model = attention_called("gamma = log D", upstream)
    moved = [downstream_data(num_patches, dim, reassign(upstream, fraction, seed)) for seed in range(seeds)]
    reads = torch.cat([draw_reads(data, model, max(sizes), [seed]) for seed, data in enumerate(moved)])
    tuned = fine_tune(reads, model, sizes, range(seeds), steps=STEPS)
    errors = [
        errors_under(
            HeldOut(data, 10_000, TEST + seed),
            model,
            *feature_and_rest(tuned.value[seed], data),
            linear=TRANSFER.linear,
        )
        for seed, data in enumerate(moved)
    ]
    shared = [pairs_kept(upstream, data.partition) for data in moved]
    return {"errors": _rounded(errors), "shared_pairs": float(np.mean(shared))}


def heads_cell(num_patches, dim, features, heads, sizes, seeds) -> dict:
    """K features on K random partitions; heads fixed to the first ``heads`` of them."""
    errors = []
    for seed in range(seeds):
        partitions = [Partition.random(num_patches, SET_SIZE, 100 * seed + k) for k in range(features)]
        data = SeveralFeatures(partitions, dim, 16 / num_patches / features)
        model = Heads([attention_called("gamma = log D", partition) for partition in partitions[:heads]])
        reads = draw_several(data, model, max(sizes), [seed])
        tuned = fine_tune(reads, model, sizes, [seed], steps=STEPS)
        errors.append(several_errors(tuned.value[0], model, data, draws=4000, seed=TEST + seed))
    return {"errors": _rounded(errors)}
