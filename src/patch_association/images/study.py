"""What the chapters on images do with short runs: train a coupled pair, and ask where a model looks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association._validate import positive_int
from patch_association.images.data import ImageSet
from patch_association.images.permutation import GridPermutation
from patch_association.images.short import ShortRun, in_double, train_short
from patch_association.images.vit import ViT, ViTConfig


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
    augmented pictures in the same order, the second one shuffled after augmentation.

    Parameters
    ----------
    config : ViTConfig
    data : ImageSet
    permutation : GridPermutation
    steps : int
    seed : int
        Of the start and of the batches.
    settings
        Handed to :func:`~patch_association.images.short.train_short`: batch_size, lr.

    Raises
    ------
    ValueError
        If a tile does not consist of whole patches, and where ``train_short`` does.
    """
    N, order = config.num_patches, torch.from_numpy(permutation.patch_order(config.patch_size))
    first, second = ViT(config, seed).double(), ViT(config, seed).double()
    start = first.positions.detach().clone()
    with torch.no_grad():
        second.positions[:, :N] = start[:, order]  # a class token's position comes last and stays
    settings |= dict(steps=steps, seed=seed)
    original = train_short(first, data, **settings)
    shuffled = train_short(second, data, permutation=permutation, **settings)
    learned, expected = first.positions.detach(), first.positions.detach().clone()
    expected[:, :N] = learned[:, order]
    return CoupledRuns(
        original,
        shuffled,
        losses_apart=float(np.abs(original.losses - shuffled.losses).max()),
        positions_apart=float((second.positions.detach() - expected).abs().max()),
        moved=float((learned - start).abs().max()),
    )


@dataclass(frozen=True)
class AttentionMaps:
    """Where a layer looks.

    Attributes
    ----------
    maps : (H, N, N) array
        S of each head: for vanilla attention a mean over pictures, for positional attention the same for all.
    entropy : float
        The mean entropy of a row of S, before any averaging, over its largest value log N: 1 if
        every row is uniform.
    """

    maps: np.ndarray
    entropy: float


def attention_maps(model: ViT, data: ImageSet, pictures: int = 100, layer: int = 0) -> AttentionMaps:
    """The attention of one layer on the first test pictures, in double precision on the CPU.

    The model is moved and converted for it, as :func:`~patch_association.images.short.train_short` does.
    """
    chosen = in_double(data)(data.test_images[: positive_int("pictures", pictures)])
    with torch.no_grad():
        # (B, H, N, N) for vanilla, (H, N, N) for positional attention
        S = model.cpu().double()(chosen, return_all=True)[1]["attention"][layer]
    rows = -torch.special.xlogy(S, S).sum(dim=-1)
    entropy = float(rows.mean()) / np.log(S.shape[-1])
    return AttentionMaps((S.mean(dim=0) if S.ndim == 4 else S).numpy(), float(entropy))
