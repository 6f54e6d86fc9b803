"""The sweeps of the part on transfer: the grids of sample complexity and of structure shared only in part."""

from __future__ import annotations

from functools import partial

from patch_association.structure import Partition
from patch_lab.kit.records import fingerprint, sample_source
from patch_lab.kit.sweeps.sweep import Sweep, grid
from patch_lab.transfer.mismatch import SeveralFeatures
from patch_lab.transfer.sweeps.transfer_cells import (
    COMMON,
    LARGE,
    SCRATCH_CHOICE,
    SCRATCH_STEPS,
    SET_SIZE,
    STEPS,
    discovery_cell,
    downstream_data,
    fine_tuning_cell,
    heads_cell,
    logistic_cell,
    mismatch_cell,
    pretrained_attention_cell,
    scratch_cell,
)

_SIZES = [1, 2, 3, 4, 6, 8, 12, 16]
_PATCHES = (36, 64, 100, 144, 196, 256, 400)
_TUNING_SIZES = {36: 500, 64: 450, 100: 550, 144: 700, 196: 1000}
#: Where the best of these lay on the edge of the grid, it was made wider.
_WIDER_TUNING_SIZES = {D: _TUNING_SIZES[D] for D in (36, 100)}
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
    attentions = ("gamma = log D", "gamma = 4", "hard")
    fixed = grid(num_patches=_PATCHES, dim=64, attention=attentions, sizes=(_SIZES,), seeds=100)
    wide = (
        {"num_patches": D, "dim": D, "attention": attentions[0], "sizes": _SIZES, "seeds": 40}
        for D in (144, 256, 400)
    )
    return (*fixed, *wide)


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
    "overlap": {
        36: (2, 3, 4, 6, 8),
        64: (1, 1.5, 2, 3, 4),
        100: (1, 1.25, 1.5, 2, 3),
        None: (0.75, 1, 1.25, 1.5, 2),
    },
    "overlap, equal weights": {36: (2, 3, 4, 6, 8), 64: (1.5, 2, 3, 4), None: (1, 1.25, 1.5, 2, 3)},
    "coactivation": {36: (8, 12, 16, 24), 64: (4, 6, 8, 10), 400: (3, 4, 5, 6), None: (4, 5, 6, 8)},
    "coactivation, refined": {64: (4, 6, 8, 10), 144: (4, 5, 6, 8)},
}


def _tuning_cells(sizes: dict[int, int], diagonals, ratios):
    """Every diagonal and ratio, on seeds of their own."""
    common = {"dim": 32, "first_seed": 1000, "seeds": 4, "validation": True}
    chosen = grid(diagonal=diagonals, ratio=ratios)
    return tuple(
        common | {"num_patches": D, "samples": N} | choice for D, N in sizes.items() for choice in chosen
    )


def _scratch_cells(sizes: dict[int, list[int]]):
    """Twenty seeds in two cells of ten."""
    return tuple(
        {"num_patches": D, "dim": 32, "samples": N, "first_seed": first, "seeds": 10}
        for D, numbers in sizes.items()
        for N in numbers
        for first in (0, 10)
    )


def _choices(sizes) -> dict[str, tuple[float, float]]:
    return {str(D): SCRATCH_CHOICE[D] for D in sizes}


def _discovery_cells():
    cells = []
    for learner, grids in _DISCOVERY.items():
        for D in _PATCHES:
            for samples_per_set in grids.get(D, grids.get(None, ())):
                samples = int(samples_per_set * D / SET_SIZE)
                cells.append(dict(num_patches=D, dim=32, learner=learner, samples=samples, seeds=24))
    return tuple(cells)


def _law(dim: int, num_patches: int = 36, seed: int = 0):
    """What a sweep's first cell draws, for the record."""
    return lambda: sample_source(downstream_data(num_patches, dim), seed)


def _several() -> dict:
    inputs = SeveralFeatures([Partition.random(64, SET_SIZE, 0)], 64, 0.25).sample_folded(100, 0)
    source = "inputs of several features drawn from its seeds (hashed: 100 of one feature, seed 0)"
    return {"source": source, "sha256": fingerprint(inputs)}


SWEEPS = (
    Sweep(
        "transfer-fixed-attention",
        "Error against downstream samples with the attention fixed: strong, weaker and hard blocks.",
        _fine_tuning_cells(),
        fine_tuning_cell,
        {**COMMON, "test_draws": 50_000, "error_of_hard_attention": "exact"},
        data=_law(64),
    ),
    Sweep(
        "transfer-pretrained",
        "The same with the attention of models that were pre-trained on another feature.",
        _pretrained_cells(),
        pretrained_attention_cell,
        {
            **{key: value for key, value in COMMON.items() if key != "steps"},
            "fine_tuning_steps": STEPS,
            "test_draws": 50_000,
            "pretraining": "max(4000, 24 D) samples of dim 32, diagonal 4, ratio min(1024, D^2 / 4)",
        },
        data=_law(64),
    ),
    Sweep(
        "transfer-dilution",
        "In-set mass against the linear part nu: gamma = 4 and gamma = log D at three nu.",
        grid(
            num_patches=(64, 144, 400),
            dim=64,
            attention=("gamma = log D", "gamma = 4"),
            sizes=(_SIZES,),
            seeds=40,
            linear=(0.1, 0.02, 0.004),
        ),
        fine_tuning_cell,
        {**{key: value for key, value in COMMON.items() if key != "linear"}, "test_draws": 50_000},
        data=_law(64, 64),
    ),
    Sweep(
        "transfer-discovery",
        "Learners without the sets: overlaps with the samples, likelihood of sets, co-activation of patches.",
        _discovery_cells(),
        discovery_cell,
        {**COMMON, "test_draws": 4000},
        data=_law(32),
    ),
    Sweep(
        "transfer-uninformed",
        "Fine-tuning with uniform attention and with wrong sets.",
        grid(
            num_patches=(64, 144),
            dim=64,
            attention=("uniform", "wrong sets"),
            sizes=([4, 8, 16, 32, 64, 128],),
            seeds=24,
        ),
        fine_tuning_cell,
        {**COMMON, "test_draws": 50_000},
        data=_law(64, 64),
    ),
    Sweep(
        "transfer-logistic",
        "Logistic regression on all inputs, its penalty chosen on 1000 validation samples.",
        grid(num_patches=(64, 144), dim=32, samples=(128, 256, 512, 1024), seeds=20),
        logistic_cell,
        {**COMMON, "test_draws": 4000, "validation": 1000},
        data=_law(32, 64),
    ),
    Sweep(
        "transfer-scratch-tuning",
        "Model (T) from scratch: the validation error of every diagonal and ratio of rates.",
        _tuning_cells(_TUNING_SIZES, (3.0, 4.0, 5.0), (256.0, 512.0, 1024.0, 2048.0))
        + _tuning_cells(_WIDER_TUNING_SIZES, (2.0,), (128.0, 256.0, 512.0, 1024.0))
        + _tuning_cells(_WIDER_TUNING_SIZES, (3.0,), (128.0,)),
        scratch_cell,
        {**COMMON, "steps": SCRATCH_STEPS, "validation": 2000},
        data=_law(32, seed=1000),
    ),
    Sweep(
        "transfer-scratch-large-tuning",
        "The same at 256 and 400 patches, where larger diagonals and ratios are better.",
        _tuning_cells(_LARGE_TUNING_SIZES, (4.0, 4.5, 5.0, 6.0), (1024.0, 2048.0, 4096.0)),
        partial(scratch_cell, **LARGE),
        {**COMMON, **LARGE, "validation": 2000},
        data=_law(32, 256, 1000),
    ),
    Sweep(
        "transfer-scratch",
        "Model (T) from scratch, A and v trained, as tuned on the validation sets.",
        _scratch_cells(_SCRATCH_SIZES),
        scratch_cell,
        {**COMMON, "steps": SCRATCH_STEPS, "choice": _choices(_SCRATCH_SIZES), "test_draws": 10_000},
        data=_law(32),
    ),
    Sweep(
        "transfer-scratch-large",
        "The same at 256 and 400 patches, with 500 steps in single precision.",
        _scratch_cells(_SCRATCH_LARGE_SIZES),
        partial(scratch_cell, **LARGE),
        {**COMMON, **LARGE, "choice": _choices(_SCRATCH_LARGE_SIZES), "test_draws": 10_000},
        data=_law(32, 256),
    ),
    Sweep(
        "transfer-mismatch",
        "A fraction of the patches re-assigned downstream under the old attention.",
        grid(
            num_patches=(64, 144),
            dim=64,
            fraction=(0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0),
            sizes=([8, 32, 128],),
            seeds=24,
        ),
        mismatch_cell,
        {**COMMON, "test_draws": 10_000},
        data=_law(64, 64),
    ),
    Sweep(
        "transfer-heads",
        "Several features on several partitions against one head and as many heads as features.",
        tuple(
            {"num_patches": 64, "dim": 64, "features": K, "heads": H, "sizes": [8, 32, 128], "seeds": 20}
            for K in (1, 2, 3)
            for H in sorted({1, K})
        ),
        heads_cell,
        {**COMMON, "q": "16 / num_patches / features", "test_draws": 4000},
        data=_several,
    ),
)
