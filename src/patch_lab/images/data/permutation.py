"""Grid permutations pi_s: a picture cut into s x s tiles, the tiles shuffled in one fixed way."""

from __future__ import annotations

import numpy as np
import torch

from patch_association.checks import fits_memory, positive_int, seed_number


class GridPermutation:
    """pi_s of section 6: one fixed shuffle of the s x s tiles of every picture.

    Tile k of the shuffled picture is tile ``order[k]`` of the original; tiles are numbered row by
    row. It acts after augmentation: a shift or a flip is one of the original picture, and shuffled
    pictures must be shuffles of what an unshuffled run sees.

    Parameters
    ----------
    image_size : int
        The side of the (square) picture in pixels.
    tile : int
        s, the grid shuffle size in pixels; s = image_size leaves the picture as it is.
    seed : int
        Of the order.

    Raises
    ------
    ValueError
        If s does not divide the side.

    Examples
    --------
    >>> GridPermutation(32, tile=16, seed=0).order
    array([2, 0, 1, 3])
    """

    def __init__(self, image_size: int, tile: int, seed: int = 0):
        self.image_size = positive_int("image_size", image_size)
        self.tile = positive_int("tile", tile)
        if self.image_size % self.tile:
            raise ValueError(f"tile must divide image_size, got tiles of {tile} in {image_size} pixels")
        fits_memory(f"an order of {self.grid**2:,} tiles", self.grid**2)
        self.order = np.random.default_rng(seed_number("seed", seed)).permutation(self.grid**2)

    @property
    def grid(self) -> int:
        """Tiles per side."""
        return self.image_size // self.tile

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        """pi_s of pictures (..., H, W)."""
        if images.ndim < 2 or tuple(images.shape[-2:]) != (self.image_size, self.image_size):
            raise ValueError(
                f"images must have shape (..., {self.image_size}, {self.image_size}), "
                f"got {tuple(images.shape)}"
            )
        return self._shuffle(images, self.tile)

    def patch_order(self, patch_size: int) -> np.ndarray:
        """(N,) patch i of the shuffled picture is patch ``patch_order[i]`` of the original.

        Raises
        ------
        ValueError
            If a tile does not consist of whole patches: pi_s then cuts patches apart and is no
            permutation of them.
        """
        p = positive_int("patch_size", patch_size)
        if self.tile % p:
            raise ValueError(
                f"patch_size must divide the tile, got patches of {p} and tiles of {self.tile} pixels: "
                "such a shuffle cuts patches apart"
            )
        side = self.image_size // p
        numbers = torch.arange(side * side).reshape(1, side, side)
        return self._shuffle(numbers, self.tile // p).reshape(-1).numpy()

    def undo(self, similarity, patch_size: int):
        """pi_s^{-1} of a similarity between patches: (..., N, N) as if the pictures had not been shuffled.

        Parameters
        ----------
        similarity : (..., N, N) array or tensor
        patch_size : int, which divides the tile; else the ValueError of :meth:`patch_order`
        """
        back = np.argsort(self.patch_order(patch_size))
        return similarity[..., back, :][..., back]

    def _shuffle(self, images, s):
        *lead, height, width = images.shape
        g = height // s
        tiles = images.reshape(-1, g, s, g, s).transpose(2, 3).reshape(-1, g * g, s, s)  # (..., tile, s, s)
        tiles = tiles[:, torch.as_tensor(self.order, device=images.device)]
        return tiles.reshape(-1, g, g, s, s).transpose(2, 3).reshape(*lead, height, width)
