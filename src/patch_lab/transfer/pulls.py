"""Two pulls of gradient descent on the value vector, worked out on one sample with perfectly sharp attention.

The patches of a set hear the set's sum s_l = n_l w* + noise of squared length C, the noise of different
sets orthogonal, as it nearly is in a high dimension. At a tiny v the activation has one slope for all sets,
and v is pulled along the sum of all s_l. Later the cube's slope is proportional to <v, s_l>^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from patch_association.checks import positive_int


class Pull(NamedTuple):
    """A direction of v: the ``weights`` of the sets (L,), its part along w*, its noise's squared length."""

    weights: np.ndarray
    feature: float
    noise: float

    @property
    def cosine(self) -> float:
        """The cosine of the pull with w*."""
        return float(self.feature / np.hypot(self.feature, self.noise**0.5))


def pulls(sums, set_size: int) -> tuple[Pull, Pull]:
    """The first pull and the pull of the cube along it, for a sample with the set sums ``sums`` (L,)."""
    n = np.asarray(sums, dtype=float)
    C = positive_int("set_size", set_size)
    first = _pull(np.ones(n.size), n, C)
    heard = first.feature * n + C  # <v, s_l> for v = sum_l s_l
    return first, _pull(heard**2, n, C)


def _pull(weights: np.ndarray, sums: np.ndarray, set_size: int) -> Pull:
    return Pull(weights, float(weights @ sums), float(set_size * (weights @ weights)))
