"""The attention of one training put into another: maps, their heads put in order, and how alike they are."""

from __future__ import annotations

import torch
from scipy.optimize import linear_sum_assignment

from patch_association.checks import made_of
from patch_association.images.vit import ViT

_AT_ONCE = 500


@torch.no_grad()
def mean_maps(model: ViT, images: torch.Tensor) -> torch.Tensor:
    """What each head looks at: its mean attention over pictures or, if positional, that on every picture.

    Parameters
    ----------
    model : ViT
    images : (n, c, side, side) tensor
        Prepared as for ``model``, at least one.

    Returns
    -------
    (L, H, N, N) tensor

    Raises
    ------
    ValueError
        If ``model`` is no ViT, or there are no pictures.

    Examples
    --------
    >>> from patch_association.images import ViT, ViTConfig
    >>> model = ViT(ViTConfig.named("reader", patch_size=8))
    >>> S = mean_maps(model, torch.zeros(3, 3, 32, 32))
    >>> S.shape, bool(torch.allclose(S.sum(dim=-1), torch.ones(1, 4, 16)))
    (torch.Size([1, 4, 16, 16]), True)
    """
    made_of("model", model, "ViT", "config", "blocks")
    if not len(images):
        raise ValueError("images must hold at least one picture, got none")
    sums = torch.zeros((), dtype=model.positions.dtype)
    for batch in images.split(_AT_ONCE):
        maps = model(batch, return_all=True)[1]["attention"]
        # (B, H, N, N) by layer for vanilla attention; (H, N, N), the same on each picture, for positional
        sums = sums + torch.stack([S.sum(dim=0) if S.ndim == 4 else len(batch) * S for S in maps])
    return sums / len(images)


def matched(own: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The maps ``other``, the heads of each layer in the order of least squared distance to ``own``.

    Heads have no order of their own: with W_O reordered too, a ViT computes the same.

    Parameters
    ----------
    own, other : (L, H, N, N) tensors

    Returns
    -------
    (L, H, N, N) tensor

    Raises
    ------
    ValueError
        If the shapes are not such, or differ.

    Examples
    --------
    >>> own = torch.rand(2, 3, 4, 4)
    >>> torch.equal(matched(own, own[:, [2, 0, 1]]), own)
    True
    """
    _alike(own, other)
    ordered = torch.empty_like(other)
    for layer, (one, two) in enumerate(zip(own, other)):
        squares = ((one[:, None] - two[None]) ** 2).sum(dim=(-1, -2))  # (H, H)
        ordered[layer] = two[linear_sum_assignment(squares.cpu().numpy())[1]]
    return ordered


def correlations(own: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Correlation of two maps over all pairs of patches, by layer and head: 1 if they are alike.

    Parameters
    ----------
    own, other : (L, H, N, N) tensors

    Returns
    -------
    (L, H) tensor
        NaN where a map is the same everywhere.

    Raises
    ------
    ValueError
        If the shapes are not such, or differ.

    Examples
    --------
    >>> own = torch.rand(2, 3, 4, 4)
    >>> bool(torch.allclose(correlations(own, 2 * own + 1), torch.ones(2, 3)))
    True
    """
    _alike(own, other)
    one, two = ((S - S.mean(dim=(-1, -2), keepdim=True)).flatten(-2) for S in (own, other))  # (L, H, N N)
    return (one * two).sum(dim=-1) / (one.norm(dim=-1) * two.norm(dim=-1))


def _alike(own, other):
    for name, S in (("own", own), ("other", other)):
        if not isinstance(S, torch.Tensor) or S.ndim != 4 or S.shape[-1] != S.shape[-2]:
            shape = tuple(S.shape) if isinstance(S, torch.Tensor) else type(S).__name__
            raise ValueError(f"{name} must be maps of shape (L, H, N, N), got {shape}")
    if own.shape != other.shape:
        raise ValueError(f"own and other must have one shape, got {tuple(own.shape)}, {tuple(other.shape)}")
