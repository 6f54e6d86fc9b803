"""Steps of gradient descent that are cut short where the value vector would move too far."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from patch_association.checks import finite
from patch_association.training import Constant


@dataclass(frozen=True)
class Clipped(Constant):
    """Constant rates, except where v would move by more than the share ``clip`` of its length.

    There both rates shrink by one factor. The cubic activation makes the loss so curved that a
    constant rate that is stable at the end is very slow at the start.

    Raises
    ------
    ValueError
        If a rate is negative, or ``clip`` not positive.
    """

    clip: float = 0.1

    def __post_init__(self):
        super().__post_init__()
        if finite("clip", self.clip) <= 0:
            raise ValueError(f"clip must be positive, got {self.clip}")

    def share(self, norm, gradient_norm):
        """min(1, clip |v| / (rate |dL/dv|)), for numbers or tensors."""
        moved = self.rate * torch.as_tensor(gradient_norm, dtype=torch.float64)
        # 0 / 0: nothing moves, whatever the share.
        return (self.clip * norm / moved).nan_to_num(nan=1.0).clamp_max(1.0)
