"""The sweeps of ``beyond/deeper``: networks between model (T) and a ViT on Assumption 1, ten seeds a cell.

All seeds of a cell share the sets, which no start knows, and the test inputs.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from patch_association._streams import BENCH_TEST
from patch_association.data import SpatialData
from patch_association.structure import Partition, association, row_separation
from patch_lab.beyond import (
    Design,
    Network,
    error_of_each,
    interactions,
    p_value,
    shuffled_inputs,
    train_together,
)
from patch_lab.records import drawn, rounded
from patch_lab.sweeps.sweep import Sweep

SEEDS, D, C, Q = 10, 16, 4, 0.5
SETS = Partition.random(D, C, seed=0)
N_TEST, N_PROBE, N_MEAN = 10_000, 40, 500
#: The error is also taken on data whose sets are others, of which a network cannot know.
OTHERS, N_OTHER = 20, 500

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


def simple_cell(name: str, steps: int, batch: int, q: float = Q) -> dict:
    """A relative of model (T), trained and asked."""
    design, dim = SIMPLE[name]
    return trained_and_asked(design, dim, steps, batch, rate=0.02, q=q)


def block_cell(name: str, steps: int, batch: int, q: float = Q) -> dict:
    """A small ViT, trained and asked."""
    return trained_and_asked(BLOCKS[name], D, steps, batch, rate=0.005, q=q)


def range_cell(name: str, steps: int, batch: int, q: float) -> dict:
    """Either, at another q."""
    return (simple_cell if name in SIMPLE else block_cell)(name, steps, batch, q)


def trained_and_asked(design: Design, dim: int, steps: int, batch: int, rate: float, q: float) -> dict:
    """Train and measure: the error, each head, P P^T, and the function itself.

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
    data = SpatialData(SETS, dim, q)
    network = Network(design, SEEDS, D, dim)
    for _ in train_together(
        network, partial(data.sample, dtype=torch.float32), steps=steps, batch=batch, rate=rate
    ):
        pass
    X, y = data.sample(N_TEST, seed=BENCH_TEST, dtype=torch.float32)
    others = [
        error_of_each(
            network,
            *SpatialData(Partition.random(D, C, seed=k), dim, q).sample(N_OTHER, k, dtype=torch.float32),
        )
        for k in range(1, 1 + OTHERS)
    ]
    found: dict = {
        "error": error_of_each(network, X, y).tolist(),
        "other_error": torch.stack(others).mean(dim=0).tolist(),
    }
    S = network.maps(X[:N_MEAN]).double().numpy()  # (R, layers, H, D, D)
    known = association(S, SETS)
    found |= {"auc": known.auc, "recall": known.recall, "exact": known.exact}
    looks = np.array([row_separation(M, SETS) for M in S.reshape(-1, D, D)]).reshape(*S.shape[:3], 2)
    found |= {"toward": looks[..., 0], "away": looks[..., 1], "explained": explained(S)}
    own = np.eye(D, dtype=bool)
    parts = (own, SETS.same_set & ~own, ~SETS.same_set)
    found["levels"] = np.stack([S[..., part].mean(axis=-1) for part in parts], axis=-1)
    for name, scores in (("gram", network.gram()), ("probe", _interactions(network, data))):
        if scores is not None:
            of = association(scores.double(), SETS)
            found |= {f"{name}_{key}": getattr(of, key) for key in ("recall", "auc", "exact")}
            if name == "probe":
                found["probe_p"] = [p_value(each, SETS) for each in scores.numpy()]
    return {key: rounded(np.asarray(value).tolist(), 4) for key, value in found.items()}


def _interactions(network, data):
    X = shuffled_inputs(data, N_PROBE, seed=BENCH_TEST)
    return interactions(lambda x: network(x.expand(network.seeds, *x.shape)), X, data.feature)


def explained(S: np.ndarray) -> np.ndarray:
    """The share of the off-diagonal variance of S (..., D, D) that lies between own set and other sets."""
    same, off = SETS.same_set, ~np.eye(D, dtype=bool)
    inside, outside = S[..., same & off], S[..., ~same]  # (..., D (C - 1)), (..., D (D - C))
    everything = np.concatenate([inside, outside], axis=-1)
    mean, p = everything.mean(axis=-1), inside.shape[-1] / everything.shape[-1]
    between = p * (inside.mean(-1) - mean) ** 2 + (1 - p) * (outside.mean(-1) - mean) ** 2
    total = everything.var(axis=-1)
    return np.divide(between, total, out=np.zeros_like(between), where=total > 1e-15)


_CONFIG = dict(
    D=D, C=C, q=Q, sets=SETS.labels.tolist(), seeds=SEEDS, n_test=N_TEST, n_probe=N_PROBE, n_mean=N_MEAN,
    other_partitions=OTHERS, n_other=N_OTHER, optimizer="Adam, cosine, clipped at 5",
    loss="logistic, fresh inputs in every step",
)  # fmt: skip

SIMPLE_SIZE, BLOCK_SIZE = dict(steps=2500, batch=128), dict(steps=3000, batch=64)

SWEEPS = (
    Sweep(
        name="deeper-simple",
        summary="Model (T) with one thing changed: heads, layers, values, encodings, d; heads and function.",
        cells=tuple(dict(name=name, **SIMPLE_SIZE) for name in SIMPLE),
        run=simple_cell,
        data=lambda: drawn(SpatialData(SETS, D, Q), 0),
        config={**_CONFIG, "rate": 0.02, "designs": {name: repr(design) for name, design in SIMPLE.items()}},
    ),
    *(
        Sweep(
            name=name,
            summary=summary,
            cells=tuple(dict(name=each, **BLOCK_SIZE) for each in names),
            run=block_cell,
            data=lambda: drawn(SpatialData(SETS, D, Q), 0),
            config={**_CONFIG, "rate": 0.005, "designs": {each: repr(BLOCKS[each]) for each in names}},
        )
        for name, summary, names in (
            ("deeper-vit", "A small ViT on Assumption 1: its heads, P P^T and its function.", ("small ViT",)),
            ("deeper-parts", "The same ViT with one of its parts changed.", tuple(BLOCKS)[1:]),
        )
    ),
    Sweep(
        name="deeper-range",
        summary="Model (T), A = P P^T and the small ViT at other chances q.",
        cells=tuple(
            dict(name=name, q=q, **(SIMPLE_SIZE if name in SIMPLE else BLOCK_SIZE))
            for name in ("(T)", "A = P Pᵀ", "small ViT")
            for q in RANGE
        ),
        run=range_cell,
        data=lambda: drawn(SpatialData(SETS, D, Q), 0),
        config={key: value for key, value in _CONFIG.items() if key != "q"},
    ),
)
