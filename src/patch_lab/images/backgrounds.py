"""Pictures in front of backgrounds, and a ViT that sees some of the patches: section 4.2 of Li et al. (2023).

A picture is shrunk to ``side`` pixels and replaces a square of a background at a random place. How much of a
patch is picture is its coverage; the mean coverage of the patches that remain plays the role of alpha_*, the
fraction of label-relevant tokens. Patches are removed with the least covered first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.nn import functional as F

from patch_association.checks import fits_memory, one_of, positive_int, seed_number
from patch_association.images.vit import ViT, patches
from patch_association.streams import Stream, generator
from patch_lab.images.training.config import learning_rate

#: Side of the pasted picture in section 4.2, in pixels.
SIDE = 26


@dataclass(frozen=True)
class Scenes:
    """Pictures in front of backgrounds.

    Attributes
    ----------
    images : (n, 3, H, H) uint8 tensor
    labels : (n,) int64 tensor
    covered : (n, H, H) boolean tensor
        Which pixels belong to the picture.
    """

    images: torch.Tensor
    labels: torch.Tensor
    covered: torch.Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def coverage(self, patch_size: int) -> torch.Tensor:
        """(n, N) what share of each patch is picture."""
        return patches(self.covered[:, None].float(), patch_size).mean(dim=-1)

    def most_covered(self, count: int, patch_size: int) -> torch.Tensor:
        """(n, count) the patches of each scene that are picture most, in the order of the grid."""
        coverage = self.coverage(patch_size)
        if not positive_int("count", count) <= coverage.shape[1]:
            raise ValueError(f"count must be at most the {coverage.shape[1]} patches, got {count}")
        return coverage.topk(count, dim=1).indices.sort(dim=1).values

    def relevant(self, keep: torch.Tensor, patch_size: int) -> float:
        """alpha_*: the mean coverage of the patches ``keep`` (n, K)."""
        return float(self.coverage(patch_size).gather(1, keep).mean())


def compose(pictures: torch.Tensor, labels, backgrounds: torch.Tensor, seed: int, side: int = SIDE) -> Scenes:
    """Shrink each picture to ``side`` pixels and put it at a random place of its background.

    Parameters
    ----------
    pictures, backgrounds : (n, 3, H, H) uint8 tensors
    labels : (n,) int64 tensor
    seed : int
        Of the places.
    """
    n, _, H, _ = pictures.shape
    if backgrounds.shape != pictures.shape or pictures.dtype != torch.uint8 != backgrounds.dtype:
        raise ValueError(
            f"backgrounds must be uint8 like the pictures, {tuple(pictures.shape)}, got "
            f"{backgrounds.dtype} of {tuple(backgrounds.shape)}"
        )
    if not positive_int("side", side) <= H:
        raise ValueError(f"side must be at most the {H} pixels of a background, got {side}")
    small = F.interpolate(pictures.float(), size=side, mode="bilinear", antialias=True)
    small = small.round().clamp(0, 255).to(torch.uint8)
    images = backgrounds.clone()
    covered = torch.zeros(n, H, H, dtype=torch.bool)
    places = generator(seed, Stream.PLACES).integers(0, H - side + 1, (n, 2))
    for k, (top, left) in enumerate(places.tolist()):
        images[k, :, top : top + side, left : left + side] = small[k]
        covered[k, top : top + side, left : left + side] = True
    return Scenes(images, torch.as_tensor(labels), covered)


def backgrounds(source: str, n: int, seed: int, held_out: bool = False, size: int = 32) -> torch.Tensor:
    """n backgrounds, (n, 3, size, size) uint8.

    Parameters
    ----------
    source : str
        "clean" (black), "noise" (every pixel by itself), or "plants" (windows of the photograph of a flower
        that ships with scikit-learn, 32 pixels).
    held_out : bool
        Plants from the part of the photograph that is kept for tests.
    """
    one_of("source", source, "clean", "noise", "plants")
    n = positive_int("n", n)
    size = positive_int("size", size)
    fits_memory(f"{n:,} pictures of {size:,} pixels a side", 3 * n * size**2, 1)
    draw = generator(seed, Stream.BACKGROUNDS)
    if source == "clean":
        return torch.zeros(n, 3, size, size, dtype=torch.uint8)
    if source == "noise":
        return torch.from_numpy(draw.integers(0, 256, (n, 3, size, size), dtype=np.uint8))
    stock = _plants(held_out)
    if stock.shape[-1] != size:
        raise ValueError(f"plants have {stock.shape[-1]} pixels a side, and {size} were asked for")
    return stock[torch.from_numpy(draw.integers(0, len(stock), n))]


def _plants(held_out):
    from patch_lab.images.data.embedded import photographs

    data = photographs()
    name = data.classes.index("flower")
    if held_out:
        return data.test_images[data.test_labels == name]
    return data.train_images[data.train_labels == name]


def logits_of(model: ViT, images: torch.Tensor, keep: torch.Tensor | None = None) -> torch.Tensor:
    """Logits (B, classes) of a vanilla ViT that sees the patches ``keep`` (B, K) alone.

    A removed patch is gone from all sums and softmaxes; those that stay keep their positions. Without
    ``keep`` this is ``model(images)``.
    """
    if keep is None:
        return model(images)
    c = model.config
    if (c.attention, c.positions, c.pooling) != ("vanilla", "paper", "mean"):
        raise ValueError(f"model must be a vanilla ViT with mean pooling, got {c}")
    x = model.embed(patches(images, c.patch_size)) + model.positions[0]
    x = x.gather(1, keep[..., None].expand(-1, -1, x.shape[-1]))  # (B, N, width) -> (B, K, width)
    for block in model.blocks:
        x, _ = block(x, None, False)
    return model.head(model.norm(x.mean(dim=1)))


def train_on_scenes(
    model: ViT,
    scenes: Scenes,
    keep: torch.Tensor | None,
    *,
    epochs: int,
    lr: float = 2e-3,
    batch_size: int = 50,
    seed: int = 0,
) -> np.ndarray:
    """Train by AdamW with a warm-up and a cosine; returns the training loss of each epoch."""
    epochs = positive_int("epochs", epochs)
    batch_size = positive_int("batch_size", batch_size)
    shuffle = torch.Generator().manual_seed(seed_number("seed", seed))
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    per_epoch = -(-len(scenes) // batch_size)
    total = epochs * per_epoch
    losses = np.zeros(epochs)
    model.train()
    for epoch in range(epochs):
        order = torch.randperm(len(scenes), generator=shuffle).split(batch_size)
        for step, chosen in enumerate(order):
            optimizer.param_groups[0]["lr"] = learning_rate(epoch * per_epoch + step, total, total // 10, lr)
            x = as_input(scenes.images[chosen], model)
            loss = F.cross_entropy(
                logits_of(model, x, None if keep is None else keep[chosen]), scenes.labels[chosen]
            )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses[epoch] += float(loss.detach()) * len(chosen) / len(scenes)
    return losses


@torch.no_grad()
def right_answers(model: ViT, scenes: Scenes, keep: torch.Tensor | None) -> np.ndarray:
    """(n,) which scenes the model classifies correctly."""
    model.eval()
    guesses = []
    for chosen in torch.arange(len(scenes)).split(250):
        x = as_input(scenes.images[chosen], model)
        guesses.append(logits_of(model, x, None if keep is None else keep[chosen]).argmax(dim=1))
    return (torch.cat(guesses) == scenes.labels).numpy()


def as_input(images: torch.Tensor, model: ViT) -> torch.Tensor:
    """uint8 pictures as numbers about between -2 and 2, in the model's precision."""
    return (images.to(model.positions.dtype) / 255 - 0.5) / 0.25


def with_head(model: ViT, num_classes: int, seed: int) -> ViT:
    """A copy for another set of classes: everything learned stays, the last layer is drawn anew."""
    fresh = ViT(replace(model.config, num_classes=num_classes), seed).to(model.positions.dtype)
    kept = {name: value for name, value in model.state_dict().items() if not name.startswith("head.")}
    fresh.load_state_dict(fresh.state_dict() | kept)
    return fresh
