"""How positional attention is: what of it is the same on every picture."""

from __future__ import annotations

import torch


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
