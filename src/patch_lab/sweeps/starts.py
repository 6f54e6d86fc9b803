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

Further (:data:`FURTHER`), registered after the record of ten epochs and before any of its runs: forty epochs
on the same 4,000 pictures, then ten on 16,000, with the arms of ten epochs and the rates of three. The same
four differences, at either setting, are the primary ones; a gain *stands* there if its interval at 99.375%
(eight comparisons together at 95%) is above zero. It has *gone* if that interval is within one point of zero.
Expected: after forty epochs shifts alone have gone for positional attention, and the value half has not.

Wide (:data:`WIDE`), registered after these: all of CIFAR-10, and a hundred classes of Tiny ImageNet at 32
pixels (64 patches), with the same network. Here each arm and kind has its rate tuned at the length of the
runs, on held-out pictures, with the seed 100; runs go side by side. The same four differences on either set;
a gain *stands*, or has *gone*, by the rule of eight above. Expected: on all of CIFAR-10 none of the four
stands and shifts beside values cost something with vanilla attention; on a hundred pictures a class the gains
of shifts alone stand.

Turned (:data:`TURNED`), registered when one run of a referee had shown that the rates of three epochs decide
at forty: the arms whose rate was the largest of three, at the next smaller one, forty epochs, vanilla shifts
with values first. A claim on forty epochs stands only if it does at either rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from patch_lab.records import load, rounded
from patch_lab.sweeps.images import packed
from patch_lab.sweeps.study import pictures
from patch_lab.sweeps.study_larger import tiny, tiny_data
from patch_lab.sweeps.sweep import Sweep, grid

KINDS = ("vanilla", "positional")
SEEDS, TUNING_SEED = (0, 1, 2, 3, 4), 100
SHORT, LONG = 3, 10  # epochs
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
#: Training pictures and epochs.
FURTHER = ((4000, 40), (16000, 10))
#: For each set: training pictures, held out and tested; epochs; what the network's settings change.
WIDE: dict[str, dict[str, Any]] = {
    "cifar10": dict(train=45_000, held=5000, test=10_000, epochs=10),
    "tiny-imagenet": dict(train=10_000, held=2000, test=2500, epochs=10),
}
#: Kinds and arms whose rate of three epochs was the largest, in the order in which they are run at the next.
TURNED = (("vanilla", "both"), ("positional", "minus"), ("vanilla", "shifts"), ("vanilla", "usual"),
          ("positional", "shifts"), ("positional", "usual"))  # fmt: skip
LONG_ARMS = ("usual", "shifts", "minus", "both", "mimetic")
VIT: dict[str, Any] = dict(
    dataset="cifar10", train_size=6000, val_size=2000, augment="shift-flip", label_smoothing=0.1,
    weight_decay=0.05, device="cpu", precision="float32", threads=1, model="vit", vit="small", patch_size=4,
    depth=6, width=64, heads=4, mlp_width=128, batch_size=64, margin=3.0,
)  # fmt: skip


@lru_cache(maxsize=1)
def windows(size: int = VIT["train_size"]):
    """The first pictures, and all of the test, each cut to its middle."""
    data, edge = pictures().limited(size, None), (32 - SIDE) // 2
    cut = lambda images: images[..., edge : edge + SIDE, edge : edge + SIDE].contiguous()
    return replace(
        data, origin=f"{data.origin}, the middle {SIDE} x {SIDE} pixels",
        train_images=cut(data.train_images), test_images=cut(data.test_images),
    )  # fmt: skip


def _run(
    kind: str, arm: str, epochs: int, lr: float, seed: int, tuning: bool, size: int = VIT["train_size"]
) -> dict:
    from patch_lab.images.training.config import TrainConfig
    from patch_lab.images.training.run import train

    own: dict[str, Any] = dict(attention="shifts") if arm == FROZEN else dict(attention=kind, **ARMS[arm])
    own |= dict(train_size=size, epochs=epochs, warmup_epochs=epochs / 10, lr=lr, seed=seed)
    config = TrainConfig(**{**VIT, **own})
    data = windows(size).limited(None, 1) if tuning else windows(size)
    record = train(config, progress=False, data=data).record
    names = ("val_accuracy", "train_accuracy", "train_loss")
    found = {name: [row[name] for row in record["metrics"]] for name in names}
    if not tuning:
        found |= {"test_accuracy": record["test"]["accuracy"], "test_n": record["test"]["n"], "lr": lr}
    return rounded(found, 4)


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
    return _run(kind, arm, epochs, best_rate(kind, arm), seed, tuning=False)


def further_cell(kind: str, arm: str, pictures: int, epochs: int, seed: int) -> dict:
    """As :func:`start_cell`, on any number of training pictures."""
    size = pictures + VIT["val_size"]
    return _run(kind, arm, epochs, best_rate(kind, arm), seed, tuning=False, size=size)


def turned_cell(kind: str, arm: str, lr: float, epochs: int, seed: int) -> dict:
    """As :func:`start_cell`, at a rate that is said."""
    return _run(kind, arm, epochs, lr, seed, tuning=False)


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
    from patch_lab.images.training.config import TrainConfig
    from patch_lab.images.training.together import train_together

    size, sets = WIDE[data], wide_data(data)
    own = dict(dataset=data, train_size=None, val_size=size["held"], epochs=size["epochs"], attention=kind,
               warmup_epochs=size["epochs"] / 10, device="auto")  # fmt: skip

    def trained(chosen) -> Iterator[dict[str, Any]]:
        configs = [
            TrainConfig(**{**VIT, **own, **ARMS[arm], "lr": lr, "seed": seed}) for arm, lr, seed in chosen
        ]
        for (arm, lr, seed), run in zip(chosen, train_together(configs, sets)):
            by_epoch = {name: [row[name] for row in run.metrics] for name in run.metrics[0]}
            yield dict(arm=arm, lr=lr, seed=seed, test_accuracy=run.test_accuracy, **by_epoch)

    rates = list(trained([(arm, lr, TUNING_SEED) for arm in LONG_ARMS for lr in RATES]))
    best = {
        arm: max((row for row in rates if row["arm"] == arm),
                 key=lambda row: (row["val_accuracy"][-1], -row["lr"]))["lr"]
        for arm in LONG_ARMS
    }  # fmt: skip
    runs = list(trained([(arm, best[arm], seed) for seed in SEEDS for arm in LONG_ARMS]))
    kept = ("arm", "lr", "val_accuracy")
    return rounded({"rates": [{name: row[name] for name in kept} for row in rates], "runs": runs}, 4)


def best_rate(kind: str, arm: str) -> float:
    """The rate with the highest accuracy on held-out pictures after three epochs; of equals the smaller."""
    rows = load("cifar10_starts_rates").where(kind=kind, arm=arm)
    return max(rows, key=lambda row: (row["val_accuracy"][-1], -row["lr"]))["lr"]


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


def _wide(data: str, name: str, pictures: str, source) -> Sweep:
    common = {key: value for key, value in _CONFIG.items() if key not in _PER_SET}
    return Sweep(
        name=name,
        summary=f"Starts of a ViT of six layers on {pictures}, side by side on a GPU.",
        cells=grid(data=data, kind=KINDS),
        run=wide_cell,
        config={**common, "set": WIDE[data], "rates": RATES, "tuning_seed": TUNING_SEED, "seeds": SEEDS},
        data=source,
        device="cuda",
        backends=(),
        grows=True,
    )


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
    Sweep(
        name="cifar10_starts_further",
        summary="Starts of a ViT of six layers on CIFAR-10 (JPEG): forty epochs, and 16,000 pictures.",
        cells=tuple(
            cell
            for pictures, epochs in FURTHER
            for cell in _cells(LONG_ARMS, pictures=(pictures,), epochs=(epochs,), seed=SEEDS)
        ),
        run=further_cell,
        config={name: value for name, value in _CONFIG.items() if name != "train_size"},
        data=packed,
        grows=True,
    ),
    Sweep(
        name="cifar10_starts_turned",
        summary="Starts of a ViT of six layers on CIFAR-10 (JPEG): forty epochs at the next smaller rate.",
        cells=tuple(
            {"kind": kind, "arm": arm, "lr": RATES[1], "epochs": FURTHER[0][1], "seed": seed}
            for kind, arm in TURNED
            for seed in SEEDS
        ),
        run=turned_cell,
        config=_CONFIG,
        data=packed,
        grows=True,
    ),
    _wide("cifar10", "cifar10_starts_wide", "all of CIFAR-10 (JPEG)", packed),
    _wide(
        "tiny-imagenet", "tiny_imagenet_starts", "10,000 pictures of 100 classes of Tiny ImageNet", tiny_data
    ),
)
