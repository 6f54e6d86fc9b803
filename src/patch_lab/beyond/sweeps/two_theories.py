"""The sweeps of ``beyond/two_theories``: five kinds of attention on four laws of data, and what is turned."""

from __future__ import annotations

from functools import partial

import torch

from patch_association.defaults import DEFAULT
from patch_association.structure import Partition, association
from patch_lab.beyond import KINDS, Bench, CrossedData, RarePatterns, follow_bench, gathered
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.sweeps.sweep import Sweep

SEEDS = 10
TURNED_SEEDS = 5
#: The laws: sets said by the place, by the content, by both (D = 27, C = 3, q = 0.3); and Li et al.'s.
LAWS = {
    "place": CrossedData(9, 1, set_size=3, q=0.3),
    "content": CrossedData(1, 9, set_size=3, q=0.3),
    "crossed": CrossedData(3, 3, set_size=3, q=0.3),
    "rare": RarePatterns(),
}


def bench_cell(law: str, kind: str, steps: int, batch: int) -> dict:
    """Train ``SEEDS`` networks of a kind on a law; errors over training, and where the attention goes."""
    data = LAWS[law]
    run = follow_bench(
        data, kind, seeds=SEEDS, steps=steps, batch=batch, points=10, n_test=10_000 if law != "rare" else 5000
    )
    result = {"taken": run.steps, **rounded({"errors": run.errors, "share": run.share}, 4)}
    return {**result, **(knowledge(run.bench, data) if isinstance(data, CrossedData) else {})}


def knowledge(bench: Bench, data: CrossedData) -> dict:
    """What the parameters say: of groups (A against the groups), of keys (B), and v's part along keys.

    ``keys`` is the share of keys that B scores higher with themselves than with any other key.
    """
    result: dict = {}
    v = bench.value.detach()
    result["leak"] = rounded((v[:, 1 : 1 + data.num_keys].norm(dim=1) / v.norm(dim=1)).tolist(), 3)
    if bench.scores is not None and data.num_groups > 1:
        known = association(bench.scores, Partition(data.groups))
        result |= {"groups_auc": rounded(known.auc.tolist(), 4), "groups_exact": known.exact.tolist()}
    if bench.form is not None and data.num_keys > 1:
        B = bench.form.detach()[:, 1 : 1 + data.num_keys, 1 : 1 + data.num_keys]  # (R, K, K)
        best = B.argmax(dim=2) == torch.arange(data.num_keys)
        result["keys"] = rounded(best.double().mean(dim=1).tolist(), 4)
    return result


_turned = partial(follow_bench, seeds=TURNED_SEEDS, points=1)


def turned_cell(
    groups: int,
    keys: int,
    q: float,
    kind: str,
    rate: float,
    steps: int,
    batch: int,
    diagonal: float,
    start: float = DEFAULT.init_std,
) -> dict:
    """Another size, chance, rate, length, batch, diagonal or noise of the scores at the start, (R,) each.

    ``error``; ``own``: the share of attention that companions get; ``set``: what the one set gets that gets
    most; ``best``: how often this set is the own.
    """
    data = CrossedData(groups, keys, set_size=3, q=q)
    run = _turned(
        data, kind, steps=steps, batch=batch, rate=rate, n_test=10_000, diagonal=diagonal, score_std=start
    )
    masses = gathered(run.bench, data)
    own_share = run.share[:, 1]
    return rounded(
        {"error": run.errors[-1], "own": own_share, "set": masses["set"], "best": masses["own"]}, 4
    )


def rare_cell(kind: str, rate: float, steps: int, batch: int) -> dict:
    """Errors on rare patterns, (R,), at another rate, length and batch."""
    run = _turned(LAWS["rare"], kind, steps=steps, batch=batch, rate=rate, n_test=5000, seed=1)
    return {"error": rounded(run.errors[-1].tolist(), 4)}


_USUAL = dict(q=0.3, rate=0.02, steps=4000, batch=128, diagonal=1.0)
_SLOW = dict(_USUAL, rate=0.002, steps=5000)
#: Who solves its law at six sets, then at nine as in the first sweep; each with one knob turned.
TURNED = (
    *(
        dict(settings, groups=G, keys=K, kind=kind)
        for G, K, kind in ((6, 1, "positional"), (1, 6, "content"))
        for settings in (
            _USUAL,
            _SLOW,
            dict(_USUAL, batch=32),
            dict(_USUAL, q=0.5),
            dict(_SLOW, q=0.5),
            dict(_USUAL, diagonal=3.0),
            dict(_SLOW, diagonal=0.0),
            dict(_SLOW, steps=15_000),
        )
    ),
    *(
        dict(settings, groups=3, keys=2, kind="both")
        for settings in (_USUAL, dict(_USUAL, rate=0.005, steps=8000), dict(_USUAL, q=0.5))
    ),
    dict(_USUAL, groups=3, keys=2, kind="positional"),
    dict(_SLOW, groups=9, keys=1, kind="positional"),
    dict(_SLOW, groups=1, keys=9, kind="content"),
)
#: Larger steps, a louder start, small batches and other diagonals than in ``TURNED``.
HOT = (
    *(
        dict(settings, groups=6, keys=1, kind="positional")
        for settings in (
            dict(_USUAL, rate=0.05, diagonal=3.0),
            dict(_USUAL, rate=0.1, diagonal=3.0),
            dict(_SLOW, start=0.5),
        )
    ),
    *(
        dict(settings, groups=3, keys=2, kind="both")
        for settings in (
            dict(_USUAL, batch=16),
            dict(_USUAL, rate=0.05),
            dict(_USUAL, diagonal=3.0),
            dict(_USUAL, diagonal=3.0, batch=64),
            dict(_USUAL, diagonal=0.0),
        )
    ),
)

_TRAINED = dict(
    clip=5.0, optimizer="Adam, cosine", loss="logistic, fresh inputs in every step", degree=3, linear=0.01
)


def _sweep(name: str, summary: str, cells, run, config: dict, law: str = "crossed") -> Sweep:
    return Sweep(name, summary, cells, run, {**config, **_TRAINED}, data=lambda: sample_source(LAWS[law], 0))


_SIZE = dict(seeds=TURNED_SEEDS, set_size=3)
_USUAL_LENGTH = dict(steps=4000, batch=128)
_LENGTHS = {"rare": dict(steps=800, batch=64)}

SWEEPS = (
    _sweep(
        "two-theories",
        "Attention to places, contents, both or neither, on data that need one or both.",
        tuple(dict(law=law, kind=kind, **_LENGTHS.get(law, _USUAL_LENGTH)) for law in LAWS for kind in KINDS),
        bench_cell,
        dict(seeds=SEEDS, laws={name: repr(law) for name, law in LAWS.items()}, rate=0.02, diagonal=1.0),
    ),
    _sweep(
        "two-theories-turned",
        "The same at another size, chance, rate, length, batch or diagonal, one turned at a time.",
        TURNED,
        turned_cell,
        _SIZE,
    ),
    _sweep(
        "two-theories-hot",
        "Larger steps, a louder start, small batches and other diagonals at six sets.",
        tuple({"start": DEFAULT.init_std, **settings} for settings in HOT),
        turned_cell,
        _SIZE,
    ),
    _sweep(
        "two-theories-rare",
        "Rare patterns at another rate, length or batch.",
        tuple(
            dict(kind=kind, **settings)
            for kind in ("identity", "uniform", "content")
            for settings in (dict(rate=0.005, steps=1600, batch=64), dict(rate=0.02, steps=800, batch=16))
        ),
        rare_cell,
        dict(seeds=TURNED_SEEDS, law=repr(LAWS["rare"])),
        "rare",
    ),
)
