"""Data between the two theories: who belongs together is said by the place, by the content, or by both.

Every patch stands in one of G position groups and shows one of K keys. A set is a group crossed with a
key: L = G K sets of C patches. With K = 1 this is Assumption 1 of Jelassi et al., with G = 1 it is its
twin in which positions say nothing, as in Li et al.; with both above 1 neither is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from patch_association.checks import finite, fits_memory, positive_int, probability
from patch_association.shallow import PatternData
from patch_association.streams import Stream, generator, random_coefficients, random_signs


@dataclass(frozen=True)
class Drawn:
    """Labelled inputs.

    Attributes
    ----------
    X : (n, D, d) tensor
    y : (n,) tensor of -1, +1
    shown : (n, D) integer tensor
        What each patch shows: its key, or whether it is relevant. No network sees it.
    """

    X: torch.Tensor
    y: torch.Tensor
    shown: torch.Tensor


KEY_LENGTH = 2.0  # of the key's part of a patch


class CrossedData:
    """Sets that are position groups crossed with keys.

    X_j = s_j e_1 + 2 e_(1 + k(j)) + xi_j: the coefficient s_j, the key k(j) of patch j and noise
    N(0, sigma_xi^2) on every coordinate but the first. In each input every group deals out its keys anew,
    each to C of its K C patches, uniformly. Then label, signal set and coefficients as in Assumption 1:
    s_j = y in one set drawn uniformly, and +1 or -1 with probability q/2 each, else 0, in all others.

    Parameters
    ----------
    num_groups, num_keys, set_size : int
        G, K and C; D = G K C. Groups are runs of consecutive patches.
    q : float in [0, 1]
    noise_std : float
        sigma_xi.

    Raises
    ------
    ValueError
        On sizes and numbers that do not fit.

    Examples
    --------
    >>> data = CrossedData(2, 3, set_size=2, q=0.3)
    >>> data.num_patches, data.num_sets, data.draw(5).X.shape
    (12, 6, torch.Size([5, 12, 7]))
    """

    #: What a patch is to another.
    relations = ("itself", "same set", "same group", "same key", "neither")

    def __init__(
        self,
        num_groups: int,
        num_keys: int,
        set_size: int,
        q: float,
        *,
        noise_std: float = 0.2,
    ):
        self.num_groups = positive_int("num_groups", num_groups)
        self.num_keys = positive_int("num_keys", num_keys)
        self.set_size = positive_int("set_size", set_size)
        self.q = probability("q", q)
        self.noise_std = finite("noise_std", noise_std, minimum=0)

    @property
    def num_sets(self) -> int:
        """The number of sets, L = G K."""
        return self.num_groups * self.num_keys

    @property
    def num_patches(self) -> int:
        """The number of patches, D = G K C."""
        return self.num_sets * self.set_size

    @property
    def dim(self) -> int:
        """d = 1 + L: one coordinate for the feature, as many for keys as there could be at most."""
        return 1 + self.num_sets

    @property
    def groups(self) -> np.ndarray:
        """(D,) the position group of each patch."""
        return np.repeat(np.arange(self.num_groups), self.num_keys * self.set_size)

    def draw(self, n: int, seed: int = 0, dtype=torch.float32) -> Drawn:
        """Draw n labelled inputs."""
        n = positive_int("n", n)
        D = self.num_patches
        d = self.dim
        fits_memory(f"{n:,} inputs of {D:,} patches of dimension {d:,}", n * D * (d + 10), 4)
        draw = generator(seed, Stream.CROSSED)
        G = self.num_groups
        width = self.num_keys * self.set_size
        # The order of independent uniforms is a uniform permutation; all groups and inputs at once.
        dealt = draw.random((n, G, width), dtype=np.float32).argsort(axis=2)
        keys = (dealt // self.set_size).reshape(n, D)  # (n, G, K C) -> (n, D)
        y = random_signs(draw, n)
        signal = draw.integers(0, self.num_sets, n)
        s = random_coefficients(draw, self.q, (n, D))
        inside = self.groups * self.num_keys + keys == signal[:, None]  # (n, D)
        X = self.noise_std * draw.standard_normal((n, D, d), dtype=np.float32)
        X[:, :, 0] = np.where(inside, y[:, None], s)
        at = 1 + keys[..., None]
        np.put_along_axis(X, at, np.take_along_axis(X, at, axis=2) + np.float32(KEY_LENGTH), axis=2)
        return Drawn(torch.from_numpy(X).to(dtype), torch.from_numpy(y).to(dtype), torch.from_numpy(keys))

    def relation(self, shown: torch.Tensor) -> torch.Tensor:
        """(n, D, D) what patch j is to patch i (row), as a place in ``relations``."""
        same_key = shown[:, :, None] == shown[:, None, :]  # (n, D, D)
        groups = torch.from_numpy(self.groups)
        same_group = (groups[:, None] == groups[None, :]).expand_as(same_key)
        relation = 4 - 2 * same_group.long() - same_key.long()  # 1 same set, 2 group, 3 key, 4 neither
        relation.diagonal(dim1=1, dim2=2).zero_()
        return relation

    def __repr__(self) -> str:
        return (
            f"CrossedData({self.num_groups}, {self.num_keys}, set_size={self.set_size}, q={self.q:g}, "
            f"key_length={KEY_LENGTH:g}, noise_std={self.noise_std:g})"
        )


class RarePatterns:
    """Li et al.'s data, made hard: few relevant tokens, two patterns that nearly coincide, much noise.

    The discriminative patterns are mu_1, mu_2 = sqrt(1 - s^2) e_1 ± s e_2; there are no confusion tokens,
    and all other tokens show four patterns e_3, ..., e_6 in equal parts. So what makes a token relevant is
    easy to see, and its label is not.

    Attributes
    ----------
    num_patches, num_relevant : int
        D, and how many tokens show the pattern of the label.
    spread : float
        s.
    noise_std : float
        sigma_xi of Gaussian noise on every coordinate.
    """

    relations = ("itself", "relevant", "other")
    dim = 6
    num_patches = 80
    num_relevant = 4
    spread = 0.3
    noise_std = 0.25

    def __init__(self):
        patterns = np.eye(6)
        patterns[0] = patterns[1] = math.sqrt(1 - self.spread**2) * patterns[0]
        patterns[:2, 1] = self.spread, -self.spread
        share = self.num_relevant / self.num_patches
        self.law = PatternData(
            self.num_patches, share, 0.0, num_patterns=6, dim=6, noise=self.noise_std, patterns=patterns
        )

    def draw(self, n: int, seed: int = 0, dtype=torch.float32) -> Drawn:
        """Draw n labelled inputs."""
        tokens = self.law.sample(n, seed=seed, dtype=dtype)
        return Drawn(tokens.X, tokens.y, tokens.relevant.long())

    def relation(self, shown: torch.Tensor) -> torch.Tensor:
        """(n, D, D) what patch j is to patch i (row), as a place in ``relations``."""
        relation = (2 - shown)[:, None, :].repeat(1, self.num_patches, 1)  # (n, D, D)
        relation.diagonal(dim1=1, dim2=2).zero_()
        return relation

    def mean_error(self, num_tokens: int | None = None) -> float:
        """Of the best sum over ``num_tokens`` tokens that hold all relevant ones; by default all tokens.

        The sum of <e_2, X_j> is Gaussian with mean ± s n_* and variance sigma_xi^2 times their number.
        """
        count = positive_int("num_tokens", self.num_patches if num_tokens is None else num_tokens)
        score = self.spread * self.num_relevant / (self.noise_std * math.sqrt(count))
        return math.erfc(score / math.sqrt(2)) / 2

    def __repr__(self) -> str:
        return (
            f"RarePatterns({self.num_patches}, {self.num_relevant}, spread={self.spread:g}, "
            f"noise_std={self.noise_std:g})"
        )
