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

from patch_association.checks import positive_int, seed_number
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.data.augment import augment, draw
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.data.sets import ImageSet
from patch_lab.images.training.config import learning_rate


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
    steps = positive_int("steps", steps)
    batch_size = positive_int("batch_size", batch_size)
    generator = torch.Generator().manual_seed(seed_number("seed", seed))
    model.double().train()
    device = next(model.parameters()).device
    prepared = in_double(data, permutation)

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
    device = next(model.parameters()).device
    prepared = in_double(data, permutation)
    guesses = [model(prepared(batch).to(device)).argmax(dim=1).cpu() for batch in data.test_images.split(500)]
    return torch.cat(guesses).numpy()


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


@dataclass(frozen=True)
class CoupledRuns:
    """Training on pictures, and on shuffled pictures from the renamed start.

    Attributes
    ----------
    original, shuffled : ShortRun
    losses_apart : float
        The largest difference of their losses, over all steps, in nats.
    positions_apart : float
        The largest entry of P' - Pi P after the last step.
    moved : float
        The largest entry by which training has changed P: what ``positions_apart`` is to be held against.
    """

    original: ShortRun
    shuffled: ShortRun
    losses_apart: float
    positions_apart: float
    moved: float

    @property
    def gap(self) -> float:
        """The larger of ``losses_apart`` and ``positions_apart``: zero in exact arithmetic."""
        return max(self.losses_apart, self.positions_apart)

    @property
    def differ(self) -> int:
        """Test pictures that one model classifies correctly and the other does not."""
        return int((self.original.right != self.shuffled.right).sum())


def coupled_runs(
    config: ViTConfig, data: ImageSet, permutation: GridPermutation, steps: int, seed: int = 0, **settings
) -> CoupledRuns:
    """Train a ViT on pictures from the start (theta, P), and on shuffled ones from (theta, Pi P).

    Row i of Pi P is row ``permutation.patch_order(patch_size)[i]`` of P. Both runs see the same
    augmented pictures in the same order, the second one shuffled after augmentation. ``settings``
    (batch_size, lr) and the refusals are those of :func:`train_short`; a tile that does not consist
    of whole patches is refused too.
    """
    N = config.num_patches
    order = torch.from_numpy(permutation.patch_order(config.patch_size))
    first, second = ViT(config, seed).double(), ViT(config, seed).double()
    start = first.positions.detach().clone()
    with torch.no_grad():
        second.positions[:, :N] = start[:, order]  # a class token's position comes last and stays
    settings |= dict(steps=steps, seed=seed)
    original = train_short(first, data, **settings)
    shuffled = train_short(second, data, permutation=permutation, **settings)
    learned = first.positions.detach()
    expected = first.positions.detach().clone()
    expected[:, :N] = learned[:, order]
    return CoupledRuns(
        original,
        shuffled,
        losses_apart=float(np.abs(original.losses - shuffled.losses).max()),
        positions_apart=float((second.positions.detach() - expected).abs().max()),
        moved=float((learned - start).abs().max()),
    )
