"""Short training runs in double precision, for chapters: the same curve on every machine.

In single precision two machines round differently, and after a few hundred steps a small network's
accuracy differs in its second digit. In double precision the digits that a chapter prints agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from patch_association._validate import positive_int
from patch_association.images.augment import augment, draw
from patch_association.images.data import ImageSet
from patch_association.images.permutation import GridPermutation
from patch_association.images.step import learning_rate


@dataclass(frozen=True)
class ShortRun:
    """What a short run gives back.

    Attributes
    ----------
    losses : (steps,) array
        The training loss of each batch.
    right : (n,) boolean array
        Which test pictures the model classifies correctly.
    """

    losses: np.ndarray
    right: np.ndarray

    @property
    def accuracy(self) -> float:
        """The share of the test pictures that are classified correctly."""
        return float(self.right.mean())


def train_short(
    model: nn.Module,
    data: ImageSet,
    steps: int,
    batch_size: int = 64,
    lr: float = 3e-3,
    permutation: GridPermutation | None = None,
    seed: int = 0,
) -> ShortRun:
    """Train ``model`` in double precision and test it once.

    AdamW without weight decay, a warm-up over the first tenth of the steps, then a cosine; shifts
    and reflections, and after them the shuffle. The batches depend on ``seed`` alone, so that two
    models, or two shuffles, see the same pictures in the same order.

    Parameters
    ----------
    steps : int
    permutation : GridPermutation, optional
        Applied to training and test pictures.
    """
    steps, batch_size = positive_int("steps", steps), positive_int("batch_size", batch_size)
    generator = torch.Generator().manual_seed(positive_int("seed", seed, minimum=0))
    model.double().train()
    device, prepared = next(model.parameters()).device, in_double(data, permutation)

    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)
    losses = np.empty(steps)
    for step in range(steps):
        chosen = torch.randint(len(data.train_images), (batch_size,), generator=generator)
        draws = draw("shift-flip", batch_size, data.image_size, generator)
        images = prepared(augment(data.train_images[chosen], draws)).to(device)
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps, max(1, steps // 10), lr)
        loss = F.cross_entropy(model(images), data.train_labels[chosen].to(device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses[step] = loss.item()
    return ShortRun(losses, guess(model, data, permutation) == data.test_labels.numpy())


@torch.no_grad()
def guess(model: nn.Module, data: ImageSet, permutation: GridPermutation | None = None) -> np.ndarray:
    """The class (n,) that ``model`` gives each test picture, shuffled first where ``permutation`` says how.

    The model is left in double precision and in evaluation mode.
    """
    model.double().eval()
    device, prepared = next(model.parameters()).device, in_double(data, permutation)
    found = [model(prepared(batch).to(device)).argmax(dim=1).cpu() for batch in data.test_images.split(500)]
    return torch.cat(found).numpy()


def in_double(
    data: ImageSet, permutation: GridPermutation | None = None
) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function from uint8 pictures (..., c, H, W) to what a model in double precision is shown.

    The pictures are shuffled where ``permutation`` says how, and normalized by the mean and the
    standard deviation of each channel of the training pictures. These are computed here, once.
    """
    mean, std = (x.double()[:, None, None] for x in data.statistics())

    def prepared(images):
        shuffled = images if permutation is None else permutation(images)
        return (shuffled.double() / 255 - mean) / std

    return prepared
