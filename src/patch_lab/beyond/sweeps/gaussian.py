"""The sweep ``gaussian``: learners on Gaussian patches with a cubic convolutional label (Figure 2)."""

from __future__ import annotations

import torch

from patch_association.intervals import mean
from patch_association.structure import Partition, association
from patch_lab.beyond.adam import error_on, test_inputs, train_learner
from patch_lab.beyond.gaussian_data import GaussianData
from patch_lab.beyond.gaussian_learners import RECIPES, make_learner
from patch_lab.beyond.set_knowledge import row_separation
from patch_lab.kit.records import sample_source
from patch_lab.kit.sweeps.sweep import Sweep, grid

DIM = 8
N_TEST = 20_000
N_FRESH = 100_000  # of partial knowledge
N_PROBE = 2000  # inputs over which self-attention's S is averaged

#: The grids of patches by their number; every set is a 2 x 2 block.
GRIDS = {8: (2, 4), 16: (4, 4), 36: (6, 6)}


def gaussian_cell(learner: str, teacher: str, D: int, C: int, steps: int, seed: int) -> dict:
    """Train one learner and say how well it predicts and what it knows of the sets.

    Parameters
    ----------
    learner : str
        A kind of :data:`~patch_lab.beyond.gaussian_learners.RECIPES`.
    teacher : "shared" or "convolution"
        The filters of :class:`~patch_lab.beyond.gaussian_data.GaussianData`; drawn once, for all seeds.
    D, C, steps, seed : int

    Returns
    -------
    dict
        ``error`` and, on the same ``N_TEST`` inputs, ``linear_error`` of sign(sum_l h_l); the
        learning ``curve``; under ``start`` and ``end`` the scores of A (mean S for self-attention)
        and of P P^T; for seed 0 the matrices themselves.
    """
    data = gaussian_data(D, C, teacher)
    recipe = RECIPES[learner]
    model = make_learner(learner, D, DIM, seed)
    X, y = test_inputs(data, N_TEST)
    start = _knowledge(model, X[:N_PROBE], data.partition)
    curve = train_learner(
        model, data, steps=steps, batch=recipe.batch, learning_rate=recipe.learning_rate, seed=seed
    )
    result = {
        "error": error_on(model, X, y),
        "linear_error": error_on(_plain_sum(data), X, y),
        "curve": [[step, round(error, 5)] for step, error in curve],
        "start": start,
        "end": _knowledge(model, X[:N_PROBE], data.partition),
    }
    if seed == 0:
        result["matrices"] = {name: _rounded(M) for name, M in _matrices(model, X[:N_PROBE]).items()}
    return result


def gaussian_data(D: int, C: int, teacher: str) -> GaussianData:
    """The distribution of a cell: a grid of ``D`` patches in 2 x 2 blocks, the filters of seed 0."""
    if D not in GRIDS or C != 4:
        sizes = ", ".join(map(str, GRIDS))
        raise ValueError(f"D must be one of {sizes} and C must be 4, got D = {D}, C = {C}")
    return GaussianData(Partition.blocks(*GRIDS[D], 2, 2), DIM, filters=teacher, seed=0)


def partial_cell(seed: int, steps: int, learning_rate: float) -> dict:
    """Positional attention at four sets, at a rate of its own: how far below the linear error, on what.

    Returns
    -------
    dict
        ``error`` on ``N_FRESH`` inputs, ``excess`` over the plain sum there, input by input, with the ends of
        its 95% interval, and under ``end`` what the scores know of the sets.
    """
    data = gaussian_data(16, 4, "shared")
    model = make_learner("positional", 16, DIM, seed)
    train_learner(model, data, steps=steps, learning_rate=learning_rate, seed=seed)
    X, y = test_inputs(data, N_FRESH)
    outputs = [torch.cat([g(part) for part in X.split(2000)]).to(y) * y for g in (model, _plain_sum(data))]
    wrong, wrong_sum = ((yF < 0).double() + 0.5 * (yF == 0).double() for yF in outputs)
    excess = mean((wrong - wrong_sum).detach().numpy())
    return {
        "error": float(wrong.mean()),
        "excess": [excess.value, excess.low, excess.high],
        "end": _knowledge(model, X[:N_PROBE], data.partition),
    }


def _plain_sum(data: GaussianData):
    return lambda X: data.set_responses(X).sum(dim=1)


def _matrices(model, X) -> dict[str, torch.Tensor]:
    """What a learner thinks of the patches: its scores, and P P^T where it has encodings."""
    matrices = {"scores": model.attention_scores(X), "gram": model.encoding_gram()}
    return {name: M for name, M in matrices.items() if M is not None}


def _knowledge(model, X, partition: Partition) -> dict[str, dict]:
    return {name: _summary(M, partition) for name, M in _matrices(model, X).items()}


def _summary(M, partition: Partition) -> dict:
    knowledge = association(M, partition)
    toward, away = row_separation(M, partition)
    return {
        "exact": knowledge.exact,
        "recall": round(knowledge.recall, 6),
        "auc": round(knowledge.auc, 6),
        "toward": toward,
        "away": away,
    }


def _rounded(M) -> list[list[float]]:
    return [[float(f"{value:.3g}") for value in row] for row in M.tolist()]


def _cells() -> tuple[dict, ...]:
    doubted = ("self-attention", "gram-2", "positional", "positional-random", "free-0")
    groups = [  # learners, teacher, D, steps, seeds
        ("linear", "shared", 16, 1500, range(5)),
        (("free-0", "free-2", "free-4", "gram-2", "gram-4"), "shared", 16, 2500, range(5)),
        (("positional", "positional-random", "self-attention"), "shared", 16, 2500, range(5)),
        ("vit", "shared", 16, 8000, range(5)),
        (("free-2", "gram-2"), "shared", 8, 1500, range(5)),
        (("self-attention", "vit"), "shared", 8, 2000, range(5)),
        ("linear", "convolution", 16, 1500, range(5)),
        ("gram-4", "convolution", 16, 2500, range(5)),
        ("vit", "convolution", 16, 4000, range(5)),
        ("linear", "convolution", 8, 1500, range(5)),
        ("vit", "convolution", 8, 2000, range(5)),
        ("gram-4", "shared", 36, 3000, range(5)),
        (doubted, "shared", 16, 10_000, 0),  # longer, beside the runs whose training it doubts
        ("vit", "shared", 16, 20_000, 0),
        ("vit", "convolution", 16, 12_000, 0),
    ]
    return tuple(
        cell
        for learners, teacher, D, steps, seeds in groups
        for cell in grid(learner=learners, teacher=teacher, D=D, C=4, seed=seeds, steps=steps)
    )


SWEEPS = (
    Sweep(
        name="gaussian",
        summary="Learners on Gaussian patches with a cubic label: their errors, and what A and P P^T know.",
        cells=_cells(),
        run=gaussian_cell,
        config={
            "dim": DIM,
            "n_test": N_TEST,
            "n_probe": N_PROBE,
            "filter_seed": 0,
            "clip": 5.0,
            "schedule": "cosine",
            "optimizer": "Adam",
            "loss": "logistic, fresh inputs in every step",
            "recipes": {kind: [r.title, r.learning_rate, r.batch] for kind, r in RECIPES.items()},
        },
        data=lambda: sample_source(gaussian_data(16, 4, "shared"), 0),
    ),
    Sweep(
        name="gaussian-partial",
        summary="Positional attention at a tenth of the rate: errors, and partial knowledge of the sets.",
        cells=grid(seed=range(4), steps=2500, learning_rate=1e-3),
        run=partial_cell,
        config={"dim": DIM, "n_test": N_FRESH, "n_probe": N_PROBE, "filter_seed": 0, "D": 16, "C": 4},
        data=lambda: sample_source(gaussian_data(16, 4, "shared"), 0),
    ),
)
