"""Can a ViT live with fixed attention? The pretrained ViT-Tiny/16 with fixed maps, the rest trained.

The maps of all heads are fixed, so that no picture decides where to look; everything else is then trained to
give the classes the probabilities that the unchanged model gives them, on pictures of 100 classes of
Tiny ImageNet at their 64 pixels, enlarged. No label is used.
"""

from __future__ import annotations

import copy
from functools import lru_cache

import numpy as np
import torch
from torch.nn import functional as F

from patch_lab.images.data import load
from patch_lab.images.dissect import FixedAttention, kl, normalized
from patch_lab.images.sweeps.vit_tiny import file, of_vit_tiny, subject
from patch_lab.images.training.config import learning_rate
from patch_lab.kit.records import rounded

# The rate had the least divergence on other pictures after 60 steps, among 1e-4, 2e-4, 5e-4 and 1e-3.
TRAIN = 6400
HELD_OUT = 1000
EPOCHS = 2
BATCH = 32
RATE = 2e-4
_STEPS = EPOCHS * TRAIN // BATCH
TESTED = (0, _STEPS // 5, _STEPS // 2, _STEPS)


@lru_cache(maxsize=1)
def _pictures():
    """Pictures to train on and held-out ones, and the places of their classes among ImageNet's."""
    path = file("tiny_imagenet_halfA.npz")
    with np.load(path) as archive:
        places = torch.from_numpy(archive["imagenet_index"].astype(np.int64))
    return load("tiny-imagenet", path, TRAIN, HELD_OUT), places


@lru_cache(maxsize=2)
@torch.no_grad()
def _wanted(part: str) -> torch.Tensor:
    """The unchanged model's logits of "train_images" or "test_images"."""
    teacher = subject().model
    images = getattr(_pictures()[0], part)
    return torch.cat([teacher(enlarged(batch, teacher.config.image_size)) for batch in images.split(50)])


def enlarged(images: torch.Tensor, side: int) -> torch.Tensor:
    """uint8 pictures as the model sees them, at ``side`` pixels."""
    size = (side, side)
    return normalized(F.interpolate(images.float(), size, mode="bicubic", antialias=True).clamp(0, 255))


def recovery(maps: str, seed: int, steps: int, rate: float = RATE) -> dict:
    """Fix the maps, train the rest (AdamW, bfloat16 products), and test on the way in single precision.

    Parameters
    ----------
    maps : "mean", "uniform" or "own"
        "own": nothing is fixed; with no steps what is to be recovered, else what training does by itself.
    seed : int
        Of the order of the pictures.
    steps : int
        Of training.

    Returns
    -------
    dict
        ``curve``: for some steps the shares of right classes among ``crops``, the half of the thousand
        ImageNet crops on which the maps were not estimated, and ``held_out``, pictures of Tiny ImageNet
        that were not trained on, of its 100 classes; ``kl`` to the unchanged model, on the latter, in nats.
    """
    s = subject()
    student = copy.deepcopy(s.model).requires_grad_(True)
    side = s.model.config.image_size
    kinds = {"mean": s.maps[0, 0], "uniform": torch.full_like(s.maps[0, 0], 1 / s.maps.shape[-1])}
    network = FixedAttention(student, dict(enumerate(kinds[maps])) if maps in kinds else {})
    data, places = _pictures()
    wanted_held = _wanted("test_images")
    other = torch.nonzero(s.halves[0] == 1).flatten()

    @torch.no_grad()
    def tested():
        crops = torch.cat([network(normalized(s.images[batch])) for batch in other.split(50)])
        held = torch.cat([network(enlarged(batch, side)) for batch in data.test_images.split(50)])
        return {
            "crops": float((crops.argmax(dim=1) == s.labels[other]).float().mean()),
            "held_out": float((held[:, places].argmax(dim=1) == data.test_labels).float().mean()),
            "kl": float(kl(wanted_held, held).mean()),
        }

    optimizer = torch.optim.AdamW(student.parameters(), lr=rate, weight_decay=0.0)
    generator = torch.Generator().manual_seed(seed)
    epochs = range(-(-steps * BATCH // TRAIN))
    order = [place for _ in epochs for place in torch.randperm(TRAIN, generator=generator).tolist()]
    curve = [{"step": 0, **tested()}]
    for step in range(steps):
        chosen = order[step * BATCH : (step + 1) * BATCH]
        with torch.autocast("cpu", torch.bfloat16):
            logits = network(enlarged(data.train_images[chosen], side))
        loss = kl(_wanted("train_images")[chosen], logits.float()).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps, max(1, steps // 20), rate)
        optimizer.step()
        if step + 1 in TESTED or step + 1 == steps:
            curve.append({"step": step + 1, **tested(), "loss": loss.item()})
    return {"curve": rounded(curve, 4), "n_crops": len(other), "n_held_out": len(wanted_held)}


_CELLS = (
    *(("mean", 0, _STEPS), ("own", 0, 0), ("uniform", 0, _STEPS), ("own", 0, _STEPS)),
    *(("mean", 1, _STEPS), ("mean", 2, _STEPS)),
)
SWEEPS = (
    of_vit_tiny(
        "vit_recovery",
        "A pretrained ViT-Tiny/16 with fixed attention maps, the rest trained on 6,400 pictures.",
        tuple(dict(maps=maps, seed=seed, steps=steps) for maps, seed, steps in _CELLS),
        recovery,
        dict(train=TRAIN, held_out=HELD_OUT, epochs=EPOCHS, batch=BATCH, rate=RATE, threads=1),
    ),
)
