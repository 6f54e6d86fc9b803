"""The test error of hard and of uniform attention to the sets of the data, without sampling.

On a fresh sample <v, X_j> = alpha s_j + N(0, tau^2), independently over patches, where
alpha = <v, w*>, tau = sigma |v orthogonal to w*| and s_j = <w*, X_j> in {-1, 0, 1}. So the error
P[y F < 0] + P[F = 0] / 2 of model (T) is a function of (alpha, tau) alone.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from patch_association.checks import finite, fits_memory, odd_degree, probability
from patch_association.exact.integer_sums import trinomial
from patch_lab.kit.conventions import TRANSFER
from patch_lab.transfer.block_attention import BlockAttention

# Where normal tails and their transforms are cut: exp(-_REACH^2 / 2) is about 1e-10.
_REACH = 6.8


def exact_error(
    attention: BlockAttention,
    q: float,
    alpha: float,
    noise: float,
    degree: int = TRANSFER.degree,
    linear: float = TRANSFER.linear,
    fineness: float = 1.0,
) -> float:
    """P[y F < 0] + P[F = 0] / 2 of hard or uniform attention, whose sets are those of the data.

    Uniform attention: F = D sigma(t) has the sign of t = sum_j <v, X_j>, so the error is the finite
    sum sum_k P[K = k] Phi(-alpha k / (tau sqrt(D))) over the law of y sum_j s_j: exact.

    Hard attention: F = C sum_l sigma(z_l), z_l = (D / C) W_l, with independent
    W_l = alpha n_l + N(0, C tau^2). Gil-Pelaez inverts the characteristic function of such a sum,

        P[F < 0] = 1/2 - (1/pi) int_0^inf Im E[e^(i eta F)] d eta / eta,

    by trapezoidal sums of smooth, decaying integrands: they converge faster than any power of the step.

    Parameters
    ----------
    attention : BlockAttention
        Hard or uniform.
    q : float in [0, 1]
    alpha, noise : float
        <v, w*> and tau = sigma |v orthogonal|.
    degree, linear : int, float
        p and nu.
    fineness : float
        Divides every step of the quadrature. At 1 the tests hold the error below 1e-4, and below 1e-6
        where the noise is at most half |alpha|.

    Raises
    ------
    ValueError
        On other attention, for which :class:`~patch_association.training.evaluate.HeldOut` draws; and where
        0 < tau < 0.02 |alpha| with hard attention: the law is then too close to a lattice for the steps.
    """
    if not isinstance(attention, BlockAttention) or (attention.level != "all" and not attention.is_hard):
        raise ValueError(f"attention must be hard or uniform block attention, got {attention!r}: draw inputs")
    q = probability("q", q)
    p = odd_degree(degree)
    nu = finite("linear", linear, minimum=0)
    a = finite("alpha", alpha)
    tau = finite("noise", noise, minimum=0)
    if finite("fineness", fineness) <= 0:
        raise ValueError(f"fineness must be positive, got {fineness}")
    D = attention.num_patches
    C = attention.partition.set_size
    L = attention.partition.num_sets
    if a == 0:
        return 0.5  # F is then symmetric: the noise alone decides, and it knows no label
    if a < 0:
        return 1.0 - exact_error(attention, q, -a, tau, p, nu, fineness)
    if attention.level == "all":
        law = trinomial(D - C, q).shift(C)
        if tau == 0:
            return law.below(0) + 0.5 * law.at(0)
        return float(law.mass @ ndtr(-a * law.support / (tau * math.sqrt(D))))
    ratio = tau / a
    if ratio < 0.02:
        raise ValueError(
            f"noise must be at least 0.02 |alpha|, got {ratio:.3g} |alpha|; below that the error "
            "moves by less than the quadrature resolves"
        )
    # In units of alpha D: F is proportional to sum_l h(W_l) with h(w) = (w / C)^p + slope w / C.
    # sd: of the noise of a set sum
    sd = ratio * math.sqrt(C)
    slope = nu / (D * a) ** (p - 1)
    law = trinomial(C, q)
    w, random_set = _gaussian_mixture(law.support, law.mass, sd, fineness)
    signal_set = np.exp(-0.5 * ((w - C) / sd) ** 2)
    h = (w / C) ** p + slope * w / C
    noise_of_h = (p + slope) / C * sd  # of the signal set's term
    sixth = float(random_set @ np.abs(w / C) ** (2 * p))
    step = 2 * math.pi / ((3 * (1 + slope) + 8 * math.sqrt(L * sixth) + 8 * noise_of_h) * fineness)
    nodes = math.ceil(_REACH / (noise_of_h * step))
    fits_memory(f"a quadrature of {nodes:,} times {w.size:,} points", 4 * nodes * w.size)  # complex, twice
    eta = step * (np.arange(nodes) + 0.5)  # midpoints
    waves = np.exp(1j * np.outer(eta, h))  # (eta, w)
    phi = (waves @ random_set) ** (L - 1) * (waves @ (signal_set / signal_set.sum()))
    return float(np.clip(0.5 - (phi.imag / eta).sum() * step / math.pi, 0.0, 1.0))


def _gaussian_mixture(centers, weights, sd, fineness):
    """Points w on a uniform grid and the masses there of sum_k weights_k N(centers_k, sd^2)."""
    step = sd / (2.5 * fineness)  # resolves phases of up to 2 pi 2.5 - _REACH per sd
    top = np.abs(centers).max() + _REACH * sd
    points = 2 * math.ceil(top / step) + 1
    fits_memory(f"a quadrature of {points:,} points", 2 * points * len(centers))
    w = step * np.arange(-(points // 2), points // 2 + 1)
    mass = (weights * np.exp(-0.5 * ((w[:, None] - centers) / sd) ** 2)).sum(axis=1)
    return w, mass / mass.sum()
