"""Gradient descent on the value vector with the attention fixed: problem (E-tilde) of section 5.

With R = D S X computed once (:mod:`patch_lab.transfer.block_attention`) and the label folded into
it (F is odd), the loss of N samples is

    L(v) = mean_n log(1 + exp(-F_n)),   F_n = m sum_k sigma(<y_n R_nk, v>),   sigma(x) = x^p + nu x,

with m patches to a row. Seeds are a batch dimension; training-set sizes are nested (the first N of
one draw), so that all sizes of a seed share one R and one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association.checks import finite, int_list, made_of, positive_int, seed_list
from patch_association.data import SpatialData, assumption_one
from patch_association.streams import Stream, generator
from patch_association.training.gradients import readout
from patch_association.training.steps import Constant, check_step
from patch_lab.kit.conventions import TRANSFER
from patch_lab.transfer.block_attention import BlockAttention
from patch_lab.transfer.clipped import Clipped


def usual_step(num_patches: int, ratio: float = 1.0) -> Clipped:
    """Clipped steps with rate 0.5 / D^2, as z = D <...> has a factor D; scores ``ratio`` times D^2 faster.

    Raises
    ------
    ValueError
        If there is no patch, or the ratio is negative or not finite.
    """
    return Clipped(0.5 / positive_int("num_patches", num_patches) ** 2, 0.5 * finite("ratio", ratio, 0))


def check_attention(attention) -> None:
    """Refuse what is no fixed attention: it must say how many rows it reads, and how often each counts."""
    made_of("attention", attention, "fixed attention", "num_patches", "rows", "multiplicity", "read")


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
        If data and attention differ in the number of patches, or a number is out of range.
    """
    assumption_one("data", data)
    check_attention(attention)
    if attention.num_patches != data.partition.num_patches:
        raise ValueError(
            f"attention must have the data's {data.partition.num_patches} patches, "
            f"got {attention.num_patches}"
        )
    n = positive_int("n", n)
    w = data.feature
    drawn = []
    for seed in seed_list(seeds):
        s, y, _ = data.sample_coefficients(n, seed)
        s = torch.from_numpy(s * y[:, None])[..., None]
        noise = generator(seed, Stream.READ_NOISE).standard_normal((n, attention.rows, data.dim))
        xi = torch.from_numpy(noise)
        xi -= (xi @ w)[..., None] * w
        # y xi and xi have one law, so the label is folded into the coefficients alone.
        scale = data.noise_std * attention.multiplicity**0.5
        drawn.append(attention.mix(attention.tokens(s) * w + scale * xi))  # (n, T, 1) * (d,) -> (n, T, d)
    return torch.stack(drawn)


def fine_tune(
    reads: torch.Tensor,
    attention,
    sizes,
    seeds,
    step: Constant | None = None,
    *,
    steps: int,
    linear: float = TRANSFER.linear,
    init_std: float = TRANSFER.init_std,
) -> FineTuned:
    """Train v on the first N samples, for every seed and every N in ``sizes``, in one batch.

    Parameters
    ----------
    reads : (S, n, T, d) tensor
        y R: from :func:`draw_reads`, or ``y[..., None, None] * attention.read(X)`` of data at hand.
    attention : BlockAttention or DenseAttention
    sizes : list of K int
        Training-set sizes, each between 1 and n.
    seeds : list of S int
        Of the starts; a seed starts alike at every size and in every batch.
    step : Constant or Clipped, optional
        Its ``rate`` is that of v; :func:`usual_step` by default.
    steps : int
        T.
    linear : float
        nu of sigma(x) = x^3 + nu x.
    init_std : float
        omega: v starts as N(0, (omega / D)^2 I).

    Raises
    ------
    ValueError
        If the shapes do not fit or a number is out of range.
    """
    check_attention(attention)
    if not isinstance(reads, torch.Tensor) or reads.dtype != torch.float64:
        raise ValueError(f"reads must be a float64 tensor, got {getattr(reads, 'dtype', type(reads))}")
    seeds = seed_list(seeds)
    nu = finite("linear", linear, minimum=0)
    if reads.ndim != 4 or reads.shape[0] != len(seeds) or reads.shape[2] != attention.rows:
        raise ValueError(
            f"reads must have shape ({len(seeds)}, n, {attention.rows}, d), got {tuple(reads.shape)}"
        )
    S, n, T, d = reads.shape
    sizes = int_list("sizes", sizes)
    if max(sizes) > n:
        raise ValueError(f"sizes must lie between 1 and the {n} samples, got {sizes}")
    D, m = attention.num_patches, attention.multiplicity
    step = check_step(usual_step(D) if step is None else step, D)
    # (n, K): sample n weighs 1 / N in the loss of a size N that includes it.
    weight = torch.stack([(torch.arange(n) < N).double() / N for N in sizes], dim=1)
    start = np.stack([generator(seed, Stream.FINE_TUNING_START).standard_normal(d) for seed in seeds])
    v = torch.from_numpy(start * finite("init_std", init_std, minimum=0) / D)[:, :, None]
    v = v.repeat(1, 1, len(sizes))  # (S, d, K)
    flat = reads.reshape(S, n * T, d)

    def forward(v):
        """F (S, n, K) and the derivative of the loss by z (S, n, T, K)."""
        z = (flat @ v).view(S, n, T, -1)  # (S, n T, d) @ (S, d, K) -> (S, n, T, K)
        return readout(z, m, -m * weight, TRANSFER.degree, nu)

    for _ in range(positive_int("steps", steps, minimum=0)):
        gradient = flat.mT @ forward(v)[1].view(S, n * T, -1)  # (S, d, n T) @ (S, n T, K) -> (S, d, K)
        share = torch.as_tensor(step.share(v.norm(dim=1), gradient.norm(dim=1)), dtype=v.dtype)
        v = v - step.rate * share.expand(S, len(sizes))[:, None] * gradient
    F = forward(v)[0]
    loss = (torch.nn.functional.softplus(-F) * weight).sum(dim=1)  # (S, K)
    return FineTuned(v.mT.contiguous(), loss, sizes)
