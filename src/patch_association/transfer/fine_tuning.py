"""Gradient descent on the value vector with the attention fixed: problem (E-tilde) of section 5.

With R = D S X computed once (:mod:`patch_association.exact.block_attention`) and the label folded into it
(F is odd), the loss of N samples is

    L(v) = mean_n log(1 + exp(-F_n)),   F_n = m sum_k sigma(<y_n R_nk, v>),   sigma(x) = x^p + nu x,

with m patches to a row. Seeds are a batch dimension; training-set sizes are nested (the first N of
one draw), so that all sizes of a seed share one R and one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association._streams import Stream, generator
from patch_association._validate import finite, odd_degree, positive_int
from patch_association.data import SpatialData
from patch_association.exact.block_attention import BlockAttention


@dataclass(frozen=True)
class Descent:
    """How gradient descent runs.

    One step is v <- v - eta grad with eta = min(rate / D^2, clip |v| / |grad|): a constant learning
    rate, except where it would move v by more than the share ``clip`` of its length. The cubic
    activation makes the loss so curved that a constant rate that is stable at the end is very slow
    at the start. z = D <...> carries a factor D, which is why the rate is given in units of 1 / D^2.

    Attributes
    ----------
    degree, linear : int, float
        p and nu.
    init_std : float
        omega, in units of 1 / D: v starts as N(0, (omega / D)^2 I).
    rate, clip : float
    steps : int
        T.
    """

    degree: int = 3
    linear: float = 0.1
    init_std: float = 0.01
    rate: float = 0.5
    clip: float = 0.1
    steps: int = 400

    def __post_init__(self):
        odd_degree(self.degree)
        finite("linear", self.linear, minimum=0)
        for name in ("init_std", "rate", "clip"):
            if finite(name, getattr(self, name)) <= 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        positive_int("steps", self.steps, minimum=0)


@dataclass(frozen=True)
class FineTuned:
    """What fine-tuning leaves.

    Attributes
    ----------
    value : (S, K, d) tensor
        v of each seed and each training-set size.
    loss : (S, K) tensor
        The training loss at the end.
    sizes : tuple of K int
    """

    value: torch.Tensor
    loss: torch.Tensor
    sizes: tuple[int, ...]


def draw_reads(data: SpatialData, attention: BlockAttention, n: int, seeds) -> torch.Tensor:
    """y R of n fresh samples for every seed, (S, n, T, d), at O(T d) a sample.

    A sum of k patches has noise N(0, k sigma^2 (I - w* w*^T)), so where the attention reads sets (or
    everything) the sums are drawn themselves: the same law as reading :meth:`SpatialData.sample`,
    without the (n, D, d) array. The sets of ``data`` may differ from those of ``attention``.

    Raises
    ------
    ValueError
        If data and attention differ in the number of patches.
    """
    if attention.num_patches != data.partition.num_patches:
        raise ValueError(
            f"attention must have the data's {data.partition.num_patches} patches, "
            f"got {attention.num_patches}"
        )
    n, w = positive_int("n", n), data.feature
    drawn = []
    for seed in _seeds(seeds):
        s, y, _ = data.sample_coefficients(n, seed)
        s = torch.from_numpy(s * y[:, None])[..., None]
        noise = generator(seed, Stream.READ_NOISE).standard_normal((n, attention.rows, data.dim))
        xi = torch.from_numpy(noise)
        xi -= (xi @ w)[..., None] * w
        # y xi and xi have one law, so the label is folded into the coefficients alone.
        scale = data.noise_std * attention.multiplicity**0.5
        drawn.append(attention.mix(attention.tokens(s) * w + scale * xi))  # (n, T, 1) * (d,) -> (n, T, d)
    return torch.stack(drawn)


def fine_tune(reads: torch.Tensor, attention, sizes, seeds, descent: Descent | None = None) -> FineTuned:
    """Train v on the first N samples, for every seed and every N in ``sizes``, in one batch.

    Parameters
    ----------
    reads : (S, n, T, d) tensor
        y R: from :func:`draw_reads`, or ``y[..., None, None] * attention.read(X)`` of data at hand.
    attention : BlockAttention or DenseAttention
    sizes : list of int
        Training-set sizes, each between 1 and n.
    seeds : list of S int
        Of the starts; a seed starts alike at every size and in every batch.
    descent : Descent, optional

    Returns
    -------
    FineTuned

    Raises
    ------
    ValueError
        If the shapes do not fit or a size is out of range.
    """
    descent, seeds = descent or Descent(), _seeds(seeds)
    if reads.ndim != 4 or reads.shape[0] != len(seeds) or reads.shape[2] != attention.rows:
        raise ValueError(
            f"reads must have shape ({len(seeds)}, n, {attention.rows}, d), got {tuple(reads.shape)}"
        )
    S, n, T, d = reads.shape
    sizes = tuple(positive_int("size", N) for N in sizes)
    if not sizes or max(sizes) > n:
        raise ValueError(f"sizes must lie between 1 and the {n} samples, got {sizes}")
    # (n, K): sample n weighs 1 / N in the loss of a size N that includes it.
    weight = torch.stack([(torch.arange(n) < N).double() / N for N in sizes], dim=1)
    D, m, p, nu = attention.num_patches, attention.multiplicity, descent.degree, descent.linear
    start = np.stack([generator(seed, Stream.FINE_TUNING_START).standard_normal(d) for seed in seeds])
    v = torch.from_numpy(start * descent.init_std / D)[:, :, None].repeat(1, 1, len(sizes))  # (S, d, K)
    flat = reads.reshape(S, n * T, d)
    for _ in range(descent.steps):
        z = flat @ v  # (S, n T, d) @ (S, d, K) -> (S, n T, K)
        power = z ** (p - 1)
        F = m * ((power + nu) * z).view(S, n, T, -1).sum(dim=2)  # (S, n, K)
        slope = (-m * torch.sigmoid(-F) * weight)[:, :, None, :]  # dL / dF, with m of the sum over patches
        back = (p * power + nu).view(S, n, T, -1) * slope
        gradient = flat.mT @ back.view(S, n * T, -1)  # (S, d, n T) @ (S, n T, K) -> (S, d, K)
        limit = descent.clip * v.norm(dim=1) / gradient.norm(dim=1).clamp_min(1e-300)
        v = v - limit.clamp_max(descent.rate / D**2)[:, None] * gradient
    z = flat @ v
    F = m * ((z ** (p - 1) + nu) * z).view(S, n, T, -1).sum(dim=2)
    loss = (torch.nn.functional.softplus(-F) * weight).sum(dim=1)  # (S, K)
    return FineTuned(v.mT.contiguous(), loss, sizes)


def _seeds(seeds) -> list[int]:
    seeds = [positive_int("seed", seed, minimum=0) for seed in seeds]
    if not seeds:
        raise ValueError("seeds must name at least one seed, got none")
    return seeds
