"""The test error of block attention whose sets are those of the data, without sampling.

On a fresh sample <v, X_j> = alpha s_j + N(0, tau^2), independently over patches, where
alpha = <v, w*>, tau = sigma |v orthogonal to w*| and s_j = <w*, X_j> in {-1, 0, 1}. So the error
P[y F < 0] + P[F = 0] / 2 of model (T) is a function of (alpha, tau) alone.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from patch_association._validate import finite, odd_degree, probability
from patch_association.conventions import TRANSFER
from patch_association.exact.block_attention import BlockAttention
from patch_association.exact.laws import trinomial

# Where normal tails and their transforms are cut: exp(-_REACH^2 / 2) is about 1e-10 for the cheap
# single integral and 4e-6 for the triple one.
_REACH, _SHORT_REACH = 6.8, 5.0


def exact_error(
    attention: BlockAttention,
    q: float,
    alpha: float,
    noise: float,
    degree: int = TRANSFER.degree,
    linear: float = TRANSFER.linear,
    fineness: float = 1.0,
) -> float:
    """P[y F < 0] + P[F = 0] / 2 of block attention whose sets are those of the data, without sampling.

    Uniform attention: F = D sigma(t) has the sign of t = sum_j <v, X_j>, so the error is the finite
    sum sum_k P[K = k] Phi(-alpha k / (tau sqrt(D))) over the law of y sum_j s_j: exact.

    Attention to set sums (beta = gamma): F = C sum_l sigma(z_l), z_l = D (b W_l + c t), with
    independent W_l = alpha n_l + N(0, C tau^2) and t = sum_l W_l. Hard attention (c = 0) makes F a sum
    of independent terms, and Gil-Pelaez inverts its characteristic function,

        P[F < 0] = 1/2 - (1/pi) int_0^inf Im E[e^(i eta F)] d eta / eta.

    Otherwise the terms share t. Given t they are independent again, so the inner expectation becomes

        E[e^(i eta F); t] = (1 / 2 pi) int e^(-i omega t) prod_l E[e^(i omega W_l + i eta sigma(z_l))] d
        omega,

    integrated over t as well. All integrals are trapezoidal sums of smooth, decaying integrands, so
    they converge faster than any power of the step.

    Parameters
    ----------
    attention : BlockAttention
        With beta = gamma, hard or uniform.
    q : float in [0, 1]
    alpha, noise : float
        <v, w*> and tau = sigma |v orthogonal|.
    degree, linear : int, float
        p and nu.
    fineness : float
        Divides every step of the quadrature. At 1 the tests hold the error below 1e-4.

    Raises
    ------
    ValueError
        On attention with beta != gamma (use :class:`SampledErrors`); and where 0 < tau < 0.02 |alpha|:
        the law is then too close to a lattice for the quadrature's steps.
    """
    if not isinstance(attention, BlockAttention) or attention.level == "patch":
        raise ValueError(
            "exact_error needs block attention with beta = gamma; SampledErrors takes any attention"
        )
    q, p, nu = probability("q", q), odd_degree(degree), finite("linear", linear, minimum=0)
    a, tau = finite("alpha", alpha), finite("noise", noise, minimum=0)
    if finite("fineness", fineness) <= 0:
        raise ValueError(f"fineness must be positive, got {fineness}")
    D, C = attention.num_patches, attention.partition.set_size
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
            "moves by less than the quadrature resolves, and SampledErrors is the better tool"
        )
    # In units of alpha: x_l = b W_l + c t and F is proportional to sum_l x_l^p + kappa sum_l x_l.
    _, b, c = attention.coefficients
    return _Inversion(attention, q, ratio, b, c, p, nu / (D * a) ** (p - 1), fineness).probability()


class _Inversion:
    """P[sum_l h(W_l, t) < 0] for h(w, t) = (b w + c t)^p + kappa (b w + c t), at y = +1 and alpha = 1."""

    def __init__(self, attention, q, ratio, b, c, p, kappa, fineness):
        self.b, self.c, self.p, self.kappa = b, c, p, kappa
        self.reach = _REACH if c == 0 else _SHORT_REACH
        D, C, self.L = attention.num_patches, attention.partition.set_size, attention.partition.num_sets
        sd = ratio * math.sqrt(C)  # of the noise of a set sum
        law = trinomial(C, q)
        self.w, spurious = _gaussian_mixture(law.support, law.mass, sd, self.reach, fineness)
        signal = np.exp(-0.5 * ((self.w - C) / sd) ** 2)
        self.masses = np.stack(
            [spurious, signal / signal.sum()]
        )  # (2, w): of a random set, of the signal set
        # t = sum_l W_l: its standard deviation, and that of its Gaussian part.
        self.t_noise = ratio * math.sqrt(D)
        self.t_sd = math.sqrt(q * (D - C) + self.t_noise**2)
        self.t_mean = C
        slope = (p * (b * C + c * C) ** (p - 1) + kappa) * abs(b)
        self.h_noise = slope * sd  # of the signal set's term
        top = abs(b) * C + abs(c) * (C + 4 * self.t_sd)
        sixth = float(spurious @ (np.abs(b * self.w) + abs(c) * self.t_sd) ** (2 * p))
        self.h_range = 3 * (top**p + kappa * top) + 8 * math.sqrt(self.L * sixth) + 8 * self.h_noise
        self.fineness = fineness

    def probability(self) -> float:
        """1/2 - (1/pi) sum over the midpoints eta of Im phi(eta) / eta."""
        step = 2 * math.pi / (self.h_range * self.fineness)
        eta = step * (np.arange(math.ceil(self.reach / (self.h_noise * step))) + 0.5)
        phi = self._independent(eta) if self.c == 0 else self._conditional(eta)
        return float(np.clip(0.5 - (phi.imag / eta).sum() * step / math.pi, 0.0, 1.0))

    def _independent(self, eta):
        h = (self.b * self.w) ** self.p + self.kappa * self.b * self.w
        return self._product([np.exp(1j * np.outer(eta, h)) @ mass for mass in self.masses])

    def _conditional(self, eta):
        """phi(eta) = int E[exp(i eta F); t] dt; kappa sum_l x_l = kappa (b + L c) t depends on t alone."""
        reach = self.reach * self.t_sd
        t_step = 0.9 * min(self.t_noise, 1.0) / self.fineness
        t = self.t_mean + t_step * np.arange(-math.ceil(reach / t_step), math.ceil(reach / t_step) + 1)
        # Beyond |omega| the noise of the sets near zero has died out; large sets shift omega by their slope.
        calm = math.sqrt(0.5) * self.t_noise
        w_step = 2 * math.pi / (2.2 * reach * self.fineness)
        top = self.reach / calm + self.p * abs(self.b) ** self.p * eta.max()
        count = math.ceil(top / w_step)
        omega = w_step * np.arange(-count, count + 1)
        waves = np.exp(1j * np.outer(self.w, omega))  # (w, omega)
        phi = np.zeros(eta.size, dtype=complex)
        for t_k in t:
            x = (self.b * self.w + self.c * t_k) ** self.p
            tilted = np.exp(1j * np.outer(eta, x))  # (eta, w)
            # (eta, w) @ (w, omega) -> (eta, omega), for a random set and for the signal set
            sets = [(tilted * mass) @ waves for mass in self.masses]
            density = self._product(sets) @ np.exp(-1j * omega * t_k) * (w_step / (2 * math.pi))
            phi += t_step * density * np.exp(1j * eta * self.kappa * (self.b + self.L * self.c) * t_k)
        return phi

    def _product(self, sets):
        """The random sets' transform to the power L - 1, by repeated squaring, times the signal set's."""
        power, total, n = sets[0], sets[1], self.L - 1
        while n:
            if n & 1:
                total = total * power
            power, n = power * power, n >> 1
        return total


def _gaussian_mixture(centers, weights, sd, reach, fineness):
    """Points w on a uniform grid and the masses there of sum_k weights_k N(centers_k, sd^2)."""
    step = sd / (2.5 * fineness)  # resolves phases of up to 2 pi 2.5 - reach per sd
    top = np.abs(centers).max() + reach * sd
    w = step * np.arange(-math.ceil(top / step), math.ceil(top / step) + 1)
    mass = (weights * np.exp(-0.5 * ((w[:, None] - centers) / sd) ** 2)).sum(axis=1)
    return w, mass / mass.sum()
