"""What a start by the theory is worth: registered before it ran.

Setting. A ViT of six layers, width 64, four heads, on the middle 24 x 24 pixels of 4,000 pictures of CIFAR-10
(JPEG; 36 patches), shifted and mirrored; batches of 64, float32. 2,000 more pictures are held out.

Arms (:data:`ARMS`), each for vanilla and for positional attention: the usual start; random encodings of the
length of sums; sums alone; sums and shifts; the value half alone ("minus"); shifts and the value half
("both"); mimetic as Trockman & Kolter published it; and of the value half two controls, random values of the
same size and .4 Z + .4 I ("plus"). For positional attention also shifts that are frozen. The margin of shifts
is 3 and was not tuned.

Rates. Each arm and kind has its own, the best of :data:`RATES` by accuracy on held-out pictures after the
last epoch of one run with the seed 100, which is none of the five paired test seeds (they share batches,
held-out pictures and all of the start that an arm does not set). Ten epochs take the rates of three: to
choose them again at that length was planned, and given up for want of time before any run of ten epochs was
tested. Test pictures are looked at once, after the last epoch.

Comparisons, paired by seed, of test accuracy. Four primary ones, after ten epochs: shifts minus usual, and
both minus the value half, for either kind. A gain *stands* if its interval at 98.75% (Student's t over seeds,
four comparisons together at 95%) is above zero. It *fades* if the gain after ten epochs minus the gain after
three is below zero, with its interval at 95%. Both may hold. All else is secondary: 95% each, uncorrected.
Expected from trials with three seeds and one rate: all four gains after three epochs, and that they shrink.

Wide (:data:`WIDE`), registered after these: all of CIFAR-10, and a hundred classes of Tiny ImageNet at 32
pixels (64 patches), with the same network. Here each arm and kind has its rate tuned at the length of the
runs, on held-out pictures, with the seed 100; runs go side by side. The same four differences on either set;
a gain *stands*, or has *gone*, by the rule of eight above. Expected: on all of CIFAR-10 none of the four
stands and shifts beside values cost something with vanilla attention; on a hundred pictures a class the gains
of shifts alone stand.

Every rate (:data:`SETTINGS`), registered when runs at the rates of three epochs had shown that these decide
after forty: all arms of ten epochs at each of :data:`EVERY_RATE` with all five seeds, side by side, for ten
and forty epochs on the 4,000 pictures and for ten on 16,000. Of an arm the rate counts that has the highest
accuracy on held-out pictures, on average over seeds, after the last epoch. With these rates the same four
differences are the primary ones after forty epochs and on 16,000 pictures; a gain *stands* if its interval
at 99.375% (eight comparisons together at 95%) is above zero, and it has *gone* if that is within one point
of zero. It *fades* if the gain after forty epochs minus that after ten has an interval at 95% below zero.
Expected: all four after ten epochs, and that they fade; that shifts beside values are worth nothing with
vanilla attention after forty epochs and on 16,000 pictures; that with positional attention they keep
something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from patch_lab.images.sweeps.images import packed
from patch_lab.images.sweeps.study import KINDS, pictures
from patch_lab.images.sweeps.study_larger import tiny, tiny_data
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.run import train
from patch_lab.images.training.together import train_together
from patch_lab.kit.records import load, rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

SEEDS = (0, 1, 2, 3, 4)
TUNING_SEED = 100
SHORT = 3  # epochs
LONG = 10
RATES = (1e-3, 2e-3, 4e-3)
SIDE = 24
#: Each arm by what it changes.
ARMS: dict[str, dict[str, str]] = {
    "usual": {},
    "random P": dict(start="random"),
    "sums": dict(start="sums"),
    "shifts": dict(start="shifts"),
    "minus": dict(values="minus"),
    "both": dict(start="shifts", values="minus"),
    "mimetic": dict(start="mimetic", values="minus"),
    "random values": dict(values="random"),
    "plus": dict(values="plus"),
}
FROZEN = "frozen shifts"
#: Training pictures and epochs at which every rate is run with every seed.
SETTINGS = ((4000, 40), (4000, 10), (16000, 10))
EVERY_RATE = (1e-3, 2e-3, 4e-3, 8e-3)
#: For each set: training pictures, held out and tested; epochs; what the network's settings change.
WIDE: dict[str, dict[str, Any]] = {
    "cifar10": dict(train=45_000, held=5000, test=10_000, epochs=10),
    "tiny-imagenet": dict(train=10_000, held=2000, test=2500, epochs=10),
}
LONG_ARMS = ("usual", "shifts", "minus", "both", "mimetic")
VIT: dict[str, Any] = dict(
    dataset="cifar10", train_size=6000, val_size=2000, augment="shift-flip", label_smoothing=0.1,
    weight_decay=0.05, device="cpu", precision="float32", threads=1, model="vit", vit="small", patch_size=4,
    depth=6, width=64, heads=4, mlp_width=128, batch_size=64, margin=3.0,
)  # fmt: skip


@lru_cache(maxsize=1)
def windows(size: int = VIT["train_size"]):
    """The first pictures, and all of the test, each cut to its middle."""
    data = pictures().limited(size, None)
    edge = (32 - SIDE) // 2

    def cut(images):
        return images[..., edge : edge + SIDE, edge : edge + SIDE].contiguous()

    return replace(
        data, origin=f"{data.origin}, the middle {SIDE} x {SIDE} pixels",
        train_images=cut(data.train_images), test_images=cut(data.test_images),
    )  # fmt: skip


def _run(kind: str, arm: str, epochs: int, lr: float, seed: int, tuning: bool) -> dict:
    options: dict[str, Any] = dict(attention="shifts") if arm == FROZEN else dict(attention=kind, **ARMS[arm])
    options |= dict(epochs=epochs, warmup_epochs=epochs / 10, lr=lr, seed=seed)
    config = TrainConfig(**{**VIT, **options})
    data = windows().limited(None, 1) if tuning else windows()
    record = train(config, progress=False, data=data).record
    names = ("val_accuracy", "train_accuracy", "train_loss")
    result = {name: [row[name] for row in record["metrics"]] for name in names}
    if not tuning:
        result |= {"test_accuracy": record["test"]["accuracy"], "test_n": record["test"]["n"], "lr": lr}
    return rounded(result, 4)


def rate_cell(kind: str, arm: str, epochs: int, lr: float) -> dict:
    """Accuracy on held-out and on training pictures by epoch, at a rate, with the seed for tuning."""
    return _run(kind, arm, epochs, lr, TUNING_SEED, tuning=True)


def start_cell(kind: str, arm: str, epochs: int, seed: int) -> dict:
    """A run at the rate that was best for its arm in the record of rates.

    Returns
    -------
    dict
        ``test_accuracy``, ``test_n``, ``lr``; by epoch ``val_accuracy``, ``train_accuracy``, ``train_loss``.
    """
    rates = load("cifar10_starts_rates").where(kind=kind)
    best = best_rates(rates, [arm], lambda row: row["val_accuracy"][-1])
    return _run(kind, arm, epochs, best[arm], seed, tuning=False)


def wide_data(data: str):
    """The pictures of a set of :data:`WIDE`; those held out are drawn from the training ones by the seed."""
    size = WIDE[data]
    full = windows(pictures().num_train) if data == "cifar10" else tiny()
    return full.limited(size["train"] + size["held"], size["test"])


def wide_cell(data: str, kind: str) -> dict:
    """All arms of a kind on a set: a run for each rate, then all seeds at the rate that was best.

    Returns
    -------
    dict
        ``rates``: ``arm``, ``lr``, ``val_accuracy`` by epoch. ``runs``: ``arm``, ``seed``, ``lr``,
        ``test_accuracy`` and by epoch ``val_accuracy``, ``train_accuracy``, ``train_loss``.
    """
    size = WIDE[data]
    sets = wide_data(data)
    options = dict(
        dataset=data, train_size=None, val_size=size["held"], epochs=size["epochs"], attention=kind
    )
    rates = list(_side_by_side(options, sets, [(arm, lr, TUNING_SEED) for arm in LONG_ARMS for lr in RATES]))
    best = best_rates(rates, LONG_ARMS, lambda row: row["val_accuracy"][-1])
    runs = list(_side_by_side(options, sets, [(arm, best[arm], seed) for seed in SEEDS for arm in LONG_ARMS]))
    kept = ("arm", "lr", "val_accuracy")
    return rounded({"rates": [{name: row[name] for name in kept} for row in rates], "runs": runs}, 4)


def every_rate_cell(kind: str, pictures: int, epochs: int) -> dict:
    """All arms of a kind at every rate with every seed.

    Returns
    -------
    dict
        ``runs``: ``arm``, ``lr``, ``seed``, ``test_accuracy``; after the last epoch ``val_accuracy``,
        ``train_accuracy``, ``train_loss``.
    """
    options = dict(train_size=None, epochs=epochs, attention=kind)
    chosen = [(arm, lr, seed) for seed in SEEDS for arm in LONG_ARMS for lr in EVERY_RATE]
    runs = _side_by_side(options, windows(pictures + VIT["val_size"]), chosen)

    def last(value):
        return value[-1] if isinstance(value, list) else value

    return rounded({"runs": [{name: last(value) for name, value in run.items()} for run in runs]}, 4)


def _side_by_side(options: dict, sets, chosen) -> Iterator[dict[str, Any]]:
    """Runs of arms, rates and seeds as rows of one tensor, each with its metrics by epoch."""
    options = {**VIT, **options, "warmup_epochs": options["epochs"] / 10, "device": "auto"}
    configs = [TrainConfig(**{**options, **ARMS[arm], "lr": lr, "seed": seed}) for arm, lr, seed in chosen]
    for (arm, lr, seed), run in zip(chosen, train_together(configs, sets)):
        by_epoch = {name: [row[name] for row in run.metrics] for name in run.metrics[0]}
        yield dict(arm=arm, lr=lr, seed=seed, test_accuracy=run.test_accuracy, **by_epoch)


def best_rates(rows, arms, accuracy) -> dict[str, float]:
    """The rate of each arm with the highest accuracy; of equals the smaller."""
    of_arm = {arm: [row for row in rows if row["arm"] == arm] for arm in arms}
    return {arm: max(runs, key=lambda row: (accuracy(row), -row["lr"]))["lr"] for arm, runs in of_arm.items()}


def _cells(arms, **axes) -> tuple[dict, ...]:
    """All of a seed or rate, then the next; frozen shifts stand beside positional attention alone."""
    cells = grid(**axes, kind=KINDS, arm=tuple(arms))
    return tuple(cell for cell in cells if cell["arm"] != FROZEN or cell["kind"] == "positional")


_CONFIG = {**VIT, "arms": ARMS, "window": SIDE}
_PER_SET = ("dataset", "train_size", "val_size", "device")
_ALL = (*ARMS, FROZEN)


def _growing(name: str, length: str, arms, epochs: int) -> Sweep:
    return Sweep(
        name=name,
        summary=f"Starts of a ViT of six layers on 4,000 pictures of CIFAR-10 (JPEG), {length} epochs.",
        cells=_cells(arms, epochs=epochs, seed=SEEDS),
        run=start_cell,
        config=_CONFIG,
        data=packed,
        grows=True,
    )


def _on_gpu(name: str, pictures: str, cells, run, config: dict, source) -> Sweep:
    common = {key: value for key, value in _CONFIG.items() if key not in _PER_SET}
    summary = f"Starts of a ViT of six layers on {pictures}, side by side on a GPU."
    config = {**common, **config, "seeds": SEEDS}
    return Sweep(name, summary, cells, run, config, source, device="cuda", parallel=False, grows=True)


def _wide(data: str, name: str, pictures: str, source) -> Sweep:
    config = {"set": WIDE[data], "rates": RATES, "tuning_seed": TUNING_SEED}
    return _on_gpu(name, pictures, grid(data=data, kind=KINDS), wide_cell, config, source)


SWEEPS = (
    Sweep(
        name="cifar10_starts_rates",
        summary="Starts of a ViT of six layers: accuracy on held-out pictures after three epochs, by rate.",
        cells=_cells(_ALL, epochs=SHORT, lr=RATES),
        run=rate_cell,
        config={**_CONFIG, "seed": TUNING_SEED},
        data=packed,
    ),
    _growing("cifar10_starts", "three", _ALL, SHORT),
    _growing("cifar10_starts_long", "ten", LONG_ARMS, LONG),
    _on_gpu(
        "cifar10_starts_every_rate",
        "CIFAR-10 (JPEG) at every rate",
        tuple(dict(kind=kind, pictures=n, epochs=epochs) for n, epochs in SETTINGS for kind in KINDS),
        every_rate_cell,
        {"held": VIT["val_size"], "rates": EVERY_RATE},
        packed,
    ),
    _wide("cifar10", "cifar10_starts_wide", "all of CIFAR-10 (JPEG)", packed),
    _wide(
        "tiny-imagenet", "tiny_imagenet_starts", "10,000 pictures of 100 classes of Tiny ImageNet", tiny_data
    ),
)
