"""Where a model looks: its attention maps on pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association._validate import made_of, positive_int
from patch_association.images.data.sets import ImageSet
from patch_association.images.models.vit import ViT
from patch_association.images.training.short import in_double


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

    The model is moved and converted for it, as :func:`~patch_association.images.training.train_short` does.

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


def positional_share(attention: torch.Tensor) -> torch.Tensor:
    """How positional attention is, by layer and head: 1 if it is the same on every picture.

    Of the squared deviation from uniform attention, what the mean map explains. The mean is over one half of
    the pictures and is tested on the other, both ways, so that a share near zero, or below, means that
    other pictures say nothing.

    Parameters
    ----------
    attention : (L, B, H, N, N) tensor
        Of :func:`~patch_association.images.pretrained.attention_of`; at least two pictures.

    Returns
    -------
    (L, H) tensor

    Raises
    ------
    ValueError
        If ``attention`` is no tensor of finite floating-point numbers of this shape.

    Examples
    --------
    >>> S = torch.eye(4).expand(1, 6, 1, 4, 4)
    >>> positional_share(S)
    tensor([[1.]])
    """
    if not isinstance(attention, torch.Tensor) or not attention.is_floating_point():
        raise ValueError(f"attention must be a tensor of real numbers, got {type(attention).__name__}")
    if attention.ndim != 5 or attention.shape[1] < 2:
        raise ValueError(
            f"attention must have shape (L, B, H, N, N) with B > 1, got {tuple(attention.shape)}"
        )
    if not torch.isfinite(attention).all():
        raise ValueError("attention must be finite, got NaN or infinite entries")
    halves = attention[:, 0::2], attention[:, 1::2]
    rest = energy = 0
    for tested, other in (halves, halves[::-1]):
        uniform = tested.mean(dim=-1, keepdim=True)  # of each row: what goes to other tokens stays out
        rest = rest + ((tested - other.mean(dim=1, keepdim=True)) ** 2).sum(dim=(1, 3, 4))
        energy = energy + ((tested - uniform) ** 2).sum(dim=(1, 3, 4))
    return 1 - rest / energy
