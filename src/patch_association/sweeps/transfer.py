"""The sweeps of the part on transfer: sample complexity of every learner, and structure shared only in part.

Everything is at C = 4, q = 16 / D (so that q D = C^2), sigma^2 = 1 / d, p = 3, nu = 0.1. Seeds name the
data, the start and, where it is random, the partition; the same seed means the same data for every
learner of one (D, d).
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
import torch

from patch_association._streams import TEST
from patch_association.conventions import TRANSFER
from patch_association.data import SpatialData, random_feature
from patch_association.exact.block_attention import BlockAttention, DenseAttention
from patch_association.structure import Partition
from patch_association.sweeps.sweep import Sweep
from patch_association.training.evaluate import HeldOut, two_numbers
from patch_association.transfer import learners
from patch_association.transfer.fine_tuning import draw_reads, fine_tune, usual_step
from patch_association.transfer.mismatch import (
    Heads,
    SeveralFeatures,
    draw_several,
    overlap,
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
#: the
#: same errors (to four digits where both were run) in half the time.
LARGE = {"steps": 500, "dtype": "float32"}


def downstream(num_patches: int, dim: int, partition: Partition | None = None) -> SpatialData:
    """The downstream distribution; contiguous sets unless told otherwise."""
    if partition is None:
        partition = Partition(np.repeat(np.arange(num_patches // SET_SIZE), SET_SIZE))
    return SpatialData(partition, dim, 16 / num_patches)


def fixed_attention(name: str, partition: Partition):
    """The fixed attentions that are compared, by name."""
    D = partition.num_patches
    if name == "uniform":
        return BlockAttention.uniform(partition)
    if name == "hard":
        return BlockAttention.hard(partition)
    if name == "gamma = log D":
        return BlockAttention(partition, float(np.log(D)), float(np.log(D)))
    if name == "gamma = 4":
        return BlockAttention(partition, 4.0, 4.0)
    if name == "wrong sets":
        # Every set takes one patch from each of C true sets: no two patches of a set belong together.
        wrong = np.arange(D) % partition.num_sets
        return BlockAttention(Partition(wrong), float(np.log(D)), float(np.log(D)))
    raise ValueError(f"there is no attention called {name!r}")


@lru_cache(maxsize=1)
def pretrained(
    num_patches: int, samples: int, seed: int, steps: int, dim: int = 32
) -> tuple[torch.Tensor, dict]:
    """A after pre-training (section 4.2): model (T) from scratch on another feature, and what A is like.

    Diagonal 4; the scores move min(1024, D^2 / 4) times faster than D v. Above 1024 the steps of A overshoot.
    """
    data = SpatialData(
        downstream(num_patches, dim).partition, dim, 16 / num_patches, feature=random_feature(dim, seed)
    )
    step = usual_step(num_patches, min(1024.0, num_patches**2 / 4))
    run = learners.train_from_scratch(data, samples, seed, step, steps=steps)
    A = run.final.scores[0]
    same, off = data.partition.same_set, ~np.eye(num_patches, dtype=bool)
    inside, outside = A.numpy()[same & off], A.numpy()[~same]
    test = HeldOut(data, 10_000, seed + TEST)
    own = test.errors_under(DenseAttention(A), *two_numbers(run.final.value, data), linear=TRANSFER.linear)
    return A, {
        "gamma": [float(inside.mean()), float(inside.std())],
        "rho": [float(outside.mean()), float(outside.std())],
        "exact": bool(run.exact[-1, 0]),
        "recall": float(run.recall[-1, 0]),
        "pretraining_samples": samples,
        "pretraining_loss": float(run.loss[-1, 0]),
        "pretraining_error": float(own[0]),
    }


def pretraining_samples(num_patches: int) -> int:
    """How many samples the recorded pre-trainings take: enough for the sets at every D."""
    return max(4000, 24 * num_patches)


def _rounded(errors, digits: int = 4) -> list:
    return np.round(np.asarray(errors), digits).tolist()


def _fixed(num_patches, dim, attention, sizes, seeds, linear=TRANSFER.linear) -> dict:
    """Fine-tuning with a fixed attention; errors (seeds, sizes)."""
    data = downstream(num_patches, dim)
    model = fixed_attention(attention, data.partition)
    return {**_fine_tuned(data, model, sizes, seeds, linear), "in_set_mass": model.in_set_mass}


def _pretrained(num_patches, dim, sizes, seeds, pretraining, steps) -> dict:
    """Fine-tuning with the attention that a pre-training of this seed and so many steps left."""
    A, described = pretrained(num_patches, pretraining_samples(num_patches), pretraining, steps)
    return {
        **_fine_tuned(downstream(num_patches, dim), DenseAttention(A), sizes, seeds, TRANSFER.linear),
        **described,
    }


def _fine_tuned(data, model, sizes, seeds, linear) -> dict:
    found = learners.with_fixed_attention(data, model, sizes, range(seeds), steps=STEPS, linear=linear)
    return {
        "errors": _rounded(found.errors),
        "wrong_sign": _rounded(found.wrong_sign),
        "best_direction": found.best_direction,
        "loss": _rounded(found.loss.mean(axis=0), 6),
        "cosine": _rounded(found.cosine.mean(axis=0)),
    }


def _mean(found: list[learners.Outcome], name: str) -> float:
    return float(np.mean([getattr(one, name) for one in found]))


def _discover(num_patches, dim, learner, samples, seeds) -> dict:
    """The learners that look for the sets, each seed with a partition of its own; one error per seed."""
    found = [
        learners.by_search(
            downstream(num_patches, dim, Partition.random(num_patches, SET_SIZE, seed)),
            samples,
            seed,
            learner,
        )
        for seed in range(seeds)
    ]
    return {"errors": _rounded([f.error for f in found]), "recall": _mean(found, "recall")}


def _logistic(num_patches, dim, samples, seeds) -> dict:
    """Logistic regression on all inputs, its penalty chosen on 1000 validation samples."""
    found = [learners.by_logistic(downstream(num_patches, dim), samples, seed) for seed in range(seeds)]
    return {"errors": _rounded([f.error for f in found]), "penalties": [f.penalty for f in found]}


def _scratch(
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
    data = downstream(num_patches, dim)
    if diagonal is None or ratio is None:
        diagonal, ratio = SCRATCH_CHOICE[num_patches]
    # One seed at a time: at these sizes a batch of seeds no longer fits the cache and gains nothing.
    found = [
        learners.from_scratch(
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
        for seed in range(first_seed, first_seed + seeds)
    ]
    return {
        "errors": _rounded([f.error for f in found]),
        "recall": _mean(found, "recall"),
        "loss": _mean(found, "loss"),
    }


def _mismatched(num_patches, dim, fraction, sizes, seeds) -> dict:
    """Fixed attention to sets of which a fraction of the patches has moved, another draw per seed."""
    upstream = downstream(num_patches, dim).partition
    model = fixed_attention("gamma = log D", upstream)
    moved = [downstream(num_patches, dim, reassign(upstream, fraction, seed)) for seed in range(seeds)]
    reads = torch.cat([draw_reads(data, model, max(sizes), [seed]) for seed, data in enumerate(moved)])
    tuned = fine_tune(reads, model, sizes, range(seeds), steps=STEPS)
    errors = [
        HeldOut(data, 10_000, TEST + seed).errors_under(
            model, *two_numbers(tuned.value[seed], data), linear=TRANSFER.linear
        )
        for seed, data in enumerate(moved)
    ]
    shared = [overlap(upstream, data.partition) for data in moved]
    return {"errors": _rounded(errors), "shared_pairs": float(np.mean(shared))}


def _heads(num_patches, dim, features, heads, sizes, seeds) -> dict:
    """K features on K random partitions; heads fixed to the first ``heads`` of them."""
    errors = []
    for seed in range(seeds):
        partitions = [Partition.random(num_patches, SET_SIZE, 100 * seed + k) for k in range(features)]
        data = SeveralFeatures(partitions, dim, 16 / num_patches / features)
        model = Heads([fixed_attention("gamma = log D", partition) for partition in partitions[:heads]])
        reads = draw_several(data, model, max(sizes), [seed])
        tuned = fine_tune(reads, model, sizes, [seed], steps=STEPS)
        errors.append(several_errors(tuned.value[0], model, data, draws=4000, seed=TEST + seed))
    return {"errors": _rounded(errors)}


def _cells(**grid):
    """All combinations, the last key running fastest."""
    cells = [{}]
    for key, values in grid.items():
        cells = [{**cell, key: value} for cell in cells for value in values]
    return cells


_SIZES = [1, 2, 3, 4, 6, 8, 12, 16]
_PATCHES = [36, 64, 100, 144, 196, 256, 400]
_TUNING_SIZES = {36: 500, 64: 450, 100: 550, 144: 700, 196: 1000}
_LARGE_TUNING_SIZES = {256: 1100, 400: 1800}
_SCRATCH_SIZES = {
    36: [350, 500, 700, 1000],
    64: [300, 425, 600, 850],
    100: [350, 500, 700, 1000],
    144: [500, 700, 1000, 1400],
    196: [700, 1000, 1400, 2000],
}
_SCRATCH_LARGE_SIZES = {256: [900, 1300, 1800], 400: [1500, 2100, 3000]}


def _fine_tuning_cells():
    fixed = _cells(
        num_patches=_PATCHES,
        dim=[64],
        attention=["gamma = log D", "gamma = 4", "hard"],
        sizes=[_SIZES],
        seeds=[100],
    )
    wide = [
        {"num_patches": D, "dim": D, "attention": "gamma = log D", "sizes": _SIZES, "seeds": 40}
        for D in (144, 256, 400)
    ]
    return tuple(fixed + wide)


def _pretrained_cells():
    """Three pre-trainings at every size, four times as long as well where dilution is near."""
    seeds = (10_000, 10_001, 10_002)
    runs = [(D, seed, 250) for D in _PATCHES for seed in seeds]
    runs += [(D, seed, 1000) for D in (256, 400) for seed in seeds]
    return tuple(
        {"num_patches": D, "dim": 64, "sizes": _SIZES, "seeds": 100, "pretraining": seed, "steps": steps}
        for D, seed, steps in runs
    )


# Samples in units of L, around the crossing of 5%. At D = 36 almost every second patch carries the
# feature by chance (q = 0.44), and every learner needs more.
_DISCOVERY = {
    "likelihood": {36: (2, 3, 4, 5, 6, 8), None: (1, 1.5, 2, 2.5, 3, 4)},
    "coactivation": {36: (8, 12, 16, 24), 64: (4, 6, 8, 10), 400: (3, 4, 5, 6), None: (4, 5, 6, 8)},
    "coactivation, refined": {64: (4, 6, 8, 10), 144: (4, 5, 6, 8)},
}


def _tuning_cells(sizes: dict[int, int], diagonals, ratios):
    """Every diagonal and ratio, on seeds of their own."""
    return tuple(
        {
            "num_patches": D,
            "dim": 32,
            "samples": N,
            "first_seed": 1000,
            "seeds": 4,
            "diagonal": diagonal,
            "ratio": ratio,
            "validation": True,
        }
        for D, N in sizes.items()
        for diagonal in diagonals
        for ratio in ratios
    )


def _scratch_cells(sizes: dict[int, list[int]]):
    """Twenty seeds in two cells of ten."""
    return tuple(
        {"num_patches": D, "dim": 32, "samples": N, "first_seed": first, "seeds": 10}
        for D, grid in sizes.items()
        for N in grid
        for first in (0, 10)
    )


def _choices(sizes) -> dict[str, tuple[float, float]]:
    return {str(D): SCRATCH_CHOICE[D] for D in sizes}


def _discovery_cells():
    return tuple(
        {"num_patches": D, "dim": 32, "learner": learner, "samples": int(k * D / SET_SIZE), "seeds": 24}
        for learner, grids in _DISCOVERY.items()
        for D in _PATCHES
        if D in grids or None in grids
        for k in grids.get(D, grids.get(None))
    )


SWEEPS = (
    Sweep(
        "transfer-fixed-attention",
        "Error against downstream samples with the attention fixed: strong, weaker and hard blocks.",
        _fine_tuning_cells(),
        _fixed,
        {**COMMON, "test_draws": 50_000, "error_of_hard_attention": "exact"},
    ),
    Sweep(
        "transfer-pretrained",
        "The same with the attention of models that were pre-trained on another feature.",
        _pretrained_cells(),
        _pretrained,
        {
            **{key: value for key, value in COMMON.items() if key != "steps"},
            "fine_tuning_steps": STEPS,
            "test_draws": 50_000,
            "pretraining": "max(4000, 24 D) samples of dim 32, diagonal 4, ratio min(1024, D^2 / 4)",
        },
    ),
    Sweep(
        "transfer-dilution",
        "In-set mass against the linear part nu: gamma = 4 and gamma = log D at three nu.",
        tuple(
            _cells(
                num_patches=[64, 144, 400],
                dim=[64],
                attention=["gamma = log D", "gamma = 4"],
                sizes=[_SIZES],
                seeds=[40],
                linear=[0.1, 0.02, 0.004],
            )
        ),
        _fixed,
        {**{key: value for key, value in COMMON.items() if key != "linear"}, "test_draws": 50_000},
    ),
    Sweep(
        "transfer-discovery",
        "Learners that must find the sets: co-activation of patches, and greedy likelihood of sets.",
        _discovery_cells(),
        _discover,
        {**COMMON, "test_draws": 4000},
    ),
    Sweep(
        "transfer-uninformed",
        "Fine-tuning with uniform attention and with wrong sets.",
        tuple(
            _cells(
                num_patches=[64, 144],
                dim=[64],
                attention=["uniform", "wrong sets"],
                sizes=[[4, 8, 16, 32, 64, 128]],
                seeds=[24],
            )
        ),
        _fixed,
        {**COMMON, "test_draws": 50_000},
    ),
    Sweep(
        "transfer-logistic",
        "Logistic regression on all inputs, its penalty chosen on 1000 validation samples.",
        tuple(_cells(num_patches=[64, 144], dim=[32], samples=[128, 256, 512, 1024], seeds=[20])),
        _logistic,
        {**COMMON, "test_draws": 4000, "validation": 1000},
    ),
    Sweep(
        "transfer-scratch-tuning",
        "Model (T) from scratch: the validation error of every diagonal and ratio of rates.",
        _tuning_cells(_TUNING_SIZES, (3.0, 4.0, 5.0), (256.0, 512.0, 1024.0, 2048.0)),
        _scratch,
        {**COMMON, "steps": SCRATCH_STEPS, "validation": 2000},
    ),
    Sweep(
        "transfer-scratch-large-tuning",
        "The same at 256 and 400 patches, where larger diagonals and ratios are better.",
        _tuning_cells(_LARGE_TUNING_SIZES, (4.0, 4.5, 5.0, 6.0), (1024.0, 2048.0, 4096.0)),
        partial(_scratch, **LARGE),
        {**COMMON, **LARGE, "validation": 2000},
    ),
    Sweep(
        "transfer-scratch",
        "Model (T) from scratch, A and v trained, as tuned on the validation sets.",
        _scratch_cells(_SCRATCH_SIZES),
        _scratch,
        {**COMMON, "steps": SCRATCH_STEPS, "choice": _choices(_SCRATCH_SIZES), "test_draws": 10_000},
    ),
    Sweep(
        "transfer-scratch-large",
        "The same at 256 and 400 patches, with 500 steps in single precision.",
        _scratch_cells(_SCRATCH_LARGE_SIZES),
        partial(_scratch, **LARGE),
        {**COMMON, **LARGE, "choice": _choices(_SCRATCH_LARGE_SIZES), "test_draws": 10_000},
    ),
    Sweep(
        "transfer-mismatch",
        "A fraction of the patches re-assigned downstream under the old attention.",
        tuple(
            _cells(
                num_patches=[64, 144],
                dim=[64],
                fraction=[0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0],
                sizes=[[8, 32, 128]],
                seeds=[24],
            )
        ),
        _mismatched,
        {**COMMON, "test_draws": 10_000},
    ),
    Sweep(
        "transfer-heads",
        "Several features on several partitions against one head and as many heads as features.",
        tuple(
            {"num_patches": 64, "dim": 64, "features": K, "heads": H, "sizes": [8, 32, 128], "seeds": 20}
            for K in (1, 2, 3)
            for H in sorted({1, K})
        ),
        _heads,
        {**COMMON, "q": "16 / num_patches / features", "test_draws": 4000},
    ),
)
