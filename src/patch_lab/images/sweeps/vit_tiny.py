"""The pretrained ViT-Tiny/16 and the pictures that the sweeps of ``images/pretrained`` look at it with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from patch_association.images.pretrained import encodings_of
from patch_association.images.vit import ViT
from patch_lab.images.data import ENVIRONMENT, data_root
from patch_lab.images.data.packed import load_crops
from patch_lab.images.dissect import Inside, normalized, start, through
from patch_lab.images.pretrained_vit import vit_of
from patch_lab.kit.sweeps.sweep import Sweep

#: What must lie in the data folder, by sha256.
FILES = {
    "vit_tiny_patch16_224.npz": "e23b795e737e7d2da40762b3f17515ff566bef7b2dd4d96ede14cf17282c963a",
    "imagenet1000_crop224.npz": "8ef8a3757ff8f98e87325f819f3cad5574dcdda96edf3555732e7d6936c04aee",
    "tiny_imagenet_halfA.npz": "2f7e64ec05de6eb24b5e2730cbc5197022e223be5cc7bb780c942ece539a2544",
    "deit_tiny_patch16_224.npz": "5a64b2b56979cd8f741a3f335912959176a239c1f365118b072d4a837860bfe9",
}
SOURCES = {
    "weights": "ViT-Tiny/16-224 (AugReg, ImageNet) under timm's names, Apache-2.0; tensors of "
    "github.com/codr-shiv/VisionTransformer b2d262d3",
    "pictures": "one picture of each ImageNet class, github.com/EliSchwartz/imagenet-sample-images bc69043e: "
    "shorter side 248, middle 224, JPEG; not shipped",
    "tiny_imagenet": "every second class of Tiny ImageNet, github.com/seshuad/IMagenet 153dbc16; not shipped",
    "deit": "encodings of DeiT-Tiny/16-224, Apache-2.0; github.com/einlang/einlang 0ebbb5ff",
}
SPLITS = (0, 1, 2)
_BATCH = 50


def file(name: str) -> Path:
    """A file of the data folder, once its bytes are those of the record."""
    path = data_root() / name
    if not path.is_file():
        raise ValueError(f"{path} is missing: put {name} into a folder and name it in {ENVIRONMENT}")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    if sha256 != FILES[name]:
        raise ValueError(f"{path} is another file than the record's: sha256 {sha256}, expected {FILES[name]}")
    return path


def data() -> dict:
    """Where the weights and the pictures come from, and what they are, once all are at hand."""
    for name in FILES:
        file(name)
    digest = hashlib.sha256("".join(FILES.values()).encode()).hexdigest()
    return {"source": "; ".join(SOURCES.values()), "sha256": digest}


def of_vit_tiny(name: str, summary: str, cells, run, config: dict, grows: bool = False) -> Sweep:
    """A sweep on the pretrained ViT; its record says which files it was made from."""
    return Sweep(name, summary, cells, run, {**config, "files": FILES, "sources": SOURCES}, data, grows=grows)


@dataclass(frozen=True)
class Subject:
    """The model, the pictures, and what it does with them when nothing is changed.

    Attributes
    ----------
    model : ViT
    images : (n, 3, H, H) uint8 tensor
    labels : (n,) tensor
    seen : list of (n, T, width) tensors
        The tokens that enter each layer.
    logits : (n, classes) tensor
    halves : (splits, n) booleans
        For each split the half of the pictures that a picture belongs to. What is estimated for the
        pictures of one half is estimated on the other.
    maps : (splits, 2, L, H, T, T) tensor
        Mean attention over each half.
    means : (splits, 2, L, T, width) tensor
        Mean of the tokens that enter each layer, over each half.
    """

    model: ViT
    images: torch.Tensor
    labels: torch.Tensor
    seen: list[torch.Tensor]
    logits: torch.Tensor
    halves: torch.Tensor
    maps: torch.Tensor
    means: torch.Tensor

    @property
    def grid(self) -> int:
        """Patches per side."""
        return self.model.config.grid

    def batches(self):
        """Slices of the pictures."""
        for first in range(0, len(self.labels), _BATCH):
            yield slice(first, first + _BATCH)


def halves(n: int) -> torch.Tensor:
    """(splits, n): each split draws which half of the pictures each belongs to."""
    drawn = [np.random.default_rng(seed).permutation(n) < n // 2 for seed in SPLITS]
    return torch.from_numpy(np.stack(drawn))


@torch.no_grad()
def observe(model: ViT, images: torch.Tensor, labels: torch.Tensor) -> Subject:
    """Run the model once over the pictures and keep what the sweeps need."""
    c = model.config
    n = len(labels)
    halved = halves(n)
    tokens = c.num_tokens
    maps = torch.zeros(len(SPLITS), 2, c.depth, c.heads, tokens, tokens)
    seen: list[list[torch.Tensor]] = [[] for _ in range(c.depth)]
    logits = []
    for first in range(0, n, _BATCH):
        here: list[torch.Tensor] = []
        x = start(model, normalized(images[first : first + _BATCH]))
        logits.append(through(model, x, seen=here))
        for layer, x in enumerate(here):
            seen[layer].append(x)
            S = Inside(model.blocks[layer], x).attention()
            for split, half in enumerate(halved[:, first : first + _BATCH]):
                for k in (0, 1):
                    maps[split, k, layer] += S[half == k].sum(dim=0)
    counts = torch.stack([(halved == k).sum(dim=1) for k in (0, 1)], dim=1)  # (splits, 2)
    maps /= counts[..., None, None, None, None]
    outputs = [torch.cat(parts) for parts in seen]
    means = torch.stack([
        torch.stack([torch.stack([x[half == k].mean(dim=0) for x in outputs]) for k in (0, 1)])
        for half in halved.int()
    ])  # fmt: skip
    return Subject(model, images, labels, outputs, torch.cat(logits), halved.int(), maps, means)


@lru_cache(maxsize=1)
def subject() -> Subject:
    """The ViT-Tiny/16 and the thousand pictures."""
    model = vit_of(file("vit_tiny_patch16_224.npz"), heads=3, norm="before")
    return observe(model, *load_crops(file("imagenet1000_crop224.npz")))


@lru_cache(maxsize=1)
def deit_encodings() -> torch.Tensor:
    """P of DeiT-Tiny/16, (196, 192)."""
    return encodings_of(file("deit_tiny_patch16_224.npz"))
