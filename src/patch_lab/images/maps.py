"""Where a model looks: its attention maps on pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association.checks import made_of, positive_int
from patch_association.images.vit import ViT
from patch_lab.images.data.sets import ImageSet
from patch_lab.images.training.short import in_double


@dataclass(frozen=True)
class AttentionMaps:
    """The attention maps of a layer, and what is read off them.

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

    The model is moved and converted for it, as :func:`~patch_lab.images.training.train_short` does.

    Raises
    ------
    ValueError
        If model or data are none, the model has no such layer, or no picture is asked for.
    """
    made_of("model", model, "ViT", "config", "blocks")
    made_of("data", data, "ImageSet", "test_images", "statistics")
    if positive_int("layer", layer, minimum=0) >= len(model.blocks):
        raise ValueError(f"layer must be below {len(model.blocks)}, the model's depth, got {layer}")
    chosen = in_double(data)(data.test_images[: positive_int("pictures", pictures)])
    with torch.no_grad():
        # (B, H, N, N) for vanilla, (H, N, N) for positional attention
        S = model.cpu().double()(chosen, return_all=True)[1]["attention"][layer]
    rows = -torch.special.xlogy(S, S).sum(dim=-1)
    entropy = float(rows.mean()) / np.log(S.shape[-1])
    return AttentionMaps((S.mean(dim=0) if S.ndim == 4 else S).numpy(), entropy)
