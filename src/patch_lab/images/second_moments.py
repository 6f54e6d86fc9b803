"""What unlabeled pictures say of their grid: correlations of the gray means of patches.

Neighbors in a picture are alike, so that their brightness is correlated over pictures, wherever a fixed
shuffle has put them (Le Roux, Bengio, Lamblin, Joliveau & Kegl, "Learning the 2-D topology of images",
NeurIPS 2007). No label and no training is needed: a baseline for whatever is read off learned positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association.checks import positive_int
from patch_association.images.locality import Locality, locality
from patch_association.images.vit import patches

_GRAY = (0.299, 0.587, 0.114)  # ITU-R BT.601, for pictures of three colors


def patch_correlations(images: torch.Tensor, patch_size: int) -> np.ndarray:
    """Correlations over pictures of the gray means of patches.

    Parameters
    ----------
    images : (n, c, H, H) tensor of one color or three, uint8 or floats
    patch_size : int, which divides H

    Returns
    -------
    (N, N) array
        A patch whose brightness never changes has correlation 0 with all others.

    Raises
    ------
    ValueError
        On another shape, or fewer than three pictures.

    Examples
    --------
    >>> column = torch.arange(4.0)[:, None, None, None]
    >>> patch_correlations((column * torch.tensor([1.0, -1.0])).expand(4, 1, 2, 2), 1)[0].round().tolist()
    [1.0, -1.0, 1.0, -1.0]
    """
    if images.ndim != 4 or images.shape[1] not in (1, 3) or images.shape[2] != images.shape[3]:
        raise ValueError(f"images must have shape (n, 1 or 3, H, H), got {tuple(images.shape)}")
    if len(images) < 3:
        raise ValueError(f"three pictures at least have correlations, got {len(images)}")
    if images.shape[2] % positive_int("patch_size", patch_size):
        raise ValueError(f"patch_size must divide {images.shape[2]} pixels, got {patch_size}")
    weights = torch.tensor(_GRAY if images.shape[1] == 3 else (1.0,), dtype=torch.float64)
    gray = torch.einsum("nchw,c->nhw", images.double(), weights)[:, None]  # (n, 1, H, H)
    means = patches(gray, patch_size).mean(dim=2).numpy()  # (n, N, p p) -> (n, N)
    means = means - means.mean(axis=0)
    length = np.sqrt((means**2).sum(axis=0))
    means = np.divide(means, length, out=np.zeros_like(means), where=length > 0)
    return means.T @ means  # (N, n) @ (n, N)


@dataclass(frozen=True)
class WithoutLabels:
    """How well correlations find the neighbors in a picture.

    Attributes
    ----------
    pictures : int
    as_seen : Locality
        In the order in which the patches are shown.
    undone : Locality
        At the places that they have in the original picture.
    """

    pictures: int
    as_seen: Locality
    undone: Locality


def without_labels(images: torch.Tensor, patch_size: int, permutation=None) -> WithoutLabels:
    """The recall of neighbors by correlations alone, of pictures or of shuffled ones.

    Parameters
    ----------
    images : (n, c, H, H) tensor
        Not shuffled.
    patch_size : int
    permutation : GridPermutation, optional
        With which the pictures are shuffled before anything is measured; patches must stay whole.
    """
    shown = images if permutation is None else permutation(images)
    correlations = patch_correlations(shown, patch_size)
    grid = images.shape[2] // patch_size
    undone = correlations if permutation is None else permutation.undo(correlations, patch_size)
    return WithoutLabels(len(images), locality(correlations, grid), locality(undone, grid))
