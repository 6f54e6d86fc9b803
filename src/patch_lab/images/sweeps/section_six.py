"""Section 6 of Jelassi, Sander & Li at the paper's size: registered before any of it ran.

Data. CIFAR-100 and CIFAR-10, each picture encoded once as JPEG; 45,000 training pictures, 5,000 held out,
10,000 test pictures, whose answers are read once for each run, after the last epoch. The right and wrong
bits of all test pictures are kept. There is no ImageNet and no SVHN here: Figures 1a, 6 and 7(3) stay "not
run at this size".

Recipe ("book"). The preset "cifar100": seven layers, twelve heads, width and MLP width 384, patches of 4
pixels, 300 epochs, AdamW, a cosine, AutoAugment, batches of 128; bfloat16 on a GPU, with weights, sums and
tokens in float32. Both kinds of attention see the same pictures in the same order. Of a pair, held-out
pictures are looked at after every fifth epoch (decided after the pilot, to save time; no verdict uses these
looks).

Order of the cells. (1) CIFAR-100: a pilot (:data:`RATES`, both kinds, six epochs with a cosine of their
own, a seed that no pair has, the test left alone): each kind has the rate with the highest accuracy on
held-out pictures; of equals the smaller. If it is the first or the last of the five, the record shows it,
and the sentence about the pairs says so. (2) Pairs, both kinds, 300 epochs, seeds 0, 1, 2. (3), (4) The
same on CIFAR-10. (5) One pair on each set by the recipe of a public training of this very shape (the preset
"vit-cifar", both kinds, 200 epochs as there, rates as there): the knob that an author would turn. (6) Seeds
3 and 4 on both sets. (7) Figure 5: ResNet-18 and VGG-19, 100 epochs, tiles of 32 (the picture), 2, 16, 8
and 4 pixels, seeds 0 and 1, a shuffle of its own for each seed; then 300 epochs for tiles of 32 and 2, one
seed. (8) ViTs (vanilla) with patches of 2 pixels, 300 epochs, tiles of 32 and 2, seeds 0, 1, 2. (9) Pairs
on CIFAR-100 whose P starts as N(0, 1) instead of N(0, 0.02^2), seeds 0, 1, 2, for the recall of neighbors.
Epochs are never cut to have more seeds. A sentence about fewer cells than these says which there are.

Verdicts, by :mod:`patch_lab.images.registered`. "Competes" (section 6): positional minus vanilla, at 97.5%
one-sided, above -3.0 points, the paper's own 71.9 - 68.9, on both sets. "Nearly the accuracy" (Figures 7(1)
and 7(2), set by set): the interval at 95% within 2.0 points. Both need three pairs at least. Figure 5a,
"sensitive": both CNNs, whole pictures minus tiles of 2 pixels, at 97.5% one-sided, above 5 points, and
Jonckheere's test over the five tiles below .01. "Performs equally": the ViT's interval at 90% within 3
points, and its mean under a fifth of ResNet-18's fall. Figure 5c, in the ViTs with tiles of 2 pixels:
recall of the four neighbors at the sides in the rows of P P^T, as learned below the 95th percentile of
1,000 random relabelings in every run, and with the shuffle undone above the 99.9th and three times chance.
Whatever is looked at again after answers were read is named so.

Expected: both "competes" and "nearly" on CIFAR-10, the first alone on CIFAR-100; the CNNs are sensitive;
the ViT performs equally, as the theorem on shuffled pictures says in law; recall is larger where P starts
small.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from patch_lab.images.data import ENVIRONMENT, data_root, load
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.sweeps.images import SHA256, SOURCE
from patch_lab.images.sweeps.side_by_side import SideBySide
from patch_lab.images.sweeps.study import KINDS
from patch_lab.images.training.config import TrainConfig, preset
from patch_lab.images.training.run import train
from patch_lab.images.training.together import Together
from patch_lab.images.training.trainer import learned_locality
from patch_lab.kit.records import encode, rounded
from patch_lab.kit.sweeps.sweep import Sweep, grid

SETS = ("cifar100", "cifar10")
RATES = (2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3)
PILOT_EPOCHS = 6
PILOT_SEED = 100
EPOCHS = 300
CNN_EPOCHS = 100
# seeds
FIRST = (0, 1, 2)
MORE = (3, 4)
CNNS = ("resnet18", "vgg19")
TILES = (32, 2, 16, 8, 4)
#: Where it runs, and what that changes. A compiled step is the same step with fewer trips to the memory.
MACHINE: dict[str, Any] = dict(device="auto", precision="auto")
#: Images a second that no single GPU of today passes at this size: more cells than this allows are not tried.
FASTEST = {"rates": 200_000, "pair": 100_000, "figure-5": 200_000}
#: Epochs between two looks at held-out pictures; looking after each would take a tenth of a pair's time.
VAL_EVERY = {"rates": 1, "pair": 5, "figure-5": 1}
#: The files of the record, which the package cannot ship: of each its sha256, and where it is from.
FILES = {
    "cifar10": SHA256,
    "cifar100": "dd1dc666935ccb2aa86e0504541a4cf67e228675d54897970bc193e3835bdd2b",
}
SOURCES = {
    "cifar10": SOURCE,
    "cifar100": (
        "JPEG re-encoded CIFAR-100 (quality 91, 4:4:4; root mean square error 3.8 of 255), from the PNGs of "
        "github.com/cyizhuo/CIFAR-100-dataset at commit b105b30e7997, packed as one npz of 38,870,051 bytes"
    ),
}


def data() -> dict:
    """Where the pictures come from, once both files are at hand, as they were registered."""
    for name in SETS:
        checked(name)
    together = hashlib.sha256("".join(FILES[name] for name in SETS).encode()).hexdigest()
    return {"source": "; ".join(SOURCES[name] for name in SETS), "sha256": together}


def checked(name: str) -> None:
    """Refuse to go on without the registered file of a set."""
    files = sorted(data_root().glob(f"{name}[!0-9]*npz"))
    sha256 = hashlib.sha256(files[0].read_bytes()).hexdigest() if len(files) == 1 else None
    if sha256 != FILES[name]:
        there = (
            f"{files[0]} has the sha256 {sha256}"
            if sha256
            else f"{data_root()} holds {len(files)} files {name}*.npz"
        )
        raise ValueError(
            f"this sweep is made from {SOURCES[name]}, sha256 {FILES[name]}. {ENVIRONMENT} must name the "
            f"folder with that file, and {there}"
        )


@lru_cache(maxsize=1)
def pictures(name: str):
    """A set from its packed file, read once."""
    return load(name)


def cells() -> tuple[dict, ...]:
    """What is to be run, in the order in which it is."""

    def pilot(name):
        return grid(part="rates", data=name, kind=KINDS, lr=RATES)

    def pairs(name, seeds, recipe="book"):
        return grid(part="pair", data=name, recipe=recipe, seed=seeds)

    figure = dict(part="figure-5", data="cifar100")
    return (
        *(cell for name in SETS for cell in (*pilot(name), *pairs(name, FIRST))),
        *(cell for name in SETS for cell in pairs(name, FIRST[:1], "vit-cifar")),
        *(cell for name in SETS for cell in pairs(name, MORE)),
        *grid(**figure, epochs=CNN_EPOCHS, seed=(0, 1), tile=TILES, model=CNNS),
        *grid(**figure, epochs=EPOCHS, seed=FIRST[:1], tile=(32, 2), model=CNNS),
        *grid(**figure, epochs=EPOCHS, seed=FIRST, tile=(32, 2), model="vit"),
        *pairs("cifar100", FIRST, "P from N(0, 1)"),
    )


def rates(done, name: str) -> dict[str, float]:
    """The rate of each kind on a set: the best of the pilot on held-out pictures; of equals the smaller.

    Raises
    ------
    ValueError
        If a kind has no run of the pilot that stayed finite.
    """
    best = {}
    for kind in KINDS:
        pilot_rows = [
            row for row in done if row.get("part") == "rates" and (row["data"], row["kind"]) == (name, kind)
        ]
        pilot_rows = [row for row in pilot_rows if row["failed"] is None]
        if not pilot_rows:
            raise ValueError(
                f"the pilot on {name} with {kind} attention comes before its pairs, and is not there"
            )
        best[kind] = max(pilot_rows, key=lambda row: (row["val_accuracy"][-1], -row["lr"]))["lr"]
    return best


def settings(cell: dict, done=()) -> dict[str, dict[str, Any]]:
    """The settings of the runs of a cell for :class:`TrainConfig`, by what they are called in its result."""
    options = preset("cifar100").as_dict() | {"dataset": cell["data"], "compile": True}
    if cell["part"] == "rates":
        options |= dict(epochs=PILOT_EPOCHS, warmup_epochs=PILOT_EPOCHS / 10, seed=PILOT_SEED, compile=False)
        return {"run": options | dict(attention=cell["kind"], lr=cell["lr"]) | MACHINE}
    options |= {"seed": cell["seed"]}
    if cell["part"] == "figure-5":
        options |= dict(epochs=cell["epochs"], tile=cell["tile"], tile_seed=cell["seed"], model=cell["model"])
        if cell["model"] == "vit":
            options |= dict(patch_size=2, attention="vanilla", lr=rates(done, cell["data"])["vanilla"])
        else:  # what its library has is fast as it is, and each network would be compiled by itself
            options |= dict(compile=False)
        return {"run": options | MACHINE}
    if cell["recipe"] == "vit-cifar":
        public = preset("vit-cifar").as_dict() | {
            name: options[name] for name in ("dataset", "compile", "seed")
        }
        return {kind: public | {"attention": kind} | MACHINE for kind in KINDS}
    if cell["recipe"] == "P from N(0, 1)":
        options |= {"position_std": 1.0}
    best = rates(done, cell["data"])
    return {kind: options | dict(attention=kind, lr=best[kind], epochs=EPOCHS) | MACHINE for kind in KINDS}


class Runs:
    """The runs of some cells, side by side."""

    def __init__(self, chosen: list[dict], done, runs, names):
        self.cells = chosen
        self.runs = runs
        self.names = names

    def seconds(self) -> float:
        """Of all of them together, measured here."""
        return self.runs.seconds()

    def run(self) -> list[dict]:
        """Train to the end and return the results, a dict for each cell."""
        rows = iter(zip(self.runs.configs, self.runs.run(keep_failed=True)))
        all_results = []
        for cell, names in zip(self.cells, self.names):
            results = {name: _result(cell, *next(rows)) for name in names}
            all_results.append(results["run"] if list(results) == ["run"] else results)
        return all_results


def _result(cell: dict, config, row) -> dict:
    """What is kept of a run.

    Returns
    -------
    dict
        ``failed``: None, or what was no longer finite. ``train_loss`` and ``train_accuracy`` by epoch,
        ``val_accuracy`` at every look (:data:`VAL_EVERY`). But for the pilot ``lr_used``,
        ``test_accuracy``, ``right`` (a bit for each test picture, :func:`answers`), of a ViT ``locality``
        of P as learned and with the shuffle undone, and with seed 0 or patches of 2 pixels P itself.
    """
    result: dict[str, Any] = {"failed": row.failed}
    for name in ("val_accuracy", "train_loss", "train_accuracy"):
        if name in row.metrics[-1]:
            result[name] = rounded([epoch[name] for epoch in row.metrics if name in epoch], 4)
    if cell["part"] == "rates":
        return result
    result |= {"lr_used": config.lr, "test_accuracy": row.test_accuracy, "right": packed_bits(row.right)}
    if config.model == "vit" and row.failed is None:
        side = pictures(cell["data"]).image_size
        permutation = GridPermutation(side, config.tile, config.tile_seed) if config.tile else None
        result["locality"] = rounded(learned_locality(row.model, permutation))
        if config.seed == 0 or config.patch_size == 2:
            result["positions"] = encode(row.model.positions[0].detach())
    return result


def packed_bits(right: np.ndarray) -> str:
    """Right and wrong answers as one text, in hexadecimal, eight to a byte."""
    return np.packbits(right).tobytes().hex()


def answers(text: str, n: int = 10_000) -> np.ndarray:
    """(n,) booleans behind a text of :func:`packed_bits`.

    Examples
    --------
    >>> answers(packed_bits(np.array([True, False, True])), 3).tolist()
    [True, False, True]
    """
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8))[:n].astype(bool)


@contextmanager
def ready(chosen: list[dict], done) -> Iterator[Runs]:
    """The runs of some cells, set up on the device."""
    runs_of_cells = [settings(cell, done) for cell in chosen]
    shown = pictures(chosen[0]["data"])
    if chosen[0]["part"] == "rates":
        shown = replace(shown, test_images=shown.test_images[:1], test_labels=shown.test_labels[:1])
    configs = [TrainConfig(**options) for cell in runs_of_cells for options in cell.values()]
    with Together(configs, shown, val_every=VAL_EVERY[chosen[0]["part"]]) as runs:
        yield Runs(chosen, done, runs, [list(cell) for cell in runs_of_cells])


def alike(one: dict, other: dict) -> bool:
    """May two cells run side by side? Part, data, recipe, epochs and (but for CNNs) model must agree.

    Pairs of the seeds that come later are not taken along with the first ones.
    """

    def network(cell):
        return "cnn" if cell.get("model") in CNNS else cell.get("model")

    def later(cell):
        return cell["part"] == "pair" and cell["seed"] in MORE

    names = ("part", "data", "recipe", "epochs")
    same = all(one.get(n) == other.get(n) for n in names)
    return same and network(one) == network(other) and later(one) == later(other)


def least(chosen: list[dict]) -> float:
    """Seconds that no machine goes below, by :data:`FASTEST`."""
    shown = sum(settings["epochs"] for cell in chosen for settings in _lengths(cell)) * 45_000
    return shown / FASTEST[chosen[0]["part"]]


def _lengths(cell: dict) -> list[dict]:
    if cell["part"] == "rates":
        return [{"epochs": PILOT_EPOCHS}]
    if cell["part"] == "figure-5":
        return [{"epochs": cell["epochs"]}]
    return 2 * [{"epochs": 200 if cell["recipe"] == "vit-cifar" else EPOCHS}]


def run(**cell) -> dict:
    """A cell by itself: the pilot, or one that needs none of it."""
    with ready([cell], ()) as runs:
        return runs.run()[0]


#: Epochs of the run that was made before the design above, in the time that there was.
ALONE = 185


def alone_cell(attention: str, epochs: int, seed: int) -> dict:
    """One run of the loop of ``train``, with nothing beside it.

    Returns
    -------
    dict
        ``test_accuracy`` after the last epoch, ``test_n``, ``parameters``, ``metrics`` by epoch,
        ``locality`` of P, ``positions``, and ``images_per_s``, the median over epochs.
    """
    options: dict[str, Any] = preset("cifar100").as_dict() | MACHINE
    options |= dict(attention=attention, epochs=epochs, seed=seed, compile=True)
    made = train(TrainConfig(**options), progress=False, data=pictures("cifar100"))
    return kept_alone(made.record, made.model.get_parameter("positions")[0].detach())


def kept_alone(record: dict, P) -> dict:
    """What is kept of the record of such a run."""
    speeds = [epoch["images_per_s"] for epoch in record["timing"]]
    result = {
        "test_accuracy": record["test"]["accuracy"], "test_n": record["test"]["n"],
        "parameters": record["parameters"], "metrics": record["metrics"], "locality": record["locality"],
        "images_per_s": float(np.median(speeds)),
    }  # fmt: skip
    return rounded(result, 4) | {"test_accuracy": record["test"]["accuracy"], "positions": encode(P)}


def one_file(name: str) -> dict:
    """Where the pictures of one set come from, once its file is at hand."""
    checked(name)
    return {"source": SOURCES[name], "sha256": FILES[name]}


SWEEPS = (
    Sweep(
        name="section-six",
        summary="Section 6 at the paper's size on CIFAR-100 and CIFAR-10 (JPEG): Figures 5 and 7.",
        cells=cells(),
        run=run,
        config={
            "pilot": {"epochs": PILOT_EPOCHS, "seed": PILOT_SEED, "rates": list(RATES)},
            "epochs": EPOCHS, "recipes": ["book", "vit-cifar", "P from N(0, 1)"], "tokens": "float32",
            "files": FILES, "sources": SOURCES,
        },
        data=data,
        device="cuda",
        parallel=False,
        grows=True,
        scheduler=SideBySide(alike, 10, ready, least),
    ),
    Sweep(
        name="cifar100_positional_185",
        summary="The paper's ViT with positional attention for 185 epochs on CIFAR-100 (JPEG).",
        cells=grid(attention="positional", epochs=ALONE, seed=0),
        run=alone_cell,
        config={"preset": "cifar100", "precision": "bf16", "compile": True},
        data=partial(one_file, "cifar100"),
        device="cuda",
        parallel=False,
    ),
)  # fmt: skip
