"""What learned maps are worth where samples are few: registered before it ran.

Setting. The ViT of :mod:`patch_lab.images.sweeps.starts` with positional attention learns five classes of
CIFAR-10 (JPEG; the middle 24 x 24 pixels of 25,000 pictures) from the usual start. The other five classes
are then learned from few pictures. Theorem 5.1 of Jelassi, Sander & Li freezes the attention of the first
task.

Arms (:data:`ARMS`). "nothing": the usual start. "maps": P, W_Q and W_K of the source, all else the usual
start; they train on. "frozen maps": they stay. "shuffled": they stay, and the places of P are permuted.
"random maps": P, W_Q and W_K of the usual start stay. "shifts": written, and they stay. "features": all of
the source but P, W_Q, W_K and the head. "all": all but the head.

Length. 2,000 steps of 64 pictures at every size, the rate falling to zero, as many for 500 pictures as for
8,000. Each arm has its rate tuned at each size by accuracy on 1,000 pictures of the target's training set
that no run trains on, with the source and the seed 100. Five seeds of source and target, paired.

Comparisons, of test accuracy on the 5,000 test pictures of the target's classes. Six primary ones, at 1,000
and at 8,000 pictures: frozen maps minus nothing, minus shuffled, and minus shifts; each at 99.17% (six
together at 95%). Expected: the first two are above zero at 1,000 and smaller at 8,000; shifts are as good
as the source's maps. All else is secondary, 95% each.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch

from patch_association.images.vit import ViT
from patch_lab.images.data.sets import ImageSet
from patch_lab.images.starts import start_like
from patch_lab.images.sweeps.images import packed
from patch_lab.images.sweeps.starts import RATES, SEEDS, SIDE, TUNING_SEED, VIT, best_rates, windows
from patch_lab.images.sweeps.study import pictures
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.together import train_together
from patch_lab.kit.records import rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

SIZES = (1000, 8000, 500, 2000, 4000)  # those of the primary comparisons first
STEPS = 2000
BATCH = VIT["batch_size"]
HELD = 1000
SOURCE: dict[str, Any] = dict(epochs=10, lr=2e-3)
#: Each arm by the parts that it has from the source, and those that stay.
ARMS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "maps": dict(taken="maps"),
    "frozen maps": dict(taken="maps", stay=True),
    "shuffled": dict(taken="maps", stay=True, shuffled=True),
    "random maps": dict(stay=True),
    "shifts": dict(start="shifts", stay=True),
    "features": dict(taken="features"),
    "all": dict(taken="all"),
}


@lru_cache(maxsize=2)
def task(target: bool) -> ImageSet:
    """The pictures of the first five classes, or of the last, with labels from 0 on."""
    data = windows(pictures().num_train)
    parts = {}
    for part in ("train", "test"):
        labels = getattr(data, f"{part}_labels")
        chosen = (labels >= 5) == target
        parts[f"{part}_images"] = getattr(data, f"{part}_images")[chosen]
        parts[f"{part}_labels"] = labels[chosen] - 5 * target
    return replace(data, classes=data.classes[5 * target : 5 * target + 5], **parts)


def _config(**options):
    fixed = {**VIT, "train_size": None, "val_size": 0, "device": "auto", "attention": "positional"}
    return TrainConfig(**{**fixed, "warmup_epochs": options["epochs"] / 10, **options})


@lru_cache(maxsize=1)
def sources() -> dict[int, tuple[Any, float]]:
    """The trained networks by seed, and their accuracy on the source's test pictures."""
    seeds = (*SEEDS, TUNING_SEED)
    runs = train_together([_config(**SOURCE, seed=seed) for seed in seeds], task(False))
    return {seed: (run.model, run.test_accuracy) for seed, run in zip(seeds, runs)}


def _is_map(name: str) -> bool:
    return name == "positions" or "query_key" in name


def _started(arm: str, seed: int):
    """A network for the target at its start, and the names of what stays."""
    how = ARMS[arm]
    source, _ = sources()[seed]
    model = ViT(source.config, seed=1000 + seed)  # a source of another seed than the rest
    if how.get("start"):
        start_like(model, how["start"], margin=VIT["margin"], seed=seed)
    taken = {"maps": _is_map, "features": lambda name: not _is_map(name), "all": lambda name: True}
    wanted = taken.get(how.get("taken", ""), lambda name: False)
    with torch.no_grad():
        for (name, mine), theirs in zip(model.named_parameters(), source.parameters()):
            if wanted(name) and not name.startswith("head"):
                mine.copy_(theirs)
        if how.get("shuffled"):
            generator = torch.Generator().manual_seed(seed)
            model.positions.copy_(
                model.positions[:, torch.randperm(model.positions.shape[1], generator=generator)]
            )
    return model, [name for name, _ in model.named_parameters() if how.get("stay") and _is_map(name)]


def transfer_cell(size: int) -> dict:
    """All arms with that many pictures of the target.

    Returns
    -------
    dict
        ``sources``: test accuracy of each source. ``rates``: ``arm``, ``lr``, ``held_accuracy``. ``runs``:
        ``arm``, ``seed``, ``lr``, ``test_accuracy``, and ``train_accuracy`` in the last epoch.
    """
    full = task(True)
    few = full.limited(size, None)
    last = slice(full.num_train - HELD, None)
    tuning = replace(few, test_images=full.train_images[last], test_labels=full.train_labels[last])

    def trained(chosen, data):
        begun = [_started(arm, seed) for arm, _, seed in chosen]
        configs = [_config(epochs=STEPS // (size // BATCH), lr=lr, seed=seed) for _, lr, seed in chosen]
        models, stay = zip(*begun)
        for (arm, lr, seed), run in zip(chosen, train_together(configs, data, models, stay)):
            yield dict(arm=arm, lr=lr, seed=seed, accuracy=run.test_accuracy, **run.metrics[-1])

    rates = list(trained([(arm, lr, TUNING_SEED) for arm in ARMS for lr in RATES], tuning))
    best = best_rates(rates, ARMS, lambda row: row["accuracy"])
    runs = list(trained([(arm, best[arm], seed) for seed in SEEDS for arm in ARMS], few))
    return rounded(
        {
            "sources": {str(seed): accuracy for seed, (_, accuracy) in sources().items()},
            "rates": [{"arm": r["arm"], "lr": r["lr"], "held_accuracy": r["accuracy"]} for r in rates],
            "runs": [
                {**{k: r[k] for k in ("arm", "seed", "lr", "train_accuracy")}, "test_accuracy": r["accuracy"]}
                for r in runs
            ],
        },
        4,
    )


SWEEPS = (
    Sweep(
        name="cifar10_map_transfer",
        summary="Maps of a ViT that learned five classes of CIFAR-10 (JPEG), on the other five.",
        cells=grid(size=SIZES),
        run=transfer_cell,
        config={
            **{key: value for key, value in VIT.items() if key not in ("train_size", "val_size", "device")},
            "arms": ARMS, "source": SOURCE, "steps": STEPS, "rates": RATES, "window": SIDE, "held": HELD,
            "tuning_seed": TUNING_SEED, "seeds": SEEDS,
        },
        data=packed,
        device="cuda",
        parallel=False,
        grows=True,
    ),
)  # fmt: skip
