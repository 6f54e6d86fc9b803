"""The sweeps of ``beyond/deeper``: networks between model (T) and a ViT on Assumption 1, ten seeds a cell.

All seeds of a cell share the sets, which no start knows, and the test inputs.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch

from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT
from patch_association.model import polynomial_activation
from patch_association.structure import Partition, association
from patch_lab.beyond import (
    Design,
    Network,
    blank_rows,
    error_of_each,
    interactions,
    p_value,
    row_separation,
    set_masses,
    sets_read,
    shuffled_inputs,
    train_together,
)
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.seeds import BENCH_TEST
from patch_lab.kit.sweeps.sweep import Sweep, grid

SEEDS = 10
D = 16
C = 4
Q = 0.5
SIMPLE_RATE = 0.02
BLOCK_RATE = 0.005
ROWS_SEEDS = 8
POPULATION_RATE = 0.02
SETS = Partition.random(D, C, seed=0)
N_TEST = 10_000
N_PROBE = 40
N_MEAN = 500
#: The error is also taken on data whose sets are others, of which a network cannot know.
OTHERS = 20
N_OTHER = 500

#: Model (T) with one thing changed.
SIMPLE = {
    "(T)": (Design(), D),
    "(T), diagonal 0": (Design(diagonal=0.0), D),
    "(T), diagonal 3": (Design(diagonal=3.0), D),
    "d = 4": (Design(), 4),
    "four heads": (Design(heads=4), D),
    "two layers": (Design(layers=2), D),
    "value matrix": (Design(width=8), D),
    "A = P Pᵀ": (Design(scores="gram", encoding_std=0.25), D),
    "P in 4 dimensions": (Design(scores="gram", encoding_dim=4, encoding_std=0.5), D),
    "queries and keys": (Design(scores="positional", encoding_std=1.0), D),
    "queries and keys, P small": (Design(scores="positional", encoding_std=0.2), D),
}

_block = partial(Design, block=True, width=16, scores="positional")
#: A small ViT, and the same with one thing changed.
BLOCKS = {
    "small ViT": _block(heads=4),
    "1 head": _block(),
    "2 layers": _block(layers=2, heads=4),
    "no attention": _block(heads=4, scores="uniform"),
    "no layer norm": _block(heads=4, norm=False),
    "no MLP": _block(heads=4, mlp=False),
    "no residual": _block(heads=4, residual=False),
    "vanilla": _block(heads=4, scores="vanilla"),
    "P small": _block(heads=4, encoding_std=0.02),
}


#: Chances of the feature outside the signal set, beside ``Q``: inside and outside of the range in which
#: companions gain in model (T).
RANGE = (0.1, 0.9)


def design_cell(name: str, steps: int, batch: int, q: float = Q, rate: float | None = None) -> dict:
    """A relative of model (T), or a small ViT: the error, each head, P P^T, and the function itself.

    Returns
    -------
    dict
        ``error``, ``other_error`` (R,): on its own sets, and mean over ``OTHERS`` other partitions.
        ``auc``, ``recall``, ``exact``, ``toward``, ``away``, ``explained`` (R, layers, heads): of S; the last
        is the share of its off-diagonal variance that own set against other sets explains. ``levels``
        (R, layers, heads, 3): the mean of S on the diagonal, in the own set and in other sets.
        ``gram_recall``, ``gram_auc``, ``gram_exact`` (R,): of P P^T.
        ``probe_recall``, ``probe_auc``, ``probe_exact``, ``probe_p`` (R,): of the interactions of F.
    """
    network, data, X, y = _trained(name, steps, batch, q, rate)
    others = [
        error_of_each(
            network,
            *SpatialData(Partition.random(D, C, seed=k), data.dim, q).sample(N_OTHER, k, dtype=torch.float32),
        )
        for k in range(1, 1 + OTHERS)
    ]
    result: dict = {"error": error_of_each(network, X, y), "other_error": torch.stack(others).mean(dim=0)}
    S = network.maps(X[:N_MEAN]).double().numpy()  # (R, layers, H, D, D)
    known = association(S, SETS)
    result |= {"auc": known.auc, "recall": known.recall, "exact": known.exact}
    looks = np.array([row_separation(M, SETS) for M in S.reshape(-1, D, D)]).reshape(*S.shape[:3], 2)
    result |= {"toward": looks[..., 0], "away": looks[..., 1], "explained": explained(S)}
    on_diagonal = np.eye(D, dtype=bool)
    parts = (on_diagonal, SETS.same_set & ~on_diagonal, ~SETS.same_set)
    result["levels"] = np.stack([S[..., part].mean(axis=-1) for part in parts], axis=-1)
    for name, scores in (("gram", network.gram()), ("probe", _interactions(network, data))):
        if scores is not None:
            of = association(scores.double(), SETS)
            result |= {f"{name}_{key}": getattr(of, key) for key in ("recall", "auc", "exact")}
            if name == "probe":
                result["probe_p"] = [p_value(A, SETS) for A in scores.numpy()]
    return rounded(result, 4)


def rows_cell(
    name: str,
    rate: float,
    score_rate: float | None,
    diagonal: float,
    q: float,
    start: float,
    batch: int,
    steps: int,
    points: int,
) -> dict:
    """Model (T), and what its rows read: by Adam, or where ``score_rate`` is given by gradient descent.

    ``name`` is what figures call the cell.

    Returns
    -------
    dict
        ``taken`` (points,); ``error``, ``auc``, ``exact``, ``specialists`` (rows that read a set), ``own``
        (the own one), ``read`` (sets with a row of their own that reads them), ``blank``, (points, R)
        each; ``masses`` (R, D, L): what each row pays each set at the end; ``spread`` (points, R): the root
        mean square, within sets, of mean score of companions less mean score of strangers.
    """
    data = SpatialData(SETS, D, q)
    network = Network(Design(diagonal=diagonal), ROWS_SEEDS, D, D)
    with torch.no_grad():
        network.scores.mul_(start / DEFAULT.init_std)
    X, y = data.sample(N_TEST, seed=BENCH_TEST, dtype=torch.float32)
    result: dict[str, list] = {}
    draw = partial(data.sample, dtype=torch.float32)
    for step in train_together(
        network, draw, steps=steps, batch=batch, rate=rate, score_rate=score_rate, points=points
    ):
        A = network.layer_scores(0)[:, 0].detach().double()  # (R, D, D)
        of = census(A, SETS)
        error = error_of_each(network, X, y)
        for key, value in (("taken", step), ("error", error), *of.items()):
            result.setdefault(key, []).append(value)
    result["masses"] = result["masses"][-1]
    return rounded(result, 4)


def gram_cell(name: str, rate: float, q: float, batch: int, steps: int) -> dict:
    """A = P P^T by Adam at another rate, chance or batch: ``error``, ``auc`` and ``exact``, (R,) each.

    ``name`` is what figures call the cell.
    """
    network, _, X, y = _trained("A = P Pᵀ", steps, batch, q, rate)
    known = association(network.maps(X[:1])[:, 0, 0].detach().double(), SETS)
    return rounded({"error": error_of_each(network, X, y), "auc": known.auc, "exact": known.exact}, 4)


def _trained(name: str, steps: int, batch: int, q: float, rate: float | None):
    """A network of this name, trained by Adam; its data, and test inputs with labels."""
    design, dim = SIMPLE.get(name) or (BLOCKS[name], D)
    data = SpatialData(SETS, dim, q)
    network = Network(design, SEEDS, D, dim)
    draw = partial(data.sample, dtype=torch.float32)
    rate = rate or (SIMPLE_RATE if name in SIMPLE else BLOCK_RATE)
    for _ in train_together(network, draw, steps=steps, batch=batch, rate=rate):
        pass
    return network, data, *data.sample(N_TEST, seed=BENCH_TEST, dtype=torch.float32)


def population_cell(start: float, q: float, diagonal: float, steps: int, points: int) -> dict:
    """Gradient descent on the population risk by all scores, at nine patches, from noise ``start``.

    The risk is a sum over everything that can happen, so no draw enters after the start. Returns ``taken``
    and, (points, R) each, ``loss`` and what :func:`rows_cell` returns of the rows.
    """
    sets = Partition(np.repeat(np.arange(3), 3))
    patches = sets.num_patches
    size = sets.set_size
    rest = np.array(list(product((-1.0, 0.0, 1.0), repeat=patches - size)))  # (n, D - C)
    chance = np.where(rest == 0, 1 - q, q / 2).prod(axis=1)
    signs = np.ones((sets.num_sets, len(rest), patches))
    for k in range(sets.num_sets):
        signs[k][:, sets.labels != k] = rest
    X = torch.from_numpy(signs.reshape(-1, patches))  # (L, n, D) -> (L n, D), y = +1
    mass = torch.from_numpy(np.tile(chance, sets.num_sets) / sets.num_sets)
    noise = np.random.default_rng(0).standard_normal((ROWS_SEEDS, patches, patches))
    on_diagonal = torch.eye(patches, dtype=torch.bool)
    A = torch.from_numpy(start * noise).masked_fill(on_diagonal, diagonal).requires_grad_()  # (R, D, D)
    alpha = torch.full((ROWS_SEEDS, 1, 1), DEFAULT.alpha, dtype=torch.float64, requires_grad=True)
    marks = {round(steps * k / points) for k in range(1, points + 1)}
    result: dict[str, list] = {}
    for step in range(1, steps + 1):
        z = patches * alpha * (X @ torch.softmax(A, dim=-1).mT)  # (R, L n, D)
        F = polynomial_activation(z, DEFAULT.degree, DEFAULT.linear).sum(dim=-1)
        loss = (mass * torch.nn.functional.softplus(-F)).sum(dim=-1)  # (R,)
        by_score, by_alpha = torch.autograd.grad(loss.sum(), (A, alpha))
        with torch.no_grad():
            A -= DEFAULT.score_rate(patches, POPULATION_RATE) * by_score.masked_fill(on_diagonal, 0)
            alpha -= POPULATION_RATE * by_alpha
        if step in marks:
            for key, value in (("taken", step), ("loss", loss.detach()), *census(A.detach(), sets).items()):
                result.setdefault(key, []).append(value)
    result["masses"] = result["masses"][-1]
    return rounded(result, 6)


def census(A: torch.Tensor, sets: Partition) -> dict[str, Any]:
    """What the rows of scores A (R, D, D) read, as :func:`rows_cell` returns it."""
    masses = set_masses(torch.softmax(A, dim=-1), sets)
    known = association(A, sets)
    read = sets_read(masses)  # (R, D)
    reads_own_set = read == sets.labels
    off = sets.same_set & ~np.eye(sets.num_patches, dtype=bool)
    scores = A.numpy()
    margins = scores.mean(axis=-1, where=off) - scores.mean(axis=-1, where=~sets.same_set)  # (R, D)
    of_set = [margins[:, sets.labels == k] for k in range(sets.num_sets)]
    return {
        "auc": known.auc,
        "exact": known.exact,
        "specialists": (read >= 0).sum(axis=-1),
        "own": reads_own_set.sum(axis=-1),
        "read": np.sum(
            [reads_own_set[:, sets.labels == k].any(axis=-1) for k in range(sets.num_sets)], axis=0
        ),
        "blank": blank_rows(masses).sum(axis=-1),
        "spread": np.sqrt(np.mean([m.var(axis=-1, ddof=1) for m in of_set], axis=0)),
        "masses": masses,
    }


def _interactions(network, data):
    X = shuffled_inputs(data, N_PROBE, seed=BENCH_TEST)
    return interactions(lambda x: network(x.expand(network.seeds, *x.shape)), X, data.feature)


def explained(S: np.ndarray) -> np.ndarray:
    """The share of the off-diagonal variance of S (..., D, D) that lies between own set and other sets."""
    same = SETS.same_set
    off = ~np.eye(D, dtype=bool)
    # (..., D (C - 1)), (..., D (D - C))
    inside = S[..., same & off]
    outside = S[..., ~same]
    everything = np.concatenate([inside, outside], axis=-1)
    mean = everything.mean(axis=-1)
    p = inside.shape[-1] / everything.shape[-1]
    between = p * (inside.mean(-1) - mean) ** 2 + (1 - p) * (outside.mean(-1) - mean) ** 2
    total = everything.var(axis=-1)
    return np.divide(between, total, out=np.zeros_like(between), where=total > 1e-15)


_CONFIG = dict(
    D=D, C=C, q=Q, sets=SETS.labels.tolist(), seeds=SEEDS, n_test=N_TEST, n_probe=N_PROBE, n_mean=N_MEAN,
    other_partitions=OTHERS, n_other=N_OTHER, optimizer="Adam, cosine, clipped at 5",
    loss="logistic, fresh inputs in every step",
)  # fmt: skip
SIMPLE_SIZE = dict(steps=2500, batch=128)
BLOCK_SIZE = dict(steps=3000, batch=64)

_ROWS = dict(
    rate=0.02, score_rate=None, diagonal=1.0, q=Q, start=DEFAULT.init_std, batch=128, steps=2500, points=5
)
_DESCENT = dict(_ROWS, rate=0.005, score_rate=1.28, steps=1200, points=12)
#: Adam and gradient descent, and what is turned: rates, steps, batch, diagonal, q, noise of the start.
ROWS = {
    "Adam, 0.02": _ROWS,
    "Adam, 0.02, batch 512": dict(_ROWS, batch=512),
    "Adam, 0.02, batch 16": dict(_ROWS, batch=16),
    "Adam, 0.02, $q$ = 0.3": dict(_ROWS, q=0.3),
    "Adam, 0.02, $q$ = 0.7": dict(_ROWS, q=0.7),
    "Adam, 0.002": dict(_ROWS, rate=0.002, steps=5000),
    "Adam, 0.002, longer": dict(_ROWS, rate=0.002, steps=15_000),
    "Adam, 0.002, diagonal 1/2": dict(_ROWS, rate=0.002, steps=5000, diagonal=0.5),
    "descent": _DESCENT,
    "descent, batch 512": dict(_DESCENT, batch=512),
    "descent, batch 32": dict(_DESCENT, batch=32),
    "descent, longer": dict(_DESCENT, steps=4800, points=48),
    "descent, scores faster": dict(_DESCENT, score_rate=5.12),
    "descent, start 0.001": dict(_DESCENT, start=0.001),
    "descent, start 0.1": dict(_DESCENT, start=0.1),
    "Adam, diagonal 3": dict(_ROWS, diagonal=3.0),
    "descent, diagonal 3": dict(_DESCENT, diagonal=3.0),
    "Adam, diagonal 0": dict(_ROWS, diagonal=0.0),
    "descent, diagonal 0": dict(_DESCENT, diagonal=0.0),
}
_HOT = dict(_ROWS, points=1)
#: Larger steps and a louder start than in ``ROWS``.
HOT = {
    "Adam, 0.05": dict(_HOT, rate=0.05),
    "Adam, 0.02, start 1": dict(_HOT, start=1.0),
    "Adam, 0.05, diagonal 3": dict(_HOT, rate=0.05, diagonal=3.0),
    "Adam, 0.02, diagonal 3, start 1/2": dict(_HOT, diagonal=3.0, start=0.5),
    "Adam, 0.02, diagonal 3, batch 16": dict(_HOT, diagonal=3.0, batch=16),
}
_GRAM = dict(rate=0.02, q=Q, batch=128, steps=2500)
#: A = P P^T beside both ends of the range in which companions gain, at a larger rate, on small batches.
GRAM = {
    "$q$ = 0.05": dict(_GRAM, q=0.05),
    "$q$ = 0.7": dict(_GRAM, q=0.7),
    "$q$ = 0.8": dict(_GRAM, q=0.8),
    "$q$ = 0.8, 0.002": dict(_GRAM, q=0.8, rate=0.002, steps=5000),
    "0.05": dict(_GRAM, rate=0.05),
    "batch 16": dict(_GRAM, batch=16),
}
#: A = P P^T above the range in which companions gain, with small steps.
GRAM_SLOW = {"$q$ = 0.76, 0.002": dict(_GRAM, q=0.76, rate=0.002, steps=5000)}
POPULATION = tuple(
    dict(start=shapes, q=Q, diagonal=diagonal, steps=4000, points=8)
    for shapes, diagonal in (
        (0.0, 1.0),
        (0.001, 1.0),
        (0.01, 1.0),
        (0.05, 1.0),
        (0.1, 1.0),
        (0.05, 0.0),
        (0.05, 3.0),
    )
)

_ROWS_CONFIG = dict(
    D=D, C=C, sets=SETS.labels.tolist(), seeds=ROWS_SEEDS, n_test=N_TEST, adam="cosine, clipped at 5",
    loss="logistic, fresh inputs in every step",
)  # fmt: skip
_GRAM_CONFIG = {**_ROWS_CONFIG, "seeds": SEEDS}


def _sweep(name: str, summary: str, cells, run, config: dict) -> Sweep:
    """A sweep on inputs of Assumption 1; ``cells`` are settings, or settings by name."""
    if isinstance(cells, dict):
        cells = tuple(dict(name=key, **settings) for key, settings in cells.items())
    return Sweep(name, summary, cells, run, config, data=lambda: sample_source(SpatialData(SETS, D, Q), 0))


def _designs(name: str, summary: str, designs: dict) -> Sweep:
    simple = designs is SIMPLE
    config = {**_CONFIG, "rate": SIMPLE_RATE if simple else BLOCK_RATE}
    config["designs"] = {key: repr(design) for key, design in designs.items()}
    cells = grid(name=tuple(designs), **(SIMPLE_SIZE if simple else BLOCK_SIZE))
    return _sweep(name, summary, cells, design_cell, config)


_small_vit, *_parts = BLOCKS.items()

SWEEPS = (
    _designs(
        "deeper-simple",
        "Model (T) with one thing changed: heads, layers, values, encodings, d; heads and function.",
        SIMPLE,
    ),
    _designs(
        "deeper-vit", "A small ViT on Assumption 1: its heads, P P^T and its function.", dict([_small_vit])
    ),
    _designs("deeper-parts", "The same ViT with one of its parts changed.", dict(_parts)),
    _sweep(
        "deeper-range",
        "Model (T), A = P P^T and the small ViT at other chances q.",
        tuple(
            dict(name=name, q=q, **(SIMPLE_SIZE if name in SIMPLE else BLOCK_SIZE))
            for name in ("(T)", "A = P Pᵀ", "small ViT")
            for q in RANGE
        ),
        design_cell,
        {key: value for key, value in _CONFIG.items() if key != "q"},
    ),
    _sweep(
        "deeper-slow",
        "Relatives of model (T) and the small ViT at a smaller rate, for more steps.",
        (
            *grid(
                name=("four heads", "value matrix", "queries and keys", "A = P Pᵀ", "two layers"),
                steps=5000,
                batch=128,
                rate=0.002,
            ),
            dict(name="small ViT", steps=6000, batch=64, rate=0.002),
        ),
        design_cell,
        _CONFIG,
    ),
    _sweep(
        "deeper-rows",
        "Model (T) by Adam and by gradient descent: which rows come to read a set, which stay blank.",
        ROWS,
        rows_cell,
        _ROWS_CONFIG,
    ),
    _sweep(
        "deeper-hot",
        "Model (T) by Adam with larger steps and from a louder start: which rows read a set.",
        HOT,
        rows_cell,
        _ROWS_CONFIG,
    ),
    _sweep(
        "deeper-gram",
        "A = P P^T at other chances q, another rate and small batches.",
        GRAM,
        gram_cell,
        _GRAM_CONFIG,
    ),
    _sweep(
        "deeper-gram-slow",
        "A = P P^T above the range of q, with small steps.",
        GRAM_SLOW,
        gram_cell,
        _GRAM_CONFIG,
    ),
    Sweep(
        name="deeper-population",
        summary="Gradient descent on the population risk by all scores at nine patches, from a noisy start.",
        cells=POPULATION,
        run=population_cell,
        data="an exactly known law",
        config=dict(D=9, C=3, seeds=ROWS_SEEDS, rate=POPULATION_RATE, score_rate=81 * POPULATION_RATE),
    ),
)
